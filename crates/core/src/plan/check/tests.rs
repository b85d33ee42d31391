//! Drafts that are right become what they say; drafts that are wrong name every wrong key.

use super::super::draft::{Counts, Design, Draft, Lab, Levels, Measure, Range, VERSION, Wanted};
use super::*;
use crate::metric::Metric;
use crate::workload::{
    Capacity, Direction, Echo, Frames, Kind, Law, Search, Sizes, Transport, UdpBulk, Workload,
};

fn measure(metric: &str) -> Measure {
    let text = format!(r#"{{"metric":"{metric}"}}"#);
    serde_json::from_str(&text).unwrap()
}

fn draft(measures: Vec<Measure>) -> Draft {
    Draft { v6gap: VERSION, measure: measures, ..Draft::default() }
}

fn keys(draft: &Draft) -> Vec<String> {
    check(draft, 1).unwrap_err().into_iter().map(|p| p.key).collect()
}

#[test]
fn defaults_are_made_explicit() {
    let plan = check(&draft(alloc::vec![measure("throughput"), measure("rtt")]), 7).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids, ["throughput-tcp", "rtt-tcp-64", "rtt-tcp-1024", "rtt-tcp-16384"]);
    assert_eq!(plan.seed, 7);
    assert_eq!(plan.margin(Metric::Throughput), 0.02);
    assert_eq!(plan.design.null_cells, [0, 1]);
}

#[test]
fn ranges_and_lists_make_cells() {
    let range =
        Range { from: "64 B".to_string(), to: "64 KiB".to_string(), factor: Some(2), step: None };
    let mut rtt = measure("rtt");
    rtt.message = Some(Levels::Range(range));
    let plan = check(&draft(alloc::vec![rtt.clone()]), 1).unwrap();
    assert_eq!(plan.cells.len(), 11);
    assert!(matches!(&plan.cells[10].workload, Workload::Echo(e) if e.message_bytes == 65_536));
    rtt.protocol = Some(Levels::Many(["tcp", "udp"].map(ToString::to_string).to_vec()));
    assert_eq!(keys(&draft(alloc::vec![rtt])), ["measure[0].message"]);
}

#[test]
fn knobs_of_round_trips_are_part_of_the_name() {
    let mut rtt = measure("rtt");
    rtt.message = Some(Levels::One("64 B".to_string()));
    let id =
        |rtt: &Measure| check(&draft(alloc::vec![rtt.clone()]), 1).unwrap().cells[0].id.clone();
    rtt.wait = Some("spin".to_string());
    assert_eq!(id(&rtt), "rtt-tcp-64-spin");
    rtt.outstanding = Some(8);
    rtt.response = Some("1 KiB".to_string());
    assert_eq!(id(&rtt), "rtt-tcp-64-to-1024-x8-spin");
    rtt = Measure { outstanding: None, response: None, wait: None, ..rtt };
    rtt.timing = Some("batch".to_string());
    rtt.protocol = Some(Levels::One("icmp".to_string()));
    assert_eq!(id(&rtt), "rtt-icmp-64-batch");
    rtt = Measure { also: alloc::vec!["tails".to_string()], ..measure("rtt") };
    let plan = check(&draft(alloc::vec![rtt]), 1).unwrap();
    let percentiles = [Metric::Rtt, Metric::RttP50, Metric::RttP90, Metric::RttP99];
    assert!(plan.cells.iter().all(|cell| cell.workload.metrics() == percentiles));
    for cell in &plan.cells {
        let Workload::Echo(echo) = &cell.workload else { panic!("{cell:?}") };
        assert!(echo.turns * echo.turn_exchanges >= Echo::TAILS_EXCHANGES_MIN, "{}", cell.id);
    }
}

