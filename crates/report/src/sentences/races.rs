//! Which family programs choose that try both, in sentences.

use v6gap_core::workload::Workload;
use v6gap_judge::analysis::{Analysis, Race, places};
use v6gap_judge::eyeballs::Policy;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// What programs that wait for both answers have it later than others is said from here on, in ns.
const LATER_NS: f64 = 1e6;

/// What a policy is called.
const fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::Rfc6555 => "RFC 6555",
        Policy::Rfc8305 => "RFC 8305",
        Policy::Version3 => "version 3 (draft 04)",
        Policy::Curl => "curl 7.88",
        Policy::Chromium => "Chromium 130",
        Policy::OneAfterTheOther => "one family after the other",
    }
}

/// Who chooses which family, what the choice of RFC 8305 costs, and what waiting costs if that is
/// more; of several pairs of addresses at the first alone.
pub fn races(analysis: &Analysis) -> Option<String> {
    let all = &analysis.races;
    let usual = all.iter().find(|race| race.policy == Policy::Rfc8305)?;
    let mut choices: Vec<(String, Vec<&str>)> = Vec::new();
    for race in all {
        let chosen = choice(race);
        match choices.iter_mut().find(|(known, _)| *known == chosen) {
            Some((_, names)) => names.push(name(race.policy)),
            None => choices.push((chosen, vec![name(race.policy)])),
        }
    }
    let by = |(chosen, names): &(String, Vec<&str>)| format!("{chosen} by {}", names.join(", "));
    let choices: Vec<String> = choices.iter().map(by).collect();
    let waiting = all.iter().find(|race| race.policy == Policy::OneAfterTheOther);
    let waiting = waiting.filter(|race| race.stands_later_ns > usual.stands_later_ns + LATER_NS);
    let waiting = waiting.map(|race| {
        let later = later(race.stands_later_ns);
        format!(
            " Where programs wait for both answers and try one family after the other it stands \
             {later}."
        )
    });
    let first_byte = (!connects_alone(analysis)).then(|| {
        let later = later(usual.first_byte_later_ns);
        format!(", and the first byte comes {later}")
    });
    let alone = places::first(&analysis.run);
    let alone = alone.map(|pair| format!(" That is reckoned from visits to {pair} alone."));
    Some(format!(
        "Programs that try both families (Happy Eyeballs) would choose {}. By RFC 8305 their \
         connection stands {} than over IPv4 alone{}.{}{}",
        choices.join("; "),
        later(usual.stands_later_ns),
        first_byte.unwrap_or_default(),
        waiting.unwrap_or_default(),
        alone.unwrap_or_default(),
    ))
}

/// Whether nothing was asked for, so that there is no first byte.
fn connects_alone(analysis: &Analysis) -> bool {
    let mut workloads = analysis.run.plan.cells.iter().map(|cell| &cell.workload);
    workloads.any(|of| matches!(of, Workload::Visit(visit) if visit.http.is_none()))
}

/// When each way of choosing stands on IPv4 where IPv6 cannot be connected to: times are in ns from
/// its beginning, and `alone_ns` is that of IPv4 alone.
pub fn fallbacks(alone_ns: u64, by: &[(Policy, u64)]) -> String {
    let one = |(policy, ns): &(Policy, u64)| format!("{} by {}", time(*ns as f64), name(*policy));
    let all: Vec<String> = by.iter().map(one).collect();
    format!(
        "Programs that try both families (Happy Eyeballs) have a connection of IPv4 after {}; by \
         IPv4 alone it takes {}.",
        all.join(", "),
        time(alone_ns as f64)
    )
}

fn choice(race: &Race) -> String {
    match race.v6 {
        0 => "IPv4 every time".to_owned(),
        all if all == race.pairs => "IPv6 every time".to_owned(),
        some => format!("IPv6 in {some} of {} visits", race.pairs),
    }
}

fn later(ns: f64) -> String {
    let word = if ns < 0.0 { "sooner" } else { "later" };
    format!("{} {word}", time(ns.abs()))
}

fn time(ns: f64) -> String {
    if ns < NS_PER_S {
        format!("{:.1} ms", ns / NS_PER_MS)
    } else {
        format!("{:.1} s", ns / NS_PER_S)
    }
}
