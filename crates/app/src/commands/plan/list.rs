//! `plan list` and `plan show`: plans that come with the program, by study, and what they take.

use super::expect;
use crate::failure::Failure;
use crate::output;
use crate::presets::{self, Choice, Found, PRESETS, PlaceChoice};
use crate::shipped::Preset;
use serde_json::{Value, json};
use v6gap_core::plan::scale::Scale;
use v6gap_core::plan::{Plan, Stop};
use v6gap_core::published;
use v6gap_core::unit::{format_bytes, format_span};

/// Columns of a name, and of each time.
const NAME: usize = 22;
const TIME: usize = 12;

/// All plans in lines of at most `width` columns.
///
/// # Errors
/// If one is not right, which a test rules out.
pub(super) fn list(width: usize) -> Result<String, Failure> {
    let mut out = format!("{:NAME$}  {:>TIME$}  {:>TIME$}\n", "", "all of it", "--scale small");
    let mut study = None;
    for preset in &PRESETS {
        let found = presets::read_preset(preset, 0, &Choice::default())?;
        let of = found.plan.reference.as_deref().and_then(published::find).map(|(of, _)| of);
        if let Some(of) = of.filter(|of| study.as_ref() != Some(&of.study)) {
            let title = format!("{}: {}", of.authors, of.title);
            out.push_str(&format!("\n{}\n", output::wrap(&title, width, "")));
            study = Some(of.study);
        }
        let indent = format!("\n{}", " ".repeat(NAME + 2 * TIME + 6));
        let about = output::wrap(&found.plan.description, width.saturating_sub(indent.len()), "");
        let [whole, small] = times(preset, &found)?;
        let about = about.replace('\n', &indent);
        out.push_str(&format!("{:NAME$}  {whole:>TIME$}  {small:>TIME$}  {about}\n", preset.name));
    }
    out.push_str(
        "\nTimes are those of the plan's own lab, otherwise of a path of 100 Mbit/s and 1 ms.\n",
    );
    Ok(out)
}

/// The plans that come with the program as JSON.
///
/// # Errors
/// As [`list`].
pub(super) fn json() -> Result<String, Failure> {
    let entry = |preset: &Preset| {
        let found = presets::read_preset(preset, 0, &Choice::default())?;
        let of = found.plan.reference.as_deref().and_then(published::find).map(|(of, _)| of);
        let [whole, small] = times(preset, &found)?;
        Ok(json!({
            "name": preset.name,
            "title": found.plan.name,
            "description": found.plan.description,
            "study": of.map(|of| format!("{}: {}", of.authors, of.title)),
            "whole": whole,
            "small": found.draft.small.is_some().then_some(small),
            "bytes": format_bytes(expect::in_its_place(&found.plan).bytes as u64),
            "lab": found.plan.world.is_some(),
        }))
    };
    let all: Vec<Value> = PRESETS.iter().map(entry).collect::<Result<_, Failure>>()?;
    Ok(output::document(&Value::from(all)))
}

/// What a preset takes in its own place: all of it, and at its small scale.
fn times(preset: &Preset, whole: &Found) -> Result<[String; 2], Failure> {
    let text = |plan: &Plan| {
        let most = if matches!(plan.design.stop, Stop::Adaptive { .. }) { "≤ " } else { "" };
        format!("{most}{}", format_span(expect::in_its_place(plan).time_ns))
    };
    let small = match whole.draft.small {
        Some(_) => {
            let choice = Choice { scale: Scale::Small, place: PlaceChoice::OfPlan };
            text(&presets::read_preset(preset, 0, &choice)?.plan)
        }
        None => "–".to_owned(),
    };
    Ok([text(&whole.plan), small])
}

/// The file of a preset, and above it what its scales do and take.
///
/// # Errors
/// If there is none of that name.
pub(super) fn show(name: &str, width: usize) -> Result<String, Failure> {
    let preset = presets::find(name)?;
    let whole = presets::read_preset(preset, 0, &Choice::default())?;
    let [time, small_time] = times(preset, &whole)?;
    let mut said = vec![format!("All of it takes {time} in its own place.")];
    if whole.draft.small.is_some() {
        let choice = Choice { scale: Scale::Small, place: PlaceChoice::OfPlan };
        let small = presets::read_preset(preset, 0, &choice)?;
        said.push(format!("--scale small measures {}: {small_time}.", small.scaled.join(", ")));
    }
    said.push(
        "--scale 0.1 measures a tenth of the bytes, packets, exchanges and times that it gives, \
         with as many tries and levels."
            .to_owned(),
    );
    let mut out = String::new();
    for text in said {
        let text = output::wrap(&text, width.saturating_sub(2), "# ");
        out.push_str(&format!("# {text}\n"));
    }
    Ok(format!("{out}\n{}", preset.text))
}
