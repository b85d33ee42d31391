//! What a result says first, from made-up answers.

use crate::fixtures::runs::{another_day, comparison};
use crate::fixtures::{self, Spec, echo, from_specs, invalid, lab, tcp};
use v6gap_core::arm::PerArm;
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::workload::{Cell, Transport, Visit, Workload};
use v6gap_judge::analysis::{
    Analysis, CheckState, Choice, Counted, Exchanges, Failures, NullTold, OrderEffect, Race, Range,
    Verdict,
};
use v6gap_judge::eyeballs::Policy;
use v6gap_report::html::{PageInfo, page};
use v6gap_report::text::{Style, table, verbose};
use v6gap_report::{costs, details, failures, fallbacks, headline, predicted, races};
use v6gap_report::{json, markdown, markdown_comparison};

/// Round trips over TCP of 64 B, 1 KiB and 16 KiB that differ by so much.
fn levels(effects: [f64; 3]) -> Analysis {
    let sizes = [64, 1024, 16_384].into_iter().zip(effects);
    let spec = |(bytes, effect)| Spec {
        workload: echo(Transport::Tcp, bytes),
        metric: Metric::Rtt,
        a: 1e-3,
        effect,
        half: 0.004,
        predicted: None,
    };
    from_specs(&sizes.map(spec).collect::<Vec<_>>())
}

fn throughput(effect: f64, half: f64, predicted: Option<f64>) -> Analysis {
    let (workload, metric) = (tcp(), Metric::Throughput);
    from_specs(&[Spec { workload, metric, a: 94e6, effect, half, predicted }])
}

#[test]
fn the_first_sentence_says_what_all_answers_together_are() {
    let even = "On this path it makes no difference that matters whether you use IPv4 or IPv6.";
    assert_eq!(headline(&levels([0.0, 0.001, -0.001])), even);
    assert_eq!(headline(&levels([0.2; 3])), "IPv6 is clearly slower than IPv4 on this path.");
    let open = "No difference that matters found yet on this path; 1 of 1 questions has no answer.";
    assert_eq!(headline(&throughput(0.0, 0.2, None)), open);
    let explained = "IPv6 is a little slower than IPv4 on this path, and its larger header \
                     explains all of it.";
    assert_eq!(headline(&throughput(-0.03, 0.001, Some(-0.03))), explained);
}

/// What was not found says from what size on it would have been; what could not be found is no
/// check that was passed.
#[test]
fn checks_of_the_whole_run_are_told_in_one_line() {
    let said = |analysis: &Analysis| {
        let json: serde_json::Value = serde_json::from_str(&json(analysis)).unwrap();
        let checks = json["checks"].as_array().unwrap().clone();
        ["drift", "order"].map(|id| {
            let check = checks.iter().find(|c| c["id"] == id).unwrap();
            check["text"].as_str().unwrap().to_owned()
        })
    };
    let mut analysis = lab();
    assert_eq!(
        said(&analysis),
        [
            "no difference drifted; a step of 1.2 times the spread of a pair would have shown",
            "who went first made no difference; one of 0.8 times the spread of a pair would have \
             shown",
        ]
    );
    let seen = "Passed: who went first made no difference; one of 0.8 times the spread";
    let wide = Style { width: 600, ..Style::default() };
    assert!(verbose(&analysis, &[], &wide).contains(seen));
    for joint in [&mut analysis.steadiness.change, &mut analysis.steadiness.order] {
        joint.seen_from_sd = None;
    }
    assert_eq!(
        said(&analysis),
        [
            "29 pairs are too few to tell whether anything drifted",
            "29 pairs are too few to tell whether it mattered who went first",
        ]
    );
    for joint in [&mut analysis.steadiness.change, &mut analysis.steadiness.order] {
        joint.found = true;
    }
    assert_eq!(
        said(&analysis),
        [
            "differences changed while they were measured, over all questions most after pair 11",
            "who went first made a difference; both orders weigh alike in each answer",
        ]
    );
    analysis.questions[0].diagnostics.order =
        Some(OrderEffect { p: 1e-9, means: [0.02, -0.02], stratified: 0.0 });
    assert!(said(&analysis)[1].contains("2.0 % faster or 2.0 % slower"), "{:?}", said(&analysis));
}

