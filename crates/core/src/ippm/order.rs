//! Reordering (RFC 4737) and duplication (RFC 5560), from the numbers of packets in the order of
//! their arrival.

use alloc::vec::Vec;

/// The n of n-reordering is counted up to here: TCP cares for 3, and numbers may come from anyone.
pub const N_MAX: usize = 128;

/// A packet that arrived after one that was sent later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reordered {
    /// Number of the packet.
    pub number: u64,
    /// How many arrivals it is behind the earliest one with a larger number (RFC 4737 section
    /// 4.2).
    pub extent: u64,
    /// How many arrivals just before it all have larger numbers: it is n-reordered up to this n
    /// (section 5.3), counted up to [`N_MAX`]. From 3 on, TCP takes it for lost.
    pub n: u64,
}

/// Reordered packets among `numbers`, which hold no number twice (section 3.3: a packet is in order
/// if its number is at least the next one expected), in the order of arrival.
pub fn reordered(numbers: &[u64]) -> Vec<Reordered> {
    let mut found = Vec::new();
    // Where the largest number so far changed, and to what: both ascend.
    let mut records: Vec<(usize, u64)> = Vec::new();
    for (place, &number) in numbers.iter().enumerate() {
        if records.last().is_none_or(|&(_, largest)| number > largest) {
            records.push((place, number));
            continue;
        }
        let first = records.partition_point(|&(_, largest)| largest < number);
        let extent = records.get(first).map_or(0, |&(earlier, _)| (place - earlier) as u64);
        let larger = numbers[..place].iter().rev().take_while(|&&before| before > number);
        found.push(Reordered { number, extent, n: larger.take(N_MAX).count() as u64 });
    }
    found
}

/// Copies of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copies {
    /// Packets that arrived at least once.
    pub packets: u64,
    /// Arrivals beyond the first of a packet.
    pub duplicates: u64,
    /// Packets that arrived more than once.
    pub duplicated: u64,
}

impl Copies {
    /// Counts `numbers`, in any order.
    pub fn of(numbers: impl IntoIterator<Item = u64>) -> Copies {
        let mut sorted: Vec<u64> = numbers.into_iter().collect();
        sorted.sort_unstable();
        let mut copies = Copies::default();
        for same in sorted.chunk_by(|a, b| a == b) {
            copies.packets += 1;
            copies.duplicates += same.len() as u64 - 1;
            copies.duplicated += u64::from(same.len() > 1);
        }
        copies
    }
}
