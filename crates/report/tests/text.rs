//! Text keeps to its width and its glyphs, and foreign strings cannot drive a terminal.

use crate::fixtures::runs::{self, another_day, comparison};
use crate::fixtures::views::visited;
use crate::fixtures::{Spec, echo, from_specs, hostile, invalid, journal, lab, null_run};
use v6gap_core::metric::Metric;
use v6gap_core::plan::Stop;
use v6gap_core::workload::Transport;
use v6gap_judge::analysis::{Analysis, Qualifier};
use v6gap_report::html::comparison_page;
use v6gap_report::text::{self, Glyphs, Style, table, verbose};
use v6gap_report::{details, headline, latex, markdown, markdown_comparison};

fn all() -> [Analysis; 4] {
    [lab(), invalid(), null_run(), hostile()]
}

fn styles(width: usize) -> Vec<Style> {
    let mut styles = Vec::new();
    for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
        for plain in [false, true] {
            styles.push(Style { width, glyphs, plain, colour: false });
        }
    }
    styles
}

#[test]
fn no_line_is_wider_than_asked() {
    let lines = journal::lines();
    let all = all();
    for width in (20..30).chain(40..=120) {
        for style in styles(width) {
            for analysis in &all {
                for text in [table(analysis, &style), verbose(analysis, &lines, &style)] {
                    for line in text.lines() {
                        assert!(line.chars().count() <= width, "{width}: {line:?}");
                        assert_eq!(line, line.trim_end(), "no line ends in spaces");
                    }
                }
            }
        }
    }
}

#[test]
fn ascii_is_ascii_and_nothing_controls_the_terminal() {
    for analysis in all() {
        for style in styles(80) {
            let text = verbose(&analysis, &journal::lines(), &style);
            assert!(style.glyphs == Glyphs::Unicode || text.is_ascii());
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
            assert!(!text.contains('\u{202e}'));
        }
    }
}

#[test]
fn colour_says_nothing_that_words_do_not_say() {
    for analysis in all() {
        let bare = table(&analysis, &Style::default());
        let coloured = table(&analysis, &Style { colour: true, ..Style::default() });
        let mut stripped = String::new();
        let mut inside = false;
        for c in coloured.chars() {
            match c {
                '\u{1b}' => inside = true,
                'm' if inside => inside = false,
                c if !inside => stripped.push(c),
                _ => {}
            }
        }
        assert_eq!(stripped, bare);
        assert_ne!(coloured, bare);
    }
}

#[test]
fn the_answer_comes_first_and_the_run_last() {
    for analysis in [lab(), null_run()] {
        let text = table(&analysis, &Style::default());
        let first = text.lines().next().expect("a first line");
        assert!(headline(&analysis).starts_with(first));
        let last = text.lines().last().expect("a last line");
        assert_eq!(last, "Saved as 7k2f9q. Report: v6gap report 7k2f9q");
    }
}

#[test]
fn a_failed_check_takes_the_place_of_every_verdict_and_keeps_the_numbers() {
    let text = table(&invalid(), &Style { width: 200, ..Style::default() });
    assert!(text.starts_with("No verdict: "));
    for word in ["worse", "better", "= same", "can't tell"] {
        assert!(!text.contains(word), "{word}");
    }
    assert!(text.contains("94.1") && text.contains("92.8"));
    assert!(text.contains("refused connections"));
}

#[test]
fn a_null_run_names_its_arms_and_no_family() {
    let text = table(&null_run(), &Style::default());
    assert!(text.contains("○ first") && text.contains("◆ second"));
    assert!(!text.contains("IPv6"));
}

/// A figure in the metric's unit would say more than −0.060 – +0.020 % beside it does.
#[test]
fn a_difference_that_may_be_none_is_not_told_absolutely() {
    let analysis = lab();
    let wide = table(&analysis, &Style { width: 120, ..Style::default() });
    for text in [wide, markdown(&analysis), latex(&analysis)] {
        let of = |label: &str| text.lines().find(|line| line.contains(label)).expect("a line");
        let (goodput, connecting) = (of("Goodput 1408 B"), of("Connecting"));
        assert!(goodput.contains("0.020") && !goodput.contains("kbit/s"), "{goodput}");
        assert!(connecting.contains("34 "), "{connecting}");
    }
}

