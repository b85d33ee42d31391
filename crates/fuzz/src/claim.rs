//! Claims of a host, which any of its users may write: any text is a claim or none, and what is
//! taken for one is harmless and reads the same when it is written again.

use v6gap_core::turn::Claim;
use v6gap_core::wire::foreign::is_unsafe;

/// The text of a claim.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(claim) = Claim::parse(text) else { return };
    assert!(!claim.what.contains(is_unsafe), "{claim:?}");
    assert!(!claim.conflicts(&claim), "a measurement is in its own way");
    assert_eq!(Claim::parse(&claim.text()), Some(claim));
}
