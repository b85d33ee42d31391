//! What a stored result gives to a paper: tables, figures, a paragraph on the method.

use crate::support::Sandbox;
use serde_json::Value;

#[test]
fn a_table_of_answers_is_written_for_papers_and_for_spreadsheets() {
    let sandbox = Sandbox::with_run();
    let latex = sandbox.run("export last --format latex -o t.tex").ended(0).out;
    assert_eq!(latex, "t.tex\n");
    let latex = sandbox.read("t.tex");
    assert!(latex.contains("\\begin{tabular}") && latex.contains("1.4 \\% slower"), "{latex}");
    assert_eq!(sandbox.run("show last --format latex").ended(0).out, latex);
    let org = sandbox.run("show last --format org").ended(0).out;
    let rows = org.lines().filter(|line| line.starts_with('|'));
    // A row of heads, a rule, and one for each question.
    assert_eq!(rows.count(), latex.matches("\\\\\n").count() + 1, "{org}");
    let table = sandbox.run("export last --format table").ended(0).out;
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 1 + 2, "{table}");
    assert!(rows[1].starts_with("7k2f9q,throughput-tcp,"), "{table}");
    assert!(rows.iter().skip(1).all(|row| row.contains(",ratio-1,-0.0") || row.contains(",0.0")));
}

#[test]
fn figures_are_written_with_captions_and_numbers() {
    let sandbox = Sandbox::with_run();
    let ran = sandbox.run("figures last --for lncs -o drawn").ended(0);
    let files: Vec<&str> = ran.out.lines().collect();
    assert!(!files.is_empty() && files.len().is_multiple_of(3), "{ran:?}");
    assert_eq!(ran.err, "");
    for file in files {
        let text = sandbox.read(file);
        match file.rsplit('.').next().unwrap() {
            "svg" => assert!(text.starts_with("<svg width=\"122mm\""), "{file}"),
            "csv" => assert!(text.lines().count() > 1, "{file}: {text}"),
            _ => assert!(text.contains("run 7k2f9q"), "{file}: {text}"),
        }
    }
    let narrow = sandbox.run("figures last --for ieee-1col").ended(0);
    assert!(narrow.err.contains("the text is 5.8 points"), "{narrow:?}");
    assert!(narrow.out.contains("figures/7k2f9q-"), "{narrow:?}");
}

