//! What else was another when the figures of a path changed, a sentence each.

use v6gap_core::family::Family;
use v6gap_judge::analysis::words::counted;
use v6gap_judge::changes::Suspect;

/// Longest value that is told whole, in characters: a route may have 32 routers.
const VALUE_CHARS_MAX: usize = 120;

/// "Routers to lab-b over IPv6: 9 before, 12 since."
pub(super) fn sentence(path: &str, suspect: &Suspect) -> String {
    let Suspect { name, family, before, after, lasting, times, .. } = suspect;
    let what = what(name, path);
    let over = family.map(|family: Family| format!(" over {family}")).unwrap_or_default();
    let (before, after) = (clipped(before), clipped(after));
    let since = if *lasting { "since" } else { "then, and another since" };
    // What changes often may have done so just then by chance.
    let often = match times {
        0 | 1 => String::new(),
        times => format!(" It changed {} in all.", counted(*times, "time")),
    };
    format!("{what}{over}: {before} before, {after} {since}.{often}")
}

/// What a fact is called in front of its values.
fn what(name: &str, path: &str) -> String {
    match name {
        "routers" => format!("Routers to {path}"),
        "path-mtu" => format!("Path MTU to {path}"),
        "route" => format!("Route to {path}"),
        "address" => format!("Address of {path}"),
        "server" => format!("What answers at {path}"),
        "kernel" => format!("Kernel of {path}"),
        "certificate" => format!("Certificate of {path}"),
        "delay" => format!("Short exchanges with {path}"),
        "loss" => format!("Share lost between here and {path}"),
        "rate" => format!("What the rate decides at {path}, and short exchanges do not show,"),
        other => format!("\"{other}\" of {path}"),
    }
}

fn clipped(value: &str) -> String {
    match value.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}