/// A change that is there and does not matter has the word that such a difference has in a run.
#[test]
fn a_change_within_the_margin_is_not_called_the_same() {
    let mut found = comparison(&[lab(), another_day("8m1c3e")]);
    let row = found.rows.iter_mut().find(|row| row.cell == "rtt-tcp-1024").expect("a row");
    for change in &mut row.against[0].changes {
        change.qualifier = Qualifier::RealButTiny;
    }
    let wide = Style { width: 400, ..Style::default() };
    let said = text::comparison(&found, &wide);
    assert_eq!(said.matches("≈ within 5 %").count(), 3, "{said}");
    let alone = "same in 3, changed within the margin in 1.";
    assert!(said.contains(alone), "{said}");
    let plain = text::comparison(&found, &Style { plain: true, ..wide });
    assert_eq!(plain.matches("Verdict: within 5 %.").count(), 3, "{plain}");
    let written = markdown_comparison(&found);
    assert_eq!(written.matches("within 5 %").count(), 3, "{written}");
    let shown = comparison_page(&found, &[], "0.1.0");
    assert_eq!(shown.matches("Within 5 %").count(), 3, "{shown}");
    assert!(shown.contains(" same, 3 within the margin, "), "{shown}");
}

/// The shape of a verdict stands before its word: before a figure it could pass for a part of it.
#[test]
fn no_shape_of_a_verdict_stands_before_a_figure() {
    let found = comparison(&[lab(), another_day("8m1c3e"), another_day("9x2d4f")]);
    let said = text::comparison(&found, &Style { width: 400, ..Style::default() });
    assert!(said.contains("  < 0.1 % longer (−0.8 – +0.8 %), = same"), "{said}");
    assert!(said.contains("%), ▼ worse") && !said.contains("= <"), "{said}");
    let page = comparison_page(&found, &[], "0.1.0");
    let small = "&lt; 0.1 % longer, <span aria-hidden=\"true\">=</span> too small to matter";
    assert!(page.contains(small), "{page}");
}

/// What would settle a question is a command, where pairs can be added.
#[test]
fn what_would_settle_a_question_can_be_typed() {
    let wide = Style { width: 400, ..Style::default() };
    let mut analysis = lab();
    assert!(table(&analysis, &wide).contains("46 more pairs (16 min) would probably settle it.\n"));
    analysis.run.argv = ["v6gap", "demo"].map(str::to_owned).into();
    let said = table(&analysis, &wide);
    let command =
        "(16 min) would probably settle it: v6gap run lab-b --continue 7k2f9q --for 16min\n";
    assert!(said.contains(command), "{said}");
}

/// A search that ended where it may not go further says so, and not the name of its gate.
#[test]
fn a_gate_is_told_in_words() {
    let mut analysis = lab();
    analysis.questions[0].caveats = vec!["search-bound: noted in 2 trials, kept".to_owned()];
    let said = table(&analysis, &Style { width: 400, ..Style::default() });
    let words = "the search reached the highest rate that it may try (noted in 2 trials, kept).";
    assert!(said.contains(words) && !said.contains("search-bound"), "{said}");
}

/// Keys and figures of a set-up are put in words and units in all forms for people.
#[test]
fn what_differs_in_the_set_up_is_told_in_words() {
    let mut other = another_day("8m1c3e");
    other.run.plan = other.run.plan.ending(Stop::within(75_000_000_000));
    let found = comparison(&[lab(), other]);
    let wide = Style { width: 400, ..Style::default() };
    let words = "stopping rule, longest time";
    let said = text::comparison(&found, &wide);
    assert!(said.contains(&format!("{words}: 10 min → 75 s\n")), "{said}");
    for form in [said, markdown_comparison(&found), comparison_page(&found, &[], "0.1.0")] {
        assert!(form.contains(words) && !form.contains("time_ns_max"), "{form}");
    }
}