#[test]
fn connections_are_named_by_what_they_are_for() {
    let one = |measure: Measure| check(&draft(alloc::vec![measure]), 1).unwrap().cells[0].clone();
    assert_eq!(one(measure("connect")).id, "connect-tcp");
    assert_eq!(one(measure("first-byte")).id, "first-byte-tcp");
    assert_eq!(one(measure("connect-rate")).id, "connect-rate-tcp");
    let several = Measure { concurrent: Some(8), ..measure("connect-rate") };
    assert_eq!(one(several.clone()).id, "connect-rate-tcp-x8");
    let held = Measure { hold: Some(true), count: Some(10_000), ..several };
    let cell = one(held.clone());
    assert_eq!(cell.id, "connect-rate-tcp-held-10000-x8");
    assert_eq!(cell.workload.metrics(), [Metric::ConnectRate, Metric::Connect]);
    let problem = |measure: Measure| keys(&draft(alloc::vec![measure]));
    let too_many = Measure { concurrent: Some(65), ..held };
    assert_eq!(problem(too_many), ["measure[0].concurrent"]);
    let kept = Measure { hold: Some(true), ..measure("first-byte") };
    assert_eq!(problem(kept), ["measure[0].hold"]);
    let at_once = Measure { concurrent: Some(2), ..measure("connect") };
    assert_eq!(problem(at_once), ["measure[0].concurrent"]);
}

#[test]
fn what_cannot_be_had_together_is_a_problem() {
    let rtt = |protocol: &str, change: fn(&mut Measure)| {
        let mut rtt = measure("rtt");
        rtt.protocol = Some(Levels::One(protocol.to_string()));
        rtt.message = Some(Levels::One("64 B".to_string()));
        change(&mut rtt);
        let mut draft = draft(alloc::vec![rtt]);
        draft.lab = Some(Lab::default());
        keys(&draft)
    };
    assert_eq!(rtt("udp", |r| r.response = Some("65 B".to_string())), ["measure[0].response"]);
    assert_eq!(rtt("tcp", |r| r.response = Some("19 B".to_string())), ["measure[0].response"]);
    assert_eq!(rtt("icmp", |r| r.response = Some("64 B".to_string())), ["measure[0].response"]);
    assert_eq!(rtt("icmp", |r| r.outstanding = Some(2)), ["measure[0].outstanding"]);
    let several = |r: &mut Measure| {
        (r.timing, r.outstanding) = (Some("batch".to_string()), Some(2));
    };
    assert_eq!(rtt("tcp", several), ["measure[0].outstanding"]);
    assert_eq!(rtt("tcp", |r| r.timing = Some("once".to_string())), ["measure[0].timing"]);
    let batched = |r: &mut Measure| {
        (r.timing, r.also) = (Some("batch".to_string()), alloc::vec!["tails".to_string()]);
    };
    assert_eq!(rtt("tcp", batched), ["measure[0].also"]);
    let few = |r: &mut Measure| {
        (r.turn, r.turns, r.also) = (Some(9), Some(10), alloc::vec!["tails".to_string()]);
    };
    assert_eq!(rtt("tcp", few), ["measure[0].also"]);
    assert_eq!(rtt("tcp", |r| r.also = alloc::vec!["cpu".to_string()]), ["measure[0].also"]);
    assert_eq!(rtt("tcp", |r| r.wait = Some("spin".to_string())), ["measure[0].wait"]);
}

