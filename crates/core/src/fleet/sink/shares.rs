//! What one host may fill of an archive: whoever was invited may send as much as he likes, and the
//! disk is that of all.

use crate::fleet::SECOND_NS;
use crate::fleet::names::HostName;
use alloc::collections::BTreeMap;

/// What a part takes of a disk beside its bytes, in bytes and about: the mark that its run has more
/// of. File systems have a file for each 16 KiB or so.
const PART_BYTES: u64 = 16 << 10;

/// What a run takes beside its parts: its folder, its journal, and what is made of it.
const RUN_BYTES: u64 = 48 << 10;

/// A day, in ns.
const DAY_NS: u64 = 86_400 * SECOND_NS;

/// That a host has its share is said so often at most, in ns.
const SAID_NS: u64 = 60 * SECOND_NS;

/// What came of a host in the day that began then.
#[derive(Debug, Clone, Copy)]
struct Share {
    began_ns: u64,
    bytes: u64,
    said_ns: Option<u64>,
}

/// Whether there is room for more of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// There is.
    Enough,
    /// There is not.
    None {
        /// What came of it this day.
        bytes: u64,
        /// Whether it is time to say so.
        say: bool,
    },
}

/// What came of each host in a day of its own. In a day no host gets more than the disk has left
/// for all: one alone gets half of it, another half of the rest. What it had before counts for
/// nothing, so that who fills the disk keeps out nobody who was there longer.
#[derive(Debug, Clone, Default)]
pub struct Shares(BTreeMap<HostName, Share>);

impl Shares {
    /// Whether `more` bytes of `host` may be written where so many are free.
    pub fn room(&mut self, host: &HostName, more: u64, free: u64, now_ns: u64) -> Room {
        let fresh = Share { began_ns: now_ns, bytes: 0, said_ns: None };
        let share = self.0.entry(host.clone()).or_insert(fresh);
        if now_ns.saturating_sub(share.began_ns) >= DAY_NS {
            *share = fresh;
        }
        if share.bytes.saturating_add(more) <= free {
            return Room::Enough;
        }
        let say = share.said_ns.is_none_or(|said_ns| now_ns.saturating_sub(said_ns) >= SAID_NS);
        if say {
            share.said_ns = Some(now_ns);
        }
        Room::None { bytes: share.bytes, say }
    }

    /// So many bytes more of `host` are on the disk, the first of a run or others.
    pub fn written(&mut self, host: &HostName, bytes: u64, begins: bool) {
        if let Some(share) = self.0.get_mut(host) {
            let beside = PART_BYTES + if begins { RUN_BYTES } else { 0 };
            share.bytes = share.bytes.saturating_add(bytes + beside);
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
    fn no_host_gets_more_in_a_day_than_is_free() {
        let mut shares = Shares::default();
        let a = host("rome/a");
        assert_eq!(shares.room(&a, 10, 10, 0), Room::Enough);
        shares.written(&a, 10, true);
        let came = 10 + PART_BYTES + RUN_BYTES;
        assert_eq!(shares.room(&a, 1, came + 1, 1), Room::Enough);
        assert_eq!(shares.room(&a, 1, came, 2), Room::None { bytes: came, say: true });
        // Many small parts fill a disk as well.
        shares.written(&a, 1, false);
        let bytes = came + 1 + PART_BYTES;
        assert_eq!(shares.room(&a, 1, bytes, SAID_NS + 1), Room::None { bytes, say: false });
        assert_eq!(shares.room(&a, 1, bytes, SAID_NS + 2), Room::None { bytes, say: true });
        assert_eq!(shares.room(&host("rome/b"), bytes, bytes, 3), Room::Enough);
        // Another day.
        assert_eq!(shares.room(&a, 1, bytes, DAY_NS - 1), Room::None { bytes, say: true });
        assert_eq!(shares.room(&a, bytes, bytes, DAY_NS), Room::Enough);
    }

    #[test]
    fn who_fills_a_disk_leaves_room_for_the_next() {
        const PART: u64 = 1 << 20;
        let mut shares = Shares::default();
        let mut free: u64 = 64 << 30;
        for (number, least) in [(1, 31), (2, 15), (3, 7)] {
            let host = host(&alloc::format!("rome/{number}"));
            let mut taken = 0;
            while shares.room(&host, PART, free, 0) == Room::Enough {
                shares.written(&host, PART, false);
                (taken, free) = (taken + PART, free - PART);
            }
            assert!((least..=least + 1).contains(&(taken >> 30)), "{number}: {taken}");
        }
    }
}