/// Each family by itself, each metric by what says least.
#[test]
fn null_blocks_say_within_how_much_families_agree() {
    let said = |analysis: &Analysis| {
        let json: serde_json::Value = serde_json::from_str(&json(analysis)).unwrap();
        let checks = json["checks"].as_array().unwrap().clone();
        let check = checks.into_iter().find(|c| c["id"] == "null").unwrap();
        check["text"].as_str().unwrap().to_owned()
    };
    let mut analysis = levels([0.0; 3]);
    analysis.checks.iter_mut().filter(|c| c.id == "null").for_each(|c| c.text.clear());
    for (null, within) in analysis.nulls.iter_mut().zip([0.004, 0.0121, 0.008]) {
        (null.within, null.seen_from) = (within, 2.0 * within);
    }
    let seen = "; a bias would have been seen from 2.5 % in round trip";
    // Rounded up, as the bounds that they are.
    let agreed = "each family agreed with itself: round trip within 1.3 %";
    assert_eq!(said(&analysis), format!("{agreed}{seen}"));
    analysis.nulls[1].within = 0.13;
    analysis.nulls[1].told = NullTold::NotShown;
    let open =
        "that families agree with themselves was not shown for round trip (13 %, 5 % matter)";
    assert_eq!(said(&analysis), format!("{open}{seen}"));
    analysis.nulls[2].told = NullTold::Doubtful;
    analysis.nulls[2].estimate = -0.012;
    let doubtful = "IPv6 against itself differed by 1.2 % in round trip (rtt-tcp-16384): so much \
                    of a difference may be the instrument's";
    assert_eq!(said(&analysis), doubtful);
    analysis.nulls.retain_mut(|null| {
        (null.within, null.told) = (f64::INFINITY, NullTold::NotShown);
        true
    });
    let few = "36 null blocks are too few to find the instrument's own bias";
    assert_eq!(said(&analysis), few);
    analysis.nulls.clear();
    assert_eq!(said(&analysis), "no family was compared with itself in this run");
}

#[test]
fn a_loss_that_was_not_seen_is_not_one_that_is_excluded() {
    let mut analysis = lab();
    analysis.questions.retain(|q| q.metric == Metric::Loss);
    let alone = "No loss was seen on this path, in too few packets to exclude it.";
    assert_eq!(headline(&analysis), alone);
    let mut silent = analysis.clone();
    silent.questions.push(invalid().questions.swap_remove(0));
    let two = "No loss was seen on this path, in too few packets to exclude it; 2 of 2 questions \
               have no answer.";
    assert_eq!(headline(&silent), two);
    analysis.questions.push(levels([0.0; 3]).questions.swap_remove(0));
    let beside = "On this path it makes no difference that matters whether you use IPv4 or IPv6; \
                  no loss was seen, in too few packets to exclude it.";
    assert_eq!(headline(&analysis), beside);
}

/// What takes more processor time is no slower, nor is what varies more.
#[test]
fn only_times_and_rates_are_slower() {
    let of = |metric| {
        let spec =
            Spec { workload: tcp(), metric, a: 1e-3, effect: 0.2, half: 0.01, predicted: None };
        headline(&from_specs(&[spec]))
    };
    for metric in [Metric::Cpu, Metric::Ipdv, Metric::Pdv, Metric::FrameLateness] {
        assert_eq!(of(metric), "IPv6 is clearly worse than IPv4 on this path.", "{metric}");
    }
    for metric in [Metric::Rtt, Metric::RttP99, Metric::Connect, Metric::Response] {
        assert_eq!(of(metric), "IPv6 is clearly slower than IPv4 on this path.", "{metric}");
    }
}

/// One of ten questions that differs at 3 % is what chance gives; the row says what it found.
#[test]
fn the_headline_needs_more_than_one_question_needs() {
    let mut analysis = levels([0.2, 0.0, 0.0]);
    analysis.questions[0].diagnostics.p_different_run = 0.06;
    let chance = "Of 3 questions on this path 1 found IPv6 different, which among so many may be \
                  chance.";
    assert_eq!(headline(&analysis), chance);
    assert!(details(&analysis)[0].starts_with("Round trip 64 B"), "{:?}", details(&analysis));
    analysis.questions[0].diagnostics.p_different_run = 0.05;
    assert!(headline(&analysis).starts_with("IPv6 is clearly slower"), "{}", headline(&analysis));
}

