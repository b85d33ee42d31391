//! A fitted model carried to another line, size, number of links or of flows (docs/method.md
//! section A.8): the hosts' terms stay as they were found, the line's are those of the wire model.

use super::Ranged;
use super::fit::{self, Draw, Model};
use crate::analysis::predict::{self, Packets};
use crate::analysis::{AnalysisError, collect};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::cost;
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::plan::Plan;
use v6gap_core::record::Line;
use v6gap_core::wiremodel::{self, Framing, LinkTiming};
use v6gap_core::workload::{Echo, Workload};
use v6gap_core::world::model;
use v6gap_stats::bootstrap::Joint;

/// What the model is carried to; `None` is as in the run, and so are the tags of frames.
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

/// Where the MTU of a path is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MtuOf {
    /// What was asked for.
    Asked,
    /// The path of the run, by the lab or by the kernels.
    Run,
    /// The run does not tell it for both families: there it is taken for Ethernet's.
    Assumed,
}

/// A carried figure: times in ns, rates in bit/s.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// Of each family, whichever arm it was.
    pub families: PerFamily<Ranged>,
    /// IPv6's over IPv4's.
    pub ratio: Ranged,
    /// MTU of the path of each family, in bytes.
    pub mtu: PerFamily<u32>,
    /// Where it is from.
    pub mtu_of: MtuOf,
    /// In what it goes beyond what was measured, in words; empty within it.
    pub beyond: Vec<String>,
}

impl Model {
    /// The round trip of a message; `None` if nothing was fitted or a family has no such datagram.
    pub fn carry(&self, to: &Target) -> Option<Carried> {
        let (joint, arms) = (self.joint.as_ref()?, self.families);
        let path = Path::of(&self.packets, to.mtu);
        let cost = &self.cost;
        let echo = Echo { message_bytes: to.message_bytes, ..self.echo.clone() };
        let count = |arm: Arm, links: &[LinkTiming]| {
            fit::counts(&echo, *arms.get(arm), path.packets.get(arm), links, self.framing)
        };
        let of = |arm| {
            let there = count(arm, &self.links_there(arm, to))?;
            Some([count(arm, self.links.get(arm))?, there])
        };
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
        let of = |family, draw: &Draw| time(arms.arm_of(family), draw);
        Some(Carried {
            families: PerFamily::from_fn(|family| fit::ranged(joint, |d| of(family, d))),
            ratio: fit::ranged(joint, |d| PerFamily::from_fn(|family| of(family, d)).ratio()),
            mtu: path.mtu(arms),
            mtu_of: path.mtu_of,
            beyond: self.beyond(to, &path),
        })
    }

    /// Links of the run may differ in rate; those that are asked for are alike. They keep the
    /// tunnels over them where their number stays.
    fn links_there(&self, arm: Arm, to: &Target) -> Vec<LinkTiming> {
        let own = self.links.get(arm);
        let alike = |link: &LinkTiming| LinkTiming { rate_bps: fit::UNIT_BPS, ..*link };
        match to.links.map(|count| count as usize) {
            Some(count) if count != own.len() => fit::equal_links(count),
            None if to.rate_bps.is_none() => own.clone(),
            _ => own.iter().map(alike).collect(),
        }
    }

    fn beyond(&self, to: &Target, path: &Path) -> Vec<String> {
        let cost = &self.cost;
        let any = |is: fn(&LinkTiming) -> bool| {
            Arm::BOTH.into_iter().flat_map(|arm| self.links.get(arm)).any(is)
        };
        let mut beyond = Vec::new();
        let size = to.message_bytes;
        if cost.sizes_bytes.first().is_none_or(|least| size < *least)
            || cost.sizes_bytes.last().is_none_or(|most| size > *most)
        {
            beyond.push("size".to_string());
        }
        let known = cost.line_rate_bps;
        let is_another =
            |rate| known.is_none_or(|known| [known.a, known.b].iter().any(|&own| own != rate));
        // Links that are asked for are alike, at the rate of the slowest if none is.
        let become_alike = (to.links.is_some() || to.rate_bps.is_some())
            && any(|link| link.rate_bps != fit::UNIT_BPS);
        if become_alike || to.rate_bps.is_some_and(is_another) {
            beyond.push("rate".to_string());
        }
        if to.links.is_some_and(|links| links != cost.links || !cost.links_known) {
            beyond.push("links".to_string());
        }
        if to.links.is_some_and(|links| links != cost.links)
            && any(|link| link.carried != wiremodel::Carried::Plain)
        {
            beyond.push("tunnels".to_string());
        }
        if path.is_another {
            beyond.push("MTU".to_string());
        }
        beyond
    }
}

/// What packets are made of where a figure is carried to.
struct Path {
    packets: PerArm<Packets>,
    mtu_of: MtuOf,
    /// Whether its MTU is not that of the run.
    is_another: bool,
}

