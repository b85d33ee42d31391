//! Places for connections: no other computer has them all.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// Part of them that one other computer may have, by its IPv4 address or IPv6 /64: further ones are
/// closed. Who is on this one shares its address with all others there.
const PART: usize = 4;

/// Places for connections, for all listeners together.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    of_each: usize,
    near: Mutex<BTreeMap<IpAddr, usize>>,
}

/// A place of somebody.
pub(crate) struct Place {
    places: Arc<Places>,
    near: IpAddr,
}

impl Places {
    /// So many.
    pub fn new(most: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(most));
        Arc::new(Places { all, of_each: most.div_ceil(PART), near: Mutex::default() })
    }

    /// The next that is free; nobody closes them.
    pub async fn next(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        Arc::clone(&self.all).acquire_owned().await
    }

    fn near(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        // A count is right whoever was interrupted beside it.
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One for `peer`, unless it has its part.
    pub fn of(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let near = match peer.to_canonical() {
            IpAddr::V6(six) if !six.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX)))
            }
            other => other,
        };
        let mut all = self.near();
        let count = all.entry(near).or_default();
        if *count >= self.of_each && !near.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Place { places: Arc::clone(self), near })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.places.near();
        if let Some(count) = all.get_mut(&self.near) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.near);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_computer_has_its_part_of_the_places_and_gives_them_back() {
        let places = Places::new(8);
        let of = |peer: &str| places.of(peer.parse().unwrap());
        let held = [of("2001:db8::1"), of("2001:db8::2")];
        assert!(held.iter().all(Option::is_some) && of("2001:db8::3").is_none());
        let others = [of("2001:db8:0:1::1"), of("192.0.2.1"), of("::ffff:192.0.2.1")];
        assert!(others.iter().all(Option::is_some) && of("192.0.2.1").is_none());
        let here: Vec<_> = (0..8).map(|_| of("::1")).collect();
        assert!(here.iter().all(Option::is_some));
        drop((held, others, here));
        assert!(of("2001:db8::3").is_some() && places.near().is_empty());
    }
}
