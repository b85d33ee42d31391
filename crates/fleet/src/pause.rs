//! How long what ended is left alone before it is begun again.

use crate::now::stopped;
use std::time::Duration;
use tokio::sync::watch;

/// What ran for so long was well.
const WELL: Duration = Duration::from_secs(60);

/// A pause that is twice as long each time, until what is begun goes well.
#[derive(Debug)]
pub(crate) struct Pause {
    first: Duration,
    most: Duration,
    /// How often it ended since it was well.
    times: u32,
}

impl Pause {
    /// One that is so long the first time, and at most.
    pub(crate) fn new(first: Duration, most: Duration) -> Pause {
        Pause { first, most, times: 0 }
    }

    /// How often it had ended since it was well, when it has now run for so long.
    pub(crate) fn times(&self, ran: Duration) -> u32 {
        if ran > WELL { 0 } else { self.times }
    }

    /// How long it is now, after it ran for so long.
    pub(crate) fn after(&mut self, ran: Duration) -> Duration {
        let times = self.times(ran);
        self.times = times.saturating_add(1);
        let pause = self.first.saturating_mul(1 << times.min(16));
        pause.min(self.most)
    }

    /// Lets it pass, and says whether it was stopped meanwhile.
    pub(crate) async fn pass(&mut self, ran: Duration, stop: &mut watch::Receiver<bool>) -> bool {
        tokio::select! {
            () = tokio::time::sleep(self.after(ran)) => false,
            () = stopped(stop) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_up_to_the_most_and_begins_anew_after_what_was_well() {
        let second = Duration::from_secs(1);
        let mut pause = Pause::new(second, 5 * second);
        let short = [(); 4].map(|()| pause.after(second).as_secs());
        assert_eq!((short, pause.times(second)), ([1, 2, 4, 5], 4));
        assert_eq!(pause.times(61 * second), 0);
        assert_eq!((pause.after(61 * second), pause.times(second)), (second, 1));
        let mut long = Pause::new(second, Duration::from_secs(1 << 40));
        let last = (0..40).map(|_| long.after(second)).last();
        assert_eq!(last, Some(Duration::from_secs(1 << 16)));
    }
}
