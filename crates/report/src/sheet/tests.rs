//! Tables are whole, and nothing foreign in them is a command.

use super::*;

#[test]
fn nothing_foreign_is_a_command() {
    let evil = "\\input{/etc/passwd} $x$ 5 % & # _ ^ ~ {a} \u{1b}[31m\u{202e}";
    let expected = "\\textbackslash{}input\\{/etc/passwd\\} \\$x\\$ 5 \\% \\& \\# \\_ \
                    \\textasciicircum{} \\textasciitilde{} \\{a\\} ?{[}31m?";
    assert_eq!(tex(evil), expected);
    assert_eq!(tex("1.3 – 1.5 %, −2 µs"), "1.3 -- 1.5 \\%, $-$2 \\textmu{}s");
}

#[test]
fn nothing_foreign_is_markup_of_org() {
    let evil = "* a | b\n#+INCLUDE: x [[elisp:y]] src_sh{z} {{{m}}} <<t>> \\alpha call_f()";
    let text = org(evil);
    for markup in ["|", "\n", "#+", "[[", "src_", "{{", "<", "\\alpha", "call_"] {
        assert!(!text.contains(markup), "{markup}: {text}");
    }
    assert!(text.starts_with("\\ast{} a \\vert{} b"), "{text}");
    let evil = org("@@latex:%@@ $x$ elisp:(y) file:/z /i/ +s+ shell:w");
    for markup in ["@@", "$x", "elisp:(", "file:/", " /i", " +s", "shell:w", "latex:%"] {
        assert!(!evil.contains(markup), "{markup}: {evil}");
    }
    assert_eq!(org("IPv6: 94 Mbit/s, 12:30"), "IPv6: 94 Mbit/s, 12:30");
    assert_eq!(org("1.3 – 1.5 %, +2 µs"), "1.3 – 1.5 %, +2 µs");
}

/// What an alignment needs: as many cells in each row as there are columns, and every group
/// that is opened closed.
#[test]
fn a_table_is_whole() {
    let sheet = Sheet {
        caption: "50 % of {it}".into(),
        name: "x".into(),
        heads: vec!["a".into(), "b & c".into()],
        numbers: vec![false, true],
        groups: vec![vec![vec!["1".into(), "2".into()]], vec![vec!["3".into(), "}".into()]]],
        notes: vec!["A note.".into()],
    };
    let text = sheet.latex();
    let bare = text.replace("\\{", "").replace("\\}", "").replace("\\%", "");
    let count = |c| bare.chars().filter(|x| *x == c).count();
    assert_eq!(count('{'), count('}'), "{text}");
    for row in text.lines().filter(|line| line.ends_with("\\\\")) {
        assert_eq!(row.replace("\\&", "").matches('&').count(), 1, "{row}");
    }
    assert!(text.contains("\\begin{tabular}{@{}lr@{}}"), "{text}");
    assert_eq!(sheet.markdown().lines().filter(|line| line.starts_with('|')).count(), 4);
    let text = sheet.org();
    assert!(text.starts_with("#+NAME: tab:x\n#+CAPTION: 50 % of {"), "{text}");
    assert!(text.contains("| a | b & c |\n|---+---|\n| 1 | 2 |\n"), "{text}");
}
