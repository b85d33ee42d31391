//! What a host tells of itself: processors, interfaces, buffers and the settings of TCP.

use super::watched::untold;
use super::{Finding, Path, State};
use crate::analysis::offloads;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use v6gap_core::host::Host;
use v6gap_core::host::names;
use v6gap_core::unit::{format_bytes, format_rate, format_span};

/// Waking up within this time is not felt, in µs.
const WAKE_US_MAX: u64 = 20;

/// Rate below which the buffers of TCP are worth a word, in bit/s.
const BUFFER_RATE_BPS: f64 = 1e9;

/// Bytes that a sender with an initial window of ten segments sends at once (RFC 6928), about.
const INITIAL_WINDOW_BYTES: u64 = 14_000;

/// Finds what there is to say of `host`; `peer` is the other end of a far one.
pub(super) fn judge(host: &Host, near: bool, peer: Option<&Host>, path: &Path) -> Vec<Finding> {
    let mut findings = alloc::vec![processors(host), frequency(host), turbo(host), sleep(host)];
    findings.extend([hypervisor(host), interrupts(host, near.then_some(path))]);
    findings.extend(offloading(host, near.then_some(path)));
    findings.extend([buffers(host, path), congestion(host, peer)]);
    findings.extend([metrics(host), idle_start(host), tracking(host)]);
    findings.into_iter().map(|finding| Finding { near, ..finding }).collect()
}

/// A fact, or why there is none.
fn fact<'a>(host: &'a Host, name: &str) -> Result<&'a str, String> {
    match host.facts.get(name) {
        Some(text) if text.contains(names::UNAVAILABLE) => Err(text.clone()),
        Some(text) => Ok(text),
        None => Err(format!("{} this host does not tell it", names::UNAVAILABLE)),
    }
}

fn number(host: &Host, name: &str) -> Result<u64, String> {
    let text = fact(host, name)?;
    text.parse().map_err(|_| format!("{} \"{text}\" is no number", names::UNAVAILABLE))
}

fn processors(host: &Host) -> Finding {
    let (id, topic) = ("processors", "Processors");
    match number(host, names::PROCESSORS) {
        Ok(1) => Finding::ok(id, topic, host, "1").but(
            State::Note,
            "the measurement shares its only processor with all else, interrupts included",
        ),
        Ok(count) => Finding::ok(id, topic, host, count.to_string()),
        Err(why) => untold(id, topic, host, &why),
    }
}

fn frequency(host: &Host) -> Finding {
    let (id, topic) = ("frequency", "Frequency");
    let governor = match fact(host, names::GOVERNOR) {
        Ok(governor) => governor,
        Err(why) => return untold(id, topic, host, &why),
    };
    let mhz = |name: &str| number(host, name).ok().map(|khz| khz / 1000);
    let bounds = [names::FREQUENCY_MIN, names::FREQUENCY_MAX].map(mhz);
    let now = mhz(names::FREQUENCY_NOW).map_or(String::new(), |mhz| format!(", now {mhz} MHz"));
    let between = match bounds {
        [Some(min), Some(max)] => format!(", {min} to {max} MHz"),
        _ => String::new(),
    };
    let finding = Finding::ok(id, topic, host, format!("governor {governor}{between}{now}"));
    let fixed = matches!(bounds, [Some(min), Some(max)] if min == max);
    match fixed || governor.split(' ').all(|one| one == "performance") {
        true => finding,
        false => finding
            .but(
                State::Note,
                "processors change their speed between and inside trials: round trips and \
                 processor time spread more",
            )
            .try_this("cpupower frequency-set -g performance"),
    }
}

fn turbo(host: &Host) -> Finding {
    let (id, topic) = ("turbo", "Turbo");
    match fact(host, names::TURBO) {
        Ok("on") => Finding::ok(id, topic, host, "on")
            .but(
                State::Note,
                "the speed of a processor depends on its warmth and on the others' load",
            )
            .try_this("cpupower set --turbo-boost 0"),
        Ok(state) => Finding::ok(id, topic, host, state),
        Err(why) => untold(id, topic, host, &why),
    }
}