#[test]
fn one_thread_has_both_ends_in_a_lab_of_cables() {
    let plan = |model: Option<&str>, change: fn(&mut Measure)| {
        let mut rtt = Measure { method: Some("stack".to_string()), ..measure("rtt") };
        rtt.message = Some(Levels::One("64 B".to_string()));
        change(&mut rtt);
        let model = model.map(|model| Lab { model: Some(model.to_string()), ..Lab::default() });
        Draft { lab: model, ..draft(alloc::vec![rtt]) }
    };
    let bare = check(&plan(Some("bare"), |_| ()), 1).unwrap();
    assert_eq!(bare.cells[0].id, "rtt-tcp-64-stack");
    let Workload::Echo(echo) = &bare.cells[0].workload else { panic!("{bare:?}") };
    // Enough for 0.05 s of exchanges of some µs, whatever the path is taken for.
    assert_eq!((echo.turns * echo.turn_exchanges, echo.connections), (20_000, 8));
    for model in [None, Some("wire"), Some("shaped")] {
        assert_eq!(keys(&plan(model, |_| ())), ["measure[0].method"], "{model:?}");
    }
    // The path of the lab is none of theirs.
    let path = crate::plan::fit::path_in(bare.world.as_ref().unwrap());
    assert_eq!(bare.clone().fitted(path), bare);
    // Cables have no rate, and none that is asked for.
    assert_eq!(bare.world.as_ref().unwrap().links[0].conditions.v6.rate_bps, None);
    let mut rated = plan(Some("bare"), |_| ());
    rated.lab.as_mut().unwrap().rate = Some("1 Gbit/s".to_string());
    assert_eq!(keys(&rated), ["lab"; 2]);
    let refused = |change| keys(&plan(Some("bare"), change));
    assert_eq!(refused(|r| r.method = Some("one".to_string())), ["measure[0].method"]);
    assert_eq!(refused(|r| r.wait = Some("block".to_string())), ["measure[0].method"]);
    assert_eq!(refused(|r| r.outstanding = Some(2)), ["measure[0].outstanding"]);
    let icmp = |r: &mut Measure| r.protocol = Some(Levels::One("icmp".to_string()));
    assert_eq!(refused(icmp), ["measure[0].method"]);
}

/// Only a plan of IPv6 alone may use what only IPv6 can carry.
#[test]
fn the_largest_datagram_is_that_of_the_arms() {
    let mut rtt = measure("rtt");
    rtt.protocol = Some(Levels::One("udp".to_string()));
    rtt.message = Some(Levels::One("65527 B".to_string()));
    let mut draft = draft(alloc::vec![rtt]);
    assert_eq!(keys(&draft), ["measure[0].message"]);
    draft.design.arms = Some(["v6", "v6"].map(ToString::to_string));
    assert!(check(&draft, 1).is_ok());
}

#[test]
fn every_problem_is_named() {
    let mut bad = measure("rtt");
    bad.message = Some(Levels::Many(["4 B", "12 apples"].map(ToString::to_string).to_vec()));
    let mut wrong = draft(alloc::vec![bad, measure("troughput"), measure("connect")]);
    wrong.measure[2].count = Some(0);
    wrong.design = Design { pairs: Some(1), ..Design::default() };
    wrong.design.margin.insert("rtt".to_string(), "200 %".to_string());
    wrong.lab = Some(Lab { mtu: Some(900), model: Some("wired".to_string()), ..Lab::default() });
    let expected = [
        "lab.model",
        "lab.mtu",
        "measure[0].message",
        "measure[0].message",
        "measure[1].metric",
        "measure[2].count",
        "design.pairs",
        "design.margin.rtt",
    ];
    assert_eq!(keys(&wrong), expected);
    let problems = check(&wrong, 1).unwrap_err();
    assert_eq!(problems[0].help.as_deref(), Some("did you mean \"wire\"?"));
    assert_eq!(problems[4].help.as_deref(), Some("did you mean \"throughput\"?"));
}

/// Whoever repeats a study keeps its number, and a family with itself has no verdict anyway.
#[test]
fn pairs_that_can_never_decide_are_refused() {
    let mut draft = draft(alloc::vec![measure("connect")]);
    let said = |draft: &Draft| {
        let found = check(draft, 1).err()?;
        found.into_iter().find(|problem| problem.key == "design.pairs").map(|found| found.what)
    };
    let told = |what: &str| Some(what.to_string());
    for pairs in [0, 1, 10_001] {
        draft.design.pairs = Some(pairs);
        assert_eq!(said(&draft), told("pairs must be between 6 and 10000"));
    }
    for pairs in 2..=5 {
        draft.design.pairs = Some(pairs);
        let what = format!("{pairs} pairs can never decide: write 6 or more");
        assert_eq!(said(&draft), told(&what));
        let reference = Some("sailan/window".to_string());
        assert_eq!(said(&Draft { reference, ..draft.clone() }), None);
        let mut null = draft.clone();
        null.design.arms = Some(["v6", "v6"].map(ToString::to_string));
        assert_eq!(said(&null), None);
        null.design.pairs = Some(1);
        assert_eq!(said(&null), told("pairs must be between 2 and 10000"));
    }
    for pairs in [6, 10_000] {
        draft.design.pairs = Some(pairs);
        assert_eq!(said(&draft), None);
    }
}

