//! Linux: `perf_event_open`.

use super::Counted;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter, Group};
use std::io::{self, ErrorKind};

#[derive(Debug)]
pub(super) struct Counting {
    group: Group,
    cycles: Counter,
    instructions: Counter,
}

impl Counting {
    pub fn read(&mut self) -> Option<Counted> {
        let counts = self.group.read().ok()?;
        // Where others ask for counters too, the kernel counts for a part of the time.
        let is_whole = counts.time_running() == counts.time_enabled();
        Some(Counted { cycles: counts[&self.cycles], instructions: counts[&self.instructions] })
            .filter(|counted| is_whole && counted.cycles > 0)
    }
}

pub(super) fn start() -> Result<Counting, String> {
    open().map_err(|error| match error.kind() {
        ErrorKind::NotFound => "this processor shows none, as in many virtual machines".to_owned(),
        ErrorKind::PermissionDenied => {
            format!("they are not allowed here (kernel.perf_event_paranoid): {error}")
        }
        _ => error.to_string(),
    })
}

fn open() -> io::Result<Counting> {
    let mut group = Group::new()?;
    let mut add = |event| {
        let mut builder = Builder::new().group(&mut group).kind(event);
        builder.include_kernel();
        builder.build()
    };
    let cycles = add(Hardware::CPU_CYCLES)?;
    let instructions = add(Hardware::INSTRUCTIONS)?;
    group.enable()?;
    Ok(Counting { group, cycles, instructions })
}
