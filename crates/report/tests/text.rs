//! Text keeps to its width and its glyphs, and foreign strings cannot drive a terminal.

use crate::fixtures::{hostile, invalid, journal, lab, null_run};
use v6gap_judge::analysis::Analysis;
use v6gap_report::headline;
use v6gap_report::text::{Glyphs, Style, table, verbose};

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
