//! A fitted model carried to another line, size, number of links or of flows (docs/method.md
//! section A.8): the hosts' terms stay as they were found, the line's are those of the wire model.

use super::Ranged;
use super::fit::{self, Draw, Model};
use crate::analysis::predict::Packets;
use crate::analysis::{AnalysisError, collect};
use crate::arm::{Arm, BlockKind, PerArm};
use crate::cost;
use crate::family::Family;
use crate::record::Line;
use crate::wiremodel::{self, Framing, TcpOptions};
use crate::workload::{Echo, Workload};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_stats::bootstrap::Joint;

/// What the model is carried to; `None` is as in the run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Target {
    /// Size of the message, in bytes.
    pub message_bytes: u32,
    /// Rate of every link, in bit/s.
    pub rate_bps: Option<f64>,
    /// Links that packets pass one after the other.
    pub links: Option<u32>,
    /// MTU of the path, in bytes.
    pub mtu: Option<u32>,
}

/// A carried figure: times in ns, rates in bit/s.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// Of each arm.
    pub arms: PerArm<Ranged>,
    /// The second arm's over the first's.
    pub ratio: Ranged,
    /// In what it goes beyond what was measured, in words; empty within it.
    pub beyond: Vec<String>,
}

impl Model {
    /// The round trip of a message; `None` if nothing was fitted or a family has no such datagram.
    pub fn carry(&self, to: &Target) -> Option<Carried> {
        let joint = self.joint.as_ref()?;
        let cost = &self.cost;
        let links = to.links.unwrap_or(cost.links);
        let echo = Echo { message_bytes: to.message_bytes, ..self.echo.clone() };
        let count = |arm: Arm, links: u32| {
            let packets = self.packets.get(arm);
            let packets = Packets { mtu: to.mtu.unwrap_or(packets.mtu), ..*packets };
            fit::counts(&echo, *self.families.get(arm), &packets, &fit::equal_links(links))
        };
        let of = |arm| Some([count(arm, cost.links)?, count(arm, links)?]);
        let counts = PerArm { a: of(Arm::A)?, b: of(Arm::B)? };
        let line = |arm: Arm, draw: &Draw| {
            let byte = draw.terms.get(arm)[2];
            let was = cost.line_rate_bps.map_or(byte, |rate| 8e9 / rate.get(arm));
            [byte, was, to.rate_bps.map_or(was, |rate| 8e9 / rate)]
        };
        let time = |arm: Arm, draw: &Draw| {
            let [[packets, here], [_, there]] = *counts.get(arm);
            let [constant, packet, _] = *draw.terms.get(arm);
            let [byte, was, is] = line(arm, draw);
            // What a byte costs beyond the known line is the hosts' and passes once.
            constant + packet * packets + (byte - was).max(0.0) * here + is * there
        };
        Some(Carried {
            arms: PerArm::from_fn(|arm| fit::ranged(joint, |d| time(arm, d))),
            ratio: fit::ranged(joint, |d| time(Arm::B, d) / time(Arm::A, d)),
            beyond: self.beyond(to),
        })
    }

    fn beyond(&self, to: &Target) -> Vec<String> {
        let cost = &self.cost;
        let mut beyond = Vec::new();
        let size = to.message_bytes;
        if cost.sizes_bytes.first().is_none_or(|least| size < *least)
            || cost.sizes_bytes.last().is_none_or(|most| size > *most)
        {
            beyond.push("size".to_string());
        }
        let known = cost.line_rate_bps;
        if let Some(rate) = to.rate_bps
            && known.is_none_or(|known| known.a != rate || known.b != rate)
        {
            beyond.push("rate".to_string());
        }
        if to.links.is_some_and(|links| links != cost.links || !cost.links_known) {
            beyond.push("links".to_string());
        }
        if to.mtu.is_some_and(|mtu| mtu != self.packets.a.mtu || mtu != self.packets.b.mtu) {
            beyond.push("MTU".to_string());
        }
        beyond
    }
}

