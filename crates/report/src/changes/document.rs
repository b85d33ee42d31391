//! Changes as JSON: differences of ratios are relative (ratio − 1), values in SI units, and an end
//! of a range that is not finite is null. Fields are only ever added.

use super::{event as in_words, sentences, suspects, told, visits_after};
use serde_json::{Value, json};
use v6gap_core::family::Family;
use v6gap_core::metric::Metric;
use v6gap_judge::analysis::Verdict;
use v6gap_judge::changes::{
    Amount, Asked, Change, Event, Moved, Outage, Side, Spell, Suspect, What, Who,
};

/// Name and version of the form of an event.
pub const EVENT_SCHEMA: &str = "v6gap.watch.event/1";

/// An event as a document of one line (docs/schema/watch-event.json).
pub fn event_json(event: &Event) -> String {
    let (name, more) = match &event.what {
        What::Changed { asked, change } => ("change", change_json(&event.path, asked, change)),
        What::Outage { family, outage } => ("outage", outage_json(*family, outage)),
    };
    let mut document = json!({
        "schema": EVENT_SCHEMA,
        "event": name,
        "path": event.path,
        "at_unix_ns": event.at_unix_ns,
        "text": in_words(event),
    });
    document[name] = more;
    crate::words::json_escaped(document.to_string())
}

/// A change.
pub fn change_json(path: &str, asked: &Asked, change: &Change) -> Value {
    let metric = asked.metric;
    let difference = |x: f64| metric.scale().shown(x);
    let level = |x: f64| metric.scale().value(x);
    let amounts = &change.amounts;
    let of_family = |family: Family| {
        amount_json(
            amounts.families.get(family),
            *change.shown.families.get(family),
            &level,
            metric,
        )
    };
    json!({
        "cell": asked.cell,
        "metric": metric.name(),
        "label": asked.label,
        "margin": difference(asked.margin),
        "first_unix_ns": change.first.unix_ns,
        "after_unix_ns": change.after.unix_ns,
        "by_unix_ns": change.by.unix_ns,
        "found_unix_ns": change.found.unix_ns,
        "visits_after": visits_after(change),
        "who": who(change.who),
        "effect": amount_json(&amounts.effect, change.shown.effect, &difference, metric),
        "v4": of_family(Family::V4),
        "v6": of_family(Family::V6),
        "suspects": change.suspects.iter().map(|s| suspect_json(path, s)).collect::<Vec<_>>(),
        "text": sentences(path, asked, change).join(" "),
    })
}

/// A spell of a question; the last one goes on.
pub fn spell_json(path: &str, asked: &Asked, spell: &Spell, is_last: bool) -> Value {
    let metric = asked.metric;
    let effect = &spell.means.effect;
    let difference = |x: f64| metric.scale().shown(x);
    let mean = |of: Family| metric.scale().value(spell.means.families.get(of).mean);
    json!({
        "cell": asked.cell,
        "metric": metric.name(),
        "label": asked.label,
        "from_unix_ns": spell.from.unix_ns,
        "to_unix_ns": spell.to.unix_ns,
        "goes_on": is_last,
        "visits": spell.visits,
        "effect": difference(effect.mean),
        "low": end(effect.range.low, &difference),
        "high": end(effect.range.high, &difference),
        "v4": mean(Family::V4),
        "v6": mean(Family::V6),
        "verdict": verdict(spell.verdict),
        "within": told(asked, spell).within,
        "change": spell.change.as_ref().map(|change| change_json(path, asked, change)),
    })
}

/// The head of [`spell_csv`].
pub const SPELL_CSV_HEAD: &str = "cell,metric,from_unix_ns,to_unix_ns,goes_on,visits,effect,low,\
                                  high,v4,v6,verdict,found_unix_ns,visits_after,who";

/// A spell as a row of CSV, as its JSON has it; what is not known is empty.
pub fn spell_csv(asked: &Asked, spell: &Spell, is_last: bool) -> String {
    let document = spell_json("", asked, spell, is_last);
    let change = &document["change"];
    let field = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let own = ["cell", "metric", "from_unix_ns", "to_unix_ns", "goes_on", "visits", "effect"];
    let own = own.into_iter().chain(["low", "high", "v4", "v6", "verdict"]);
    let of_change = ["found_unix_ns", "visits_after", "who"];
    let fields = own.map(|name| field(&document[name]));
    let fields = fields.chain(of_change.map(|name| field(&change[name])));
    fields.collect::<Vec<_>>().join(",")
}

/// A series before and after; `level` brings its means to the scale of results.
fn amount_json(amount: &Amount, shown: bool, level: &dyn Fn(f64) -> f64, metric: Metric) -> Value {
    let step = &amount.step;
    let side = |side: &Side| {
        json!({
            "mean": finite(level(side.mean)),
            "low": end(side.range.low, level),
            "high": end(side.range.high, level),
            "visits": side.n,
        })
    };
    let difference = |x: f64| metric.scale().shown(x);
    json!({
        "moved": match amount.moved {
            Moved::Yes => "yes",
            Moved::No => "no",
            Moved::Unknown => "unknown",
        },
        "shown": shown,
        "before": side(&step.before),
        "after": side(&step.after),
        "by": {
            "estimate": finite(difference(step.by)),
            "low": end(step.range.low, &difference),
            "high": end(step.range.high, &difference),
        },
    })
}

fn suspect_json(path: &str, suspect: &Suspect) -> Value {
    json!({
        "name": suspect.name,
        "family": suspect.family,
        "before": suspect.before,
        "after": suspect.after,
        "last_before_unix_ns": suspect.last_before.unix_ns,
        "first_after_unix_ns": suspect.first_after.unix_ns,
        "lasting": suspect.lasting,
        "times": suspect.times,
        "chance": suspect.chance,
        "text": suspects::sentence(path, suspect),
    })
}

fn outage_json(family: Family, outage: &Outage) -> Value {
    json!({
        "family": family,
        "since_unix_ns": outage.since.unix_ns,
        "visits": outage.visits,
        "over": outage.over,
    })
}

fn who(who: Who) -> &'static str {
    match who {
        Who::One(Family::V4) => "v4",
        Who::One(Family::V6) => "v6",
        Who::Both => "both",
        Who::Effect => "effect",
    }
}

/// The word of a verdict in documents.
fn verdict(verdict: Verdict) -> Value {
    // A plain name always becomes JSON.
    serde_json::to_value(verdict).unwrap_or_default()
}

/// An end of a range on the scale of effects; what is not finite there is no end.
fn end(x: f64, level: &dyn Fn(f64) -> f64) -> Option<f64> {
    x.is_finite().then(|| level(x)).and_then(finite)
}

/// JSON has no other numbers.
fn finite(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}