#[test]
fn a_figure_has_the_forms_and_the_width_that_were_asked_for() {
    let sandbox = Sandbox::with_run();
    let ran = sandbox.run("figures last --format png,pdf --width 50.8mm -o drawn").ended(0);
    let of = |ending: &str| ran.out.lines().filter(|file| file.ends_with(ending)).count();
    assert!(of(".png") > 0 && of(".png") == of(".pdf") && of(".png") == of(".caption.txt"));
    assert_eq!(of(".svg") + of(".csv"), 0, "{ran:?}");
    for file in ran.out.lines() {
        let bytes = sandbox.bytes(file);
        match file.rsplit('.').next().unwrap() {
            // The width in the header of the file, RFC 2083: 2 inches of 300 pixels.
            "png" => assert_eq!(&bytes[..20], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x58"),
            "pdf" => assert!(bytes.starts_with(b"%PDF-") && bytes.ends_with(b"%%EOF"), "{file}"),
            _ => {}
        }
    }
    for (wrong, why) in [
        ("--width 30", "a width is a number of mm"),
        ("--width 90 --for lncs", "--for"),
        ("--format jpeg", "[possible values: svg, pdf, png, csv, json]"),
    ] {
        let ran = sandbox.run(&format!("figures last {wrong}")).ended(2);
        assert!(ran.err.contains(why), "{wrong}: {ran:?}");
    }
}

#[test]
fn nothing_is_drawn_as_printed_of_a_plan_that_repeats_no_study() {
    let sandbox = Sandbox::with_run();
    for verb in ["report", "figures"] {
        let ran = sandbox.run(&format!("{verb} last --facsimile")).ended(0);
        assert!(ran.err.contains("repeats no study that printed figures"), "{ran:?}");
    }
}

#[test]
fn a_paragraph_says_how_the_run_was_made() {
    let sandbox = Sandbox::with_run();
    let text = sandbox.run("cite").ended(0).out;
    for part in ["v6gap 0.1.0", "Holm 1979", "margins fixed beforehand", "--seed 7", "20 rounds"] {
        assert!(text.replace('\n', " ").contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let latex = sandbox.run("cite last --format latex").ended(0).out;
    let bibtex = sandbox.run("cite last --format bibtex").ended(0).out;
    let cited: Vec<&str> = latex.split("\\cite{").skip(1).collect();
    assert_eq!(cited.len(), 5, "{latex}");
    for key in cited.iter().filter_map(|rest| rest.split('}').next()) {
        assert!(bibtex.contains(&format!("{{{key},\n")), "{key}: {bibtex}");
    }
    sandbox.run("cite nosuch").ended(2);
}

/// Two systems, one study: the pictures of both are drawn once, named by both results.
#[test]
fn pictures_of_several_systems_need_one_experiment() {
    let sandbox = Sandbox::new();
    for id in ["aaa111", "bbb222"] {
        sandbox.store_study(id, "raicu/tcp-100");
    }
    sandbox.store_study("ccc333", "raicu/tcp-10");
    let ran = sandbox.run("figures aaa bbb --facsimile -f pdf --label one --label two").ended(0);
    assert!(ran.out.contains("figures/aaa111-bbb222-printed-raicu-1-1-systems.pdf"), "{ran:?}");
    assert!(ran.out.contains("figures/bbb222-printed-raicu-1-1.pdf"), "{ran:?}");
    assert!(ran.out.contains("figures/aaa111-bbb222-systems-rtt.pdf"), "{ran:?}");
    let caption = sandbox.read("figures/aaa111-bbb222-printed-raicu-1-1-systems.caption.txt");
    for part in ["A: one, B: two", "run aaa111", "run bbb222"] {
        assert!(caption.contains(part), "{part}: {caption}");
    }
    let page = "compare aaa bbb --facsimile --format html -o page.html";
    sandbox.run(page).ended(0);
    assert!(sandbox.read("page.html").contains("id=\"fig-printed-raicu-1-1-systems\""));
    let refused = sandbox.run("figures aaa ccc --facsimile -o other").ended(6);
    assert!(refused.err.contains("ccc333 repeats raicu/tcp-10"), "{refused:?}");
    assert!(!sandbox.path("other").exists(), "nothing is written of what is refused");
    for (line, why) in [
        ("figures aaa bbb --facsimile --label one", "1 given for 2"),
        ("figures aaa --label one", "--facsimile"),
        ("compare aaa bbb --facsimile", "--format html"),
    ] {
        let ran = sandbox.run(line).ended(2);
        assert!(ran.err.contains(why), "{line}: {ran:?}");
    }
}

/// A program that draws figures one by one learns of those that several results have together.
#[test]
fn a_list_names_the_figures_of_each_result_and_of_all() {
    let sandbox = Sandbox::new();
    for id in ["aaa111", "bbb222"] {
        sandbox.store_study(id, "raicu/tcp-100");
    }
    let line = "figures aaa bbb --facsimile --label one --label two --list";
    let listed: Vec<Value> = serde_json::from_str(&sandbox.run(line).ended(0).out).unwrap();
    for id in ["aaa111", "bbb222"] {
        let own: Vec<&Value> = listed.iter().filter(|entry| entry["run"] == id).collect();
        let numbers = own.iter().map(|entry| entry["number"].as_u64());
        assert!(numbers.eq((1..=own.len() as u64).map(Some)) && !own.is_empty(), "{listed:?}");
    }
    let of_all = listed.iter().filter(|entry| entry["run"].is_null());
    assert!(of_all.clone().all(|entry| entry["number"].is_null()), "{listed:?}");
    let names: Vec<&str> = of_all.map(|entry| entry["name"].as_str().unwrap()).collect();
    for name in ["printed-raicu-1-1-systems", "systems-rtt"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}
