//! Kernel settings of the lab's namespaces, all below `/proc/sys/net`: whatever lies elsewhere may
//! belong to the whole host.

use crate::{LabError, LabOptions};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use v6gap_core::family::Family;
use v6gap_core::world::{Bursts, Conditions, LinkModel, NodeKind, TranslationKind, World};

/// Largest socket buffer that a program in the lab may ask for, in bytes: enough for 10 Gbit/s and
/// 50 ms.
const BUFFER_BYTES_MAX: &str = "67108864";

/// How long a host waits for the rest of a datagram, in s, and what those that it waits for may
/// take, in bytes: enough for 100 Mbit/s of which half is lost.
const FRAGMENT_SECONDS: &str = "2";
const FRAGMENT_BYTES_MAX: &str = "134217728";

/// Name of the fact that tells the processor of the user-space link.
pub(crate) const WIRE_CPU: &str = "lab.wire_cpu";

/// One setting: path below `/proc/sys/net`, value, and whether the kernel may do without it.
type Setting = (&'static str, &'static str, bool);

/// A node's settings.
fn node_settings(world: &World, node: usize) -> Vec<Setting> {
    let mut settings: Vec<Setting> = vec![
        // What one connection learned must not shape the next.
        ("ipv4/tcp_no_metrics_save", "1", false),
        // A connection that waits for its next turn must not start slowly again.
        ("ipv4/tcp_slow_start_after_idle", "0", true),
        // Nor may datagrams that came in part, of which the kernel keeps 4 MB for 30 s (IPv4) or
        // 60 s (IPv6): once that is full, nothing in fragments arrives any more.
        ("ipv4/ipfrag_time", FRAGMENT_SECONDS, true),
        ("ipv4/ipfrag_high_thresh", FRAGMENT_BYTES_MAX, true),
        // Who may send echoes without privileges, over both families: the lab's only group.
        ("ipv4/ping_group_range", "0 0", true),
        // Absent or read-only in namespaces of most kernels, where the host's value holds.
        ("core/rmem_max", BUFFER_BYTES_MAX, true),
        ("core/wmem_max", BUFFER_BYTES_MAX, true),
    ];
    let kind = world.nodes[node].kind;
    if kind == NodeKind::Switch {
        // A switch says nothing itself.
        return WITHOUT_IPV6.to_vec();
    }
    let router = kind == NodeKind::Router;
    // A new namespace has the value of the first one, which forwards where containers run.
    if world.families.v4 {
        settings.push(("ipv4/ip_forward", if router { "1" } else { "0" }, false));
    }
    if !world.families.v6 {
        settings.extend(WITHOUT_IPV6);
        return settings;
    }
    // Before there are interfaces: duplicate address detection takes a second and more.
    settings.extend([
        ("ipv6/conf/all/accept_dad", "0", false),
        ("ipv6/conf/default/accept_dad", "0", false),
        ("ipv6/conf/default/accept_ra", "0", false),
        ("ipv6/conf/default/router_solicitations", "0", false),
        ("ipv6/ip6frag_time", FRAGMENT_SECONDS, true),
        ("ipv6/ip6frag_high_thresh", FRAGMENT_BYTES_MAX, true),
    ]);
    // What a client translates comes from another interface than it leaves by.
    let translates = world.translation.is_some_and(|translation| {
        translation.kind == TranslationKind::Xlat464 && translation.client == node
    });
    if router || translates {
        settings.push(("ipv6/conf/all/forwarding", "1", false));
    }
    settings
}

/// The files are absent where the kernel has no IPv6 at all.
const WITHOUT_IPV6: [Setting; 2] =
    [("ipv6/conf/all/disable_ipv6", "1", true), ("ipv6/conf/default/disable_ipv6", "1", true)];

/// Sets a node's namespace up, from a thread inside it.
pub(crate) fn of_node(world: &World, node: usize) -> Result<(), LabError> {
    node_settings(world, node).iter().try_for_each(write)
}

/// Sets the namespace of the user-space link up, which must not say anything itself.
pub(crate) fn of_wire() -> Result<(), LabError> {
    WITHOUT_IPV6.iter().try_for_each(write)
}

fn write((path, value, optional): &Setting) -> Result<(), LabError> {
    match std::fs::write(format!("/proc/sys/net/{path}"), value) {
        Err(error) if *optional && is_missing(error.kind()) => Ok(()),
        outcome => outcome.map_err(LabError::system(format!("set net/{path} to {value}"))),
    }
}

