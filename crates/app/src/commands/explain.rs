//! `explain`: the long text of a code or topic.

use crate::args::ExplainArgs;
use crate::failure::texts::{self, Topic};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::settings::OutputStyle;
use v6gap_core::plan::check::nearest;

/// Explains a code or a topic, or lists them all.
///
/// # Errors
/// If there is no such code or topic.
pub fn execute(args: &ExplainArgs, style: &OutputStyle) -> Result<Outcome, Failure> {
    let text = match &args.about {
        None => list(),
        Some(about) => whole(find(about)?),
    };
    output::to_stdout(&output::fit(&style.results, &text));
    Ok(Outcome::Done)
}

fn find(about: &str) -> Result<&'static Topic, Failure> {
    let same = |topic: &&Topic| topic.name.eq_ignore_ascii_case(about);
    texts::all().find(same).ok_or_else(|| {
        let failure = Failure::usage(format!("there is no code or topic \"{about}\""));
        let names: Vec<&str> = texts::all().map(|topic| topic.name).collect();
        match nearest(about, &names) {
            Some(near) => failure.likely(format!("\"{near}\" was meant.")),
            None => failure,
        }
        .run("v6gap explain", "lists all codes and topics")
    })
}

fn whole(topic: &Topic) -> String {
    format!("{}: {}\n\n{}", topic.name, topic.title, topic.text)
}

fn list() -> String {
    let line = |topic: &Topic| format!("  {:<12} {}\n", topic.name, topic.title);
    let lines = |topics: &[Topic]| topics.iter().map(line).collect::<String>();
    let codes = lines(texts::CODES) + &lines(texts::FLEET);
    format!("Topics\n{}\nCodes\n{codes}", lines(&texts::TOPICS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_slips_are_noticed() {
        assert_eq!(find("e101").unwrap().name, "E101");
        let slip = find("verdict").unwrap_err().render(&Default::default());
        assert!(slip.contains("\"verdicts\" was meant"), "{slip}");
    }

    #[test]
    fn names_are_unique_and_texts_fit_the_screen() {
        let mut names: Vec<&str> = texts::all().map(|topic| topic.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), texts::all().count());
        for topic in texts::all() {
            let long = whole(topic).lines().map(|l| l.chars().count()).max();
            assert!(long <= Some(80), "{}: {long:?} columns", topic.name);
        }
    }
}
