//! What the headers alone cost: the figures are those of the wire model and of published tables.

use crate::support::Sandbox;
use serde_json::Value;
use v6gap_core::family::Family;
use v6gap_core::wiremodel::{Framing, TcpOptions, tcp_goodput_bps, tcp_goodput_ratio};

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
    assert!((ratio - tcp_goodput_ratio(1500, TcpOptions::TIMESTAMPS)).abs() < 1e-12);
    assert!((ratio - 0.986188).abs() < 5e-7);
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
