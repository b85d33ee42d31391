//! Plans that come with the program.

use super::Plan;
use super::check::assembled;
use super::draft::{self, Draft, Lab, Levels, Measure, VERSION};
use crate::arm::PerArm;
use crate::family::Family;
use crate::metric::Metric;
use crate::world::{LinkModel, World};
use alloc::string::ToString;

/// What is measured when nothing else is asked for: TCP throughput, round trips at three sizes over
/// TCP and UDP, connecting, UDP goodput and loss; in `world` if there is one.
pub fn first_look_draft(arms: PerArm<Family>, world: Option<World>) -> Draft {
    let table =
        |metric: Metric| Measure { metric: metric.name().to_string(), ..Measure::default() };
    let short = |family| if family == Family::V4 { "v4" } else { "v6" }.to_string();
    let protocol = Some(Levels::Many(["tcp", "udp"].map(ToString::to_string).to_vec()));
    Draft {
        v6gap: VERSION,
        name: Some("First look".to_string()),
        description: Some(
            "Throughput, round trips, connecting and loss, IPv6 against IPv4".to_string(),
        ),
        lab: world.map(|world| Lab { made: Some(world), ..Lab::default() }),
        design: draft::Design {
            arms: Some([short(arms.a), short(arms.b)]),
            ..draft::Design::default()
        },
        measure: alloc::vec![
            table(Metric::Throughput),
            Measure { protocol, ..table(Metric::Rtt) },
            table(Metric::Connect),
            table(Metric::Loss),
        ],
        ..Draft::default()
    }
}

/// What is asked of a host that does not run this program: looking it up, if it has a name, echoes
/// of ICMP if it answers them, and visits.
pub fn visits_draft(site: draft::Site, named: bool, echoes: bool) -> Draft {
    let table =
        |metric: Metric| Measure { metric: metric.name().to_string(), ..Measure::default() };
    let asked =
        [named.then_some(Metric::Lookup), echoes.then_some(Metric::Rtt), Some(Metric::FirstByte)];
    Draft {
        v6gap: VERSION,
        name: Some("Visits".to_string()),
        description: Some("A host that does not run v6gap, visited over both families".to_string()),
        measure: asked.into_iter().flatten().map(table).collect(),
        site: Some(site),
        design: draft::Design { pairs: Some(VISIT_PAIRS), ..draft::Design::default() },
        ..Draft::default()
    }
}

/// Pairs of visits: a value is one visit, so that a spread of 12 % needs so many for a range of
/// ±5 %.
pub const VISIT_PAIRS: u32 = 24;

/// The plan of the first look.
pub fn first_look(arms: PerArm<Family>, world: Option<World>, seed: u64) -> Plan {
    assembled(&first_look_draft(arms, world), seed).0
}

/// The world of the demo: client – router – server, 100 Mbit/s, true serialisation.
pub fn demo_world() -> World {
    World::client_router_server(LinkModel::Wire, Some(100_000_000))
}
