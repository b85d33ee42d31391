//! What a mesh plan takes, in words: how long a round is, what holds it up, and what would do where
//! it does not fit.

use super::counted;
use serde_json::{Value, json};
use v6gap_core::fleet::estimate::{Busiest, Estimate, Measured, Round};
use v6gap_core::fleet::mesh::Mesh;
use v6gap_core::unit::{format_bytes, format_rate, format_share, format_span, significant};

/// Name and version of the document's form.
pub const ESTIMATE_SCHEMA: &str = "v6gap.fleet.estimate/1";

/// What `mesh` takes at this rate of a path, in bit/s.
pub fn estimate(mesh: &Mesh, found: &Estimate, rate_bps: f64) -> String {
    let (hosts, sites) = (counted(mesh.hosts.len(), "host"), counted(mesh.sites().len(), "site"));
    let mut out = format!("{hosts}, {sites}.\n");
    for (at, of) in found.measures.iter().enumerate() {
        out.push_str(&measured(mesh, at, of, rate_bps));
    }
    out.push_str(&together(mesh, found));
    out
}

fn measured(mesh: &Mesh, at: usize, of: &Measured, rate_bps: f64) -> String {
    let Some(measure) = mesh.measures.get(at) else { return String::new() };
    let group = mesh.groups.get(measure.group).map_or("", |group| group.name.as_str());
    let every = format_span(measure.every_ns as f64);
    let class = measure.class.name();
    let plan = &measure.plan;
    let paths = counted(of.longest.jobs, "path");
    let alone = of.hosts_alone_ns.map_or(String::new(), |[settling, longest]| {
        format!("; hosts alone {}", spans(settling, longest))
    });
    let bytes = format_bytes(of.bytes as u64);
    let rate = format_rate(rate_bps);
    let mut out = format!(
        "{group}, {plan}: {paths}, {class}, every {every}.\n  {} for all; {} holds it up ({} at \
         once on average){alone}.\n  No timetable is quicker than {}. At most {bytes} a round at \
         {rate}.\n",
        spans(of.settling.time_ns, of.longest.time_ns),
        name(mesh, of.longest.busiest),
        significant(of.longest.at_once, 2),
        spans(of.settling.bound_ns, of.longest.bound_ns),
    );
    if !of.fits {
        let allow = format_span(of.allow_ns as f64);
        let fewer = match of.partners {
            Some(partners) if partners > 0 => {
                format!(", or groups of {} hosts at most, or sample = {partners}", partners + 1)
            }
            Some(_) | None => String::new(),
        };
        out.push_str(&format!("  Not possible every {every}: allow {allow}{fewer}.\n"));
    }
    out
}

/// What all measurements take of the time of what they take most.
fn together(mesh: &Mesh, found: &Estimate) -> String {
    let host = found.busiest_host.map(|(at, share)| (Busiest::Host(at), share));
    let link = found.busiest_link.map(|(at, share)| (Busiest::Link(at), share));
    let most = [host, link].into_iter().flatten().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((busiest, share)) = most else { return String::new() };
    let name = name(mesh, busiest);
    let taken = format_share((share * 100.0).round() / 100.0);
    match share > 1.0 {
        true => {
            let would = format!("All together would take {name} for {taken} of the time");
            would + ": not possible as often as that.\n"
        }
        false => format!("All together take {name} for {taken} of the time.\n"),
    }
}

/// "3 h 42 min – 5 h 36 min", or one of them if they are alike.
fn spans(least_ns: u64, most_ns: u64) -> String {
    let [least, most] = [least_ns, most_ns].map(|ns| format_span(ns as f64));
    if least == most { least } else { format!("{least} – {most}") }
}

fn name(mesh: &Mesh, busiest: Busiest) -> String {
    match busiest {
        Busiest::Host(at) => {
            mesh.hosts.get(at).map_or_else(String::new, |host| format!("host {}", host.name))
        }
        Busiest::Link(at) => {
            mesh.links.get(at).map_or_else(String::new, |link| format!("link {}", link.name))
        }
    }
}

