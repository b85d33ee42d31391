//! What one host may fill of an archive: whoever was invited may send as much as he likes, and the
//! disk is that of all.

use crate::fleet::SECOND_NS;
use crate::fleet::names::HostName;
use alloc::collections::BTreeMap;

/// What a run takes of a disk beside its journal, in bytes and about: its folder, what is made of
/// it, its lines of indexes.
const RUN_BYTES: u64 = 16 << 10;

/// A host that has its share is looked at again after so long, in ns: its results may have been
/// removed.
const LOOKED_NS: u64 = 60 * SECOND_NS;

/// What a host has in the archive.
#[derive(Debug, Clone, Copy)]
struct Share {
    bytes: u64,
    looked_ns: u64,
}

/// Whether there is room for more of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There is.
    Enough,
    /// Nobody knows: look at the disk, and say what is there by [`Shares::looked`].
    Unknown,
    /// There is not: it has so many bytes.
    None {
        /// Its journals, and what else its runs take.
        bytes: u64,
    },
}

/// What each host has in the archive. No host gets more than the disk has left for all: one alone
/// gets half of it, and however many come, another finds room.
#[derive(Debug, Clone, Default)]
pub struct Shares(BTreeMap<HostName, Share>);

impl Shares {
    /// Whether `more` bytes of `host` may be written where so many are free.
    pub fn room(&self, host: &HostName, more: u64, free: u64, now_ns: u64) -> Room {
        match self.0.get(host) {
            None => Room::Unknown,
            Some(share) if share.bytes.saturating_add(more) <= free => Room::Enough,
            Some(share) if now_ns.saturating_sub(share.looked_ns) >= LOOKED_NS => Room::Unknown,
            Some(share) => Room::None { bytes: share.bytes },
        }
    }

    /// So many runs of `host` are on the disk, and their journals have so many bytes.
    pub fn looked(&mut self, host: &HostName, (runs, bytes): (u64, u64), now_ns: u64) {
        let bytes = bytes.saturating_add(runs.saturating_mul(RUN_BYTES));
        self.0.insert(host.clone(), Share { bytes, looked_ns: now_ns });
    }

    /// So many bytes more of `host` are on the disk, the first of a run or others.
    pub fn written(&mut self, host: &HostName, bytes: u64, begins: bool) {
        if let Some(share) = self.0.get_mut(host) {
            share.bytes = share.bytes.saturating_add(bytes + if begins { RUN_BYTES } else { 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> HostName {
        name.parse().unwrap()
    }

    #[test]
    fn no_host_has_more_than_is_free() {
        let mut shares = Shares::default();
        let a = host("rome/a");
        assert_eq!(shares.room(&a, 1, u64::MAX, 0), Room::Unknown);
        shares.looked(&a, (1, 1000), 0);
        let has = 1000 + RUN_BYTES;
        assert_eq!(shares.room(&a, 24, has + 24, 1), Room::Enough);
        assert_eq!(shares.room(&a, 25, has + 24, 1), Room::None { bytes: has });
        shares.written(&a, 24, false);
        assert_eq!(shares.room(&a, 1, has + 24, 1), Room::None { bytes: has + 24 });
        // Many small runs fill a disk as well.
        shares.written(&a, 1, true);
        let bytes = has + 25 + RUN_BYTES;
        assert_eq!(shares.room(&a, 1, bytes, LOOKED_NS - 1), Room::None { bytes });
        // What was removed counts no more.
        assert_eq!(shares.room(&a, 1, bytes, LOOKED_NS), Room::Unknown);
        shares.looked(&a, (0, 0), LOOKED_NS);
        assert_eq!(shares.room(&a, 1, bytes, LOOKED_NS), Room::Enough);
    }

    #[test]
    fn who_fills_a_disk_leaves_room_for_the_next() {
        const PART: u64 = 1 << 20;
        let mut shares = Shares::default();
        let mut free: u64 = 64 << 30;
        for (number, share) in [(1, 32), (2, 16), (3, 8)] {
            let host = host(&alloc::format!("rome/{number}"));
            shares.looked(&host, (0, 0), 0);
            let mut taken = 0;
            while shares.room(&host, PART, free, 0) == Room::Enough {
                shares.written(&host, PART, false);
                (taken, free) = (taken + PART, free - PART);
            }
            assert_eq!(taken >> 30, share, "{number}");
        }
    }
}
