//! Many connections open at a time: 1,000 and 10,000 of each family, set up without an error, how
//! many per second, and what the kernel spends on each. Needs user namespaces and a limit of open
//! files that allows both ends of all of them in one process; without them it says so and fails,
//! but for a limit of 20,000, with which it holds 9,900.
//!
//! `cargo bench -p v6gap-engine --bench connections`
#![expect(clippy::disallowed_macros, reason = "a program of its own, which prints")]

mod common;

use common::{Bed, Outcome, judge, trial};
use v6gap_core::family::Family;
use v6gap_core::observation::{Connections, Measured};
use v6gap_core::workload::{Connect, Purpose, Workload};
use v6gap_sys::files;

fn main() {
    common::run("connections", bench);
}

fn bench() -> Outcome {
    // Both ends are in this process. In the lab it may not raise its limits any more.
    let many = match files::make_room(2 * 10_000) {
        Ok(()) => 10_000,
        Err(missing) => {
            files::make_room(2 * 9_900)?;
            println!("9,900 in place of 10,000: {missing}");
            9_900
        }
    };
    let bed = Bed::new()?;
    let mut short = Vec::new();
    for count in [1_000, many] {
        for family in Family::BOTH {
            held(&bed, count, family, &mut short)?;
        }
    }
    for family in Family::BOTH {
        for concurrent in [1, 64] {
            rate(&bed, concurrent, family, &mut short)?;
        }
    }
    judge(&short)
}

fn held(bed: &Bed, count: u32, family: Family, short: &mut Vec<String>) -> Outcome {
    let workload = Connect { count, purpose: Purpose::Hold, concurrent: 64 };
    let all = connections(bed, workload, family, short)?;
    let memory = all.memory.ok_or("nothing was held")?;
    let each = |bytes: Option<f64>| match bytes {
        Some(bytes) => format!("{bytes:.0} B"),
        None => "not told".to_owned(),
    };
    println!(
        "{family}, {count} held: {:.0} connections/s; each: slab {} (both ends), pages {}, by the \
         socket's own account {}",
        f64::from(count) * 1e9 / all.span_ns as f64,
        each(memory.slab_bytes_each),
        each(memory.page_bytes_each),
        each(memory.socket_bytes_each),
    );
    Ok(())
}

fn rate(bed: &Bed, concurrent: u32, family: Family, short: &mut Vec<String>) -> Outcome {
    const COUNT: u32 = 5_000;
    let workload = Connect { count: COUNT, purpose: Purpose::Rate, concurrent };
    let all = connections(bed, workload, family, short)?;
    let first_byte = all.first_byte.as_ref().map_or(0.0, |times| times.median_ns);
    println!(
        "{family}, {concurrent} at a time: {:.0} connections/s with request and answer; medians: \
         socket {:.1} us, connect {:.1} us, first byte {:.1} us",
        f64::from(COUNT) * 1e9 / all.span_ns as f64,
        all.socket.median_ns / 1e3,
        all.connect.median_ns / 1e3,
        first_byte / 1e3,
    );
    Ok(())
}

fn connections(
    bed: &Bed,
    workload: Connect,
    family: Family,
    short: &mut Vec<String>,
) -> Outcome<Connections> {
    let count = u64::from(workload.count);
    let ends = bed.perform(&trial(Workload::Connect(workload), family))?;
    let all = match ends.into_iter().next().map(|ends| ends.client.measured) {
        Some(Measured::Connections(all)) => *all,
        other => return Err(format!("no connections but {other:?}").into()),
    };
    if all.connect.count != count || all.connect.lost > 0 {
        short.push(format!("{family}: {} of {count} failed", all.connect.lost));
    }
    Ok(all)
}
