//! How fast this host can send, so that what its owner allows for a day is kept to.

use super::addresses;
use v6gap_sys::interface;

/// The rate of the fastest interface that is up, in bit/s, as drivers tell it. Nothing if none
/// does, or the driver of one that leads to the world does not: it may be faster.
pub(super) fn fastest_bps() -> Option<u64> {
    let told = |name: &String| interface::speed_bps(name).ok();
    let usual = addresses::usual(&[]).into_iter();
    let usual = usual.filter_map(|address| interface::with_address(address).ok());
    let usual: Vec<Option<u64>> = usual.map(|name| told(&name)).collect();
    let up: Vec<Option<u64>> = interface::up().unwrap_or_default().iter().map(told).collect();
    fastest(&usual, &up)
}

fn fastest(usual: &[Option<u64>], up: &[Option<u64>]) -> Option<u64> {
    let are_told = usual.iter().all(Option::is_some);
    up.iter().flatten().copied().max().filter(|_| are_told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_counts_if_all_are_told_that_lead_to_the_world() {
        let (slow, fast) = (Some(1_000_000_000), Some(10_000_000_000));
        assert_eq!(fastest(&[slow], &[None, slow, fast]), fast);
        assert_eq!(fastest(&[], &[None, slow]), slow);
        // A tunnel tells a rate, and the line below does not.
        assert_eq!(fastest(&[slow, None], &[None, slow]), None);
        assert_eq!(fastest(&[], &[None]), None);
    }
}
