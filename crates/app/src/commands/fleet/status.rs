//! `fleet status`: how a fleet does, as its coordinator and its broker know it.

use super::to_its_end;
use crate::args::FleetStatusArgs;
use crate::failure::{Failure, Outcome};
use crate::output;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use v6gap_core::unit::format_span;
use v6gap_fleet::coordinator::{Heard, Known};
use v6gap_fleet::operate::{self, Status};
use v6gap_fleet::{Clocks, SILENT_NS, State};
use v6gap_report::text::Style;

/// Name and version of the document's form.
const SCHEMA: &str = "v6gap.fleet.status/1";

/// Says how it does.
///
/// # Errors
/// If the hub is not there or refuses.
pub fn execute(args: &FleetStatusArgs, style: &Style) -> Result<Outcome, Failure> {
    let status = to_its_end(async |_| operate::status(&args.creds).await)?;
    output::to_stdout(&match args.json {
        true => output::document(&document(&status)),
        false => output::fit(style, &text(&status)),
    });
    Ok(Outcome::Done)
}

fn document(status: &Status) -> Value {
    let jobs: Vec<Value> =
        status.jobs.iter().map(|(id, record)| json!({ "id": id, "record": record })).collect();
    json!({
        "schema": SCHEMA,
        "coordinator": status.known.is_some(),
        "agents": status.known.as_ref().map(|known| &known.agents),
        "jobs": jobs,
        "meshes": status.meshes,
        "visits": status.visits,
    })
}

fn text(status: &Status) -> String {
    let mut text = match &status.known {
        None => "No coordinator answers. Is the hub run?  v6gap fleet hub run DIR\n".to_owned(),
        Some(known) => agents(known),
    };
    for (_, job) in &status.jobs {
        text += &format!("Measuring {} to {} ({})\n", job.from, job.to, job.plan);
    }
    let meshes = match status.meshes.is_empty() {
        true => "No mesh plan is applied.  v6gap fleet apply mesh.toml".to_owned(),
        false => format!("Applied: {}.", status.meshes.join(", ")),
    };
    // A path may be measured by more than one plan.
    let paths = status.visits.iter().map(|visited| (&visited.from, &visited.to));
    let paths = paths.collect::<BTreeSet<_>>().len();
    text + &format!("{meshes}  {paths} paths were measured at least once.\n")
}

fn agents(known: &Known) -> String {
    let count = |is_it: &dyn Fn(&Heard) -> bool| known.agents.iter().filter(|a| is_it(a)).count();
    let silent = |heard: &Heard| heard.ago_ns > SILENT_NS;
    let idle = count(&|heard| !silent(heard) && heard.said.state == State::Idle);
    let busy = count(&|heard| !silent(heard) && heard.said.state.token().is_some());
    let unarchived: u64 = known.agents.iter().map(|heard| heard.said.unarchived).sum();
    let mut text = format!(
        "{} agents: {idle} idle, {busy} measuring; {unarchived} runs only at agents.\n",
        known.agents.len()
    );
    for heard in &known.agents {
        let said = &heard.said;
        let why = match said.state {
            _ if silent(heard) => {
                format!("silent for {}", format_span(heard.ago_ns as f64))
            }
            State::Closed => said.trouble.clone().unwrap_or_default(),
            State::Taken => "something else is measured there".to_owned(),
            State::Idle | State::Ready { .. } | State::Measuring { .. } => continue,
        };
        text += &format!("{}: {why}\n", said.from);
    }
    let clocks = known.agents.iter().filter(|heard| !silent(heard)).filter_map(clock);
    text + &clocks.collect::<String>()
}

