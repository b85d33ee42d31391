//! What differs in the set-up of runs that are compared, for people: keys in words and figures in
//! units that suit them. Programs get both as they are stored.

use v6gap_core::unit::{format_bytes, format_rate, format_share, format_span, significant};
use v6gap_judge::analysis::compare::{Comparison, Differs};

/// What a stored figure is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    /// So many ns each.
    Time(f64),
    /// In bit/s.
    Rate,
    /// In bytes.
    Size,
    /// In kHz.
    Frequency,
    /// 0 to 1.
    Share,
    /// All that a link does to frames, in one text.
    Conditions,
}

/// How keys end that have a unit, and which.
const ENDS: [(&str, Unit); 5] = [
    ("_ns", Unit::Time(1.0)),
    ("_bps", Unit::Rate),
    ("_bytes", Unit::Size),
    ("-us", Unit::Time(1e3)),
    ("-khz", Unit::Frequency),
];

/// Whose facts are told of both ends.
const ENDED: [&str; 2] = [" of the client", " of the server"];

/// Everything that differs.
pub(crate) fn told(found: &Comparison) -> Vec<Differs> {
    let one = |differs: &Differs| {
        let (what, unit) = named(found, &differs.what);
        Differs { what, values: differs.values.iter().map(|text| value(text, unit)).collect() }
    };
    found.set_up.iter().map(one).collect()
}

/// The name in words, and what its figures are.
fn named(found: &Comparison, what: &str) -> (String, Option<Unit>) {
    let end = ENDED.into_iter().find(|end| what.ends_with(*end));
    let fact = end.and_then(|end| what.strip_suffix(end));
    // The facts of a lab are those of all its hosts.
    if let Some(path) = what.strip_prefix("lab.") {
        let path = fact.and_then(|fact| fact.strip_prefix("lab.")).unwrap_or(path);
        let (words, unit) = path_in_words(path.strip_prefix("lab.").unwrap_or(path));
        return (format!("lab, {words}"), unit);
    }
    if let Some((fact, end)) = fact.zip(end) {
        let unit = unit_of(fact);
        let bare = without_unit(fact).replace('-', " ");
        let (words, _) = path_in_words(&bare);
        let words = words.replace(" v4", " over IPv4").replace(" v6", " over IPv6");
        return (format!("{words}{end}"), unit);
    }
    let Some((of, path)) = what.split_once(", ") else { return (what.to_owned(), None) };
    let row = found.rows.iter().find(|row| row.cell == of);
    let (words, unit) = path_in_words(path);
    (format!("{}, {words}", row.map_or(of, |row| row.label.as_str())), unit)
}

/// A path of keys as in "links.1.conditions.v4.rate_bps", and what stands there: "link 1,
/// conditions, IPv4, rate".
fn path_in_words(path: &str) -> (String, Option<Unit>) {
    let mut words: Vec<String> = Vec::new();
    let mut unit = None;
    for key in path.split('.') {
        unit = unit_of(key);
        let is_number = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
        match words.last_mut().filter(|_| is_number) {
            Some(list) => {
                let one = list.strip_suffix('s').unwrap_or(list.as_str());
                *list = format!("{one} {key}");
            }
            None => words.push(key_in_words(key)),
        }
    }
    (words.join(", "), unit)
}

fn key_in_words(key: &str) -> String {
    let of_lab = ["link", "tunnel"].into_iter().find_map(|kind| {
        let number = key.strip_prefix(kind)?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| format!("{kind} {number}"))
    });
    match (of_lab, key) {
        (Some(words), _) => words,
        (None, "v4") => "IPv4".to_owned(),
        (None, "v6") => "IPv6".to_owned(),
        (None, "time_ns_max") => "longest time".to_owned(),
        (None, "pairs_min") => "fewest pairs".to_owned(),
        (None, "mtu" | "mtu_bytes") => "MTU".to_owned(),
        // The kernel's own name of a setting.
        (None, path) if path.contains('/') => path.to_owned(),
        (None, key) => without_unit(key).replace('_', " "),
    }
}

fn without_unit(key: &str) -> &str {
    ENDS.iter().find_map(|(end, _)| key.strip_suffix(end)).unwrap_or(key)
}

fn unit_of(key: &str) -> Option<Unit> {
    let bare = key.strip_suffix("_max").or_else(|| key.strip_suffix("_min")).unwrap_or(key);
    let by_end = ENDS.iter().find(|(end, _)| bare.ends_with(end)).map(|(_, unit)| *unit);
    by_end.or(match key {
        "loss" | "duplication" | "share" => Some(Unit::Share),
        "IPv4" | "IPv6" | "back" => Some(Unit::Conditions),
        _ => None,
    })
}

