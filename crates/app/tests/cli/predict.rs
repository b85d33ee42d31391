//! What the headers alone cost: the figures are those of the wire model and of published tables.

use crate::support::Sandbox;
use serde_json::Value;
use v6gap_core::family::Family;
use v6gap_core::wiremodel::{Framing, TcpOptions, tcp_goodput_bps};

fn json(line: &str) -> Value {
    serde_json::from_str(&Sandbox::new().run(line).ended(0).out).unwrap()
}

#[test]
fn the_known_figures_of_a_full_line_are_printed() {
    let text = Sandbox::new().run("predict").ended(0).out;
    let row = text.lines().find(|line| line.contains("TCP, full segments")).unwrap();
    for figure in ["94.148", "92.848", "0.98619", "1.38 % slower"] {
        assert!(row.contains(figure), "{row}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let ascii = Sandbox::new().run("predict --ascii").ended(0).out;
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn json_holds_the_values_of_the_wire_model() {
    let document = json("predict --json");
    let tcp = &document["goodput_bps"][0];
    let framing = Framing::default();
    for (family, key) in Family::BOTH.into_iter().zip(["v4", "v6"]) {
        let expected = tcp_goodput_bps(100e6, 1500, family, TcpOptions::TIMESTAMPS, framing);
        assert_eq!(tcp[key].as_f64(), Some(expected));
    }
    let ratio = tcp["ratio"].as_f64().unwrap();
    assert!((ratio - 1428.0 / 1448.0).abs() < 1e-12);
    assert!((ratio - 0.986188).abs() < 5e-7);
}

#[test]
fn what_each_layer_leaves_ends_with_the_goodput() {
    let document = json("predict --flows 1,8 --json");
    for (at, flows) in [(0, 1.0), (1, 8.0)] {
        let left = document["layers"][at]["left_bps"].as_array().unwrap();
        assert_eq!(left.len(), 5, "line, gap, Ethernet, IP, TCP");
        for key in ["v4", "v6"] {
            let rates: Vec<f64> = left.iter().map(|row| row[key].as_f64().unwrap()).collect();
            assert_eq!(rates[0], 100e6 / flows);
            assert!(rates.is_sorted_by(|a, b| a > b), "{rates:?}");
            let goodput = document["goodput_bps"][0][key].as_f64().unwrap() / flows;
            assert!((rates[4] / goodput - 1.0).abs() < 1e-12, "{rates:?} {goodput}");
        }
    }
    let text = Sandbox::new().run("predict --flows 8").ended(0).out;
    assert!(text.contains("What layers leave, 8 flows"), "{text}");
    let row = text.lines().find(|line| line.contains("less IP")).unwrap();
    assert!(row.contains("12.029") && row.contains("11.866"), "{row}");
}

#[test]
fn the_published_composition_is_met_without_timestamps() {
    let document = json("predict --no-timestamps --json");
    let column = |i: usize| &document["packets"][i];
    let payloads: Vec<u64> = (0..4).map(|i| column(i)["payload_bytes"].as_u64().unwrap()).collect();
    assert_eq!(payloads, [1460, 1440, 1472, 1452]);
    let per_payload = [3.6986, 5.1389, 2.8533, 4.2700];
    let of_line = [5.3425, 6.8056, 4.4837, 5.9229];
    for i in 0..4 {
        let percent = |key: &str| column(i)[key].as_f64().unwrap() * 100.0;
        assert!((percent("headers_per_payload") - per_payload[i]).abs() < 5e-5);
        assert!((percent("line_overhead_per_payload") - of_line[i]).abs() < 5e-5);
    }
}

#[test]
fn every_parameter_counts() {
    let ratio = |line: &str| json(line)["goodput_bps"][0]["ratio"].as_f64().unwrap();
    assert!(ratio("predict --json --mtu 1280") < ratio("predict --json"));
    assert!(ratio("predict --json --no-timestamps") > ratio("predict --json"));
    let bps = |line: &str| json(line)["goodput_bps"][0]["v6"].as_f64().unwrap();
    assert!(bps("predict --json --vlan 1") < bps("predict --json"));
    assert!((bps("predict --json --rate 1G") / bps("predict --json") - 10.0).abs() < 1e-9);
    let time = |line: &str| json(line)["round_trip_s"][0]["v4"].as_f64().unwrap();
    let ratio = time("predict --json --message 64 --hops 4") / time("predict --json --message 64");
    assert!((ratio - 2.0).abs() < 1e-9);
    let document = json("predict --json --message 64,70000");
    // A datagram of 70 000 bytes does not exist; a TCP message does.
    assert_eq!(document["round_trip_s"].as_array().unwrap().len(), 3);
    Sandbox::new().run("predict --rate none").ended(2);
    Sandbox::new().run("predict --mtu 1279").ended(2);
}

/// What was measured at 100 Mbit/s says what 10 Mbit/s will take: the hosts' part stays.
#[test]
fn a_run_is_carried_to_another_line() {
    let sandbox = Sandbox::new();
    sandbox.store_sweep();
    let read =
        |line: &str| -> Value { serde_json::from_str(&sandbox.run(line).ended(0).out).unwrap() };
    let row = |document: &Value, i: usize| document["rows"][i].clone();
    let holds = |figure: &Value, truth: f64| {
        let [low, high] = ["low", "high"].map(|end| figure[end].as_f64().unwrap());
        assert!(low <= truth && truth <= high, "{figure} without {truth}");
        assert!(high - low < 0.02 * truth, "{figure}");
    };
    let there = read("predict --from swept1 --rate 10M --message 64,8K --json");
    assert_eq!(there["schema"], "v6gap.carried/1");
    let small = row(&there, 0);
    // 64 B over two links there and back: 142 and 162 B of line without the gap, at 800 ns.
    holds(&small["v4"], 30e-6 + 4.0 * 142.0 * 800e-9);
    holds(&small["v6"], 31e-6 + 4.0 * 162.0 * 800e-9);
    holds(&small["ratio"], (31.0 + 518.4) / (30.0 + 454.4));
    assert_eq!(small["beyond"], serde_json::json!(["rate"]));
    let within = read("predict --from swept1 --message 1K --json");
    assert_eq!(row(&within, 0)["beyond"], serde_json::json!([]));
    let beyond = read("predict --from swept1 --message 1M --hops 3 --mtu 9000 --json");
    assert_eq!(row(&beyond, 0)["beyond"], serde_json::json!(["size", "links", "MTU"]));
    let text = sandbox.run("predict --from swept1 --rate 1G").ended(0).out;
    assert!(text.contains("beyond what was measured: rate"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Columns and ratio are by family, not by which of them was the reference.
#[test]
fn a_run_with_the_arms_exchanged_has_the_same_columns() {
    let sandbox = Sandbox::new();
    sandbox.store_sweep();
    sandbox.store_sweep_of_swapped_arms();
    let carried = |id: &str| {
        let line = format!("predict --from {id} --rate 10M --message 64 --json");
        let document: Value = serde_json::from_str(&sandbox.run(&line).ended(0).out).unwrap();
        let row = document["rows"][0].clone();
        ["v4", "v6", "ratio"].map(|key| row[key]["estimate"].as_f64().unwrap())
    };
    let (usual, swapped) = (carried("swept1"), carried("swept2"));
    for (usual, swapped) in usual.into_iter().zip(swapped) {
        assert!((swapped / usual - 1.0).abs() < 2e-3, "{swapped} for {usual}");
    }
    assert!(usual[2] > 1.1 && usual[0] < usual[1], "{usual:?}");
    let text = sandbox.run("predict --from swept2 --rate 10M --message 64").ended(0).out;
    assert!(text.contains("○ IPv4     484 µs") && text.contains("◆ IPv6     549 µs"), "{text}");
    let shown = sandbox.run("show swept2 --verbose").ended(0).out;
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("that IPv6 takes longer at 64 B"), "{shown}");
}

/// The path is as it was in the run, and the output says so.
#[test]
fn the_mtu_is_that_of_the_run() {
    let carried = |mtu, more: &str| {
        let sandbox = Sandbox::new();
        sandbox.store_sweep_of_a_path(mtu);
        let line = format!("predict --from swept3 --message 8K {more}");
        let text = sandbox.run(&line).ended(0).out;
        let document = sandbox.run(&format!("{line} --json")).ended(0).out;
        let document: Value = serde_json::from_str(&document).unwrap();
        assert!(document["caveats"][0].as_str().unwrap().contains("fixed number of rounds"));
        assert!(text.contains("Beware: the ranges"), "{text}");
        (text, document["rows"][0].clone())
    };
    let (text, row) = carried(Some(1280), "");
    assert!(text.contains("Path MTU 1280 B, that of the run."), "{text}");
    assert_eq!(row["mtu_bytes"], serde_json::json!({ "v4": 1280, "v6": 1280 }));
    assert_eq!((&row["mtu_of"], &row["beyond"]), (&"run".into(), &serde_json::json!([])));
    let (text, row) = carried(Some(1280), "--mtu 9000");
    assert!(text.contains("Path MTU 9000 B, as asked for."), "{text}");
    assert_eq!((&row["mtu_of"], &row["beyond"]), (&"asked".into(), &serde_json::json!(["MTU"])));
    let (text, row) = carried(None, "");
    assert!(text.contains("Path MTU 1500 B: where the run does not tell it"), "{text}");
    assert_eq!(row["mtu_of"], "assumed");
}

#[test]
fn a_run_without_sizes_names_the_command_that_measures_them() {
    let sandbox = Sandbox::with_run();
    let refused = sandbox.run("predict --from last").ended(2).err;
    assert!(refused.contains("v6gap plan run sizes"), "{refused}");
    sandbox.store_sweep();
    let flows = sandbox.run("predict --from swept1 --flows 4").ended(2).err;
    assert!(flows.contains("no TCP transfers"), "{flows}");
    sandbox.run("predict --from nothing").ended(2);
}