#[test]
fn a_family_that_fails_more_often_is_part_of_the_answer() {
    let mut analysis = levels([0.0; 3]);
    assert_eq!(failures(&analysis), None);
    let silent = headline(&analysis);
    let found = fixtures::runs::failures();
    analysis.failures = Some(found.clone());
    let fails = "IPv6 fails more often than IPv4 on this path.";
    let rest = silent.replace("On this path", "In what came through");
    assert!(rest != silent, "{silent}");
    assert_eq!(headline(&analysis), format!("{fails} {rest}"));
    let mut dark = levels([0.0; 3]);
    dark.unreached = PerArm { a: 0, b: 2 };
    let always = "IPv6 failed in every attempt at 2 of 3 questions. In what came through";
    assert!(headline(&dark).starts_with(always), "{}", headline(&dark));
    let said = "Failures: IPv4 in 1, IPv6 in 17 of 80 blocks. Connections that failed: 1 of 4000 \
                and 3 of 4000. 1 attempt failed for which neither family stands alone. Verdict: \
                worse: fails (p < 0.001).";
    assert_eq!(failures(&analysis).as_deref(), Some(said));
    let few = Failures {
        failed: PerArm { a: 0, b: 2 },
        connections: PerArm::default(),
        attempts_of_neither: 0,
        counted: Counted { p: 0.5, verdict: Verdict::CannotTell, ..found.counted.clone() },
        ..found.clone()
    };
    analysis.failures = Some(few);
    assert_eq!(headline(&analysis), silent);
    let said = "Failures: IPv4 in none, IPv6 in 2 of 80 blocks. Verdict: can't tell which fails \
                more often (p = 0.500).";
    assert_eq!(failures(&analysis).as_deref(), Some(said));
    let counted = Counted { verdict: Verdict::None, ..found.counted.clone() };
    let neither = Failures { attempts_of_neither: 2, counted, ..found };
    analysis.failures = Some(neither);
    let said = "Failures: 2 attempts failed for which neither family stands alone.";
    assert_eq!(failures(&analysis).as_deref(), Some(said));
}

/// A path that loses packets of one family is said, and is no family that fails.
#[test]
fn lost_exchanges_are_said_by_family_and_are_no_failures() {
    let mut analysis = levels([0.0; 3]);
    let silent = headline(&analysis);
    let mut found = fixtures::runs::failures();
    found.counted.verdict = Verdict::None;
    found.attempts_of_neither = 0;
    let mut said = |exchanges: Option<Exchanges>, attempts_of_neither| {
        analysis.failures = Some(Failures { exchanges, attempts_of_neither, ..found.clone() });
        assert_eq!(headline(&analysis), silent);
        failures(&analysis).unwrap()
    };
    let worse = fixtures::runs::exchanges();
    let over_v6 = "Exchanges are lost more often over IPv6: 12 of 4812 against 0 of 4800, more in \
                   7 of 12 rounds and fewer in none (p = 0.016).";
    assert_eq!(said(Some(worse.clone()), 0), over_v6);
    let one = "Failures: 1 attempt failed for which neither family stands alone.";
    assert_eq!(said(Some(worse.clone()), 1), format!("{one} {over_v6}"));
    let other = |verdict, more| {
        let counted = Counted { more, p: 0.25, verdict, ..worse.counted.clone() };
        let lost = PerArm { a: worse.lost.b, b: worse.lost.a };
        Some(Exchanges { lost, counted })
    };
    let better = said(other(Verdict::Better, PerArm { a: 9, b: 1 }), 0);
    let over_v4 = "Exchanges are lost more often over IPv4: 12 of 4812 against 0 of 4800, more";
    assert!(better.starts_with(over_v4), "{better}");
    assert!(better.ends_with("more in 9 of 12 rounds and fewer in 1 (p = 0.250)."), "{better}");
    let open = "Lost exchanges: 12 of 4812 over IPv4, 0 of 4800 over IPv6. Verdict: can't tell \
                over which more are lost (p = 0.250).";
    assert_eq!(said(other(Verdict::CannotTell, PerArm { a: 3, b: 0 }), 0), open);
}

