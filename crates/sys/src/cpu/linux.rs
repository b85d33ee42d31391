//! Linux: scheduler affinity of the calling thread.

use crate::Unavailable;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

pub(super) fn allowed() -> Result<Vec<usize>, Unavailable> {
    let set = sched_getaffinity(None)
        .map_err(|error| Unavailable::new("the list of processors", error))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

pub(super) fn pin_thread(cpu: usize) -> Result<(), Unavailable> {
    let refused = |because: &dyn std::fmt::Display| {
        Unavailable::new("processor pinning", format_args!("processor {cpu}: {because}"))
    };
    if cpu >= CpuSet::MAX_CPU {
        return Err(refused(&"there is no such processor"));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| refused(&error))
}

pub(super) fn current() -> Option<usize> {
    Some(sched_getcpu())
}
