//! Published values and the studies' own summaries, in every form of a result.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::{self, Spec};
use v6gap_core::arm::PerArm;
use v6gap_core::metric::Metric;
use v6gap_core::plan::Summary;
use v6gap_core::published::{self, Kind, Value};
use v6gap_core::workload::Workload;
use v6gap_judge::analysis::claims::{Claim, Holds, Shape};
use v6gap_judge::analysis::compare::Of;
use v6gap_judge::analysis::studies::{AsPublished, Beside, Combined, Comparison, Published};
use v6gap_judge::analysis::{Analysis, Range};
use v6gap_report::figure::{self, Figure, JointError, Kind as Figures, Paint, System};
use v6gap_report::html::{PageInfo, comparison_page, page};
use v6gap_report::text::{self, Style, table};
use v6gap_report::{json_comparison, markdown_comparison};

/// The first look as a run of a study's plan: what it published of TCP at 64 B and 16 KiB.
pub fn studied() -> Analysis {
    let mut analysis = fixtures::lab();
    let (study, _) = published::find("raicu/tcp-100").unwrap();
    let mut values = Vec::new();
    for (cell, says) in [("rtt-tcp-64", "about 25 % at 64 B"), ("rtt-tcp-16384", "down to")] {
        let question = analysis.questions.iter().find(|q| q.cell == cell).unwrap();
        let effect = question.effect.as_ref().unwrap();
        values.push(Beside {
            published: study.values.iter().find(|v| v.says.contains(says)).unwrap().clone(),
            cell: Some(cell.to_owned()),
            measured: Some(effect.estimate),
            range: Some(effect.range95),
            predicted: question.prediction.as_ref().map(|p| p.effect),
            comparison: Some(Comparison::Below),
        });
    }
    let said = |v: &&Value| v.kind == Kind::Said && v.says.contains("ideal");
    let said = study.values.iter().find(said).unwrap().clone();
    values.push(Beside {
        published: said,
        cell: None,
        measured: None,
        range: None,
        predicted: None,
        comparison: None,
    });
    let combined = |value| Combined {
        value,
        sd: Some(value / 50.0),
        standard_error: None,
        range: None,
        runs: 10,
        used: 10,
        consistent: None,
    };
    analysis.as_published = vec![AsPublished {
        cell: "rtt-tcp-64".into(),
        metric: v6gap_core::metric::Metric::Rtt,
        summary: Summary::MeanSd,
        values: PerArm { a: combined(100e-6), b: combined(104e-6) },
        effect: 0.04,
        range: Range { low: 0.031, high: 0.049 },
    }];
    analysis.published = Some(Published {
        study: study.study,
        authors: study.authors,
        title: study.title,
        cautions: study.cautions,
        values,
    });
    analysis
}

#[test]
fn text_holds_both_tables_and_says_where_the_doubts_are() {
    let wide = Style { width: 140, ..Style::default() };
    let shown = table(&studied(), &wide);
    for part in
        ["mean ± SD of the runs", "100 ± 2", "about 25 % at 64 B", "ours is below", "with -V"]
    {
        assert!(shown.contains(part), "{part} is missing:\n{shown}");
    }
    // Too narrow for tables, and for those who hear them.
    for style in [Style { width: 60, ..wide }, Style { plain: true, ..wide }] {
        let shown = table(&studied(), &style);
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("about 25 % at 64 B"), "{shown}");
    }
}

#[test]
fn the_page_says_what_is_doubtful_and_marks_what_was_published() {
    let analysis = studied();
    let shown = page(&analysis, &PageInfo::default());
    assert!(shown.contains("id=\"published\"") && shown.contains("href=\"#published\""));
    assert!(shown.contains("a difference of shares, not a predicted ratio of round trips"));
    let marks = |analysis: &Analysis| {
        let all = figure::all(analysis, Paint::Paper, false);
        let sizes = all.into_iter().filter(|f| f.kind == Figures::Size);
        sizes.filter(|f| f.foot.contains("was published")).map(|f| f.svg.len()).collect::<Vec<_>>()
    };
    assert_eq!(marks(&analysis).len(), 1, "only the figure of TCP has published values");
    assert!(marks(&fixtures::lab()).is_empty());
}