#[test]
fn what_is_missing_is_said_where_an_answer_would_be() {
    let mut analysis = levels([0.0; 3]);
    for question in &mut analysis.questions {
        question.verdict = Verdict::None;
        question.why_none = Some("only 3 valid pairs, at least 6 are needed".into());
    }
    let few = "No verdict: only 3 valid pairs, at least 6 are needed.";
    assert_eq!(headline(&analysis), few);
    analysis.questions[0].verdict = Verdict::Same;
    assert!(headline(&analysis).ends_with("; 2 of 3 questions have no answer."));
    analysis.checks[1].state = CheckState::Failed;
    analysis.checks[1].text = "the links differ".into();
    analysis.valid = false;
    assert_eq!(headline(&analysis), "No verdict: the links differ.");
    assert!(details(&analysis).is_empty());
}

#[test]
fn neighbouring_levels_that_say_the_same_are_said_once() {
    let analysis = levels([0.2, 0.1, 0.0]);
    let expected = "Round trips of 64 B to 1 KiB over TCP are 10 to 20 % longer over IPv6 (ranges, \
                    each by itself, from 9 to 21 % longer).";
    assert_eq!(details(&analysis)[0], expected);
}

#[test]
fn an_odd_level_is_named_and_not_smoothed_over() {
    let analysis = levels([0.2, -0.2, 0.15]);
    let expected = "Over IPv6 round trips of 64 B over TCP are 20 % longer and round trips of 1 \
                    KiB over TCP are 20 % shorter on this path.";
    assert_eq!(headline(&analysis), expected);
    assert!(details(&analysis)[0].starts_with("Round trip 64 B, "), "{:?}", details(&analysis));
}

#[test]
fn open_levels_are_one_topic() {
    let mut analysis = levels([0.0; 3]);
    for question in &mut analysis.questions {
        question.verdict = Verdict::CannotTell;
    }
    let expected = "Not yet known: round trips of 64 B to 16 KiB over TCP.";
    assert_eq!(details(&analysis), [expected]);
}

#[test]
fn what_headers_cost_is_said_where_it_is_known() {
    assert_eq!(predicted(&throughput(0.0, 0.001, None)), None);
    let expected = "Header size alone would make TCP throughput 1.4 % slower.";
    // Nothing to compare it with is said of a difference whose range holds none.
    for effect in [0.0, -0.002] {
        let said = predicted(&throughput(effect, 0.01, Some(-0.0138)));
        assert_eq!(said.as_deref(), Some(expected));
    }
    let said = predicted(&throughput(-0.01, 0.001, Some(-0.0138))).unwrap();
    assert!(said.ends_with("1.4 % slower (−1.3 Mbit/s of −0.94 Mbit/s)."), "{said}");
}

/// What IPv6 takes longer is said of IPv6, whichever arm it is.
#[test]
fn what_a_message_takes_longer_is_taken_apart() {
    let mut analysis = lab();
    let cost = analysis.cost_models[0].clone();
    let said = costs(&analysis, &cost);
    let expected = "Of the 11.0 µs that IPv6 takes longer at 64 B over TCP, 6.4 µs are its longer \
                    header on 2 links, there and back; 4.6 µs are the hosts' (between 4.1 µs and \
                    5.2 µs).";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with("; the line has 100 Mbit/s."), "{said}");
    let (mut swapped, names) = (cost.clone(), &mut analysis.arm_names);
    std::mem::swap(&mut names.a, &mut names.b);
    swapped.smallest = cost.smallest.map(|share| share.of_the_first());
    assert!(costs(&analysis, &swapped).starts_with(expected), "{}", costs(&analysis, &swapped));
    let (mut unknown, mut none) = (cost.clone(), cost);
    (unknown.line_rate_bps, unknown.delay_ns) = (None, None);
    assert!(costs(&analysis, &unknown).contains("are the hosts' and the path's (between"));
    (none.fitted, none.why_none) = (None, Some("one round".into()));
    assert!(costs(&analysis, &none).ends_with("over TCP could not be told apart: one round."));
    analysis.valid = false;
    assert!(costs(&analysis, &none).starts_with("A check of the run failed"));
}