#[test]
fn the_same_cell_twice_is_a_problem() {
    let twice = draft(alloc::vec![measure("connect"), measure("connect")]);
    assert_eq!(keys(&twice), ["measure[1]"]);
}

/// What is asked for besides is asked of the transfer that is measured anyway; a file that measures
/// it twice is told so.
#[test]
fn one_transfer_tells_all_that_is_asked_of_it() {
    let mut wanted = draft(alloc::vec![measure("loss")]);
    wanted.overall.spare = ["reordering", "duplication", "loss"].map(measure).into();
    let plan = check(&wanted, 1).unwrap();
    let metrics: Vec<&[Metric]> = plan.cells.iter().map(|cell| cell.workload.metrics()).collect();
    let [throughput, loss] = [Metric::Throughput, Metric::Loss];
    let all = [throughput, loss, Metric::Reordering, Metric::Duplication];
    assert_eq!(metrics, [&all[..]]);
    wanted = draft(alloc::vec![measure("loss"), measure("reordering")]);
    assert_eq!(keys(&wanted), ["measure[1]"]);
}

#[test]
fn what_comes_with_something_else_says_with_what() {
    for (metric, with) in
        [("cpu", "also = [\"cpu\"]"), ("rtt-p50", "\"tails\""), ("tls", "v6gap probe HOST")]
    {
        let problems = check(&draft(alloc::vec![measure(metric)]), 1).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].key, "measure[0].metric");
        assert!(problems[0].what.contains(with), "{problems:?}");
    }
}

#[test]
fn a_lab_becomes_a_world() {
    let mut with_lab = draft(alloc::vec![measure("throughput")]);
    with_lab.lab = Some(Lab {
        topology: Some("client-router-router-server".to_string()),
        rate: Some("10 Mbit/s".to_string()),
        v6: Some(crate::plan::draft::Conditions {
            delay: Some("1 ms".to_string()),
            ..Default::default()
        }),
        ..Lab::default()
    });
    let world = check(&with_lab, 1).unwrap().world.clone().unwrap();
    let names: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["client", "router1", "router2", "server"]);
    assert_eq!(world.links.len(), 3);
    assert_eq!(world.links[0].conditions.v6.delay_ns, 1_000_000);
    assert_eq!(world.links[0].conditions.v4.delay_ns, 0);
    assert_eq!(world.links[1].conditions.v6.rate_bps, Some(10_000_000));
}

#[test]
fn suggestions_are_near_or_none() {
    assert_eq!(nearest("mesage", &["message", "metric"]), Some("message"));
    assert_eq!(nearest("zebra", &["message", "metric"]), None);
}

