//! What other runs of the same set-up tell stands beside a run's own ranges in every form.

use crate::fixtures::lab;
use v6gap_judge::analysis::alike::AnyRun;
use v6gap_judge::analysis::compare::Of;
use v6gap_judge::analysis::history::ChangePoint;
use v6gap_judge::analysis::{Analysis, Range};
use v6gap_report::html::{PageInfo, page};
use v6gap_report::markdown;
use v6gap_report::text::{Style, table};

fn forms(analysis: &Analysis) -> [String; 3] {
    let info = PageInfo { title: "", command: "", sockets: &[], facsimile: false };
    let style = Style { width: 400, ..Style::default() };
    [table(analysis, &style), markdown(analysis), page(analysis, &info)]
}

#[test]
fn where_any_run_will_be_is_told_once_it_is_known() {
    let mut analysis = lab();
    for form in forms(&analysis) {
        assert!(form.contains("95 %, this run: ") && !form.contains("any run"), "{form}");
    }
    let range = Range { low: -0.020, high: -0.008 };
    analysis.questions[0].any_run = Some(AnyRun { range, tau: 0.0021, runs: 6 });
    let said = "95 %, any run like it, by 6 runs of this set-up (in brackets: from run to run): \
                Throughput, TCP: 0.8 to 2.0 % slower (0.21 %).";
    for form in forms(&analysis) {
        assert!(form.contains(said), "{form}");
        assert!(!form.contains("what changed"), "{form}");
    }
}

#[test]
fn what_changed_between_runs_is_told_with_the_run_that_it_came_with() {
    let mut analysis = lab();
    let change = |of, low, high| ChangePoint {
        of,
        first: "7k2f9q".parse().unwrap(),
        before: 9,
        since: 6,
        by: (low + high) / 2.0,
        range: Range { low, high },
    };
    analysis.questions[0].change_points =
        vec![change(Of::Difference, -0.13, -0.08), change(Of::Second, -0.12, -0.07)];
    let said = "95 %, what changed between runs of this set-up: Throughput, TCP, IPv6 against \
                IPv4: 8 to 13 % slower from run 7k2f9q on (9 runs before, 6 since); Throughput, \
                TCP, IPv6: 7 to 12 % slower from run 7k2f9q on (9 runs before, 6 since).";
    for form in forms(&analysis) {
        assert!(form.contains(said), "{form}");
    }
}