fn sleep(host: &Host) -> Finding {
    let (id, topic) = ("sleep", "Sleep");
    let limit = fact(host, names::SLEEP_LIMIT).ok().and_then(|text| text.parse::<u64>().ok());
    let wake_us = match number(host, names::SLEEP_WAKE) {
        Ok(us) => us,
        Err(why) => return untold(id, topic, host, &why),
    };
    let demanded = limit.map_or(String::new(), |us| format!("; programs allow {us} µs"));
    let finding =
        Finding::ok(id, topic, host, format!("{wake_us} µs to wake up at most{demanded}"));
    match wake_us.min(limit.unwrap_or(u64::MAX)) > WAKE_US_MAX {
        true => finding
            .but(
                State::Note,
                "a packet that finds its processor asleep waits for it: round trips depend on the \
                 time since the one before",
            )
            .try_this(format!("cpupower idle-set -D {WAKE_US_MAX}")),
        false => finding,
    }
}

fn hypervisor(host: &Host) -> Finding {
    let (id, topic) = ("hypervisor", "Machine");
    match fact(host, names::HYPERVISOR) {
        Ok("no") => Finding::ok(id, topic, host, "hardware of its own"),
        Ok(name) => Finding::ok(id, topic, host, format!("virtual, in {name}")).but(
            State::Note,
            "its processors and its network are the hypervisor's, whose work stands in every \
             figure and cannot be seen from here",
        ),
        Err(why) => untold(id, topic, host, &why),
    }
}

/// Where they go, of the interfaces on the route if that is known.
fn interrupts(host: &Host, path: Option<&Path>) -> Finding {
    let (id, topic) = ("interrupts", "Interrupts");
    let of = |(name, value): (&String, &String)| {
        let interface = name.strip_prefix("interface.")?.strip_suffix(".interrupts")?;
        on_route(interface, path).then(|| format!("{interface} on {value}"))
    };
    let mut seen: Vec<String> = host.facts.iter().filter_map(of).collect();
    match fact(host, names::INTERRUPTS_MOVED) {
        Ok("yes") => {
            seen.push("irqbalance runs".to_string());
            Finding::ok(id, topic, host, seen.join(", "))
                .but(State::Note, "packets change their processor in the middle of a run")
                .try_this("systemctl stop irqbalance")
        }
        Ok(_) => {
            seen.push("nobody moves them".to_string());
            Finding::ok(id, topic, host, seen.join(", "))
        }
        Err(why) => untold(id, topic, host, &why),
    }
}

/// The far end tells of all its interfaces, and not which one is on the route.
fn on_route(interface: &str, path: Option<&Path>) -> bool {
    path.is_none_or(|path| path.interfaces.iter().any(|name| name == interface))
}

fn offloading(host: &Host, path: Option<&Path>) -> Vec<Finding> {
    let (id, topic) = ("offloads", "Offloads");
    let interfaces = host.facts.keys().filter_map(|fact| {
        fact.strip_prefix("interface.")?.strip_suffix(".offloads").filter(|i| on_route(i, path))
    });
    let interfaces: Vec<&str> = interfaces.collect();
    if interfaces.is_empty() {
        let why = format!("{} no interface tells what it takes over", names::UNAVAILABLE);
        return alloc::vec![untold(id, topic, host, &why)];
    }
    let differing = offloads::found(host).into_iter().filter(|d| on_route(&d.interface, path));
    let findings: Vec<Finding> = differing
        .map(|d| {
            let seen = format!("{} does {} for {} alone", d.interface, d.what, d.family);
            Finding::ok(id, topic, host, seen)
                .but(State::Note, "what is measured is that of stack and card together")
                .try_this(format!("ethtool -K {} {} off", d.interface, d.feature))
        })
        .collect();
    match findings.is_empty() {
        true => {
            let seen = format!("alike for both families on {}", interfaces.join(", "));
            alloc::vec![Finding::ok(id, topic, host, seen)]
        }
        false => findings,
    }
}

/// The last of the three numbers of `tcp_rmem` and `tcp_wmem`: how far a buffer may grow.
fn grown(host: &Host, name: &str) -> Option<u64> {
    fact(host, name).ok()?.split(' ').nth(2)?.parse().ok()
}

