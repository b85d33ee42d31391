//! The budgets of uncertainty of a run's estimates as a table and a sentence.

use crate::figure::Table;
use v6gap_judge::analysis::budget::{self, Budget, Source};
use v6gap_judge::analysis::words::amount_of;
use v6gap_judge::analysis::{Analysis, Question};

/// What stands above the table.
pub(crate) const SAY: &str = "Standard uncertainties of each difference by their source, and all \
    together with a coverage factor of 2 (JCGM 100, GUM). Blocks: their scatter in this run. From \
    run to run: known once five like runs are stored. Hosts: until then, what their own speed does \
    to a ratio of times. Instrument: the difference that null blocks \
    show where there is none, and how well they show it; they are fewer than the others, so that \
    this is often the largest. Link of the lab: how far it may be off its model. A dash stands \
    for what is not known or does not apply.";

/// One row for each question with an estimate; `None` if there is none.
pub(crate) fn table(analysis: &Analysis) -> Option<Table> {
    let row = |q: &Question| Some(row(q, &budget::of(analysis, q)?));
    let rows: Vec<_> = analysis.questions.iter().filter_map(row).collect();
    let heads = ["Question"].into_iter().chain(Source::ALL.map(name)).chain(["All (k = 2)"]);
    (!rows.is_empty()).then(|| Table { heads: heads.map(str::to_owned).collect(), rows })
}

fn row(q: &Question, budget: &Budget) -> Vec<String> {
    let amount = |standard: f64| amount_of(q.metric, standard);
    let by = |source| budget.by(source).map_or_else(|| "–".to_owned(), amount);
    let all = [amount(budget.expanded)];
    [q.label.clone()].into_iter().chain(Source::ALL.map(by)).chain(all).collect()
}

fn name(source: Source) -> &'static str {
    match source {
        Source::Blocks => "Blocks",
        Source::Runs => "From run to run",
        Source::Hosts => "Hosts",
        Source::Instrument => "Instrument",
        Source::Model => "Link of the lab",
        Source::Clock => "Clock",
        Source::Rounding => "Rounding",
    }
}