/// What a figure as printed holds: its title, and the rows of its table.
fn printed(reference: &str) -> Vec<(String, usize)> {
    let mut analysis = fixtures::lab();
    analysis.run.plan.parts_mut().reference = Some(reference.to_owned());
    let all = figure::all(&analysis, Paint::Paper, true);
    let printed = all.into_iter().filter(|f| f.kind == Figures::Facsimile);
    printed.map(|f| (f.title, f.table.rows.len())).collect()
}

#[test]
fn figures_as_printed_are_those_of_the_study_that_the_plan_repeats() {
    let raicu = printed("raicu/tcp-100");
    let whole = |(title, rows): &&(String, usize)| title.contains("Raicu's graph 1,") && *rows > 1;
    assert_eq!(raicu.iter().filter(whole).count(), 1, "{raicu:?}");
    // Of two buffers the study printed one.
    let mut buffered = fixtures::lab();
    buffered.run.plan.parts_mut().reference = Some("raicu/tcp-100".to_owned());
    let cells = buffered.run.plan.parts_mut().cells.iter_mut();
    for (at, workload) in cells.map(|cell| &mut cell.workload).enumerate() {
        if let Workload::Echo(echo) = workload {
            echo.settings.buffer_bytes = Some(if at % 2 == 0 { 8_192 } else { 61_440 });
        }
    }
    let all = figure::all(&buffered, Paint::Paper, true);
    let of_graph_1 = all.iter().filter(|f| f.title.contains("Raicu's graph 1,"));
    assert!(of_graph_1.map(|f| &f.title).all(|title| !title.contains("8 KiB")), "{all:?}");
    let slow = printed("raicu/udp-10");
    assert!(slow.iter().all(|(title, _)| title.contains("Raicu's graph 1")), "{slow:?}");
    let manford = printed("manford/udp");
    assert!(manford.iter().any(|(title, _)| title.contains("table II")), "{manford:?}");
    for none in ["raicu/priority", "unknown/study", ""] {
        assert!(printed(none).is_empty(), "{none}");
    }
}

#[test]
fn what_a_study_said_of_its_curves_is_told_with_its_range() {
    let mut analysis = studied();
    let mut said = |holds, low, high, predicted| {
        analysis.claims = vec![Claim {
            shape: Shape::Dip,
            metric: Metric::Rtt,
            of: Of::Difference,
            cells: ["rtt-tcp-64", "rtt-tcp-1024", "rtt-tcp-16384"].map(str::to_owned).to_vec(),
            estimate: Some((low + high) / 2.0),
            range: Range { low, high },
            predicted: Some(predicted),
            rounds: 10,
            holds,
        }];
        v6gap_report::markdown(&analysis)
    };
    let there = said(Holds::Yes, 0.002, 0.004, 0.003);
    assert!(there.contains("The packets alone predict one, over TCP: +"), "{there}");
    assert!(there.contains("it is there (depth +0.2"), "{there}");
    let not = said(Holds::No, -0.004, -0.002, -0.003);
    assert!(not.contains("predict none") && not.contains("it is not there (depth −0.4"), "{not}");
    let open = said(Holds::CannotTell, -0.004, 0.002, 0.003);
    assert!(open.contains("whether it is there cannot be told"), "{open}");
    assert!(said(Holds::CannotTell, -1.0, f64::INFINITY, 0.1).contains("(depth unbounded)"));
}

#[test]
fn every_figure_as_printed_warns_and_names_the_one_with_ranges() {
    let mut analysis = studied();
    analysis.run.plan.parts_mut().reference = Some("raicu/tcp-100".to_owned());
    let all = figure::all(&analysis, Paint::Page, true);
    let graph = all.iter().find(|f| f.title.contains("Raicu's graph 1,")).unwrap();
    let warning = "Drawn as in the paper, from mean ± SD of the runs. Two scales in one chart can \
                   mislead";
    assert!(graph.foot.starts_with(warning), "{}", graph.foot);
    let (_, number) = graph.foot.rsplit_once("see figure ").unwrap();
    let number: usize = number.trim_end_matches('.').parse().unwrap();
    assert_eq!(all[number - 1].id, "size-rtt-tcp");
    assert!(graph.table.heads.iter().any(|head| head.contains("SD")), "{:?}", graph.table.heads);
    let info = PageInfo { facsimile: true, ..PageInfo::default() };
    let shown = page(&analysis, &info);
    assert!(shown.contains("id=\"printed\"") && shown.contains("href=\"#printed\""));
    assert!(!page(&analysis, &PageInfo::default()).contains("id=\"printed\""));
}