/// What there is to say of an agent's clock.
fn clock(heard: &Heard) -> Option<String> {
    let ahead_ns = heard.clock_ahead_ns;
    let what = match Clocks::of(ahead_ns) {
        Clocks::Alike => return None,
        Clocks::Apart => "times of its results are that much wrong",
        Clocks::TooFar => "it is given no jobs",
    };
    let (far, way) = (
        format_span(ahead_ns.unsigned_abs() as f64),
        if ahead_ns > 0 { "ahead of" } else { "behind" },
    );
    let kept = match heard.said.clock {
        Some(clock) if !clock.synchronised => "; nothing keeps it right",
        Some(_) | None => "",
    };
    Some(format!("{}: its clock is {far} {way} the hub's: {what}{kept}\n", heard.said.from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Document;
    use crate::commands::schema::tests::fits;

    fn heard(name: &str, state: &str, ago_ns: u64) -> Heard {
        let said = json!({
            "from": name, "version_lowest": 1, "version_highest": 1, "program": "v6gap",
            "unix_ns": 0, "state": state, "token": 7, "highest": 7, "free_bytes": 0,
            "unarchived": 2, "trouble": "the disk is full",
        });
        Heard { said: serde_json::from_value(said).unwrap(), ago_ns, clock_ahead_ns: 0 }
    }

    #[test]
    fn what_is_not_well_is_named_and_the_rest_is_counted() {
        let agents = vec![
            heard("rome/a", "idle", 0),
            heard("rome/b", "measuring", 0),
            heard("oslo/a", "closed", 0),
            heard("oslo/b", "idle", SILENT_NS + 1),
        ];
        let known = Some(Known { leads: true, agents });
        let (jobs, meshes, visits) = (Vec::new(), vec!["all".to_owned()], Vec::new());
        let text = text(&Status { known, jobs, meshes, visits });
        let silent = format_span((SILENT_NS + 1) as f64);
        let expected = format!(
            "4 agents: 1 idle, 1 measuring; 8 runs only at agents.\noslo/a: the disk is full\n\
             oslo/b: silent for {silent}\nApplied: all.  0 paths were measured at least once.\n"
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn its_document_fits_its_schema() {
        let mut agents = vec![heard("rome/a", "idle", 0), heard("rome/b", "measuring", 5)];
        let clock = json!({ "synchronised": true, "error_ns": 1 });
        agents[0].said.clock = Some(serde_json::from_value(clock).unwrap());
        let job = json!({
            "stage": "granted", "epoch": 1, "attempt": 0, "from": "rome/a", "to": "rome/b",
            "to_is_agent": true, "class": "light", "links": ["rome-uplink"], "longest_ns": 1,
            "plan": "small", "plan_hash": "00", "unix_ns": 1,
        });
        let visit = json!({
            "from": "rome/a", "to": "rome/b", "plan": "small", "run": "7k2f9q", "unix_ns": 1,
        });
        let all = Status {
            known: Some(Known { leads: true, agents }),
            jobs: vec![("1".to_owned(), serde_json::from_value(job).unwrap())],
            meshes: vec!["all".to_owned()],
            visits: vec![serde_json::from_value(visit).unwrap()],
        };
        fits(Document::FleetStatus, &document(&all));
        let (jobs, meshes, visits) = (Vec::new(), Vec::new(), Vec::new());
        fits(Document::FleetStatus, &document(&Status { known: None, jobs, meshes, visits }));
    }

    #[test]
    fn clocks_that_are_off_are_told_with_what_comes_of_it() {
        let off = |ahead_ns: i64, kept: Option<bool>| {
            let mut heard = heard("rome/a", "idle", 0);
            heard.clock_ahead_ns = ahead_ns;
            let kept = kept.map(|kept| json!({ "synchronised": kept, "error_ns": 1 }));
            heard.said.clock = kept.map(|kept| serde_json::from_value(kept).unwrap());
            clock(&heard)
        };
        assert_eq!(off(2_000_000_000, Some(false)), None);
        let apart = off(-3_000_000_000, Some(true)).unwrap();
        assert_eq!(
            apart,
            "rome/a: its clock is 3 s behind the hub's: times of its results are that much wrong\n"
        );
        let far = off(61_000_000_000, Some(false)).unwrap();
        let end = "ahead of the hub's: it is given no jobs; nothing keeps it right\n";
        assert!(far.ends_with(end), "{far}");
    }
}
