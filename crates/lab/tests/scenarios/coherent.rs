//! Whether a result contradicts itself, by its JSON alone, as a script would read it: every
//! judgement has a range, and no judgement says what its range does not.

use serde_json::Value;

/// How far numbers that went through logarithms and back may be off.
const ROUNDING: f64 = 1e-9;

/// What in a result contradicts itself, each with where it stands.
pub fn contradictions(document: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(document).expect("a result in JSON");
    let mut found = Vec::new();
    walk("", &document, &mut found);
    for question in document["questions"].as_array().expect("questions") {
        let residual = &question["residual"];
        let explained = question["explained"].as_str();
        let left = Range::of(residual, ["low", "high"]).is_some_and(|range| range.excludes_none());
        let wrong = match explained {
            Some("all") => left,
            Some(_) => !left,
            None => false,
        };
        if wrong {
            found.push(format!("{}: explained, against what is left", question["label"]));
        }
    }
    found
}

/// Everything below a value that is judged.
fn walk(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(verdict) = fields.get("verdict").and_then(Value::as_str) {
                found.extend(verdict_of(value, verdict).map(|why| format!("{path}: {why}")));
            }
            if let Some(state) = fields.get("holds").and_then(Value::as_str) {
                found.extend(state_of(value, state).map(|why| format!("{path}: {why}")));
            }
            for (name, field) in fields {
                walk(&format!("{path}/{name}"), field, found);
            }
        }
        Value::Array(all) => {
            let each = all.iter().enumerate();
            each.for_each(|(at, one)| walk(&format!("{path}/{at}"), one, found));
        }
        _ => {}
    }
}

/// A closed range; an end that is not finite is null.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    fn of(value: &Value, [low, high]: [&str; 2]) -> Option<Range> {
        let end = |name, open| Some(value.get(name)?.as_f64().unwrap_or(open));
        Some(Range { low: end(low, f64::NEG_INFINITY)?, high: end(high, f64::INFINITY)? })
    }

    /// Whether no difference is outside of it.
    fn excludes_none(self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether it lies inside a margin, by more (or, below 0, less) than is rounded away.
    fn within(self, margin: Range, by: f64) -> bool {
        self.low > margin.low + by && self.high < margin.high - by
    }

    /// Whether it lies beyond a margin.
    fn beyond(self, margin: Range) -> bool {
        self.low > margin.high - ROUNDING || self.high < margin.low + ROUNDING
    }
}

/// The differences that do not matter: a ratio and its reciprocal alike, or a share.
fn margin(value: &Value, kind: &str) -> Option<Range> {
    let margin = value["margin"].as_f64()?;
    let low = if kind == "difference" { -margin } else { 1.0 / (1.0 + margin) - 1.0 };
    Some(Range { low, high: margin })
}

/// Why a verdict contradicts its range.
fn verdict_of(value: &Value, verdict: &str) -> Option<String> {
    // A residual is its own effect; what failed more often is judged by its counts.
    let own = ["range", "effect"].into_iter().find(|name| value.get(name).is_some());
    let effect = own.filter(|_| value.get("low").is_none()).map_or(value, |name| &value[name]);
    let range = Range::of(effect, ["low", "high"]);
    let Some(range) = range else {
        return (verdict != "none").then(|| format!("{verdict} without a range"));
    };
    let (Some(kind), Some(same)) =
        (effect["kind"].as_str(), Range::of(effect, ["low90", "high90"]))
    else {
        return shares(range, verdict);
    };
    let Some(margin) = margin(value, kind) else { return Some("no margin".to_owned()) };
    let qualifier = value["qualifier"].as_str();
    let wrong = match verdict {
        "none" => None,
        "better" | "worse" if !range.excludes_none() => Some("its range holds no difference"),
        "better" | "worse" if range.within(margin, ROUNDING) => {
            Some("its range lies within the margin")
        }
        "better" | "worse" if qualifier == Some("clear") && !range.beyond(margin) => {
            Some("called clear, and its range reaches into the margin")
        }
        "better" | "worse" => direction(value, effect, verdict),
        "same" if !same.within(margin, -ROUNDING) => Some("its 90 % range leaves the margin"),
        "same" if qualifier == Some("real-but-tiny") && !range.excludes_none() => {
            Some("called real, and its range holds no difference")
        }
        "same" if qualifier == Some("plain") && range.excludes_none() => {
            Some("called plain, and its range excludes no difference")
        }
        "inconclusive" if range.excludes_none() => Some("its range excludes no difference"),
        "inconclusive" if same.within(margin, ROUNDING) => {
            Some("its 90 % range lies within the margin")
        }
        "same" | "inconclusive" => None,
        _ => Some("an unknown verdict"),
    };
    wrong.map(|why| format!("{verdict}, {why}: {range:?}, {same:?}, {margin:?}"))
}

