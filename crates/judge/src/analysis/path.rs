//! What the trials tell of the path between two hosts: MTU and routers of each family.

use super::collect::Collected;
use super::routes;
use serde::Serialize;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::observation::Ends;

/// What is known of the path of each family.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Path {
    /// Smallest path MTU that the client's kernel assumed, in bytes.
    pub mtu: PerFamily<Option<u32>>,
    /// Fewest and most routers on the way to the server.
    pub routers: PerFamily<Option<[u8; 2]>>,
}

/// Fewest routers that packets of a trial passed on the way to the server, where that is known.
pub fn routers(ends: &Ends) -> Option<u8> {
    let [there, _] = routes::passed(ends);
    there.into_iter().min()
}

pub(super) fn path(found: &Collected<'_>) -> Path {
    let of = |family: Family| found.trials.iter().filter(move |trial| trial.family == family);
    let mtu = |family| of(family).filter_map(|trial| trial.ends.client.granted.path_mtu).min();
    let routers = |family| {
        let passed = || of(family).flat_map(|t| core::mem::take(&mut routes::passed(&t.ends)[0]));
        Some([passed().min()?, passed().max()?])
    };
    let both = |family| (mtu(family), routers(family));
    let (v4, v6) = (both(Family::V4), both(Family::V6));
    Path { mtu: PerFamily { v4: v4.0, v6: v6.0 }, routers: PerFamily { v4: v4.1, v6: v6.1 } }
}
