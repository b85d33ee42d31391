//! How many results were put somewhere, and which were not.

use crate::output;
use crate::settings::Context;
use serde_json::json;

/// What came of putting results into a place.
pub(super) struct Tally {
    /// All results that belong there.
    pub(super) all: usize,
    /// Results that were put in.
    pub(super) put: usize,
    /// Results that are being measured.
    pub(super) measured: usize,
    /// Results that cannot be put in, each with the reason in words.
    pub(super) left_out: Vec<String>,
}

impl Tally {
    /// Of so many results, none of which was looked at.
    pub(super) fn of(all: usize) -> Self {
        Tally { all, put: 0, measured: 0, left_out: Vec::new() }
    }

    /// Adds what came of others.
    pub(super) fn add(&mut self, others: Tally) {
        self.all += others.all;
        self.put += others.put;
        self.measured += others.measured;
        self.left_out.extend(others.left_out);
    }

    /// Says it, of a place as in `archive`.
    pub(super) fn tell(&self, place: &str, as_json: bool, context: &Context) {
        let style = &context.output;
        output::to_stdout(&output::fit(&style.results, &self.in_words(place, as_json)));
        for why in &self.left_out {
            output::to_stderr(&output::fit(&style.errors, &format!("note: {why}")));
        }
    }

    fn in_words(&self, place: &str, as_json: bool) -> String {
        let Tally { all, put, measured, left_out } = self;
        let there = all - measured - left_out.len();
        if as_json {
            let document = json!({
                "schema": format!("v6gap.{place}/1"),
                "results": there,
                "archived": put,
                "being_measured": measured,
                "left_out": left_out,
            });
            return format!("{document:#}");
        }
        let mut text = format!("{there} results are in the {place}; {put} were put in.");
        if *measured > 0 {
            text += &format!(" {measured} are being measured, and get in when they end.");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Document;
    use crate::commands::schema::tests::fits;

    #[test]
    fn both_places_are_told_of_in_one_form() {
        let left_out = vec!["abc111 is left out: it is empty".to_owned()];
        let tally = Tally { all: 4, put: 1, measured: 1, left_out };
        for place in ["archive", "database"] {
            let told = serde_json::from_str(&tally.in_words(place, true)).unwrap();
            fits(Document::Archive, &told);
            assert_eq!(told["results"], 2);
        }
    }
}
