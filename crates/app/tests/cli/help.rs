//! Help, version, completions and manual pages.

use crate::support::Sandbox;

/// Every verb with the verbs below it.
const VERBS: [&str; 53] = [
    "demo",
    "run",
    "watch",
    "watch status",
    "watch history",
    "fleet",
    "fleet hub init",
    "fleet hub run",
    "fleet hub invite",
    "fleet hub revoke",
    "fleet agent",
    "fleet apply",
    "fleet run",
    "fleet status",
    "fleet check",
    "fleet estimate",
    "fleet matrix",
    "fleet history",
    "fleet report",
    "fleet export",
    "check",
    "doctor",
    "serve",
    "show",
    "replay",
    "report",
    "figures",
    "cite",
    "compare",
    "list",
    "note",
    "rm",
    "index",
    "index rebuild",
    "index archive",
    "index postgres",
    "export",
    "plan",
    "plan check",
    "plan estimate",
    "plan run",
    "plan list",
    "plan show",
    "plan new",
    "lab",
    "lab up",
    "lab exec",
    "lab status",
    "lab list",
    "lab down",
    "predict",
    "explain",
    "completions",
];

#[test]
fn the_short_help_fits_a_screen_and_tells_the_truth() {
    let sandbox = Sandbox::new();
    let short = sandbox.run("-h").ended(0).out;
    assert!(short.lines().count() <= 24, "{short}");
    assert!(short.lines().all(|line| line.chars().count() <= 80), "{short}");
    let examples = short.split_once("Examples:").unwrap().1;
    assert_eq!(examples.lines().filter(|line| line.starts_with("  v6gap ")).count(), 4);
    let run = sandbox.run("run --help").ended(0).out;
    for word in short.split(|c: char| !c.is_ascii_alphanumeric() && c != '-') {
        if word.starts_with("--") {
            assert!(run.contains(word), "{word} is no option of run");
        }
    }
}

#[test]
fn without_anything_the_short_help_is_shown() {
    let ran = Sandbox::new().run("").ended(2);
    assert!(ran.out.contains("v6gap demo"));
}

#[test]
fn every_verb_has_help_with_an_example_of_itself() {
    let sandbox = Sandbox::new();
    for verb in VERBS.into_iter().chain(["man"]) {
        let help = sandbox.run(&format!("{verb} --help")).ended(0).out;
        let example = help.split_once("Example").unwrap_or_else(|| panic!("{verb}: {help}")).1;
        assert!(example.contains(&format!("v6gap {verb}")), "{verb}: {example}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{verb}: {help}");
    }
    let all = sandbox.run("--help").ended(0).out;
    for verb in VERBS.into_iter().filter(|verb| !verb.contains(' ')) {
        assert!(all.contains(&format!("\n  {verb} ")), "{verb}");
    }
}

#[test]
fn the_version_is_told() {
    let sandbox = Sandbox::new();
    for line in ["--version", "-v"] {
        let expected = format!("v6gap {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(sandbox.run(line).ended(0).out, expected);
    }
}

#[test]
fn shells_and_packagers_are_served_without_a_data_folder() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let ran = sandbox.run_with(&format!("completions {shell}"), &[]).ended(0);
        assert!(ran.out.contains("estimate"), "{shell}");
    }
    let page = sandbox.run_with("man", &[]).ended(0).out;
    assert!(page.contains(".TH v6gap 1"), "{page}");
    let listed = sandbox.run("man --dir pages").ended(0).out;
    assert!(sandbox.read("pages/v6gap-run.1").contains("pairs"));
    // Each page that another refers to.
    for page in listed.lines() {
        let text = std::fs::read_to_string(sandbox.path(page)).unwrap().replace("\\-", "-");
        for section in ["1", "5", "7"] {
            let named = format!("({section})");
            let words = text.split_whitespace().map(|word| word.trim_end_matches(','));
            for name in words.filter_map(|word| word.strip_suffix(named.as_str())) {
                let of = sandbox.path(&format!("pages/{name}.{section}"));
                assert!(of.is_file(), "{page}: {name}");
            }
        }
    }
    sandbox.run("man --dir share/man1").ended(0);
    assert!(sandbox.read("share/man7/v6gap-verdicts.7").contains(".TH"));
    assert!(
        VERBS.iter().all(|verb| listed.contains(&format!("/v6gap-{}.1", verb.replace(' ', "-"))))
    );
}

#[test]
fn codes_and_topics_are_explained() {
    let sandbox = Sandbox::new();
    let list = sandbox.run("explain").ended(0).out;
    for name in list.lines().filter_map(|line| line.strip_prefix("  ")) {
        let name = name.split_whitespace().next().unwrap();
        let text = sandbox.run(&format!("explain {name}")).ended(0).out;
        assert!(text.starts_with(&format!("{name}: ")), "{text}");
        assert!(text.lines().count() >= 3, "{text}");
        assert!(sandbox.run(&format!("explain {name} --ascii")).ended(0).out.is_ascii());
    }
    let wrong = sandbox.run("explain E999").ended(2);
    assert!(wrong.err.contains("no code or topic"), "{wrong:?}");
}

#[test]
fn the_headers_are_drawn_to_scale() {
    let text = Sandbox::new().run("explain headers").ended(0).out;
    let (four, six) = text.split_once("IPv6 (RFC 8200)").unwrap();
    let rows = |part: &str| part.lines().filter(|line| line.starts_with("  │")).count();
    // A word of 4 bytes is two lines high, the line between two words counted once.
    assert_eq!((rows(four), rows(six)), (5, 2 + 7 + 7));
    let widths: Vec<usize> =
        text.lines().filter(|l| l.starts_with("  │")).map(|l| l.chars().count()).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
}

/// Every code that the sources give to an error, by what stands in quotes there.
fn codes(folder: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            codes(&path, found);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let is_code = |word: &&str| {
                let number = word.strip_prefix(['E', 'N', 'V']);
                number.is_some_and(|n| n.len() == 3 && n.bytes().all(|b| b.is_ascii_digit()))
            };
            found.extend(text.split('"').filter(is_code).map(str::to_owned));
        }
    }
}

#[test]
fn every_code_is_explained() {
    let sandbox = Sandbox::new();
    let mut found = std::collections::BTreeSet::new();
    codes(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut found);
    assert!(found.len() > 30, "{found:?}");
    let listed = sandbox.run("explain").ended(0).out;
    let unexplained: Vec<_> =
        found.iter().filter(|code| !listed.contains(&format!("  {code} "))).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
}
