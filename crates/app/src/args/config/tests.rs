//! What files of options add to what was typed, and what they may not say.

use super::*;

fn file(name: &str, text: &str) -> ConfigFile {
    ConfigFile::parse(name, text, true).unwrap()
}

fn merged(line: &str, files: &[&str]) -> Result<String, String> {
    let full: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let files: Vec<ConfigFile> = files.iter().map(|text| file("f.toml", text)).collect();
    with_added(&full, &Variables::new(), &files).map(|(words, _)| words.join(" "))
}

#[test]
fn options_of_the_verb_are_added_behind_it() {
    let text = "[run]\nmargin = [\"rtt=3%\", \"loss=1%\"]\nno-wait = true\nquick = false\n\
                [serve]\nport = 5000\n[fleet.agent]\noffline = \"stop\"\n";
    let run = merged("run lab-b", &[text]).unwrap();
    assert_eq!(run, "run --margin=rtt=3% --margin=loss=1% --no-wait lab-b");
    assert_eq!(merged("--ascii serve -1", &[text]).unwrap(), "--ascii serve --port=5000 -1");
    // What is missing is no matter.
    assert_eq!(merged("fleet agent", &[text]).unwrap(), "fleet agent --offline=stop");
    assert_eq!(merged("list", &[text]).unwrap(), "list");
    assert_eq!(merged("run --help", &[text]).unwrap(), "run --help");
}

#[test]
fn what_is_typed_wins_and_so_does_the_nearer_file() {
    let far = "[run]\nfor = \"2min\"\nport = 1\nno-wait = true\n";
    let near = "[run]\nport = 2\nno-wait = false\n";
    assert_eq!(merged("run lab-b", &[near, far]).unwrap(), "run --port=2 --for=2min lab-b");
    // A time beside a number of pairs cannot be.
    assert_eq!(merged("run lab-b --pairs 8", &[near]).unwrap(), "run --port=2 lab-b --pairs 8");
    let typed = merged("run lab-b -p 3 --pairs 8", &[near, far]).unwrap();
    assert_eq!(typed, "run lab-b -p 3 --pairs 8");
}

#[test]
fn options_that_exclude_or_need_each_other_do_not_stand_alone() {
    let [near, far] = ["[run]\npairs = 8\n", "[run]\nfor = \"2min\"\nport = 2\n"];
    let both = merged("run lab-b", &[near, far]).unwrap();
    assert_eq!(both, "run --pairs=8 --port=2 lab-b");
    let lab = "[run]\nlab = \"two-routers\"\nfrom = \"router1\"\nno-wait = true\n";
    assert_eq!(merged("run lab-b", &[lab]).unwrap(), "run --no-wait lab-b");
    let in_lab = merged("run", &[lab]).unwrap();
    assert_eq!(in_lab, "run --from=router1 --lab=two-routers --no-wait");
}

#[test]
fn a_folder_says_nothing_of_programs_and_doors() {
    let said = |line: &str, text: &str| {
        let full: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let file = ConfigFile::parse("./v6gap.toml", text, false).unwrap();
        with_added(&full, &Variables::new(), &[file]).map(|(words, _)| words.join(" "))
    };
    let text = "[watch]\non-change = \"./x\"\n";
    for (line, text) in [
        ("watch lab-b", text),
        ("watch lab-b", "[watch]\nlisten = \"0.0.0.0:9466\"\n"),
        ("serve", "[serve]\npublic = true\n"),
        ("serve", "[serve]\nnew-key = \"k\"\n"),
        ("run lab-b", "[run]\nkernel = \"k\"\n"),
        ("run lab-b", "[run]\ncapture = true\n"),
        ("report last", "[report]\noutput = \"o\"\n"),
        ("web", "[web]\ndemo = \"j\"\n"),
        ("web", "[web]\ndemo-watch = \"l\"\n"),
        ("fleet hub run d", "[fleet.hub.run]\nnats-server = \"./n\"\n"),
        ("fleet hub run d", "[fleet.hub.run]\npostgres = \"u\"\n"),
    ] {
        let wrong = said(line, text).unwrap_err();
        assert!(wrong.contains("stands in your own file of options alone"), "{text}: {wrong}");
    }
    let port = said("run lab-b", "[run]\nport = 2\n").unwrap();
    assert_eq!(port, "run --port=2 lab-b");
    let own = ConfigFile::parse("f.toml", text, true).unwrap();
    let full = ["watch", "lab-b"].map(str::to_owned);
    let (words, _) = with_added(&full, &Variables::new(), &[own]).unwrap();
    assert_eq!(words.join(" "), "watch --on-change=./x lab-b");
    for key in ["json-errors", "show-config", "help"] {
        let text = format!("[watch]\n{key} = true\n");
        let wrong = merged("watch lab-b", &[&text]).unwrap_err();
        assert!(wrong.contains("said in no file"), "{wrong}");
    }
}

