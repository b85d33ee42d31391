//! Values of options: from text to numbers, metrics, verdicts and networks.

use clap::builder::{PathBufValueParser, TypedValueParser};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use v6gap_core::family::Family;
use v6gap_core::fleet::names::{HostName, NotAName};
use v6gap_core::metric::Metric;
use v6gap_core::plan::check::{self, nearest};
use v6gap_core::plan::draft::Wanted;
use v6gap_core::unit;
use v6gap_core::wire::whereabouts::can_be_told;
use v6gap_core::workload::{Http, Transport};
use v6gap_core::world::LinkModel;
use v6gap_judge::analysis::Verdict;
use v6gap_perform::against::Tool;
use v6gap_perform::resolver;

/// A file for a page, which is no standard output: that has the result.
pub(super) fn page() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path == Path::new("-") {
        true => Err("standard output has the result; v6gap report last -o - writes its page there"),
        false => Ok(path),
    })
}

/// A time in ns, above 0.
pub(super) fn span(text: &str) -> Result<u64, String> {
    match unit::parse_span(text).map_err(|e| e.to_string())? {
        0 => Err("a time must be above 0".to_owned()),
        ns => Ok(ns),
    }
}

/// Names of two hosts of a fleet, as in `rome/lab-a,oslo/lab-a`.
pub(super) fn between(text: &str) -> Result<[String; 2], String> {
    let (from, to) = text.split_once(',').ok_or("it is FROM,TO, each as SITE/HOST")?;
    let name = |text: &str| host(text).map(|name| name.to_string());
    Ok([name(from)?, name(to)?])
}

/// The name of a host of a fleet.
pub(super) fn host(text: &str) -> Result<HostName, String> {
    text.parse().map_err(|e: NotAName| e.to_string())
}

/// A time in ns that may be 0.
pub(super) fn delay(text: &str) -> Result<u64, String> {
    unit::parse_span(text).map_err(|e| e.to_string())
}

/// A rate in bit/s, above 0; `none` is no limit.
pub(super) fn rate(text: &str) -> Result<Rate, String> {
    if text == "none" {
        return Ok(Rate(None));
    }
    match unit::parse_rate(text).map_err(|e| e.to_string())? {
        0 => Err("a rate must be above 0".to_owned()),
        bps => Ok(Rate(Some(bps))),
    }
}

/// A rate in bit/s; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(pub Option<u64>);

/// A number of bytes, above 0; `none` is no limit.
pub(super) fn bytes(text: &str) -> Result<Bytes, String> {
    if text == "none" {
        return Ok(Bytes(None));
    }
    match unit::parse_bytes(text).map_err(|e| e.to_string())? {
        0 => Err("a size must be above 0".to_owned()),
        bytes => Ok(Bytes(Some(bytes))),
    }
}

/// A number of bytes; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub Option<u64>);

/// An address that clients elsewhere may be told.
pub(super) fn announced(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|_| "it is no address".to_owned())?;
    match can_be_told(&address) {
        true => Ok(address),
        false => Err("it is no address of one host that holds beyond one link".to_owned()),
    }
}

/// A share from 0 to 1, below 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match unit::parse_share(text).map_err(|e| e.to_string())? {
        share if share < 1.0 => Ok(share),
        _ => Err("it must be below 100 %".to_owned()),
    }
}

/// A size in bytes, from 1 to 1 GiB.
pub(super) fn size(text: &str) -> Result<u32, String> {
    match unit::parse_bytes(text).map_err(|e| e.to_string())? {
        bytes @ 1..=0x4000_0000 => Ok(bytes as u32),
        _ => Err("a size must be between 1 B and 1 GiB".to_owned()),
    }
}

/// How many times as fast something happens again.
pub(super) fn times(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(times) if (0.01..=10_000.0).contains(&times) => Ok(times),
        _ => Err("it must be a number from 0.01 to 10000".to_owned()),
    }
}

/// The width of a figure in mm, from 40 to 500.
pub(super) fn width_mm(text: &str) -> Result<f64, String> {
    let typed = text.strip_suffix("mm").unwrap_or(text).trim_end();
    match typed.parse::<f64>() {
        Ok(mm) if (40.0..=500.0).contains(&mm) => Ok(mm),
        _ => Err("a width is a number of mm from 40 to 500".to_owned()),
    }
}