impl Path {
    fn of(run: &PerArm<Packets>, asked: Option<u32>) -> Path {
        let packets = run.map(|p| Packets { mtu: asked.unwrap_or(p.mtu), ..p });
        let known = run.a.mtu_known && run.b.mtu_known;
        let mtu_of = match (asked, known) {
            (Some(_), _) => MtuOf::Asked,
            (None, true) => MtuOf::Run,
            (None, false) => MtuOf::Assumed,
        };
        let alike = Arm::BOTH.iter().all(|&arm| packets.get(arm).mtu == run.get(arm).mtu);
        Path { packets, mtu_of, is_another: asked.is_some() && !(known && alike) }
    }

    fn mtu(&self, arms: PerArm<Family>) -> PerFamily<u32> {
        PerFamily::from_fn(|family| self.packets.get(arms.arm_of(family)).mtu)
    }
}

/// What bytes of a TCP transfer cost the busier end's thread, in ns, ready to be carried.
#[derive(Debug, Clone)]
pub struct Transfers {
    families: PerArm<Family>,
    packets: PerArm<Packets>,
    /// The links, for the tunnels over them.
    links: PerArm<Vec<LinkTiming>>,
    framing: Framing,
    /// Rate of the run's line, in bit/s, where it is known.
    rate_bps: Option<f64>,
    joint: Joint<PerArm<f64>>,
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
    let blocks: Vec<&collect::Block<'_>> = found.blocks.iter().filter(counts).collect();
    let pair = |b: &&collect::Block<'_>| Some(PerArm { a: of(b, Arm::A)?, b: of(b, Arm::B)? });
    let values: Vec<PerArm<f64>> = blocks.iter().filter_map(pair).collect();
    let families = plan.design.arms;
    if values.len() < 2 || families.is_null() {
        return Ok(None);
    }
    let mean = |units: &[usize]| {
        let sum = |arm| units.iter().map(|&i| *values[i].get(arm)).sum::<f64>();
        PerArm::from_fn(|arm| sum(arm) / units.len() as f64)
    };
    let mut rng = ChaCha12Rng::seed_from_u64(plan.seed);
    let joint = Joint::new(values.len(), mean, fit::RESAMPLES, || rng.next_u64());
    let packets = PerArm::from_fn(|arm| {
        predict::packets(plan, *families.get(arm), &blocks, |b| b.trials.get(arm))
    });
    let rate_bps = predict::link_rate(plan.world.as_ref());
    let links = PerArm::from_fn(|arm| links(plan, *families.get(arm)));
    let framing = model::framing(plan.world.as_ref());
    Ok(Some(Transfers { families, packets, links, framing, rate_bps, joint }))
}

/// The links of the run, or one where they are not known.
fn links(plan: &Plan, family: Family) -> Vec<LinkTiming> {
    let world = plan.world.as_ref();
    let known = world.map(|world| model::link_timings(world, family));
    known.map_or_else(|| fit::equal_links(1), |[there, _]| there)
}

impl Transfers {
    /// Goodput of `flows` TCP flows together over a line of that rate and MTU (without one that of
    /// the run), on hosts with so many processors: what the line lets through, or what threads of
    /// those processors can carry at the cost per byte that was measured, whichever is less. Also
    /// says whether the processors are the limit.
    pub fn carry(
        &self,
        rate_bps: f64,
        mtu: Option<u32>,
        flows: u32,
        processors: u32,
    ) -> (Carried, bool) {
        let (arms, path) = (self.families, Path::of(&self.packets, mtu));
        let line = PerArm::from_fn(|arm| {
            let (family, p) = (*arms.get(arm), path.packets.get(arm));
            let links = self.links.get(arm).iter().map(|link| LinkTiming { rate_bps, ..*link });
            let payload = wiremodel::tcp_mss(p.mtu, family, p.options);
            let links: Vec<LinkTiming> = links.collect();
            model::packets_goodput_bps(payload, &[p.mtu], &links, self.framing)
        });
        let threads = f64::from(flows.min(processors).max(1));
        let hosts = |arm: Arm, draw: &PerArm<f64>| threads * 8e9 / draw.get(arm);
        let goodput = |family, draw: &PerArm<f64>| {
            let arm = arms.arm_of(family);
            line.get(arm).min(hosts(arm, draw))
        };
        let range = |figure: &dyn Fn(&PerArm<f64>) -> f64| {
            let found = self.joint.interval(figure, fit::ALPHA).estimate;
            let (low, high) = (found.interval.low, found.interval.high);
            Ranged { estimate: found.centre, low, high }
        };
        let bound =
            Arm::BOTH.into_iter().any(|arm| hosts(arm, self.joint.whole()) < *line.get(arm));
        let mut beyond = Vec::new();
        if self.rate_bps != Some(rate_bps) {
            beyond.push(format!("a line of {}", v6gap_core::unit::format_rate(rate_bps)));
        }
        if flows > 1 {
            beyond.push("flows".to_string());
        }
        if path.is_another {
            beyond.push("MTU".to_string());
        }
        let carried = Carried {
            families: PerFamily::from_fn(|family| range(&|d| goodput(family, d))),
            ratio: range(&|d| PerFamily::from_fn(|family| goodput(family, d)).ratio()),
            mtu: path.mtu(arms),
            mtu_of: path.mtu_of,
            beyond,
        };
        (carried, bound)
    }
}

#[cfg(test)]
mod tests;
