//! A model of what loss a TCP connection bears, and the sequential test against it: RFC 8337
//! ("Model-Based Metrics"), after Wald, "Sequential analysis" (1947).
//!
//! A connection that is to fill a path may lose one packet in `3 window²` (Mathis et al. 1997).
//! The test assumes independent losses; bursts make it reject more often.

/// Packets that must be in flight to reach `rate` bytes per second over a path with a round trip
/// of `rtt` seconds: `ceil(rate rtt / (mtu - overhead))`, all sizes in bytes (RFC 8337 section 4).
pub fn window(rate: f64, rtt: f64, mtu: f64, overhead: f64) -> f64 {
    libm::ceil(rate * rtt / (mtu - overhead) * (1.0 - 1e-12))
}

/// Packets that must pass between two losses: `3 window²` (RFC 8337 section 4).
pub fn run_length(window: f64) -> f64 {
    3.0 * window * window
}

/// What the test says so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The path loses few enough.
    Accept,
    /// It loses too many.
    Reject,
    /// Go on.
    Continue,
}

/// The sequential probability ratio test of a share of losses against one four times as high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLengthTest {
    /// Logarithm of the odds ratio of the two shares.
    pub k: f64,
    /// Below the accepting line at no packets.
    pub h1: f64,
    /// Above which the rejecting line begins.
    pub h2: f64,
    /// Slope of both lines, in losses for each packet.
    pub s: f64,
}

impl RunLengthTest {
    /// For a target of one loss in `run` packets; `alpha` is the rate of wrong rejections, `beta`
    /// of wrong acceptances (RFC 8337 section 7.2). `None` if `run` is not above 4 or a rate is
    /// not between 0 and 0.5.
    pub fn new(run: f64, alpha: f64, beta: f64) -> Option<Self> {
        let rate = |x: f64| x > 0.0 && x < 0.5;
        if !(run > 4.0 && run.is_finite() && rate(alpha) && rate(beta)) {
            return None;
        }
        let (p0, p1) = (1.0 / run, 4.0 / run);
        let k = libm::log(p1 * (1.0 - p0) / (p0 * (1.0 - p1)));
        let h1 = libm::log((1.0 - alpha) / beta) / k;
        let h2 = libm::log((1.0 - beta) / alpha) / k;
        let s = (libm::log1p(-p0) - libm::log1p(-p1)) / k;
        Some(RunLengthTest { k, h1, h2, s })
    }

    /// After `packets` with `losses` among them.
    pub fn decide(&self, packets: u64, losses: u64) -> Decision {
        let (line, losses) = (self.s * packets as f64, losses as f64);
        match losses {
            few if few <= line - self.h1 => Decision::Accept,
            many if many >= line + self.h2 => Decision::Reject,
            _ => Decision::Continue,
        }
    }

    /// Packets without a loss after which the path is accepted.
    pub fn packets_without_loss(&self) -> f64 {
        self.h1 / self.s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions() {
        let test = RunLengthTest::new(1452.0, 0.05, 0.05).unwrap();
        assert_eq!(test.decide(1422, 0), Decision::Continue);
        assert_eq!(test.decide(1423, 0), Decision::Accept);
        assert_eq!(test.decide(100, 3), Decision::Reject);
        assert!(RunLengthTest::new(4.0, 0.05, 0.05).is_none());
        assert!(RunLengthTest::new(100.0, 0.5, 0.05).is_none());
        assert_eq!(window(1440.0 * 20.0, 1.0, 1500.0, 60.0), 20.0);
    }
}