/// The size of a file in bytes, from 64 KiB to 1 TiB.
pub(super) fn file_size(text: &str) -> Result<u64, String> {
    match unit::parse_bytes(text).map_err(|e| e.to_string())? {
        bytes @ 0x1_0000..=0x100_0000_0000 => Ok(bytes),
        _ => Err("it must be between 64 KiB and 1 TiB".to_owned()),
    }
}

/// How much of a body is downloaded, in bytes.
pub(super) fn download(text: &str) -> Result<u64, String> {
    check::download(text)
}

/// A name server, perhaps with its port.
pub(super) fn resolver(text: &str) -> Result<SocketAddr, String> {
    resolver::parse(text)
}

/// A version of HTTP.
pub(super) fn http(text: &str) -> Result<Http, String> {
    let text = if text == "1" { "1.1" } else { text };
    let found = Http::ALL.into_iter().find(|http| http.number() == text);
    found.ok_or_else(|| "the versions of HTTP are 1.1, 2 and 3".to_owned())
}

/// A margin: `METRIC=SHARE`.
pub(super) fn margin(text: &str) -> Result<(Metric, String), String> {
    share_of("margin", text)
}

/// A precision: `SHARE` for every metric that is compared by ratio, or `METRIC=SHARE`.
pub(super) fn precision(text: &str) -> Result<Precision, String> {
    if text.contains('=') {
        let (metric, share) = share_of("precision", text)?;
        return Ok(Precision { metric: Some(metric), share });
    }
    check::share("precision", text)?;
    Ok(Precision { metric: None, share: text.to_owned() })
}

/// A metric and a share of it as text, which is one that a plan takes.
fn share_of(of: &str, text: &str) -> Result<(Metric, String), String> {
    let (name, value) = text.split_once('=').ok_or("it must be METRIC=SHARE, as in rtt=2%")?;
    let metric = metric(name)?;
    check::share(of, value)?;
    Ok((metric, value.to_owned()))
}

/// Half-width of a range that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Precision {
    /// The metric; `None` for every one that is compared by ratio.
    pub metric: Option<Metric>,
    /// Share of the value, or of packets, as it was typed.
    pub share: String,
}

/// A family: `v4` or `v6`.
pub(super) fn family(text: &str) -> Result<Family, String> {
    match text {
        "v4" | "4" | "ipv4" => Ok(Family::V4),
        "v6" | "6" | "ipv6" => Ok(Family::V6),
        _ => Err("it must be v4 or v6".to_owned()),
    }
}

/// A link model of the lab.
pub(super) fn model(text: &str) -> Result<LinkModel, String> {
    let known = LinkModel::ALL.into_iter().find(|model| model.name() == text);
    known.ok_or_else(|| one_of(text, &LinkModel::ALL.map(LinkModel::name)))
}

/// An item of `--measure`.
pub(super) fn measured(text: &str) -> Result<Wanted, String> {
    match text {
        "tcp" => Ok(Wanted::Transport(Transport::Tcp)),
        "udp" => Ok(Wanted::Transport(Transport::Udp)),
        "icmp" => Ok(Wanted::Transport(Transport::Icmp)),
        _ => Metric::from_name(text).map(Wanted::Metric).ok_or_else(|| {
            let names = Metric::ALL.map(Metric::name);
            one_of(text, &[&names[..], &["tcp", "udp", "icmp"]].concat())
        }),
    }
}

/// A tool whose server may be at the other end.
pub(super) fn tool(text: &str) -> Result<Tool, String> {
    let found = Tool::ALL.into_iter().find(|tool| tool.name() == text);
    found.ok_or_else(|| one_of(text, &Tool::ALL.map(Tool::name)))
}

fn metric(name: &str) -> Result<Metric, String> {
    Metric::from_name(name).ok_or_else(|| one_of(name, &Metric::ALL.map(Metric::name)))
}

fn one_of(found: &str, known: &[&str]) -> String {
    let help = nearest(found, known).map(|word| format!("; did you mean \"{word}\"?"));
    format!("it must be one of {}{}", known.join(", "), help.unwrap_or_default())
}

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Every question, and failures.
    All,
    /// The questions of a metric.
    Of(Metric),
    /// Whether a family fails more often.
    Failures,
    /// Whether more exchanges of a family are lost.
    LostExchanges,
    /// Whether a family does not work at all, which a first look tells before anything is measured.
    Broken,
}

/// What conditions call failures.
const FAILURES: &str = "failures";

/// What they call exchanges that were lost.
const LOST_EXCHANGES: &str = "lost-exchanges";

