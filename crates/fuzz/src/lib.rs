//! Fuzz targets: plain functions of bytes that panic when an oracle is broken.
//!
//! A target makes whatever its bytes say, hands it to the code under test and judges the answer.
//! What runs them is elsewhere: `libfuzzer` beside this folder searches with coverage (`cargo xtask
//! fuzz`), and `tests/replay.rs` plays the stored corpora on every run of the tests.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]

mod agree;
mod bytes;
mod claim;
mod device;
mod dns;
mod document;
mod fleet;
mod frames;
mod front;
mod hosts;
mod id;
mod journal;
mod kept;
mod kernel;
mod message;
mod packed;
mod page;
mod pcapng;
mod plans;
mod sealed;
mod session_client;
mod session_server;
mod site;
mod stamp;
mod strangers;
mod templates;
mod validation;
mod watches;
mod web;

/// What is asked of a target before it counts as fuzzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Takes bytes apart; a million inputs.
    Parser,
    /// Lives through a sequence of events or of whole records; a hundred thousand sequences.
    Machine,
}

/// A function to fuzz.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the target, and of the folder of its corpus.
    pub name: &'static str,
    /// What is asked of it.
    pub kind: Kind,
    /// Panics if an oracle is broken.
    pub run: fn(&[u8]),
}

const fn parser(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, kind: Kind::Parser, run }
}

const fn machine(name: &'static str, run: fn(&[u8])) -> Target {
    Target { name, kind: Kind::Machine, run }
}

/// All targets.
pub const ALL: [Target; 41] = [
    parser("preamble", bytes::preamble),
    parser("header", bytes::header),
    parser("probe_times", bytes::probe_times),
    parser("status", bytes::status),
    parser("stamp", stamp::run),
    parser("frames", frames::run),
    parser("sealed", sealed::run),
    parser("message", message::run),
    machine("session_server", session_server::run),
    machine("session_client", session_client::run),
    machine("front", front::run),
    machine("validation", validation::run),
    machine("proving", validation::proving),
    parser("agree", agree::run),
    parser("record_line", journal::line),
    parser("journal", journal::file),
    parser("id", id::run),
    parser("claim", claim::run),
    parser("note", journal::note),
    parser("index_line", kept::index_line),
    parser("archive_table", kept::archive_table),
    parser("watch_toml", watches::file),
    parser("watch_log", watches::log),
    parser("via_told", hosts::run),
    parser("fleet_heard", fleet::run),
    parser("buckets", packed::buckets),
    parser("counters", packed::counters),
    parser("plan_toml", plans::plan),
    parser("world_toml", plans::world),
    machine("analyse_report", page::run),
    parser("form", web::form),
    parser("guard", web::guard),
    parser("kernel_counters", kernel::counters),
    parser("ancillary", kernel::ancillary),
    parser("snmp", device::run),
    parser("pcap", pcapng::run),
    parser("http2", strangers::http2),
    parser("version_negotiation", strangers::negotiation),
    parser("iperf3_results", strangers::iperf3_results),
    parser("dns_answer", dns::answer),
    parser("site", site::run),
];

/// The target of that name.
pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}