/// Whether better is where more is better; of a residual or a size the metric is not said.
fn direction(value: &Value, effect: &Value, verdict: &str) -> Option<&'static str> {
    let better = value.get("better")?.as_str()?;
    let more = effect["estimate"].as_f64()? > 0.0;
    let right = (verdict == "better") == (more == (better == "higher"));
    (!right).then_some("of the other direction")
}

/// The share of blocks in which the second arm failed more: a half is no difference.
fn shares(range: Range, verdict: &str) -> Option<String> {
    let right = match verdict {
        "worse" => range.low > 0.5,
        "better" => range.high < 0.5,
        "inconclusive" => range.low <= 0.5 && range.high >= 0.5,
        _ => true,
    };
    (!right).then(|| format!("{verdict}, against {range:?}"))
}

/// Why a statement that holds, does not, or cannot be told contradicts its range.
fn state_of(value: &Value, state: &str) -> Option<String> {
    let Some(range) = Range::of(value, ["low", "high"]) else {
        return (state != "not-measured").then(|| format!("{state} without a range"));
    };
    let right = match state {
        "yes" => range.low > 0.0,
        "no" => range.high < 0.0,
        _ => range.low <= 0.0 && range.high >= 0.0,
    };
    (!right).then(|| format!("{state}, against {range:?}"))
}

#[test]
fn what_contradicts_itself_is_found() {
    let question = |verdict: &str, qualifier: &str, ends: [f64; 4]| {
        let [low, high, low90, high90] = ends;
        let estimate = (low + high) / 2.0;
        let effect = serde_json::json!({
            "kind": "ratio-1", "estimate": estimate, "low": low, "high": high, "low90": low90,
            "high90": high90
        });
        let question = serde_json::json!({
            "label": "one", "verdict": verdict, "qualifier": qualifier, "margin": 0.02,
            "better": "lower", "effect": effect, "explained": null, "residual": null
        });
        contradictions(&serde_json::json!({ "questions": [question] }).to_string()).len()
    };
    for (verdict, qualifier, ends, wrong) in [
        ("worse", "clear", [0.03, 0.05, 0.035, 0.045], 0),
        ("better", "clear", [0.03, 0.05, 0.035, 0.045], 1),
        ("worse", "clear", [0.01, 0.05, 0.02, 0.045], 1),
        ("worse", "size-unresolved", [-0.01, 0.05, 0.02, 0.045], 1),
        ("worse", "size-unresolved", [0.01, 0.015, 0.011, 0.014], 1),
        ("same", "plain", [-0.01, 0.01, -0.005, 0.005], 0),
        ("same", "plain", [0.01, 0.015, 0.011, 0.014], 1),
        ("same", "real-but-tiny", [0.01, 0.015, 0.011, 0.014], 0),
        ("same", "plain", [-0.03, 0.03, -0.025, 0.015], 1),
        ("inconclusive", "plain", [-0.03, 0.03, -0.025, 0.025], 0),
        ("inconclusive", "plain", [0.01, 0.03, 0.015, 0.025], 1),
        ("inconclusive", "plain", [-0.03, 0.01, -0.015, 0.005], 1),
    ] {
        assert_eq!(question(verdict, qualifier, ends), wrong, "{verdict} {ends:?}");
    }
    let found = |one: Value| {
        contradictions(&serde_json::json!({ "questions": [], "claims": [one] }).to_string()).len()
    };
    for (one, wrong) in [
        (serde_json::json!({ "verdict": "worse" }), 1),
        (serde_json::json!({ "verdict": "worse", "range": { "low": 0.6, "high": 0.9 } }), 0),
        (serde_json::json!({ "verdict": "worse", "range": { "low": 0.4, "high": 0.9 } }), 1),
        (serde_json::json!({ "holds": "yes" }), 1),
        (serde_json::json!({ "holds": "yes", "low": -0.1, "high": 0.9 }), 1),
        (serde_json::json!({ "holds": "no", "low": -0.3, "high": -0.1 }), 0),
        (serde_json::json!({ "holds": "cannot-tell", "low": 0.1, "high": null }), 1),
        (serde_json::json!({ "holds": "not-measured" }), 0),
    ] {
        assert_eq!(found(one.clone()), wrong, "{one}");
    }
}
