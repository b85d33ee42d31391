//! The fit itself: a fixed design for each arm, and every range from the same resampled rounds.

use super::sweep::{Level, Sweep};
use super::{CostModel, Fitted, Ranged, SIZES_MIN, Share, Terms};
use crate::analysis::predict::{self, Packets};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::plan::Stop;
use v6gap_core::record::RunHeader;
use v6gap_core::unit;
use v6gap_core::wiremodel::{self, Framing, LinkTiming};
use v6gap_core::workload::Echo;
use v6gap_core::world::model;
use v6gap_core::world::{LinkModel, World};
use v6gap_stats::bootstrap::{Joint, MIN_BLOCKS};
use v6gap_stats::least_squares::{Design, Unfit};

/// Resamples behind a range: its ends are steady to a few per cent of its width.
pub(super) const RESAMPLES: usize = 1000;

/// Two-sided error rate of every range.
pub(super) const ALPHA: f64 = 0.05;

/// Deviation of a size from the fit, as a share, beyond which the terms describe nothing.
const MISFIT_MAX: f64 = 0.10;

/// Most links that are tried where their number is not known.
const LINKS_MAX: u32 = 4;

/// A larger number of links must leave less than this share of what the best one before leaves.
const LINKS_BETTER: f64 = 0.5;

/// Rounds below which a bootstrap's range is often too narrow.
const ROUNDS_FEW: usize = MIN_BLOCKS;

/// The bootstrap knows nothing of a rule that looks at the values.
const ADAPTIVE: &str = "the ranges of the terms are for a fixed number of rounds, and this run was \
                        free to end by what it saw";

/// The terms of one arm: constant, per packet and per byte, in ns.
pub(super) type Theta = [f64; 3];

/// What one set of rounds gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Draw {
    pub terms: PerArm<Theta>,
    /// Round trips of the smallest size, in ns.
    pub smallest_ns: PerArm<f64>,
}

/// A cost model with all that is needed to carry it to another path.
#[derive(Debug, Clone)]
pub struct Model {
    /// What it says of the run.
    pub cost: CostModel,
    /// The exchange of the smallest size.
    pub(super) echo: Echo,
    pub(super) families: PerArm<Family>,
    pub(super) packets: PerArm<Packets>,
    /// The links of each arm with their rates relative to the slowest.
    pub(super) links: PerArm<Vec<LinkTiming>>,
    pub(super) framing: Framing,
    pub(super) joint: Option<Joint<Draw>>,
}

/// The path of one arm as far as it is known: rates of its links relative to the slowest.
struct Path {
    links: PerArm<Vec<LinkTiming>>,
    known: bool,
    rate_bps: Option<PerArm<f64>>,
    delay_ns: Option<PerArm<f64>>,
}

/// Rate of a line on which a byte takes 1 ns, in bit/s.
pub(super) const UNIT_BPS: f64 = 8e9;

/// Lines of that rate.
pub(super) fn equal_links(count: usize) -> Vec<LinkTiming> {
    alloc::vec![LinkTiming::plain(UNIT_BPS, 0.0); count]
}

impl Path {
    fn of(world: Option<&World>, families: PerArm<Family>) -> Path {
        let timings = |family| {
            let world = world.filter(|w| w.model == LinkModel::Wire)?;
            // The model knows one list of links; where the way back is another, it guesses.
            let [timings, back] = model::link_timings(world, family);
            if !timings.iter().eq(back.iter().rev()) {
                return None;
            }
            let slowest = timings.iter().map(|l| l.rate_bps).fold(f64::INFINITY, f64::min);
            slowest.is_finite().then_some((timings, slowest))
        };
        let (Some(a), Some(b)) = (timings(families.a), timings(families.b)) else {
            return Path::guessed(1);
        };
        let both = PerArm { a, b };
        let relative = |(links, slowest): &(Vec<LinkTiming>, f64)| {
            let link = |l: &LinkTiming| LinkTiming {
                rate_bps: UNIT_BPS * (l.rate_bps / slowest),
                propagation_ns: 0.0,
                carried: l.carried,
            };
            links.iter().map(link).collect()
        };
        let delay =
            |links: &[LinkTiming]| 2.0 * links.iter().map(|l| l.propagation_ns).sum::<f64>();
        Path {
            links: PerArm::from_fn(|arm| relative(both.get(arm))),
            known: true,
            rate_bps: Some(PerArm::from_fn(|arm| both.get(arm).1)),
            delay_ns: Some(PerArm::from_fn(|arm| delay(&both.get(arm).0))),
        }
    }