/// What bytes of a TCP transfer cost the busier end's thread, in ns, ready to be carried.
#[derive(Debug, Clone)]
pub struct Transfers {
    families: PerArm<Family>,
    joint: Joint<PerArm<f64>>,
    /// Pairs of trials behind it.
    pub pairs: usize,
}

/// What the first cell of TCP transfers of one stream cost the hosts; `None` if there is none, or
/// the systems do not tell what threads use.
///
/// # Errors
/// If the lines are not the journal of one run.
pub fn transfers(lines: &[Line]) -> Result<Option<Transfers>, AnalysisError> {
    let found = collect::collect(lines)?;
    let plan = &found.run.plan;
    let one = |w: &Workload| matches!(w, Workload::TcpBulk(bulk) if bulk.streams == 1);
    let Some(cell) = plan.cells.iter().find(|cell| one(&cell.workload)) else { return Ok(None) };
    let counts =
        |b: &&collect::Block<'_>| b.valid && b.kind() == BlockKind::Compare && b.cell() == cell.id;
    let of = |b: &collect::Block<'_>, arm: Arm| {
        let cost = cost::of_trial(&b.trials.get(arm).ends)?;
        let busier = cost.ends.client.threads_ns.max(cost.ends.server.threads_ns);
        Some(busier / cost.bytes as f64)
    };
    let blocks = found.blocks.iter().filter(counts);
    let values: Vec<PerArm<f64>> =
        blocks.filter_map(|b| Some(PerArm { a: of(b, Arm::A)?, b: of(b, Arm::B)? })).collect();
    if values.len() < 2 || plan.design.arms.is_null() {
        return Ok(None);
    }
    let mean = |units: &[usize]| {
        let sum = |arm| units.iter().map(|&i| *values[i].get(arm)).sum::<f64>();
        PerArm::from_fn(|arm| sum(arm) / units.len() as f64)
    };
    let mut rng = ChaCha12Rng::seed_from_u64(plan.seed);
    let joint = Joint::new(values.len(), mean, fit::RESAMPLES, || rng.next_u64());
    Ok(Some(Transfers { families: plan.design.arms, joint, pairs: values.len() }))
}

impl Transfers {
    /// Goodput of `flows` TCP flows together over a line of that rate and MTU, on hosts with so
    /// many processors: what the line lets through, or what threads of those processors can carry
    /// at the cost per byte that was measured, whichever is less. Also says whether the
    /// processors are the limit.
    pub fn carry(&self, rate_bps: f64, mtu: u32, flows: u32, processors: u32) -> (Carried, bool) {
        let line = PerArm::from_fn(|arm| {
            let family = *self.families.get(arm);
            let options = TcpOptions::TIMESTAMPS;
            wiremodel::tcp_goodput_bps(rate_bps, mtu, family, options, Framing::default())
        });
        let threads = f64::from(flows.min(processors).max(1));
        let hosts = |arm: Arm, draw: &PerArm<f64>| threads * 8e9 / draw.get(arm);
        let goodput = |arm: Arm, draw: &PerArm<f64>| line.get(arm).min(hosts(arm, draw));
        let range = |figure: &dyn Fn(&PerArm<f64>) -> f64| {
            let found = self.joint.interval(figure, fit::ALPHA).estimate;
            let (low, high) = (found.interval.low, found.interval.high);
            Ranged { estimate: found.centre, low, high }
        };
        let bound =
            Arm::BOTH.into_iter().any(|arm| hosts(arm, self.joint.whole()) < *line.get(arm));
        let mut beyond = Vec::from([format!("a line of {}", crate::unit::format_rate(rate_bps))]);
        if flows > 1 {
            beyond.push("flows".to_string());
        }
        let carried = Carried {
            arms: PerArm::from_fn(|arm| range(&|d| goodput(arm, d))),
            ratio: range(&|d| goodput(Arm::B, d) / goodput(Arm::A, d)),
            beyond,
        };
        (carried, bound)
    }
}