fn bulk_measure(keys: &str) -> Measure {
    serde_json::from_str(&alloc::format!(r#"{{"metric":"throughput",{keys}}}"#)).unwrap()
}

#[test]
fn factors_of_a_transfer_cross_and_name_its_cells() {
    let sailan = bulk_measure(
        r#""bytes":["1 MB","2 MB"],"window":["8 KiB","64 KiB"],"require_window":true,
           "streams":[1,4],"direction":"receive","also":["cpu"]"#,
    );
    let plan = check(&draft(alloc::vec![sailan]), 1).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), 8);
    assert_eq!(ids[0], "throughput-tcp-receive-bytes-1000000-window-8192");
    assert_eq!(ids[7], "throughput-tcp-receive-streams-4-bytes-2000000-window-65536");
    for cell in &plan.cells {
        let Workload::TcpBulk(bulk) = &cell.workload else { panic!() };
        assert!(bulk.settings.require_buffer && bulk.cpu && bulk.warmup_ns == 0);
        assert_eq!(cell.workload.metrics(), [Metric::Throughput, Metric::Cpu]);
    }
    let quick = r#""pacing":"1 Gbit/s","zero_copy":"file","truncate":true"#;
    let plan = check(&draft(alloc::vec![bulk_measure(quick)]), 1).unwrap();
    let id = plan.cells[0].id.as_str();
    assert_eq!(id, "throughput-tcp-pacing-1000000000-zero-copy-file-truncate");
    let swept = bulk_measure(
        r#""write":{"from":"1 KiB","to":"4 KiB","factor":2},"mss":["536 B"],"no_delay":true"#,
    );
    let plan = check(&draft(alloc::vec![swept, measure("throughput")]), 1).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids[0], "throughput-tcp-write-1024-mss-536-no-delay");
    assert_eq!((ids.len(), ids[3]), (4, "throughput-tcp"));
    let drawn: Vec<Option<u32>> =
        plan.cells.iter().map(|cell| cell.workload.clone().draw(1)).collect();
    assert!(drawn[..3].iter().all(Option::is_none), "a size that was asked for is fixed");
    assert!(drawn[3].is_some_and(|bytes| (32_768..=262_144).contains(&bytes)), "{drawn:?}");
}