    fn guessed(links: u32) -> Path {
        let links = equal_links(links as usize);
        let links = PerArm { a: links.clone(), b: links };
        Path { links, known: false, rate_bps: None, delay_ns: None }
    }
}

/// Packets of an exchange, both ways together, and the bytes that pass one after the other: ns on
/// links whose slowest takes 1 ns for a byte.
pub(super) fn counts(
    echo: &Echo,
    family: Family,
    packets: &Packets,
    links: &[LinkTiming],
    framing: Framing,
) -> Option<[f64; 2]> {
    let (request, answer) = predict::exchange(echo, family, packets, links)?;
    let bytes = wiremodel::exchange_ns(&request, &answer, links, framing);
    Some([(request.len() + answer.len()) as f64, bytes])
}

/// The designs of both arms, with or without a column for packets.
struct Designs {
    of: PerArm<Design>,
    with_packets: bool,
}

impl Designs {
    fn new(levels: &[Counted], weights: &[f64], with_packets: bool) -> Result<Self, Unfit> {
        let design = |arm| {
            let column = |i: usize| levels.iter().map(|l| l.counts.get(arm)[i]).collect();
            let ones = alloc::vec![1.0; levels.len()];
            // Packets last: where sizes leave room for two terms, it is the one that is given up.
            let mut columns = alloc::vec![ones, column(1)];
            if with_packets {
                columns.push(column(0));
            }
            Design::new(&columns, weights)
        };
        Ok(Designs { of: PerArm { a: design(Arm::A)?, b: design(Arm::B)? }, with_packets })
    }

    fn terms(&self, times: &[PerArm<f64>]) -> PerArm<Theta> {
        PerArm::from_fn(|arm| {
            let response: Vec<f64> = times.iter().map(|t| *t.get(arm)).collect();
            match self.of.get(arm).coefficients(&response)[..] {
                [constant, byte, packet] => [constant, packet, byte],
                [constant, byte] => [constant, 0.0, byte],
                _ => [f64::NAN; 3],
            }
        })
    }
}

/// A size with what it is made of.
struct Counted {
    bytes: u32,
    counts: PerArm<[f64; 2]>,
    times: PerArm<f64>,
}

impl Counted {
    fn fitted(&self, terms: &PerArm<Theta>) -> PerArm<f64> {
        PerArm::from_fn(|arm| time_ns(terms.get(arm), self.counts.get(arm)))
    }

    /// Deviations from the fit as shares of what was measured.
    fn off(&self, terms: &PerArm<Theta>) -> PerArm<f64> {
        let fitted = self.fitted(terms);
        PerArm::from_fn(|arm| self.times.get(arm) / fitted.get(arm) - 1.0)
    }
}

/// The time of an exchange by its terms, in ns.
pub(super) fn time_ns(terms: &Theta, counts: &[f64; 2]) -> f64 {
    terms[0] + terms[1] * counts[0] + terms[2] * counts[1]
}

/// A fit of the centres of all rounds.
struct Fit {
    path: Path,
    counted: Vec<Counted>,
    designs: Designs,
    terms: PerArm<Theta>,
    /// Sum of the squares of the relative deviations.
    left: f64,
}

fn fit(
    path: Path,
    levels: &[&Level],
    families: PerArm<Family>,
    packets: &PerArm<Packets>,
    framing: Framing,
    whole: &[usize],
) -> Result<Fit, String> {
    let counted = |level: &&Level| {
        let of = |arm: Arm| {
            let (family, packets) = (*families.get(arm), packets.get(arm));
            counts(&level.echo, family, packets, path.links.get(arm), framing)
        };
        let counts = PerArm { a: of(Arm::A)?, b: of(Arm::B)? };
        let (bytes, times) = (level.echo.message_bytes, level.centre_ns(whole));
        Some(Counted { bytes, counts, times })
    };
    let counted: Option<Vec<Counted>> = levels.iter().map(counted).collect();
    let counted = counted.ok_or("a size does not exist as packets of both families")?;
    // Round trips vary by a share of their length, so each size counts by its relative deviation.
    let weight = |c: &Counted| 1.0 / (c.times.a * c.times.b).max(f64::MIN_POSITIVE);
    let weights: Vec<f64> = counted.iter().map(weight).collect();
    let times: Vec<PerArm<f64>> = counted.iter().map(|c| c.times).collect();
    let refused = |why| match why {
        Unfit::Collinear { .. } => "the sizes are too much alike to tell constant from size",
        Unfit::TooFewPoints => "the sizes are too few",
        Unfit::NotANumber => "a round trip is no number",
    };
    let mut designs = match Designs::new(&counted, &weights, true) {
        Err(Unfit::Collinear { column: 2 }) => Designs::new(&counted, &weights, false),
        designs => designs,
    }
    .map_err(refused)?;
    let mut terms = designs.terms(&times);
    if designs.with_packets && (terms.a[1] < 0.0 || terms.b[1] < 0.0) {
        designs = Designs::new(&counted, &weights, false).map_err(refused)?;
        terms = designs.terms(&times);
    }
    let square = |c: &Counted| {
        let off = c.off(&terms);
        off.a * off.a + off.b * off.b
    };
    let left = counted.iter().map(square).sum();
    Ok(Fit { path, counted, designs, terms, left })
}

