//! The keys of a `[[measure]]` table that mark packets.

use super::Problems;
use crate::metric::Metric;
use crate::plan::draft::Measure;
use crate::unit;
use crate::workload::Marking;
use alloc::format;
use alloc::string::String;

/// How the packets of a table are marked.
pub(super) fn marking(key: &str, measure: &Measure, problems: &mut Problems) -> Marking {
    let dscp_key = format!("{key}.dscp");
    let dscp = problems.read_optional(&dscp_key, measure.dscp.as_ref(), unit::parse_dscp);
    let tos = problems.read_optional(&format!("{key}.tos"), measure.tos.as_ref(), octet);
    if dscp.is_some() && tos.is_some() {
        problems.add(dscp_key, "tos is given as well, and holds the same bits");
    }
    if measure.hop_limit == Some(0) {
        problems.add(format!("{key}.hop_limit"), "a packet with 0 hops left goes nowhere");
    }
    let label_key = format!("{key}.flow_label");
    let flow_label = problems.read_optional(&label_key, measure.flow_label.as_ref(), label);
    let traffic_class = tos.or(dscp.map(|dscp| dscp << 2));
    let dont_fragment = measure.dont_fragment == Some(true);
    let hop_limit = measure.hop_limit;
    let marking = Marking { traffic_class, hop_limit, flow_label, dont_fragment };
    let opened = [Metric::Connect, Metric::FirstByte, Metric::ConnectRate].map(Metric::name);
    if opened.contains(&measure.metric.as_str()) && marking != Marking::default() {
        problems.add(key, "connections that are only opened are not marked");
    }
    marking
}

fn octet(text: &str) -> Result<u8, String> {
    let value = unit::parse_whole(text).and_then(|value| u8::try_from(value).ok());
    value.ok_or_else(|| format!("\"{text}\" is not a number from 0 to 255"))
}

fn label(text: &str) -> Result<u32, String> {
    let value =
        unit::parse_whole(text).filter(|value| (1..=Marking::FLOW_LABEL_MAX).contains(value));
    value.ok_or_else(|| format!("\"{text}\" is not a number from 1 to 0xfffff"))
}