#[test]
fn a_run_that_goes_on_keeps_what_was_decided() {
    let text = "[run]\nmargin = \"rtt=3%\"\nport = 2\nparallel = 4\n";
    let on = merged("run lab-b --continue last", &[text]).unwrap();
    assert_eq!(on, "run --port=2 lab-b --continue last");
}

#[test]
fn variables_are_nearer_than_files_and_further_than_what_is_typed() {
    let with = |line: &str, variables: &[(&str, &str)], text: &str| {
        let full: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let named = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        with_added(&full, &named.collect(), &[file("f.toml", text)])
            .map(|(words, from)| (words.join(" "), from))
    };
    let text = "[run]\nmargin = \"rtt=2%\"\nfor = \"2min\"\n";
    let set = [("V6GAP_MARGIN", "rtt=3%"), ("V6GAP_NO_WAIT", "1"), ("V6GAP_QUICK", "0")];
    let (words, from) = with("run lab-b", &set, text).unwrap();
    assert_eq!(words, "run --margin=rtt=3% --no-wait --for=2min lab-b");
    assert_eq!(from["margin"], "V6GAP_MARGIN");
    let typed = with("run lab-b --margin rtt=4%", &set[..1], "").unwrap().0;
    assert_eq!(typed, "run lab-b --margin rtt=4%");
    // A key has a variable of its own, which is no option; others are of other programs.
    let other = [("V6GAP_KEY", "word"), ("V6GAP_DATA", "d"), ("V6GAP_SHOW_CONFIG", "1")];
    assert_eq!(with("run lab-b", &other, "").unwrap().0, "run lab-b");
    // What is meant for one verb must not write, remove or let in elsewhere.
    for (line, variable) in [
        ("export last", ("V6GAP_OUTPUT", "report.html")),
        ("rm", ("V6GAP_OLDER_THAN", "90d")),
        ("serve", ("V6GAP_PUBLIC", "1")),
        ("web", ("V6GAP_PORT", "4466")),
        ("web", ("V6GAP_FLEET_CREDS", "c")),
        ("run lab-b", ("V6GAP_CAPTURE", "1")),
    ] {
        assert_eq!(with(line, &[variable], "").unwrap().0, line, "{variable:?}");
    }
    let wrong = with("run lab-b", &[("V6GAP_NO_WAIT", "maybe")], "").unwrap_err();
    assert_eq!(wrong, "the variable V6GAP_NO_WAIT is true or false");
}

#[test]
fn what_is_wrong_is_named() {
    for (text, said) in [
        ("[run]\npair = 3\n", "pair of [run] is no option; \"pairs\" is"),
        ("[run]\npairs = true\n", "pairs of [run] is a text, a number, or a list of them"),
        ("[run]\nquick = \"yes\"\n", "quick of [run] is true or false"),
    ] {
        assert!(merged("run lab-b", &[text]).unwrap_err().contains(said), "{text}");
    }
    let wrong = |text: &str| ConfigFile::parse("f.toml", text, false).unwrap_err();
    assert!(wrong("[srve]\n").contains("[srve] is no table of a verb; [serve] is"));
    assert!(wrong("quick = true\n").contains("[quick] is no table of a verb"));
    assert!(wrong("[run]\nquick =\n").starts_with("f.toml, line 2: "));
}

#[test]
fn what_holds_is_shown_with_its_origin() {
    let files = [file("./v6gap.toml", "[run]\nfor = \"2min\"\nno-wait = true\n")];
    let full = ["run", "--show-config", "-P", "1,4", "--key", "tell-no-one"];
    let full = full.map(str::to_owned);
    assert!(asks_for_options(&full) && !asks_for_options(&full[..1]));
    let behind = ["lab", "exec", "client", "v6gap", "list", "--show-config"];
    assert!(!asks_for_options(&behind.map(str::to_owned)), "that asks another program");
    let text = shown(&full, &Variables::new(), &files).unwrap();
    assert!(text.contains("--key WORD") && !text.contains("tell-no-one"), "{text}");
    let line = |option: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(option));
        found.unwrap_or_else(|| panic!("{option}: {text}")).split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(line("--for"), ["--for", "2min", "./v6gap.toml"]);
    assert_eq!(line("--no-wait"), ["--no-wait", "./v6gap.toml"]);
    assert_eq!(line("--parallel"), ["--parallel", "1,4", "typed"]);
    assert_eq!(line("--port"), ["--port", "4466", "default"]);
    assert!(!text.contains("--quick") && !text.contains(SHOW), "{text}");
}