/// The model of a sweep.
pub(super) fn model(run: &RunHeader, sweep: &Sweep) -> Model {
    let families = run.plan.design.arms;
    let levels: Vec<&Level> = sweep.levels.iter().filter(|l| l.is_measured()).collect();
    let echo = levels.first().map(|l| l.echo.clone()).unwrap_or_default();
    let mut model = Model {
        cost: CostModel {
            transport: echo.transport,
            cells: levels.iter().map(|l| l.cell.clone()).collect(),
            sizes_bytes: levels.iter().map(|l| l.echo.message_bytes).collect(),
            rounds: sweep.rounds,
            links: 1,
            links_known: false,
            line_rate_bps: None,
            delay_ns: None,
            fitted: None,
            why_none: None,
            smallest: None,
            caveats: Vec::new(),
        },
        echo,
        families,
        packets: sweep.packets,
        links: PerArm::default(),
        framing: model::framing(run.plan.world.as_ref()),
        joint: None,
    };
    if let Err(why) = fill(&mut model, run, &levels, sweep.units) {
        model.cost.why_none = Some(why);
    }
    model
}

fn fill(model: &mut Model, run: &RunHeader, levels: &[&Level], units: usize) -> Result<(), String> {
    if levels.len() < SIZES_MIN {
        return Err(format!("{} sizes are too few, at least {SIZES_MIN} are needed", levels.len()));
    }
    if units < 2 {
        return Err("one round has no range".to_string());
    }
    let families = model.families;
    let whole: Vec<usize> = (0..units).collect();
    let fitted = |path| fit(path, levels, families, &model.packets, model.framing, &whole);
    let mut best = fitted(Path::of(run.plan.world.as_ref(), families))?;
    // Sizes must be left over for a choice among numbers of links to mean anything.
    if run.plan.world.is_none() && levels.len() > SIZES_MIN + 1 {
        for links in 2..=LINKS_MAX {
            let other = fitted(Path::guessed(links))?;
            if other.left < LINKS_BETTER * best.left {
                best = other;
            }
        }
    }
    let cost = &mut model.cost;
    cost.links = best.path.links.a.len() as u32;
    cost.links_known = best.path.known;
    (cost.line_rate_bps, cost.delay_ns) = (best.path.rate_bps, best.path.delay_ns);
    usable(&best)?;
    let draw = |units: &[usize]| {
        let times: Vec<PerArm<f64>> = levels.iter().map(|l| l.centre_ns(units)).collect();
        Draw { terms: best.designs.terms(&times), smallest_ns: times[0] }
    };
    let mut rng = ChaCha12Rng::seed_from_u64(run.plan.seed);
    rng.set_stream(u64::MAX - model.echo.transport as u64);
    let joint = Joint::new(units, draw, RESAMPLES, || rng.next_u64());
    let (off, off_bytes) = misfit(&best);
    if off > MISFIT_MAX {
        return Err(format!(
            "the round trips do not follow size and packets: the fit misses that of {} by {:.0} % \
             of it",
            unit::format_bytes(off_bytes.into()),
            off * 100.0
        ));
    }
    cost.fitted = Some(terms(&joint, best.designs.with_packets, off, off_bytes));
    cost.smallest = Some(smallest(&joint, &best, levels[0].echo.message_bytes));
    cost.caveats = caveats(&best, units, run.plan.design.stop);
    model.links = best.path.links;
    model.joint = Some(joint);
    Ok(())
}

/// Terms that no path can have.
fn usable(fit: &Fit) -> Result<(), String> {
    for arm in Arm::BOTH {
        let [constant, _, byte] = *fit.terms.get(arm);
        if !constant.is_finite() || !byte.is_finite() {
            return Err("a round trip is no number".to_string());
        }
        if byte <= 0.0 {
            return Err("the round trips do not grow with the size".to_string());
        }
        if constant < 0.0 {
            return Err("what every exchange takes comes out below zero: the round trips grow \
                        otherwise than with their bytes"
                .to_string());
        }
    }
    Ok(())
}

