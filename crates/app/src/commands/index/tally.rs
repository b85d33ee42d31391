//! How many results were put somewhere, and which were not.

use crate::failure::results;
use crate::output;
use crate::settings::Context;
use serde_json::{Value, json};

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
        output::to_stdout(&match as_json {
            true => output::document(&self.document(place)),
            false => output::fit(&style.results, &self.in_words(place)),
        });
        for why in &self.left_out {
            output::to_stderr(&output::fit(&style.errors, &format!("note: {why}")));
        }
    }

    /// Results that are in the place.
    fn there(&self) -> usize {
        self.all - self.measured - self.left_out.len()
    }

    fn document(&self, place: &str) -> Value {
        json!({
            "schema": format!("v6gap.{place}/1"),
            "results": self.there(),
            "archived": self.put,
            "being_measured": self.measured,
            "left_out": self.left_out,
        })
    }

    fn in_words(&self, place: &str) -> String {
        let (Tally { put, measured, .. }, there) = (self, self.there());
        let mut text = format!("In the {place}: {}; put in: {put}.", results(there));
        if *measured > 0 {
            text += &format!(" Being measured, and left for later: {measured}.");
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
            let told = tally.document(place);
            fits(Document::Archive, &told);
            assert_eq!(told["results"], 2);
        }
    }
}