#[test]
fn a_comparison_says_first_what_changed() {
    let named = |mut analysis: Analysis, id: &str| {
        analysis.run.id = id.parse().unwrap();
        analysis
    };
    let says = |runs: &[Analysis]| markdown_comparison(&comparison(runs));
    let changed = says(&[lab(), another_day("8m1c3e")]);
    let worse =
        "**From A to B IPv6 got worse against IPv4: 20.0 % longer at round trips of 64 B over ";
    assert!(changed.starts_with(worse), "{changed}");
    assert!(changed.contains("IPv4 by itself, from A to B: changed in 1 of "), "{changed}");
    let mut day = another_day("8m1c3e");
    let connecting = day.questions.iter_mut().find(|q| q.metric == Metric::Connect).unwrap();
    connecting.effect.as_mut().unwrap().range95 = Range { low: -0.2, high: 0.1 };
    let unchanged = says(&[day.clone(), named(day, "9m1c3e")]);
    let open = "**From A to B no change of IPv6 against IPv4 was found yet; 1 of 5 questions is ";
    assert!(unchanged.starts_with(open), "{unchanged}");
    let failed = says(&[lab(), named(invalid(), "8m1c3e")]);
    assert!(failed.starts_with("**No verdict: a check of B failed: IPv4 and IPv6 "), "{failed}");
}

/// What depends on something that was drawn is a suspect; that it cannot be told is for the verbose
/// form.
#[test]
fn what_was_drawn_is_named_where_the_difference_goes_with_it() {
    let style = Style { width: 600, ..Style::default() };
    let mut analysis = lab();
    let least = "9 to 15 % slower";
    let most = "17 to 23 % faster";
    for (to, said) in [
        (Choice::Writes, ["the size of writes", "in writes of 32 KiB to 60 KiB", "--length 32K"]),
        (Choice::Reads, ["the size of reads", "in reads of 32 KiB to 60 KiB", "v6gap run"]),
        (
            Choice::SecondSegments,
            ["what writes leave over of a segment of 1428 B of IPv6", "at 2 to 30 %", "--set-mss"],
        ),
        (
            Choice::ServerProcessor,
            ["the processor of the server", "on processor 0", "taskset -c 0"],
        ),
    ] {
        analysis.sensitivity = vec![fixtures::runs::by_choice(to)];
        for text in [table(&analysis, &style), markdown(&analysis)] {
            for said in [least, most, "p = 0.004", "To test it: "].into_iter().chain(said) {
                assert!(text.contains(said), "{said} is not in {text}");
            }
        }
    }
    analysis.sensitivity = vec![fixtures::runs::by_writes(false)];
    let open = "cannot be told from 12 blocks (p = 0.200)";
    assert!(!table(&analysis, &style).contains("the size of writes"));
    assert!(verbose(&analysis, &[], &style).contains(open));
}

/// No number is promised where nobody would measure so long.
#[test]
fn what_would_settle_a_question_has_a_limit() {
    let mut analysis = lab();
    let wide = Style { width: 200, ..Style::default() };
    let open = analysis.questions.iter().position(|q| q.verdict == Verdict::CannotTell).unwrap();
    let label = analysis.questions[open].label.clone();
    assert!(table(&analysis, &wide).contains(&format!("{label}: about 46 more pairs")));
    let question = &mut analysis.questions[open];
    (question.pairs_to_settle, question.out_of_reach) = (None, true);
    let said = format!("{label}: no run of this kind would settle it soon, a larger margin or");
    for text in [table(&analysis, &wide), page(&analysis, &PageInfo::default())] {
        assert!(text.contains(&said), "{text}");
    }
}

/// Ranges are taken from pairs, of which each may be the mean of several blocks.
#[test]
fn how_many_blocks_make_a_pair_is_told_where_it_is_not_one() {
    let mut analysis = lab();
    let wide = Style { width: 200, ..Style::default() };
    let told = |analysis: &v6gap_judge::analysis::Analysis| {
        [verbose(analysis, &[], &wide), markdown(analysis), page(analysis, &PageInfo::default())]
    };
    assert!(told(&analysis).iter().all(|text| !text.contains("Blocks in a round")));
    let first = &mut analysis.questions[0];
    // A discarded block is one of its round, too.
    first.pairs[16].blocks = 3;
    first.pairs[17].round = first.pairs[16].round;
    if let Some(effect) = &mut first.effect {
        effect.blocks = 12;
    }
    for text in told(&analysis) {
        let said = "Blocks in a round: 4 of Throughput, TCP; one of each other cell.";
        assert!(text.contains(said), "{text}");
        assert!(text.contains("12 to 29 pairs"), "{text}");
    }
}

