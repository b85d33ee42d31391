//! Linux: the files of `/proc/thread-self/net`.
//!
//! `thread-self` and not `self`, because the threads of one process may live in different network
//! namespaces.

use super::parse::{Sink, parse_dev, parse_paired, parse_snmp6, parse_softnet};
use crate::Unavailable;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

const WHAT: &str = "kernel network counters";

type Parser = fn(&str, &mut Sink<'_>) -> Result<(), String>;

const FILES: [(&str, Parser); 5] = [
    ("/proc/thread-self/net/snmp", parse_paired),
    ("/proc/thread-self/net/snmp6", parse_snmp6),
    ("/proc/thread-self/net/netstat", parse_paired),
    ("/proc/thread-self/net/dev", parse_dev),
    ("/proc/thread-self/net/softnet_stat", parse_softnet),
];

/// The one file that may be missing: it exists only where the kernel has IPv6.
const MAY_BE_MISSING: &str = "/proc/thread-self/net/snmp6";

pub(super) fn refresh(values: &mut BTreeMap<String, u64>) -> Result<(), Unavailable> {
    if read_into(values)? != values.len() {
        // Names of a vanished interface are left over: start afresh.
        values.clear();
        read_into(values)?;
    }
    Ok(())
}

/// Reads every file into `values` and returns how many names were met.
fn read_into(values: &mut BTreeMap<String, u64>) -> Result<usize, Unavailable> {
    let mut text = String::with_capacity(8 * 1024);
    let mut sink = Sink::new(values);
    for (path, parser) in FILES {
        text.clear();
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        match read {
            Ok(_) => parser(&text, &mut sink).map_err(|problem| {
                Unavailable::new(WHAT, format_args!("{path} has an unknown form: {problem}"))
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound && path == MAY_BE_MISSING => {}
            Err(error) => {
                let because = format_args!("{path} cannot be read: {error}");
                return Err(Unavailable::new(WHAT, because));
            }
        }
    }
    Ok(sink.met())
}
