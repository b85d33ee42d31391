//! Linux: the files of `/proc/thread-self/net`.
//!
//! `thread-self` and not `self`, because the threads of one process may live in different network
//! namespaces.

use super::parse::{Sink, parse_dev, parse_paired, parse_snmp6, parse_softnet};
use super::queue::{self, Queue};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send,
    socket_with,
};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

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

/// Bytes of one answer about queues: more than the kernel puts into one.
const ANSWER_BYTES: usize = 64 * 1024;

pub(super) fn refresh(values: &mut BTreeMap<String, u64>) -> Result<(), String> {
    if read_into(values)? != values.len() {
        // Names of a vanished interface are left over: start afresh.
        values.clear();
        read_into(values)?;
    }
    Ok(())
}

/// Reads every file into `values` and returns how many names were met.
fn read_into(values: &mut BTreeMap<String, u64>) -> Result<usize, String> {
    let mut text = String::with_capacity(8 * 1024);
    let mut sink = Sink::new(values);
    for (path, parser) in FILES {
        text.clear();
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text));
        match read {
            Ok(_) => parser(&text, &mut sink)
                .map_err(|problem| format!("{path} has an unknown form: {problem}"))?,
            Err(error) if error.kind() == ErrorKind::NotFound && path == MAY_BE_MISSING => {}
            Err(error) => return Err(format!("{path} cannot be read: {error}")),
        }
    }
    // Without them the other counters are still worth having.
    let _ = queues(&mut sink);
    Ok(sink.met())
}

pub(super) fn queues_told() -> Result<(), String> {
    queues(&mut Sink::new(&mut BTreeMap::new()))
}

/// The queue of every interface of the calling thread's network namespace.
fn queues(sink: &mut Sink<'_>) -> Result<(), String> {
    let told = |error: rustix::io::Errno| error.to_string();
    let flags = SocketFlags::CLOEXEC;
    // No protocol is the first one, `NETLINK_ROUTE`.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None);
    let socket = socket.map_err(told)?;
    send(&socket, &queue::request(), SendFlags::empty()).map_err(told)?;
    let mut bytes = vec![0; ANSWER_BYTES];
    loop {
        let (count, _) = recv(&socket, &mut bytes[..], RecvFlags::empty()).map_err(told)?;
        let last = queue::answer(&bytes[..count], |queue| {
            // One that has gone meanwhile has no name.
            if let Ok(name) = netdevice::index_to_name(&socket, queue.interface) {
                put(sink, &name, &queue);
            }
        })?;
        if last {
            return Ok(());
        }
    }
}

fn put(sink: &mut Sink<'_>, interface: &str, queue: &Queue) {
    let counters = [
        ("packets", queue.packets),
        ("backlog", queue.backlog),
        ("drops", queue.drops),
        ("requeues", queue.requeues),
        ("overlimits", queue.overlimits),
    ];
    for (name, value) in counters {
        sink.put(&["queue.", interface, ".", name], value.into());
    }
}