/// What one of several runs could not tell has its range there, and no estimate.
#[test]
fn a_run_that_could_not_tell_says_so_beside_others() {
    let mut again = lab();
    again.run.id = "8m1c3e".parse().unwrap();
    let found = comparison(&[lab(), again]);
    let open = "5.7 % longer to 2.3 % shorter";
    for said in [markdown_comparison(&found), comparison_page(&found, &[], "0.1.0")] {
        let (_, rest) = said.split_once("Round trip 16 KiB, UDP").expect("a row");
        assert!(rest.starts_with(" | IPv6 against IPv4 | ") || rest.starts_with("</span>"));
        let row: String = rest.chars().take(300).collect();
        assert!(row.matches(open).count() >= 2 && !row.contains("1.7 % longer"), "{row}");
    }
    let narrow = text::comparison(&found, &Style::default());
    assert!(narrow.contains("IPv6 against  "), "still a table: {narrow}");
}

/// Who reads no table has the values, too.
#[test]
fn a_plain_comparison_tells_the_values_of_both_runs() {
    let found = comparison(&[lab(), another_day("8m1c3e")]);
    let said = text::comparison(&found, &Style { width: 400, plain: true, ..Style::default() });
    for line in [
        "Throughput, TCP, IPv6 against IPv4: A 1.4 % slower; B 1.4 % slower. No change that ",
        "Throughput, TCP, IPv4: A 94.1 Mbit/s; B 97.0 Mbit/s. 3.0 % faster in B than in A (",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

/// Sentences in place of every table, also of routers, spread and sockets.
#[test]
fn nothing_plain_is_a_table() {
    let plain = Style { width: 400, plain: true, ..Style::default() };
    let narrow = Style { width: 24, ..Style::default() };
    for said in [plain, narrow].map(|style| table(&visited(), &style).replace('\n', " ")) {
        assert!(said.contains("1: IPv4 192.0.2.1 after 310 µs, IPv6 2001:db8::1 after"), "{said}");
        assert!(said.contains(" 3: IPv6 2001:db8:10::10 after 15.3 ms"), "{said}");
    }
    let said = verbose(&lab(), &journal::lines(), &plain);
    assert!(said.contains(": difference ") && said.contains(": asked "), "{said}");
    assert!(said.lines().all(|line| !line.contains("  ")), "{said}");
}

/// Of rounds in which either family failed more, the share is what is left of both.
#[test]
fn failures_of_families_against_each_other_have_their_direction() {
    let mut both = [lab(), lab()];
    both[1].run.id = "8m1c3e".parse().unwrap();
    both[1].failures = Some(runs::failures());
    let mut found = comparison(&both);
    let said = markdown_comparison(&found);
    assert!(said.contains("rounds in A, more often by 40 % of 40 rounds in B, "), "{said}");
    assert!(said.contains("IPv6 against IPv4: as often in "), "{said}");
    found.failures[0].shares = [-0.05, 0.0];
    let said = markdown_comparison(&found);
    assert!(said.contains("IPv6 against IPv4: less often by 5 % of "), "{said}");
    assert!(said.contains(" rounds in A, as often in 40 rounds in B, "), "{said}");
}

/// Headers that cost nothing have no direction.
#[test]
fn a_prediction_of_none_is_told_as_that() {
    let level = |(bytes, effect)| Spec {
        workload: echo(Transport::Tcp, bytes),
        metric: Metric::Rtt,
        a: 1e-3,
        effect,
        half: 0.004,
        predicted: Some(0.0),
    };
    let said = details(&from_specs(&[(64, 0.2), (1024, 0.1)].map(level)));
    assert!(said[0].ends_with("explains little of it (predicted: no difference)."), "{said:?}");
}