#[test]
fn programs_get_all_of_it() {
    let told: serde_json::Value = serde_json::from_str(&v6gap_report::json(&studied())).unwrap();
    let values = told["published"]["values"].as_array().unwrap();
    assert_eq!((values.len(), &values[0]["comparison"]), (3, &"below".into()));
    assert_eq!(values[0]["published"]["place"], "text to graphs 1 to 4");
    assert_eq!(told["as_published"][0]["summary"], "mean-sd");
    let markdown = v6gap_report::markdown(&studied());
    assert!(markdown.contains("about 25 % at 64 B"), "{markdown}");
}

/// As a run of the plan that Raicu's Table 4 belongs to.
pub fn of_table_4(mut analysis: Analysis) -> Analysis {
    analysis.run.plan.parts_mut().reference = Some("raicu/tcp-100".to_owned());
    for cell in &mut analysis.run.plan.parts_mut().cells {
        if let Workload::Echo(echo) = &mut cell.workload {
            echo.settings.buffer_bytes = Some(61_440);
        }
    }
    analysis
}

/// Raicu's Table 4: the published change of each family beside the one measured here.
#[test]
fn two_systems_stand_beside_those_of_the_study() {
    let runs = [fixtures::lab(), another_day("8m1c3e")].map(of_table_4);
    let found = comparison(&runs);
    let wide = Style { width: 140, ..Style::default() };
    let shown = text::comparison(&found, &wide);
    let row = shown.lines().find(|line| line.contains("7.29 % longer")).unwrap();
    assert!(row.starts_with("Round trip 64 B TCP IPv6") && row.contains("worse"), "{shown}");
    assert!(shown.contains("Shown and not compared") && shown.contains("Single runs"), "{shown}");
    let plain = text::comparison(&found, &Style { plain: true, ..wide });
    assert!(plain.contains("published 7.29 % longer"), "{plain}");
    let markdown = markdown_comparison(&found);
    assert!(markdown.contains("| Round trip 16 KiB TCP IPv4 | 3.71 % shorter |"), "{markdown}");
    let page = comparison_page(&found, &[], "0.1.0");
    assert!(
        page.contains("id=\"published\"") && page.contains("as a share of the value"),
        "{page}"
    );
    let told: serde_json::Value = serde_json::from_str(&json_comparison(&found)).unwrap();
    assert_eq!(told["published"]["values"].as_array().unwrap().len(), 6);
    assert_eq!(told["published"]["values"][1]["published"]["low"], -0.0729);
    let other = comparison(&[fixtures::lab(), another_day("8m1c3e")]);
    assert!(!comparison_page(&other, &[], "0.1.0").contains("id=\"published\""));
}

/// A run of Goyal's transfers on a system whose IPv4 is so fast.
fn transfers(id: &str, distribution: &str, mbit_s: f64) -> Analysis {
    let spec = |k: u64| {
        let mut spec = fixtures::first_look().swap_remove(0);
        if let Workload::TcpBulk(bulk) = &mut spec.workload {
            bulk.bytes = Some(128_000 * k);
        }
        Spec { a: mbit_s * 1e6 - 1e6 / k as f64, ..spec }
    };
    let mut analysis = fixtures::from_specs(&[1, 2, 3, 11].map(spec));
    analysis.run.id = id.parse().unwrap();
    analysis.run.plan.parts_mut().reference = Some("goyal/throughput".to_owned());
    for host in [&mut analysis.run.hosts.client, &mut analysis.run.hosts.server] {
        host.facts.insert("distribution".to_owned(), distribution.to_owned());
        host.facts.insert("kernel".to_owned(), "6.1".to_owned());
    }
    analysis
}