/// What they call a family that does not work at all.
const BROKEN: &str = "broken";

/// The verdicts that a condition may name.
const VERDICTS: [&str; 3] = ["better", "worse", "same"];

/// A verdict as a condition names it, and what it is about.
pub(super) fn condition(text: &str) -> Result<(Verdict, Asked), String> {
    let (verdict, name) = match text.split_once(':') {
        Some((verdict, name)) => (verdict, Some(name)),
        None => (text, None),
    };
    if text == BROKEN {
        return Ok((Verdict::Worse, Asked::Broken));
    }
    let verdict = match verdict {
        "better" => Verdict::Better,
        "worse" => Verdict::Worse,
        "same" => Verdict::Same,
        other => return Err(one_of(other, &[&VERDICTS[..], &[BROKEN]].concat())),
    };
    let asked = match name {
        None => Asked::All,
        Some(FAILURES) => Asked::Failures,
        Some(LOST_EXCHANGES) => Asked::LostExchanges,
        Some(name) => {
            let others = [FAILURES, LOST_EXCHANGES];
            let known = || [&Metric::ALL.map(Metric::name)[..], &others].concat();
            Asked::Of(Metric::from_name(name).ok_or_else(|| one_of(name, &known()))?)
        }
    };
    Ok((verdict, asked))
}

/// A verdict that must be there: whoever requires one means a family that works.
pub(super) fn requirement(text: &str) -> Result<(Verdict, Asked), String> {
    match condition(text)? {
        (_, Asked::Broken) => Err(one_of(text, &VERDICTS)),
        found => Ok(found),
    }
}

/// A verdict on a change between runs.
pub(super) fn condition_of_change(text: &str) -> Result<(Verdict, Asked), String> {
    match requirement(text)? {
        (_, Asked::LostExchanges) => Err(format!("{LOST_EXCHANGES} is asked of one run alone")),
        found => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_name_a_metric_and_a_share() {
        assert_eq!(margin("rtt=2%"), Ok((Metric::Rtt, "2%".to_owned())));
        assert_eq!(margin("loss=0.1pp"), Ok((Metric::Loss, "0.1pp".to_owned())));
        assert!(margin("rtt").unwrap_err().contains("METRIC=SHARE"));
        assert!(margin("rt=2%").unwrap_err().contains("did you mean \"rtt\""));
        for wrong in ["rtt=0", "rtt=100%"] {
            let error = margin(wrong).unwrap_err();
            assert_eq!(error, "a margin must be above 0 and below 100 %");
        }
    }

    #[test]
    fn a_precision_is_for_all_ratios_or_one_metric() {
        assert_eq!(precision("1%"), Ok(Precision { metric: None, share: "1%".to_owned() }));
        let rtt = Precision { metric: Some(Metric::Rtt), share: "0.5%".to_owned() };
        assert_eq!(precision("rtt=0.5%"), Ok(rtt));
        assert!(precision("0").unwrap_err().contains("a precision must be above 0"));
    }

    #[test]
    fn conditions_name_a_verdict_and_perhaps_a_metric() {
        assert_eq!(condition("worse"), Ok((Verdict::Worse, Asked::All)));
        let same = Ok((Verdict::Same, Asked::Of(Metric::Throughput)));
        assert_eq!(condition("same:throughput"), same);
        assert_eq!(condition("worse:failures"), Ok((Verdict::Worse, Asked::Failures)));
        assert_eq!(condition("broken"), Ok((Verdict::Worse, Asked::Broken)));
        assert!(condition("equal").is_err() && condition("broken:rtt").is_err());
        assert!(condition("same:speed").is_err());
        assert!(condition("worse:failure").unwrap_err().contains("did you mean \"failures\""));
        let lost = Ok((Verdict::Worse, Asked::LostExchanges));
        assert_eq!(condition("worse:lost-exchanges"), lost);
    }

    #[test]
    fn what_cannot_be_is_no_condition() {
        assert_eq!(requirement("same:rtt"), condition("same:rtt"));
        assert!(requirement("worse:lost-exchanges").is_ok());
        assert_eq!(condition_of_change("worse:failures"), condition("worse:failures"));
        for wrong in [requirement("broken"), condition_of_change("broken")] {
            assert!(wrong.unwrap_err().contains("better, worse, same"));
        }
        assert!(condition_of_change("worse:lost-exchanges").unwrap_err().contains("one run"));
    }
}