fn buffers(host: &Host, path: &Path) -> Finding {
    let (id, topic) = ("buffers", "Buffers");
    let grown = [grown(host, "net.ipv4.tcp_rmem"), grown(host, "net.ipv4.tcp_wmem")];
    let asked = [number(host, "net.core.rmem_max"), number(host, "net.core.wmem_max")];
    let ([Some(receive), Some(send)], [Ok(receive_asked), Ok(send_asked)]) = (grown, asked) else {
        let why = format!("{} this host does not tell its buffers", names::UNAVAILABLE);
        return untold(id, topic, host, &why);
    };
    let seen = format!(
        "TCP grows to {} receiving and {} sending; -w is cut at {} and {}",
        format_bytes(receive),
        format_bytes(send),
        format_bytes(receive_asked),
        format_bytes(send_asked)
    );
    let finding = Finding::ok(id, topic, host, seen);
    let Some(round_trip_ns) = path.round_trip_ns.filter(|ns| *ns > 0.0) else { return finding };
    // About half of a buffer holds data, the rest what the kernel keeps about them.
    let rate_bps = receive.min(send) as f64 / 2.0 * 8e9 / round_trip_ns;
    if rate_bps >= BUFFER_RATE_BPS {
        return finding;
    }
    finding
        .but(
            State::Note,
            format!(
                "a stream carries at most about {} at a round trip of {}, whatever the line",
                format_rate(rate_bps),
                format_span(round_trip_ns)
            ),
        )
        .try_this("sysctl -w net.ipv4.tcp_rmem=\"4096 131072 67108864\"")
        .try_this("sysctl -w net.ipv4.tcp_wmem=\"4096 131072 67108864\"")
}

fn congestion(host: &Host, peer: Option<&Host>) -> Finding {
    let (id, topic) = ("congestion", "Congestion");
    let own = match fact(host, names::CONGESTION) {
        Ok(own) => own,
        Err(why) => return untold(id, topic, host, &why),
    };
    let finding = Finding::ok(id, topic, host, own);
    match peer.map(|peer| fact(peer, names::CONGESTION)) {
        Some(Ok(other)) if other != own => finding
            .but(State::Note, format!("the other host has {other}: directions differ by that too"))
            .try_this(format!("v6gap run HOST -C {own}")),
        _ => finding,
    }
}

fn metrics(host: &Host) -> Finding {
    let (id, topic) = ("metrics-saved", "TCP memory");
    match fact(host, "net.ipv4.tcp_no_metrics_save") {
        Ok("0") => Finding::ok(id, topic, host, "kept from one connection to the next")
            .but(
                State::Note,
                "what the kernel learnt of a path in one trial shapes the start of the next, for \
                 each family by itself",
            )
            .try_this("sysctl -w net.ipv4.tcp_no_metrics_save=1"),
        Ok(_) => Finding::ok(id, topic, host, "every connection starts afresh"),
        Err(why) => untold(id, topic, host, &why),
    }
}

fn idle_start(host: &Host) -> Finding {
    let (id, topic) = ("idle-restart", "TCP after rest");
    match fact(host, "net.ipv4.tcp_slow_start_after_idle") {
        Ok("1") => Finding::ok(id, topic, host, "starts slowly again")
            .but(
                State::Note,
                format!(
                    "messages above about {INITIAL_WINDOW_BYTES} B take another round trip after \
                     a rest"
                ),
            )
            .try_this("sysctl -w net.ipv4.tcp_slow_start_after_idle=0"),
        Ok(_) => Finding::ok(id, topic, host, "goes on as before"),
        Err(why) => untold(id, topic, host, &why),
    }
}

fn tracking(host: &Host) -> Finding {
    let (id, topic) = ("tracking", "Firewall");
    match fact(host, names::TRACKED) {
        Ok("none" | "0") => Finding::ok(id, topic, host, "keeps track of no connection"),
        Ok(count) => Finding::ok(id, topic, host, format!("keeps track of {count} connections"))
            .but(
                State::Note,
                "each packet is looked up and compared with rules, which may cost one family more",
            )
            .try_this("nft list ruleset"),
        Err(why) => untold(id, topic, host, &why),
    }
}
