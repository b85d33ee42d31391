//! Changes of a path that is watched, in words and as JSON: what changed, whose change it is, what
//! else was another then, and the spells between changes (docs/method.md section C.15).

mod document;
mod suspects;

use crate::number::date;
use crate::words::{self, Told};
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::unit::significant;
use v6gap_judge::analysis::Range;
use v6gap_judge::analysis::words::counted;
use v6gap_judge::changes::{Asked, Change, Event, Moved, Outage, Spell, What, Who};

pub use document::{EVENT_SCHEMA, SPELL_CSV_HEAD, change_json, event_json, spell_csv, spell_json};

/// An event in one line: what a watch says as it goes.
pub fn event(event: &Event) -> String {
    match &event.what {
        What::Changed { asked, change } => {
            let mut said = vec![headline(asked, change)];
            said.extend(sentences(&event.path, asked, change));
            said.join(" ")
        }
        What::Outage { family, outage } => outage_in_words(&event.path, *family, outage),
    }
}

/// Whose change it is, and a sentence for each suspect.
pub fn sentences(path: &str, asked: &Asked, change: &Change) -> Vec<String> {
    let suspects = change.suspects.iter().map(|suspect| suspects::sentence(path, suspect));
    std::iter::once(whose(asked.metric, change)).chain(suspects).collect()
}

/// Beginning, end, visits, effect, its 95 % range, answer, and when it was found, as in
/// "2026-11-21 14:10", "now", "154", "+8.9 %", "+8.6 to +9.2", "▼ worse", "2026-11-21 17:25, 13
/// visits after". The last spell goes on.
pub fn spell_in_words(asked: &Asked, spell: &Spell, is_last: bool) -> [String; 7] {
    let effect = &spell.means.effect;
    let range = range(asked.metric, effect.range.low, effect.range.high);
    let is_finite = range.low.is_finite() && range.high.is_finite();
    [
        date(spell.from.unix_ns),
        if is_last { "now".to_owned() } else { date(spell.to.unix_ns) },
        spell.visits.to_string(),
        words::signed_amount(asked.metric, asked.metric.scale().shown(effect.mean)),
        if is_finite { words::signed(&range) } else { "–".to_owned() },
        told(asked, spell).marked(),
        spell.change.as_ref().map_or(String::new(), found),
    ]
}

/// The answer of a spell.
pub(crate) fn told(asked: &Asked, spell: &Spell) -> Told {
    let within = spell.qualifier.within(asked.metric.scale().shown(asked.margin));
    Told { metric: asked.metric, verdict: spell.verdict, within }
}

/// When it was found: "2026-11-21 17:25, 13 visits after".
fn found(change: &Change) -> String {
    format!("{}, {} after", date(change.found.unix_ns), counted(visits_after(change), "visit"))
}

/// Visits from the first one after the change to the one that showed it.
fn visits_after(change: &Change) -> usize {
    change.amounts.effect.step.after.n.saturating_sub(1)
}

/// "Round trip 64 B, TCP: over IPv6 0.70 % longer until 2026-11-21 14:10 (UTC), 8.9 % longer
/// since."
fn headline(asked: &Asked, change: &Change) -> String {
    let step = &change.amounts.effect.step;
    let in_words = |mean: f64| words::effect(asked.metric, asked.metric.scale().shown(mean));
    let (before, after) = (in_words(step.before.mean), in_words(step.after.mean));
    let (label, first) = (&asked.label, date(change.first.unix_ns));
    format!("{label}: over IPv6 {before} until {first} (UTC), {after} since.")
}

/// Of which family it is: "The change is of IPv6 alone: IPv4 1.00 times as before, IPv6 1.08."
fn whose(metric: Metric, change: &Change) -> String {
    let amounts = &change.amounts;
    let told = amounts.families.as_ref().map(|amount| by(metric, amount.step.by));
    let times = match metric.scale() {
        Scale::Ratio => " times as before",
        Scale::Difference => " against before",
    };
    let both = format!("IPv4 {}{times}, IPv6 {}", told.v4, told.v6);
    let of = match change.who {
        Who::One(family) => {
            let other = family.other();
            match amounts.families.get(other).moved {
                Moved::No => format!("The change is of {family} alone"),
                Moved::Yes | Moved::Unknown => {
                    format!("The change is of {family}; whether {other} changed cannot be told")
                }
            }
        }
        Who::Both => match amounts.effect.moved {
            Moved::No => "Both families changed alike".to_owned(),
            Moved::Yes | Moved::Unknown => "Both families changed".to_owned(),
        },
        Who::Effect => "Neither family is known to have changed by itself".to_owned(),
    };
    format!("{of}: {both}.")
}

/// What a family is against before: a factor, or points.
fn by(metric: Metric, by: f64) -> String {
    match metric.scale() {
        Scale::Ratio => match Scale::Ratio.value(by) {
            factor if (0.1..100.0).contains(&factor) => format!("{factor:.2}"),
            factor => significant(factor, 3),
        },
        Scale::Difference => format!("{} points", words::sign(by)),
    }
}

fn outage_in_words(path: &str, family: Family, outage: &Outage) -> String {
    let since = date(outage.since.unix_ns);
    match outage.over {
        false => format!("{family} to {path} does not answer, since {since} (UTC)."),
        true => {
            let visits = counted(usize::try_from(outage.visits).unwrap_or(usize::MAX), "visit");
            format!("{family} to {path} answers again, after {visits} since {since} (UTC).")
        }
    }
}

fn range(metric: Metric, low: f64, high: f64) -> Range {
    Range { low: metric.scale().shown(low), high: metric.scale().shown(high) }
}

#[cfg(test)]
mod tests;