/// What was discarded stands by family, and what would change an answer.
#[test]
fn discarded_blocks_are_told_by_family_and_what_they_could_change() {
    let mut analysis = lab();
    assert!(!table(&analysis, &Style::default()).contains("Discarded:"));
    analysis.discards = Some(fixtures::runs::discards());
    let wide = Style { width: 200, ..Style::default() };
    let said = table(&analysis, &wide);
    for part in [
        "Discarded: 6 of 80 blocks, 1 for IPv4 alone, 3 for IPv6 alone and 2 for both: whether one \
         family was discarded more often cannot be told",
        "the answer could change if its 4 discarded blocks had differed by more than 12 %; as they \
         were measured, they do not.",
        "by more than 1 points; as they were measured, they do.",
    ] {
        assert!(said.replace('\n', " ").contains(part), "{part} is missing:\n{said}");
    }
    for shown in [page(&analysis, &PageInfo::default()), markdown(&analysis)] {
        assert!(shown.contains("3 for IPv6 alone"), "the page and Markdown say so, too");
    }
}

/// The largest of several changes is named where the ranges tell it apart from the others.
#[test]
fn what_changed_most_is_named_only_if_it_can_be_told() {
    let mut found = comparison(&[lab(), another_day("8m1c3e")]);
    let said = markdown_comparison(&found);
    assert!(said.contains("changed in 2 of 5 questions, most in Round trip 64 B, TCP"), "{said}");
    for against in found.rows.iter_mut().flat_map(|row| &mut row.against) {
        for effect in against.changes.iter_mut().filter_map(|change| change.effect.as_mut()) {
            effect.range95 = Range { low: 0.001, high: 0.9 };
        }
    }
    let said = markdown_comparison(&found);
    assert!(said.contains("changed in 2 of 5 questions, in which most cannot be told;"), "{said}");
}

/// A family that begins to fail is said first, with the range of the change.
#[test]
fn a_comparison_says_that_a_family_came_to_fail() {
    let mut runs = [lab(), lab()];
    runs[1].run.id = "8m1c3e".parse().unwrap();
    runs[1].failures = Some(fixtures::runs::failures());
    let markdown = v6gap_report::markdown_comparison(&comparison(&runs));
    assert!(markdown.contains("From A to B IPv6 came to fail more often than IPv4."), "{markdown}");
    let json: serde_json::Value =
        serde_json::from_str(&v6gap_report::json_comparison(&comparison(&runs))).unwrap();
    let verdicts = json["failures"].as_array().unwrap().iter().map(|found| &found["verdict"]);
    assert_eq!(verdicts.collect::<Vec<_>>(), ["worse", "inconclusive", "inconclusive"]);
    let details = json["details"].to_string();
    assert!(details.contains("worse: fails"), "{details}");
    // By itself a family has its figures, and why they are not judged.
    let why = "can't tell; how much failures of a family by itself scatter from run to run is not";
    assert_eq!(details.matches(why).count(), 2, "{details}");
}

#[test]
fn who_would_choose_which_family_is_said_by_groups() {
    let mut analysis = lab();
    assert_eq!(races(&analysis), None);
    let curl = Race { policy: Policy::Curl, v6: 23, ..fixtures::runs::race() };
    analysis.races = vec![fixtures::runs::race(), curl];
    let said = "Programs that try both families (Happy Eyeballs) would have chosen IPv6 in 24 of \
                24 visits by RFC 8305; IPv6 in 23 of 24 visits by curl 7.88. By RFC 8305 their \
                connection stands 3.2 ms later than over IPv4 alone (95 %: 2.9 ms to 3.5 ms), and \
                the first byte comes 9.6 ms later (95 %: 9.1 ms to 10.2 ms).";
    assert_eq!(races(&analysis).as_deref(), Some(said));
    let (policy, stands_later_ns) = (Policy::OneAfterTheOther, 14.96e9);
    let stands_later_range_ns = Range { low: 14.94e9, high: 15e9 };
    let waiting = Race { policy, stands_later_ns, stands_later_range_ns, ..fixtures::runs::race() };
    analysis.races.push(waiting);
    let waits = "the first byte comes 9.6 ms later (95 %: 9.1 ms to 10.2 ms). Where programs wait \
                 for both answers and try one family after the other it stands 15.0 s later (95 %: \
                 14.9 s to 15.0 s).";
    let said = races(&analysis).unwrap();
    assert!(said.ends_with(waits), "{said}");
    // Of several pairs of addresses it is the first that is reckoned with.
    let pair = |v4: &str, v6: &str| PerFamily { v4: v4.parse().unwrap(), v6: v6.parse().unwrap() };
    analysis.run.address_pairs =
        vec![pair("192.0.2.1", "2001:db8::1"), pair("192.0.2.2", "2001:db8::2")];
    let said = races(&analysis).unwrap();
    let alone = " That is reckoned from visits to 192.0.2.1 and 2001:db8::1 alone.";
    assert!(said.ends_with(alone), "{said}");
    // A connection alone has no first byte.
    let alone = Visit { http: None, ..Visit::default() };
    analysis.run.plan.parts_mut().cells = vec![Cell::named(Workload::Visit(alone))];
    let said = races(&analysis).unwrap();
    assert!(said.contains("to 3.5 ms). Where") && !said.contains("first byte"), "{said}");
}

