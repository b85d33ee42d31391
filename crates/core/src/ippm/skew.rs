//! Two clocks that run at different speeds: how fast they drift apart, from one-way delays alone.
//!
//! Queues only ever add to a delay, so the line that lies below all delays and closest to them is
//! what the clocks did (Moon, Skelly and Towsley, "Estimation and removal of clock skew from
//! network delay measurements", INFOCOM 1999).

use alloc::vec::Vec;

/// A line under delays: how much it rises for each ns of time, and since when.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    at_ns: i64,
    /// Rise in ns per ns.
    pub slope: f64,
}

impl Line {
    /// The rise in parts per million.
    pub fn ppm(&self) -> f64 {
        self.slope * 1e6
    }

    /// What the clocks added to a delay at `time_ns` since the time at which the line was taken, in
    /// ns, rounded.
    pub fn drift_ns(&self, time_ns: i64) -> i64 {
        // Rounding to the nearest: times of a trial times a slope stay far below 2^53.
        libm::round((time_ns - self.at_ns) as f64 * self.slope) as i64
    }
}

/// The line under all `points` (time of sending, delay), of which the times ascend, with the least
/// sum of distances to them. `None` if there are fewer than two times.
///
/// That sum is least where the lower convex hull passes the mean time, because it depends only on
/// the height there.
pub fn under(points: &[(i64, i64)]) -> Option<Line> {
    let hull = lower_hull(points);
    if hull.len() < 2 {
        return None;
    }
    let first = points.first()?.0;
    let sum: i128 = points.iter().map(|&(time, _)| i128::from(time - first)).sum();
    // The mean of times lies between the first and the last of them.
    let mean = first + i64::try_from(sum / points.len() as i128).ok()?;
    let end = hull.partition_point(|&(time, _)| time <= mean).clamp(1, hull.len() - 1);
    let ((t0, d0), (t1, d1)) = (hull[end - 1], hull[end]);
    let slope = (d1 - d0) as f64 / (t1 - t0) as f64;
    Some(Line { at_ns: t0, slope })
}

/// The corners of the lower convex hull, left to right; of points at the same time the lowest.
fn lower_hull(points: &[(i64, i64)]) -> Vec<(i64, i64)> {
    let mut hull: Vec<(i64, i64)> = Vec::new();
    for &point in points {
        if let Some(last) = hull.last()
            && last.0 == point.0
        {
            if last.1 <= point.1 {
                continue;
            }
            hull.pop();
        }
        while let [.., a, b] = hull[..]
            && turn(a, b, point) <= 0
        {
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// Above 0 if the way from `a` over `b` to `c` turns left.
fn turn(a: (i64, i64), b: (i64, i64), c: (i64, i64)) -> i128 {
    let (dx1, dy1) = (i128::from(b.0) - i128::from(a.0), i128::from(b.1) - i128::from(a.1));
    let (dx2, dy2) = (i128::from(c.0) - i128::from(a.0), i128::from(c.1) - i128::from(a.1));
    dx1 * dy2 - dx2 * dy1
}