#[test]
fn knobs_of_a_transfer_that_cannot_be_are_named() {
    let wrong = [
        (r#""streams":0"#, "streams"),
        (r#""streams":[1,129]"#, "streams"),
        (r#""bytes":"0 B""#, "bytes"),
        (r#""bytes":"1 MB","warmup":"1 s""#, "warmup"),
        (r#""packets":0,"write":"1 KiB""#, "packets"),
        (r#""packets":9"#, "packets"),
        (r#""packets":9,"write":"1 KiB","bytes":"1 MB""#, "packets"),
        (r#""window":"0 B""#, "window"),
        (r#""window":"2 GiB""#, "window"),
        (r#""require_window":true"#, "require_window"),
        (r#""mss":"87 B""#, "mss"),
        (r#""congestion":"BBR""#, "congestion"),
        (r#""direction":"up""#, "direction"),
        (r#""also":["loss"]"#, "also"),
        (r#""pacing":"0 bit/s""#, "pacing"),
        (r#""zero_copy":"yes""#, "zero_copy"),
        (r#""write":"0 B""#, "write"),
    ];
    for (text, key) in wrong {
        let found = keys(&draft(alloc::vec![bulk_measure(text)]));
        assert_eq!(found, [alloc::format!("measure[0].{key}")], "{text}");
    }
    let mut rtt = measure("rtt");
    rtt.streams = Some(Counts::One(4));
    assert_eq!(keys(&draft(alloc::vec![rtt])), ["measure[0].streams"]);
}

/// What would be passed over without a word is refused.
#[test]
fn buffers_are_asked_for_where_something_has_them() {
    let window = |metric: &str, protocol: &str| {
        let keys_of = r#""window":"60 KiB""#;
        let text = alloc::format!(r#"{{"metric":"{metric}","protocol":"{protocol}",{keys_of}}}"#);
        let found = check(&draft(alloc::vec![serde_json::from_str(&text).unwrap()]), 1);
        found.err().unwrap_or_default().into_iter().map(|p| p.key).collect::<Vec<_>>()
    };
    for (metric, protocol) in [("throughput", "tcp"), ("rtt", "tcp"), ("rtt", "udp")] {
        assert!(window(metric, protocol).is_empty(), "{metric} over {protocol}");
    }
    for (metric, protocol) in [("throughput", "udp"), ("connect", "tcp"), ("ipdv", "udp")] {
        let found = window(metric, protocol);
        assert_eq!(found, ["measure[0].window"], "{metric} over {protocol}");
    }
}

#[test]
fn who_asks_for_icmp_alone_is_told_who_has_it() {
    let mut asked = draft(alloc::vec![measure("rtt")]);
    asked.overall.only = alloc::vec![Wanted::Transport(Transport::Icmp)];
    let problems = check(&asked, 1).unwrap_err();
    assert!(problems[0].what.contains("v6gap probe HOST --measure icmp"), "{problems:?}");
    asked.measure[0].protocol = Some(Levels::One("icmp".to_string()));
    assert!(check(&asked, 1).is_ok());
}

#[test]
fn packets_are_marked_by_name_or_number_and_the_cell_says_so() {
    let marked = bulk_measure(r#""dscp":"EF","hop_limit":9,"flow_label":"0xabcde""#);
    let plan = check(&draft(alloc::vec![marked]), 1).unwrap();
    let marking = plan.cells[0].workload.marking();
    assert_eq!((marking.traffic_class, marking.hop_limit), (Some(46 << 2), Some(9)));
    assert_eq!(marking.flow_label, Some(0xa_bcde));
    assert_eq!(plan.cells[0].id, "throughput-tcp-class-184-hops-9-label-703710");
    for (keys_of, key) in [
        (r#""dscp":"EF","tos":"0x10""#, "measure[0].dscp"),
        (r#""dscp":"64""#, "measure[0].dscp"),
        (r#""tos":"256""#, "measure[0].tos"),
        (r#""hop_limit":0"#, "measure[0].hop_limit"),
        (r#""flow_label":"0x100000""#, "measure[0].flow_label"),
    ] {
        assert_eq!(keys(&draft(alloc::vec![bulk_measure(keys_of)])), [key], "{keys_of}");
    }
}

/// The workloads of one table over UDP.
fn streams(keys: &str) -> Vec<UdpBulk> {
    let plan = check(&draft(alloc::vec![bulk_measure(keys)]), 1).unwrap();
    let workloads = plan.cells.iter().map(|cell| match cell.workload.clone() {
        Workload::UdpBulk(bulk) => bulk,
        other => panic!("{other:?}"),
    });
    workloads.collect()
}

#[test]
fn streams_of_datagrams_have_laws_sizes_and_batches() {
    let keys = r#""protocol":"udp","payload":["64 B","1400 B"],"bitrate":"10 Mbit/s",
        "law":"on-off","on":"20 ms","off":"80 ms","batch":8,"packets":500,
        "direction":"receive","also":["reordering","duplication"]"#;
    let found = streams(keys);
    assert_eq!(found.len(), 2);
    let bulk = &found[1];
    assert_eq!((bulk.payload_bytes, bulk.batch, bulk.packets), (1400, 8, Some(500)));
    assert_eq!(bulk.law, Law::OnOff { on_ns: 20_000_000, off_ns: 80_000_000 });
    assert_eq!(bulk.asked_bps(), Some(2_000_000));
    let asked = [Metric::Throughput, Metric::Loss, Metric::Reordering, Metric::Duplication];
    assert_eq!(bulk.metrics(), asked);
    let id = crate::workload::Cell::named(Workload::UdpBulk(bulk.clone())).id;
    assert_eq!(id, "throughput-udp-1400-receive-on-off-batch8-n500");
    assert_eq!((bulk.warmup_ns, streams(r#""protocol":"udp""#)[0].warmup_ns), (0, 150_000_000));
    let video = r#""protocol":"udp","law":"frames","frame":"50 kB","every":"40 ms""#;
    assert_eq!(streams(video)[0].asked_bps(), Some(10_000_000));
    let sizes = r#""protocol":"udp","sizes":"stepped","least":"100 B","step":"50 B""#;
    let stepped = Sizes::Stepped { least_bytes: 100, step_bytes: 50 };
    assert_eq!(streams(sizes)[0].sizes, stepped);
}

#[test]
fn streams_that_cannot_be_are_refused_at_their_keys() {
    let wrong = [
        (r#""law":"possion""#, "measure[0].law"),
        (r#""law":"on-off","on":"1 ms""#, "measure[0].law"),
        (r#""on":"1 ms""#, "measure[0].on"),
        (r#""law":"frames","frame":"1409 B","every":"1 ms""#, "measure[0]"),
        (r#""law":"poisson","bitrate":"full""#, "measure[0]"),
        (r#""sizes":"stepped""#, "measure[0].sizes"),
        (r#""least":"30 B""#, "measure[0].sizes"),
        (r#""sizes":"random","offload":true"#, "measure[0]"),
        (r#""payload":"1472 B","offload":true"#, "measure[0].offload"),
        (r#""batch":0"#, "measure[0]"),
        (r#""packets":0"#, "measure[0]"),
        // 140.8 ms at 20 Mbit/s.
        (r#""packets":250,"warmup":"141 ms""#, "measure[0].warmup"),
        (r#""direction":"both""#, "measure[0].direction"),
        (r#""also":["rtt"]"#, "measure[0].also"),
        (r#""bitrate":"9000000 Gbit/s""#, "measure[0]"),
    ];
    for (key, expected) in wrong {
        let keys =
            keys(&draft(alloc::vec![bulk_measure(&alloc::format!(r#""protocol":"udp",{key}"#))]));
        assert_eq!(keys, [expected], "{key}");
    }
    let tcp = draft(alloc::vec![bulk_measure(r#""protocol":"tcp","batch":4,"law":"poisson""#)]);
    assert_eq!(keys(&tcp), ["measure[0].batch", "measure[0].law"]);
}

#[test]
fn frames_have_a_size_a_rate_and_a_time() {
    let found = |keys: &str| searches(keys).unwrap();
    let usual = &found(r#""metric":"frame-lateness""#)[0];
    assert_eq!(usual, &Cell::named(Workload::Frames(Frames::default())));
    assert_eq!(usual.id, "frame-loss-udp-7200");
    let keys = r#""metric":"frame-loss","frame":"50 kB","every":"40 ms","time":"1 s",
        "payload":["1000 B","1250 B"],"direction":"receive""#;
    let frames = |payload_bytes| {
        Workload::Frames(Frames {
            frame_bytes: 50_000,
            payload_bytes,
            every_ns: 40_000_000,
            duration_ns: 1_000_000_000,
            direction: Direction::Receive,
            ..Frames::default()
        })
    };
    let workloads: Vec<Workload> = found(keys).into_iter().map(|cell| cell.workload).collect();
    assert_eq!(workloads, [frames(1000), frames(1250)]);
    let wrong = [
        (r#""bitrate":"1 Mbit/s""#, "measure[0].bitrate"),
        (r#""warmup":"1 ms""#, "measure[0].warmup"),
        (r#""law":"poisson""#, "measure[0].law"),
        (r#""protocol":"tcp""#, "measure[0].protocol"),
        (r#""frame":"1201 B""#, "measure[0]"),
        (r#""every":"0 s""#, "measure[0]"),
    ];
    for (key, expected) in wrong {
        let found = searches(&alloc::format!(r#""metric":"frame-loss",{key}"#));
        assert_eq!(found, Err(alloc::vec![String::from(expected)]), "{key}");
    }
}

fn searches(keys: &str) -> Result<Vec<Cell>, Vec<String>> {
    let table = serde_json::from_str(&alloc::format!(r#"{{{keys}}}"#)).unwrap();
    let checked = check(&draft(alloc::vec![table]), 1).map(|plan| plan.cells.clone());
    checked.map_err(|problems| problems.into_iter().map(|p| p.key).collect())
}

#[test]
fn a_search_has_a_rate_a_time_and_a_loss() {
    let found = |keys: &str| searches(keys).unwrap().remove(0);
    let load = found(r#""metric":"capacity""#);
    assert_eq!(load.id, "capacity-udp-1222");
    assert_eq!(load.workload, Workload::Capacity(Capacity::default()));
    let halving = found(
        r#""metric":"rate-at-loss","target_loss":"0.1 %","bitrate":"200 Mbit/s",
        "direction":"receive","payload":"512 B","time":"1 s","force":true"#,
    );
    assert_eq!(halving.id, "rate-at-loss-udp-512-receive-lost1000ppm");
    let search = Search::Halving { trial_ns: 1_000_000_000, lost_ppm_max: 1000, forced: true };
    let expected = Capacity {
        payload_bytes: 512,
        rate_bps_max: 200_000_000,
        direction: Direction::Receive,
        search,
        ..Capacity::default()
    };
    assert_eq!(halving.workload, Workload::Capacity(expected));
}

#[test]
fn searches_that_cannot_be_are_refused_at_their_keys() {
    for (keys, expected) in [
        (r#""metric":"capacity","target_loss":"1 %""#, "measure[0].target_loss"),
        (r#""metric":"capacity","force":true"#, "measure[0].force"),
        (r#""metric":"throughput","force":true"#, "measure[0].force"),
        (r#""metric":"capacity","protocol":"tcp""#, "measure[0].protocol"),
        (r#""metric":"capacity","direction":"both""#, "measure[0].direction"),
        (r#""metric":"capacity","time":"1 s""#, "measure[0]"),
        (r#""metric":"capacity","warmup":"1 s""#, "measure[0].warmup"),
        (r#""metric":"capacity","payload":"47 B""#, "measure[0].payload"),
        (r#""metric":"capacity","batch":8"#, "measure[0].batch"),
        (r#""metric":"rate-at-loss","bitrate":"20 Gbit/s""#, "measure[0]"),
        (r#""metric":"rate-at-loss","target_loss":"0.00001 %""#, "measure[0].target_loss"),
        (r#""metric":"rate-at-loss","target_loss":"60 %""#, "measure[0]"),
    ] {
        assert_eq!(searches(keys).unwrap_err(), [expected], "{keys}");
    }
}

/// RFC 6815: not over networks that were not made for testing, unless forced.
#[test]
fn a_search_by_halving_belongs_in_a_lab() {
    let out_of_place = |keys: &str, lab: Option<Lab>| {
        let table = serde_json::from_str(&alloc::format!(r#"{{{keys}}}"#)).unwrap();
        let plan = check(&Draft { lab, ..draft(alloc::vec![table]) }, 1).unwrap();
        plan.out_of_place().is_some()
    };
    let halving = r#""metric":"rate-at-loss""#;
    assert!(out_of_place(halving, None));
    assert!(!out_of_place(halving, Some(Lab::default())));
    assert!(!out_of_place(r#""metric":"rate-at-loss","force":true"#, None));
    assert!(!out_of_place(r#""metric":"capacity""#, None));
}

#[test]
fn what_must_not_be_cut_fits_the_lab_s_links() {
    let of = |text: &str, lab: bool| {
        let mut plan = draft(alloc::vec![serde_json::from_str(text).unwrap()]);
        plan.lab = lab.then(Lab::default);
        check(&plan, 1)
            .map(|plan| plan.cells.iter().map(|cell| cell.id.clone()).collect::<Vec<_>>())
    };
    let echo = |size: &str| {
        let message = format!(r#""message":"{size}","dont_fragment":true"#);
        format!(r#"{{"metric":"rtt","protocol":["udp","icmp"],{message}}}"#)
    };
    let ids = of(&echo("1452 B"), true).unwrap();
    assert_eq!(ids, ["rtt-udp-1452-whole", "rtt-icmp-1452-whole"]);
    // Whole over IPv4, two pieces over IPv6; said once, though both protocols have it.
    let problems = of(&echo("1453 B"), true).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].what.contains("1453 B over IPv6 do not fit the MTU of 1500 B"));
    // The path of other hosts is not known beforehand.
    assert!(of(&echo("1453 B"), false).is_ok());
    let tcp = of(r#"{"metric":"throughput","dont_fragment":true}"#, false).unwrap_err();
    assert_eq!(tcp[0].key, "measure[0].dont_fragment");
}
