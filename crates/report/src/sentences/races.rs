//! Which family programs choose that try both, in sentences.

use v6gap_core::workload::Workload;
use v6gap_judge::analysis::words::counted;
use v6gap_judge::analysis::{Analysis, Race, Range, places};
use v6gap_judge::eyeballs::Policy;

const NS_PER_MS: f64 = 1e6;
const NS_PER_S: f64 = 1e9;

/// What programs that wait for both answers have it later than others is said from here on, in ns,
/// between the nearer ends of both ranges.
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

/// Who would have chosen which family in how many visits, what the choice of RFC 8305 costs, and
/// what waiting costs if that is known to be more; of several pairs of addresses at the first
/// alone.
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
    let most_ns = usual.stands_later_range_ns.high + LATER_NS;
    let waiting = waiting.filter(|race| race.stands_later_range_ns.low > most_ns);
    let waiting = waiting.map(|race| {
        let stands = told("it stands", "", Later::stands(race));
        format!(
            " Where programs wait for both answers and try one family after the other {stands}."
        )
    });
    let first_byte = (!connects_alone(analysis))
        .then(|| format!(", and {}", told("the first byte comes", "", Later::first_byte(usual))));
    let alone = places::first(&analysis.run);
    let alone = alone.map(|pair| format!(" That is reckoned from visits to {pair} alone."));
    Some(format!(
        "Programs that try both families (Happy Eyeballs) would have chosen {}. By RFC 8305 \
         {}{}.{}{}",
        choices.join("; "),
        told("their connection stands", " than over IPv4 alone", Later::stands(usual)),
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
        0 => format!("IPv4 in {0} of {0} visits", race.pairs),
        some => format!("IPv6 in {some} of {} visits", race.pairs),
    }
}

/// How much later something is: the median of so many pairs of visits and its 95 % range, in ns.
#[derive(Debug, Clone, Copy)]
struct Later {
    pairs: usize,
    median_ns: f64,
    range_ns: Range,
}

impl Later {
    const fn stands(race: &Race) -> Self {
        let (median_ns, range_ns) = (race.stands_later_ns, race.stands_later_range_ns);
        Later { pairs: race.pairs, median_ns, range_ns }
    }

    const fn first_byte(race: &Race) -> Self {
        let (median_ns, range_ns) = (race.first_byte_later_ns, race.first_byte_later_range_ns);
        Later { pairs: race.pairs, median_ns, range_ns }
    }

    /// "95 %: 2.9 ms to 3.5 ms", "95 %: 0.4 ms sooner to 3.1 ms later", with ends rounded outwards.
    fn range(&self) -> String {
        let Range { low, high } = self.range_ns;
        if !(low.is_finite() && high.is_finite()) {
            return format!("too few: {}", counted(self.pairs, "visit"));
        }
        let (near, far) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
        if low < 0.0 && high > 0.0 {
            let [low, high] = [-low, high].map(|end| rounded(end, f64::ceil));
            return format!("95 %: {low} sooner to {high} later");
        }
        format!("95 %: {} to {}", rounded(near, f64::floor), rounded(far, f64::ceil))
    }
}

/// "it stands 3.2 ms later (95 %: 2.9 ms to 3.5 ms)", or, where the range holds 0, "whether it
/// stands sooner or later cannot be told (…)"; `than` follows on what is later.
fn told(what: &str, than: &str, later: Later) -> String {
    let (Range { low, high }, range) = (later.range_ns, later.range());
    if low <= 0.0 && high >= 0.0 {
        return format!("whether {what} sooner or later{than} cannot be told ({range})");
    }
    let word = if low > 0.0 { "later" } else { "sooner" };
    format!("{what} {} {word}{than} ({range})", time(later.median_ns.abs()))
}

fn time(ns: f64) -> String {
    rounded(ns, f64::round)
}

/// A time in ns, at least 0, to a tenth of ms, or of s from there on, as `round` has it.
fn rounded(ns: f64, round: fn(f64) -> f64) -> String {
    let (unit_ns, unit) = if ns < NS_PER_S { (NS_PER_MS, "ms") } else { (NS_PER_S, "s") };
    format!("{:.1} {unit}", round(ns / (unit_ns / 10.0)) / 10.0)
}
