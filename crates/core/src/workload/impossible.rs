//! What is wrong with a workload whatever anybody allows: numbers that messages cannot hold, sizes
//! that no packet has, settings that exclude each other. Each workload says it of itself.

use super::{Marking, StreamSettings, Workload};
use core::ops::RangeInclusive;

/// Why a workload cannot be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Impossible {
    /// A number is below or above what can be done at all or is allowed here.
    #[error("{what} is {found}, it must be from {least} to {most}")]
    Range {
        /// Which number, with its unit.
        what: &'static str,
        /// Value of the field.
        found: u64,
        /// Smallest allowed.
        least: u64,
        /// Largest allowed.
        most: u64,
    },
    /// Numbers or settings contradict one another.
    #[error("{0}")]
    Senseless(&'static str),
}

impl Impossible {
    /// Of a task whose far end is no server of ours.
    pub const OF_STRANGERS: Impossible =
        Impossible::Senseless("a server of v6gap takes no part in visits to others");
}

/// Whether a number is within `allowed`.
pub fn range(
    what: &'static str,
    found: impl Into<u64>,
    allowed: RangeInclusive<u64>,
) -> Result<(), Impossible> {
    let (found, least, most) = (found.into(), *allowed.start(), *allowed.end());
    if allowed.contains(&found) {
        Ok(())
    } else {
        Err(Impossible::Range { what, found, least, most })
    }
}

/// Refuses what is `wrong`.
pub(super) fn refuse(wrong: bool, why: &'static str) -> Result<(), Impossible> {
    if wrong { Err(Impossible::Senseless(why)) } else { Ok(()) }
}

/// The two times of a transfer.
pub(super) fn times(duration_ns: u64, warmup_ns: u64) -> Result<(), Impossible> {
    range("duration in ns", duration_ns, 1..=u64::MAX)?;
    range("warm-up in ns", warmup_ns, 0..=duration_ns - 1)
}

impl Workload {
    /// What is wrong with it, where a datagram carries `datagram_bytes_max` bytes of payload at
    /// most.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self, datagram_bytes_max: u32) -> Result<(), Impossible> {
        self.marking().check()?;
        let whole = self.marking().dont_fragment;
        refuse(
            whole && self.datagram_bytes().is_none(),
            "\"don't fragment\" without datagrams cannot be had",
        )?;
        self.check_numbers(datagram_bytes_max)
    }
}

impl Marking {
    fn check(&self) -> Result<(), Impossible> {
        range("hop limit", self.hop_limit.unwrap_or(1), 1..=u8::MAX.into())?;
        let most = Marking::FLOW_LABEL_MAX.into();
        range("flow label", self.flow_label.unwrap_or(1), 1..=most)
    }
}

impl StreamSettings {
    pub(super) fn check(&self) -> Result<(), Impossible> {
        self.congestion.as_deref().map_or(Ok(()), congestion_name)?;
        if let Some(bytes) = self.buffer_bytes {
            let most = StreamSettings::BUFFER_BYTES_MAX.into();
            range("bytes of a socket buffer", bytes, 1..=most)?;
        }
        let (least, most) = StreamSettings::MSS_BYTES.into_inner();
        let bytes = self.mss_bytes.unwrap_or(least);
        range("bytes of a segment", bytes, least.into()..=most.into())
    }
}

/// What is wrong with the name of a congestion control, which goes to the kernel as it stands:
/// Linux allows 15 bytes and a final zero.
pub(crate) fn congestion_name(name: &str) -> Result<(), Impossible> {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
    refuse(
        !(1..=15).contains(&name.len()) || !name.bytes().all(allowed),
        "the congestion control must be 1 to 15 of the characters a-z, 0-9, _ and -",
    )
}