/// Nothing is later or sooner whose range holds none, nor where the visits are too few for one.
#[test]
fn what_a_choice_costs_is_said_where_its_range_tells() {
    let mut analysis = lab();
    let mut said = |race: Race| {
        let (policy, stands_later_ns) = (Policy::OneAfterTheOther, 9e6);
        analysis.races = vec![race, Race { policy, stands_later_ns, ..race }];
        races(&analysis).unwrap()
    };
    let usual = fixtures::runs::race();
    let stands_later_range_ns = Range { low: -4.1e5, high: 3.01e6 };
    let first_byte_later_range_ns = Range { low: -9e6, high: -2.55e6 };
    let first_byte_later_ns = -5e6;
    let open = "By RFC 8305 whether their connection stands sooner or later than over IPv4 alone \
                cannot be told (95 %: 0.5 ms sooner to 3.1 ms later), and the first byte comes 5.0 \
                ms sooner (95 %: 2.5 ms to 9.0 ms).";
    let race =
        Race { stands_later_range_ns, first_byte_later_ns, first_byte_later_range_ns, ..usual };
    let found = said(race);
    assert!(found.ends_with(open), "{found}");
    let stands_later_range_ns = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };
    let found = said(Race { pairs: 5, v6: 0, stands_later_range_ns, ..usual });
    assert!(found.contains("IPv4 in 5 of 5 visits by RFC 8305"), "{found}");
    assert!(found.contains("IPv4 alone cannot be told (too few: 5 visits)"), "{found}");
}

/// Rows and sentences would else be alike that are of different machines.
#[test]
fn topics_name_their_place_where_there_are_several() {
    let mut analysis = levels([0.2, 0.001, 0.001]);
    analysis.questions.truncate(1);
    analysis.questions[0].place = Some("192.0.2.2 and 2001:db8::2".to_owned());
    let topic = v6gap_judge::analysis::words::topic_of(&analysis.questions[0]);
    assert_eq!(topic, "round trips of 64 B over TCP at 192.0.2.2 and 2001:db8::2");
}

#[test]
fn how_long_programs_wait_for_a_family_that_fails_is_said() {
    let said =
        fallbacks(20_000_000, &[(Policy::Curl, 220_000_000), (Policy::Chromium, 15_000_000_000)]);
    assert_eq!(
        said,
        "Programs that try both families (Happy Eyeballs) have a connection of IPv4 after 220.0 ms \
         by curl 7.88, 15.0 s by Chromium 130; by IPv4 alone it takes 20.0 ms."
    );
}

#[test]
fn both_ways_stand_side_by_side() {
    let mut analysis = lab();
    analysis.run.hops = Some(fixtures::runs::hops());
    analysis.run.path_mtu = Some(fixtures::runs::path_mtu());
    let said = table(&analysis, &Style::default());
    let rows = [
        "1 192.0.2.1 0.3 2001:db8::1 0.3",
        "2 192.0.2.10 12.1 no answer",
        "3 2001:db8:10::10 15.3",
    ];
    let lines: Vec<String> =
        said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for row in rows {
        assert!(lines.iter().any(|line| line == row), "{row}: {said}");
    }
    let words = lines.join(" ");
    for sentence in [
        "Packets of up to 1500 B pass over IPv4 and of up to 1480 B over IPv6: 20 B less over \
         IPv6, as in a tunnel: 6in4 (RFC 4213).",
        "Over IPv6 packets above 1480 B vanish and nobody says so: this host takes 1500 B for the \
         path MTU, and what is larger than fits will stall (RFC 2923).",
    ] {
        assert!(words.contains(sentence), "{sentence}: {words}");
    }
}