/// The same for programs.
pub fn estimate_json(mesh: &Mesh, found: &Estimate) -> Value {
    let round = |round: &Round| {
        json!({
            "paths": round.jobs,
            "time_ns": round.time_ns,
            "bound_ns": round.bound_ns,
            "held_up_by": name(mesh, round.busiest),
            "at_once": round.at_once,
        })
    };
    let measures = found.measures.iter().zip(&mesh.measures).map(|(of, measure)| {
        json!({
            "group": mesh.groups.get(measure.group).map(|group| &group.name),
            "plan": measure.plan,
            "class": measure.class.name(),
            "every_ns": measure.every_ns,
            "settling": round(&of.settling),
            "longest": round(&of.longest),
            "hosts_alone_ns": of.hosts_alone_ns,
            "bytes": of.bytes,
            "fits": of.fits,
            "allow_ns": of.allow_ns,
            "partners": of.partners,
        })
    });
    let share = |of: Option<(Busiest, f64)>| {
        of.map(|(busiest, share)| json!({ "name": name(mesh, busiest), "share": share }))
    };
    json!({
        "schema": ESTIMATE_SCHEMA,
        "name": mesh.name,
        "hosts": mesh.hosts.len(),
        "sites": mesh.sites().len(),
        "measures": measures.collect::<Vec<_>>(),
        "busiest_host": share(found.busiest_host.map(|(at, of)| (Busiest::Host(at), of))),
        "busiest_link": share(found.busiest_link.map(|(at, of)| (Busiest::Link(at), of))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::plan::tests::mesh;
    use v6gap_core::fleet::estimate::{Takes, estimate_mesh};

    const SECOND: u64 = 1_000_000_000;

    fn found(mesh: &Mesh) -> Estimate {
        let takes = [(20, 20, 1e6), (20, 75, 6e8)].map(|(shortest, longest, bytes)| Takes {
            shortest_ns: shortest * SECOND,
            longest_ns: longest * SECOND,
            bytes,
        });
        estimate_mesh(mesh, &takes)
    }

    #[test]
    fn an_estimate_says_what_holds_it_up_and_what_would_do() {
        let mesh = mesh();
        let text = estimate(&mesh, &found(&mesh), 1e8);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "5 hosts, 3 sites.");
        assert_eq!(lines[1], "all, rtt: 10 paths, light, every 60 s.");
        // Four visits of 21 s at each host; five hosts need five rounds.
        assert!(lines[2].starts_with("  105 s for all; host "), "{text}");
        assert!(lines[3].starts_with("  No timetable is quicker than 84 s. At most 10 MB"));
        let fits = "  Not possible every 60 s: allow 2 min, or groups of 3 hosts at most, or \
                    sample = 2.";
        assert_eq!(lines[4], fits);
        assert!(lines[6].contains("link rome-uplink holds it up"), "{text}");
        assert!(lines[6].contains("; hosts alone "), "{text}");
        // 4 x 21 s a minute, and 4 x 76 s in 6 h.
        let last = "for 141 % of the time: not possible as often as that.";
        assert!(text.trim_end().ends_with(last), "{text}");
    }

    #[test]
    fn programs_are_told_the_same() {
        let mesh = mesh();
        let document = estimate_json(&mesh, &found(&mesh));
        assert_eq!(document["measures"][0]["fits"], false);
        assert_eq!(document["measures"][1]["longest"]["held_up_by"], "link rome-uplink");
        assert_eq!(document["measures"][1]["longest"]["bound_ns"], 6 * 76 * SECOND);
        let share = document["busiest_host"]["share"].as_f64().unwrap();
        assert!((share - (84.0 / 60.0 + 304.0 / 21_600.0)).abs() < 1e-9, "{share}");
    }
}
