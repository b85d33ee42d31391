//! Reordering (RFC 4737) and duplication (RFC 5560), from the numbers of packets in the order of
//! their arrival.

use alloc::vec::Vec;

/// The n of n-reordering is counted up to here: TCP cares for 3, and numbers may come from anyone.
pub const N_MAX: usize = 128;

/// A packet that arrived after one that was sent later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reordered {
    /// Its number.
    pub number: u64,
    /// How many arrivals it is behind the earliest one with a larger number (RFC 4737 section
    /// 4.2.1).
    pub extent: u64,
    /// How many arrivals just before it all have larger numbers: it is n-reordered up to this n
    /// (section 5.2), counted up to [`N_MAX`]. From 3 on, TCP takes it for lost.
    pub n: u64,
}

/// Runs of packets in order between reordered ones (RFC 4737 section 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FreeRuns {
    /// Packets that arrived.
    pub packets: u64,
    /// Runs that a reordered packet ended.
    pub runs: u64,
    /// Packets in them.
    pub in_runs: u64,
    /// Sum of the squares of their lengths.
    pub squares: u64,
}

impl FreeRuns {
    /// How much longer the runs are than they would be if all were alike: the mean run in which a
    /// packet finds itself, against the mean run. `None` without runs.
    pub fn concentration(&self) -> Option<f64> {
        let (packets, runs) = (self.in_runs as f64, self.runs as f64);
        (self.in_runs > 0).then(|| (self.squares as f64 / packets) / (packets / runs))
    }
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

/// The runs between reordered packets among `numbers`, which hold no number twice.
pub fn free_runs(numbers: &[u64]) -> FreeRuns {
    let mut runs = FreeRuns::default();
    let mut largest = None;
    let mut run: u64 = 0;
    for &number in numbers {
        runs.packets += 1;
        if largest.is_none_or(|largest| number > largest) {
            largest = Some(number);
            run += 1;
        } else {
            runs.runs += 1;
            runs.in_runs += run;
            runs.squares += run * run;
            run = 0;
        }
    }
    runs
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

    /// Type-P-one-way-packet-duplication fraction (RFC 5560 section 4.2): copies beyond the first
    /// for each packet that arrived. `None` of no packet.
    pub fn fraction(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.duplicates as f64 / self.packets as f64)
    }

    /// Type-P-one-way-replicated-packet rate (section 4.3): the share of packets that arrived more
    /// than once. `None` of no packet.
    pub fn replicated(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.duplicated as f64 / self.packets as f64)
    }
}