fn misfit(fit: &Fit) -> (f64, u32) {
    let off = |c: &Counted| {
        let off = c.off(&fit.terms);
        (off.a.abs().max(off.b.abs()), c.bytes)
    };
    let worst = fit.counted.iter().map(off).max_by(|x, y| x.0.total_cmp(&y.0));
    worst.unwrap_or((0.0, 0))
}

/// A figure of the draws with its range.
pub(super) fn ranged(joint: &Joint<Draw>, figure: impl Fn(&Draw) -> f64) -> Ranged {
    let found = joint.interval(figure, ALPHA).estimate;
    Ranged { estimate: found.centre, low: found.interval.low, high: found.interval.high }
}

fn terms(joint: &Joint<Draw>, packets: bool, misfit: f64, misfit_bytes: u32) -> Fitted {
    let of = |figure: &dyn Fn(&Draw, usize) -> f64| Terms {
        constant_ns: ranged(joint, |d| figure(d, 0)),
        per_packet_ns: packets.then(|| ranged(joint, |d| figure(d, 1))),
        per_byte_ns: ranged(joint, |d| figure(d, 2)),
    };
    let arms = PerArm::from_fn(|arm| of(&|d, i| d.terms.get(arm)[i]));
    Fitted {
        arms,
        difference: of(&|d, i| d.terms.b[i] - d.terms.a[i]),
        apparent_rate_bps: arms.map(|terms| rate_bps(&terms.per_byte_ns)),
        misfit,
        misfit_bytes,
    }
}

/// The rate of a line on which a byte costs so much. Where it may cost nothing there is no highest
/// rate: resampled rates would jump from one sign to the other there.
fn rate_bps(byte_ns: &Ranged) -> Ranged {
    let rate = |ns: f64| if ns > 0.0 { 8e9 / ns } else { f64::INFINITY };
    Ranged { estimate: rate(byte_ns.estimate), low: rate(byte_ns.high), high: rate(byte_ns.low) }
}

/// The smallest size taken apart: both arms are sent over the first arm's line, as everywhere in
/// the wire model.
fn smallest(joint: &Joint<Draw>, fit: &Fit, bytes: u32) -> Share {
    let counts = fit.counted[0].counts;
    let more = counts.b[1] - counts.a[1];
    let known = fit.path.rate_bps.map(|rate| 8e9 / rate.a);
    let line = |d: &Draw| more * known.unwrap_or(d.terms.a[2]);
    let longer = |d: &Draw| d.smallest_ns.b - d.smallest_ns.a;
    Share {
        bytes,
        difference_ns: ranged(joint, longer),
        line_ns: match known {
            Some(_) => {
                let line = line(joint.whole());
                Ranged { estimate: line, low: line, high: line }
            }
            None => ranged(joint, line),
        },
        rest_ns: ranged(joint, |d| longer(d) - line(d)),
    }
}

fn caveats(fit: &Fit, rounds: usize, stop: Stop) -> Vec<String> {
    let mut caveats = Vec::new();
    if rounds < ROUNDS_FEW {
        caveats.push(format!(
            "{rounds} rounds are few: the ranges of the terms may be too narrow, {ROUNDS_FEW} are \
             better"
        ));
    }
    if let Stop::Adaptive { .. } = stop {
        caveats.push(ADAPTIVE.to_string());
    }
    if !fit.designs.with_packets {
        let single = |c: &Counted| c.counts.a[0] <= 2.0 && c.counts.b[0] <= 2.0;
        caveats.push(
            match fit.counted.iter().all(single) {
                true => "every size is one packet, so the cost of a packet is part of the constant",
                false => "the cost of a packet cannot be told from the other terms",
            }
            .to_string(),
        );
    }
    let terms = if fit.designs.with_packets { 3 } else { 2 };
    if fit.counted.len() == terms {
        caveats.push(format!("{terms} sizes leave none to check the {terms} terms by"));
    }
    caveats
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_may_cost_nothing_has_no_highest_rate() {
        let rate = rate_bps(&Ranged { estimate: 80.0, low: 40.0, high: 160.0 });
        assert_eq!(rate, Ranged { estimate: 100e6, low: 50e6, high: 200e6 });
        let open = rate_bps(&Ranged { estimate: 1.0, low: -1.0, high: 2.0 });
        assert_eq!(open, Ranged { estimate: 8e9, low: 4e9, high: f64::INFINITY });
    }
}