/// A value in its unit; a text, or what is no figure, as it is.
fn value(text: &str, unit: Option<Unit>) -> String {
    if unit == Some(Unit::Conditions) {
        return text.split(", ").map(condition).collect::<Vec<_>>().join(", ");
    }
    match (text, unit, text.parse::<f64>()) {
        ("true", ..) => "yes".to_owned(),
        ("false", ..) => "no".to_owned(),
        (_, Some(Unit::Time(ns)), Ok(x)) => format_span(x * ns),
        (_, Some(Unit::Rate), Ok(x)) => format_rate(x),
        (_, Some(Unit::Size), Ok(x)) => format_bytes(x as u64),
        (_, Some(Unit::Frequency), Ok(x)) if x < 1e6 => format!("{} MHz", significant(x / 1e3, 3)),
        (_, Some(Unit::Frequency), Ok(x)) => format!("{} GHz", significant(x / 1e6, 3)),
        (_, Some(Unit::Share), Ok(x)) => format_share(x),
        _ => text.to_owned(),
    }
}

/// One thing that a link does, as in "50000000 bit/s", "delay 0 ns" or "loss 0.01".
fn condition(text: &str) -> String {
    match text {
        "no limit" => return "no rate limit".to_owned(),
        "delay 0 ns" => return "no delay".to_owned(),
        "loss 0" => return "no loss".to_owned(),
        _ => {}
    }
    let words: Vec<&str> = text.split(' ').collect();
    let mut said: Vec<String> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |place| words[place]);
        let unit = match (words.get(place + 1).copied(), before) {
            (Some("bit/s"), _) => Some(Unit::Rate),
            (Some("ns"), _) => Some(Unit::Time(1.0)),
            (_, "loss" | "duplication" | "share") => Some(Unit::Share),
            _ => None,
        };
        let is_unit = matches!(*word, "bit/s" | "ns") && before.parse::<f64>().is_ok();
        if !is_unit {
            said.push(value(word, unit));
        }
    }
    said.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::arm::PerArm;

    fn one(what: &str, values: [&str; 2]) -> String {
        let found = Comparison {
            runs: Vec::new(),
            arm_names: PerArm { a: "IPv4".to_owned(), b: "IPv6".to_owned() },
            rows: Vec::new(),
            failures: Vec::new(),
            apart: Vec::new(),
            set_up: vec![Differs {
                what: what.to_owned(),
                values: values.map(str::to_owned).into(),
            }],
            published: None,
        };
        let Differs { what, values } = told(&found).remove(0);
        format!("{what}: {}", values.join(" → "))
    }

    #[test]
    fn a_lab_is_told_in_words_and_units() {
        let link = "lab.lab.link1.IPv4 of the client";
        let values =
            ["50000000 bit/s, delay 0 ns, loss 0", "no limit, delay 1500000 ns, loss 0.01"];
        let said = "lab, link 1, IPv4: 50 Mbit/s, no delay, no loss → no rate limit, delay 1.5 ms, \
                    loss 1 %";
        assert_eq!(one(link, values), said);
        let back = one(
            "lab.lab.link12.IPv6.back of the client",
            ["share 0.02 held back 1000000 ns, queue 9", "jitter uniform 2000 ns in order"],
        );
        assert_eq!(
            back,
            "lab, link 12, IPv6, back: share 2 % held back 1 ms, queue 9 → jitter uniform 2 µs in \
             order"
        );
        let mtu = one("lab.lab.link1.mtu_bytes of the client", ["1500", "9000"]);
        assert_eq!(mtu, "lab, link 1, MTU: 1500 B → 9000 B");
        let kernel = one("lab.lab.lab-a.net/ipv4/tcp_rmem of the client", ["4096", "8192"]);
        assert_eq!(kernel, "lab, lab-a, net/ipv4/tcp_rmem: 4096 → 8192");
        let world = one("world, links.2.there.v6.rate_bps", ["100000000", "–"]);
        assert_eq!(world, "world, link 2, there, IPv6, rate: 100 Mbit/s → –");
    }

    #[test]
    fn plans_and_hosts_are_told_in_words_and_units() {
        let time = one("stopping rule, time_ns_max", ["75000000000", "600000000000"]);
        assert_eq!(time, "stopping rule, longest time: 75 s → 10 min");
        let cell = one("rtt-tcp-1024, wait_ns", ["0", "20000"]);
        assert_eq!(cell, "rtt-tcp-1024, wait: 0 µs → 20 µs");
        let frequency = one("frequency-min-khz of the server", ["800000", "1200000"]);
        assert_eq!(frequency, "frequency min of the server: 800 MHz → 1.2 GHz");
        let way = one("way-out-v6 of the client", ["eth0", "wg0"]);
        assert_eq!(way, "way out over IPv6 of the client: eth0 → wg0");
        let unknown = one("sleep-wake-us of the client", ["133", "unavailable, because: no file"]);
        assert_eq!(unknown, "sleep wake of the client: 133 µs → unavailable, because: no file");
        for same in ["kernel of the server", "send buffer of the client over IPv6", "margin of rtt"]
        {
            assert_eq!(one(same, ["a, b", "c"]), format!("{same}: a, b → c"));
        }
    }
}