fn is_missing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::PermissionDenied | ErrorKind::InvalidInput)
}

/// The values that hold in a node's namespace, read from a thread inside it.
pub(crate) fn in_force(world: &World, node: usize) -> BTreeMap<String, String> {
    let read = |(path, _, _): Setting| {
        let value = std::fs::read_to_string(format!("/proc/sys/net/{path}"));
        let value = value.map_or("absent".to_owned(), |text| text.trim().to_owned());
        (format!("lab.{}.net/{path}", world.nodes[node].name), value)
    };
    node_settings(world, node).into_iter().map(read).collect()
}

/// The facts that follow from the world and the options.
pub(crate) fn facts(world: &World, options: &LabOptions) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut note = |key: String, value: String| {
        facts.insert(key, value);
    };
    note("lab.model".to_owned(), format!("{:?}", world.model).to_lowercase());
    let names: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
    note("lab.nodes".to_owned(), names.join(" "));
    if world.vlan_tags > 0 {
        note("lab.vlan_tags".to_owned(), world.vlan_tags.to_string());
    }
    if !world.priority.is_empty() {
        let classes: Vec<String> = world.priority.iter().map(u8::to_string).collect();
        note("lab.priority".to_owned(), classes.join(" "));
    }
    if let Some(cpu) = options.wire_cpu {
        note(WIRE_CPU.to_owned(), cpu.to_string());
    }
    note("lab.seed".to_owned(), options.seed.to_string());
    for (number, laid) in world.tunnels.iter().enumerate() {
        let key = |what: &str| format!("lab.tunnel{}.{what}", number + 1);
        let carried = Family::BOTH.into_iter().filter(|family| *laid.carries.get(*family));
        let carried: Vec<String> = carried.map(|family| family.to_string()).collect();
        note(key("ends"), laid.ends.map(|node| names[node]).join(" "));
        note(key("kind"), laid.tunnel.to_string());
        note(key("carries"), carried.join(" "));
        note(key("mtu_bytes"), world.mtu_inside(laid).to_string());
    }
    if let Some(translation) = &world.translation {
        note("lab.translation.kind".to_owned(), translation.kind.to_string());
        note("lab.translation.at".to_owned(), names[translation.at].to_owned());
    }
    for (number, link) in world.links.iter().enumerate() {
        let key = |what: &str| format!("lab.link{}.{what}", number + 1);
        note(key("ends"), link.ends.map(|node| names[node]).join(" "));
        note(key("mtu_bytes"), link.mtu.to_string());
        for family in Family::BOTH {
            if let Some(mtu) = link.mtus.get(family) {
                note(key(&format!("{family}.mtu_bytes")), mtu.to_string());
            }
        }
        if world.model != LinkModel::Bare {
            note(key("queue_frames"), link.queue_frames.to_string());
        }
        for family in Family::BOTH.into_iter().filter(|family| *world.families.get(*family)) {
            note(key(&family.to_string()), in_words(link.conditions.get(family)));
            if let Some(back) = &link.back {
                note(key(&format!("{family}.back")), in_words(back.get(family)));
            }
        }
    }
    facts
}

fn in_words(conditions: &Conditions) -> String {
    let rate = conditions.rate_bps.map_or("no limit".to_owned(), |rate| format!("{rate} bit/s"));
    let Conditions { delay_ns, loss, .. } = conditions;
    let mut words = vec![rate, format!("delay {delay_ns} ns"), format!("loss {loss}")];
    words.extend(conditions.jitter.map(|jitter| {
        let order = if jitter.reorders { "reordering" } else { "in order" };
        format!("jitter {:?} {} ns {order}", jitter.spread, jitter.spread_ns).to_lowercase()
    }));
    words.extend(conditions.bursts.map(|bursts| {
        let Bursts { begin, end, loss } = bursts;
        format!("bursts begin {begin} end {end} loss {loss}")
    }));
    if conditions.duplication > 0.0 {
        words.push(format!("duplication {}", conditions.duplication));
    }
    words.extend(
        conditions
            .reordering
            .map(|held| format!("share {} held back {} ns", held.share, held.by_ns)),
    );
    words.extend(conditions.queue_frames.map(|frames| format!("queue {frames}")));
    let hole = conditions.black_hole_above;
    words.extend(hole.map(|bytes| format!("black hole above {bytes} bytes")));
    words.join(", ")
}