fn joint(runs: &[Analysis]) -> Result<Vec<Figure>, JointError> {
    let systems: Vec<System<'_>> =
        runs.iter().map(|analysis| System { label: "", analysis }).collect();
    figure::joint(&systems, Paint::Paper)
}

/// Goyal's figures 4, 5 and 6: IPv4 of all systems, IPv6 of all, and everything.
#[test]
fn several_systems_stand_in_one_picture_as_they_were_printed() {
    let runs = [transfers("aaa111", "Debian", 94.0), transfers("bbb222", "Alpine", 90.0)];
    let drawn = joint(&runs).unwrap();
    let of = |id: &str| drawn.iter().find(|f| f.id == format!("printed-goyal-{id}-systems"));
    let heads = |id: &str| of(id).unwrap().table.heads[1..].join("; ");
    assert_eq!(drawn.len(), 3);
    assert_eq!(heads("4"), "A IPv4, Mbit/s; B IPv4, Mbit/s");
    assert_eq!(heads("5"), "A IPv6, Mbit/s; B IPv6, Mbit/s");
    assert_eq!(heads("6"), "A IPv4, Mbit/s; A IPv6, Mbit/s; B IPv4, Mbit/s; B IPv6, Mbit/s");
    let four = of("4").unwrap();
    assert_eq!(four.table.rows.len(), 4);
    let cells = &four.table.rows[0];
    assert!(cells[1].starts_with("93") && cells[2].starts_with("89"), "{cells:?}");
    assert!(four.svg.contains(">Debian, 6.1</text>") && four.svg.contains(">B</text>"));
    assert!(four.foot.contains("A: Debian, 6.1, B: Alpine, 6.1."), "{}", four.foot);
    assert!(four.title.ends_with("over IPv4, 2 systems"), "{}", four.title);
    // A name of one's own takes the place of the system's.
    let systems =
        [("mine", &runs[0]), ("", &runs[1])].map(|(label, analysis)| System { label, analysis });
    let named = figure::joint(&systems, Paint::Paper).unwrap();
    assert!(named[0].foot.contains("A: mine, B: Alpine, 6.1."), "{}", named[0].foot);
}

#[test]
fn systems_of_other_studies_have_their_pictures_too() {
    let two = |reference: &str| {
        let runs = ["aaa111", "bbb222"].map(|id| {
            let mut analysis = fixtures::lab();
            analysis.run.id = id.parse().unwrap();
            analysis.run.plan.parts_mut().reference = Some(reference.to_owned());
            analysis
        });
        let drawn = joint(&runs).unwrap();
        drawn.into_iter().map(|figure| figure.id).collect::<Vec<_>>()
    };
    assert!(two("raicu/tcp-100").contains(&"printed-raicu-1-1-systems".to_owned()));
    assert!(two("goyal/ping").contains(&"printed-goyal-10-systems".to_owned()));
    assert!(two("soorty/tcp").contains(&"printed-soorty-3-systems".to_owned()));
    for ids in ["raicu/tcp-100", "goyal/ping", "soorty/tcp", "manford/udp"].map(two) {
        let unique: std::collections::BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
    }
    assert!(two("raicu/priority").is_empty());
}

#[test]
fn results_that_do_not_belong_together_are_refused() {
    let runs = [transfers("aaa111", "Debian", 94.0), transfers("bbb222", "Alpine", 90.0)];
    let refused = |second: Analysis| joint(&[runs[0].clone(), second]).unwrap_err().to_string();
    assert_eq!(refused(runs[0].clone()), "the result aaa111 is named twice");
    let mut other = runs[1].clone();
    other.run.plan.parts_mut().reference = None;
    assert_eq!(
        refused(other),
        "the results do not repeat the same experiment: aaa111 repeats goyal/throughput, bbb222 \
         repeats no study"
    );
    let mut null = fixtures::null_run();
    null.run.id = "ccc333".parse().unwrap();
    assert!(refused(null).starts_with("the results do not compare the same: aaa111 compares"));
    let many: Vec<Analysis> =
        (0..=figure::SYSTEMS_MAX).map(|n| transfers(&format!("run{n}"), "Debian", 94.0)).collect();
    assert_eq!(joint(&many), Err(JointError::TooMany(7)));
    assert!(joint(&runs[..1]).unwrap().is_empty());
}
