//! The ways to a host over both families, in sentences: where they part, and how large packets may
//! be on them.

use v6gap_core::family::{Family, PerFamily};
use v6gap_core::ladder::{Rung, Told, parting};
use v6gap_core::path_mtu::PathMtu;
use v6gap_core::tunnel::{Tunnel, TunnelKind};

/// What is said of the ways, a sentence or two each.
pub(crate) fn way(
    hops: Option<&PerFamily<Vec<Rung>>>,
    path_mtu: Option<&PerFamily<PathMtu>>,
) -> Vec<String> {
    let mut said: Vec<String> = hops.and_then(parts).into_iter().collect();
    if let Some(of) = path_mtu {
        said.extend(sizes(of));
        said.extend(Family::BOTH.into_iter().filter_map(|family| hole(of.get(family), family)));
    }
    said
}

/// Where the ways part.
fn parts(hops: &PerFamily<Vec<Rung>>) -> Option<String> {
    let parting = parting(hops)?;
    let by = match parting.by {
        Told::Names => "by the names of the routers there",
        Told::Times => "by the times of the routers there",
    };
    Some(format!("The ways part at distance {}, {by}.", parting.distance))
}

/// How large packets may be, and what the difference looks like.
fn sizes(of: &PerFamily<PathMtu>) -> Option<String> {
    let (four, six) = (of.v4.found(), of.v6.found());
    let (Some(v4), Some(v6)) = (four, six) else {
        let known = four.map(|v4| (Family::V4, v4)).or(six.map(|v6| (Family::V6, v6)));
        let (family, bytes) = known?;
        return Some(format!("{} pass over {family}.", packets(bytes)));
    };
    if v4 == v6 {
        return Some(format!("{} pass over both families.", packets(v4)));
    }
    let (family, less, more) = if v6 < v4 { (Family::V6, v6, v4) } else { (Family::V4, v4, v6) };
    let tunnel = Tunnel::that_leaves(less, more)
        .map(|tunnel| format!(", as in a tunnel: {}", named(tunnel, family)));
    Some(format!(
        "{} pass over IPv4 and of up to {v6} B over IPv6: {} B less over {family}{}.",
        packets(v4),
        more - less,
        tunnel.unwrap_or_default()
    ))
}

fn packets(bytes: u32) -> String {
    format!("Packets of up to {bytes} B")
}

/// What people call a tunnel that carries `inner`.
fn named(tunnel: Tunnel, inner: Family) -> String {
    match (tunnel.kind, inner, tunnel.outer) {
        (TunnelKind::IpInIp, Family::V6, Family::V4) => "6in4 (RFC 4213)".to_owned(),
        (TunnelKind::IpInIp, Family::V4, Family::V6) => "4in6, as of DS-Lite (RFC 6333)".to_owned(),
        (TunnelKind::WireGuard, _, _) => "WireGuard".to_owned(),
        (kind, _, outer) => format!("{} over {outer}", kind.title()),
    }
}

/// Packets that vanish without a word; nothing where none do.
pub fn hole(of: &PathMtu, family: Family) -> Option<String> {
    let found = of.found().filter(|_| of.is_hole())?;
    let told = of.told?;
    let back = if of.is_narrower_back() { " on the way back" } else { "" };
    Some(format!(
        "Over {family} packets above {found} B vanish{back} and nobody says so: this host takes \
         {told} B for the path MTU, and what is larger than fits will stall (RFC 2923)."
    ))
}
