//! Rows b to e and k: worlds with no difference, and with one that is known.

use crate::results::Results;
use crate::site::{self, Placement, Site};
use crate::{Budget, say};
use crate::{plain, plans};
use serde_json::{Value, json};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::record::Line;
use v6gap_core::world::{Bursts, Conditions, LinkModel, World};
use v6gap_judge::analysis::Analysis;

/// Rate of the links, in bit/s.
const RATE_BPS: u64 = 100_000_000;

/// Delay of both families each way in the delay worlds, the references included. Without one the
/// hosts' own part of a round trip is another: a wait of some microseconds ends sooner than one in
/// which a processor has fallen asleep, so that it must be alike with and without what is added.
const DELAY_NS: u64 = 250_000;

/// Payload of a full TCP segment of each family with timestamps, of 1500 bytes.
const SEGMENT: PerFamily<f64> = PerFamily { v4: 1448.0, v6: 1428.0 };

/// Runs of a case for each time that its lab is built, so that the cases mix over the hour.
const AT_A_TIME: usize = 10;

/// A run in so many of the delay worlds is one without a difference added: the hosts' own part of
/// the round trips is known from these alone.
const REFERENCE_EVERY: usize = 5;

/// What a case puts on the first link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Injected {
    /// Nothing, and a family is compared with itself.
    Null(Family),
    /// A rate with which IPv6 has so much more goodput than IPv4, as a share.
    Rate(f64),
    /// The same, measured in trials of half the time: what shorter trials cost.
    Brief(f64),
    /// The same, measured as by default: trials of 1 s, at most 75 s in all.
    Default(f64),
    /// A delay with which the round trip of IPv6 is so much longer, as a share.
    Delay(f64),
    /// So large a share of a family's frames lost.
    Loss(Family, f64),
    /// IPv6 loses as much as the margin, in bursts of so many frames.
    Bursts(u32),
}

impl Injected {
    /// How much more goodput IPv6 has where rates are what differs.
    fn rate(self) -> Option<f64> {
        match self {
            Injected::Rate(effect) | Injected::Brief(effect) | Injected::Default(effect) => {
                Some(effect)
            }
            Injected::Null(_) | Injected::Delay(_) | Injected::Loss(..) | Injected::Bursts(_) => {
                None
            }
        }
    }
}

/// Runs of one kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    pub row: &'static str,
    pub name: String,
    pub injected: Injected,
    pub runs: usize,
}

/// All cases of rows b, c, d and k; the rest of row d and row e are read from those of c.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for family in Family::BOTH {
        let name = format!("null-{}", short(family));
        cases.push(Case { row: "b", name, injected: Injected::Null(family), runs: 100 });
    }
    let percent = |x: f64| format!("{:+}", (x * 1000.0).round() / 10.0);
    for sign in [1.0, -1.0] {
        for (size, runs) in [(0.005, 12), (0.01, 38), (0.02, 38), (0.05, 12)] {
            let name = format!("rate{}", percent(sign * size));
            cases.push(Case { row: "c", name, injected: Injected::Rate(sign * size), runs });
        }
        for (size, runs) in [(0.005, 14), (0.01, 14), (0.02, 14), (0.03, 30), (0.05, 28)] {
            let name = format!("delay{}", percent(sign * size));
            cases.push(Case { row: "c", name, injected: Injected::Delay(sign * size), runs });
        }
    }
    for (size, runs) in [(0.005, 50), (0.01, 100), (0.02, 50)] {
        let name = format!("brief{}", percent(size));
        cases.push(Case { row: "c", name, injected: Injected::Brief(size), runs });
    }
    for size in [0.01, -0.01] {
        let name = format!("default{}", percent(size));
        cases.push(Case { row: "d", name, injected: Injected::Default(size), runs: 30 });
    }
    for family in Family::BOTH {
        for size in [0.005, 0.01, 0.02, 0.05] {
            let name = format!("loss{}-{}", percent(size), short(family));
            cases.push(Case { row: "c", name, injected: Injected::Loss(family, size), runs: 25 });
        }
    }
    for frames in [10, 50, 500] {
        let name = format!("bursts-{frames}");
        cases.push(Case { row: "k", name, injected: Injected::Bursts(frames), runs: 60 });
    }
    cases
}

/// Bursts of `frames` on average in which nothing gets through, with which the margin of loss is
/// lost in the long run.
fn bursts(frames: u32) -> Bursts {
    let (end, share) = (1.0 / f64::from(frames), Metric::Loss.margin_default());
    Bursts { begin: end * share / (1.0 - share), end, loss: 1.0 }
}

/// `v4` or `v6`.
pub(crate) fn short(family: Family) -> &'static str {
    match family {
        Family::V4 => "v4",
        Family::V6 => "v6",
    }
}

/// Cases that can share a lab.
fn share_a_lab(a: Injected, b: Injected) -> bool {
    match (a, b) {
        (a, b) if a.rate().is_some() => a.rate() == b.rate(),
        (a, b) => std::mem::discriminant(&a) == std::mem::discriminant(&b),
    }
}

/// Runs what is missing of `cases`, a few of each lab in turn, until the budget is used up.
///
/// # Errors
/// If the disk refuses.
pub(crate) fn run(cases: &[Case], results: &Results, budget: &Budget) -> Result<(), String> {
    let mut failures = 0;
    loop {
        let missing = |case: &&Case| results.count(case.row, &case.name) < case.runs;
        let open: Vec<&Case> = cases.iter().filter(missing).collect();
        let mut labs: Vec<Vec<&Case>> = Vec::new();
        for case in open {
            match labs.iter_mut().find(|lab| share_a_lab(lab[0].injected, case.injected)) {
                Some(lab) => lab.push(case),
                None => labs.push(vec![case]),
            }
        }
        if labs.is_empty() {
            return Ok(());
        }
        for lab in labs {
            if budget.is_used_up() {
                return Ok(());
            }
            if let Err(why) = visit(&lab, results, budget) {
                failures += 1;
                say(&format!("{}: {why}", lab[0].name));
                if failures > 20 {
                    return Err("too many labs failed".to_owned());
                }
            }
        }
    }
}

/// Builds the lab of `cases` and makes a few runs there.
fn visit(cases: &[&Case], results: &Results, budget: &Budget) -> Result<(), String> {
    let world = world(cases[0].injected);
    let session = format!("{}", v6gap_sys::clock::wall_ns());
    let seed = results.next_seed();
    site::with(&world, Placement::usual(), seed, |site| {
        let mut bases = Vec::new();
        let delays = matches!(cases[0].injected, Injected::Delay(_));
        if delays {
            plainly(site, &world, results, &session)?;
        }
        let missing = |case: &Case| case.runs.saturating_sub(results.count(case.row, &case.name));
        for turn in 0..AT_A_TIME * cases.len().min(3) {
            let Some(case) = cases.iter().max_by_key(|c| missing(c)).filter(|c| missing(c) > 0)
            else {
                break;
            };
            if budget.is_used_up() {
                break;
            }
            if delays && turn % REFERENCE_EVERY == 0 {
                bases.push(reference(site, &world, results, &session)?);
            }
            let base = bases.last().copied();
            one(site, &world, case, base, results, &session)?;
        }
        if delays && !bases.is_empty() {
            reference(site, &world, results, &session)?;
        }
        Ok(())
    })
}

/// The world of a lab before anything is changed while it is up.
fn world(injected: Injected) -> World {
    match injected.rate() {
        Some(effect) => {
            let mut world = World::client_router_server(LinkModel::Shaped, Some(RATE_BPS));
            world.links[0].conditions = rates(effect);
            world
        }
        None => {
            let mut world = World::client_router_server(LinkModel::Wire, Some(RATE_BPS));
            if matches!(injected, Injected::Delay(_)) {
                for family in Family::BOTH {
                    world.links[0].conditions.get_mut(family).delay_ns = DELAY_NS;
                }
            }
            world
        }
    }
}

/// Rates with which IPv6 has `effect` more goodput, headers included: the slower family gets less
/// than the full rate. To the byte per second that the shaper knows.
fn rates(effect: f64) -> PerFamily<Conditions> {
    let v6_for_v4 = (1.0 + effect) * SEGMENT.v4 / SEGMENT.v6;
    let exact = |share: f64| {
        let bytes = (RATE_BPS as f64 * share / 8.0).round();
        Conditions::rate(Some(8 * bytes as u64))
    };
    match v6_for_v4 <= 1.0 {
        true => PerFamily { v4: exact(1.0), v6: exact(v6_for_v4) },
        false => PerFamily { v4: exact(1.0 / v6_for_v4), v6: exact(1.0) },
    }
}

/// What throughput really differs by where the links have `conditions`.
fn rate_truth(conditions: &PerFamily<Conditions>) -> f64 {
    let goodput = |family: Family| {
        let rate = conditions.get(family).rate_bps.unwrap_or(RATE_BPS) as f64;
        rate * SEGMENT.get(family)
    };
    goodput(Family::V6) / goodput(Family::V4) - 1.0
}

/// Round trips of both transports with nothing added for either family, in s.
#[derive(Debug, Clone, Copy)]
struct Base {
    tcp: PerFamily<f64>,
    udp: PerFamily<f64>,
}

/// Runs without a difference added, each of one transport as those with one are, and what they say.
fn reference(
    site: &Site<'_>,
    world: &World,
    results: &Results,
    session: &str,
) -> Result<Base, String> {
    site.lab.alter(0, world.links[0].conditions).map_err(|e| e.to_string())?;
    let of = |transport: &str| {
        let seed = results.next_seed();
        let mut plan = plans::plan(&plans::round_trip(transport), world, seed)?;
        plan.parts_mut().design.stop = v6gap_core::plan::Stop::Pairs { pairs: 12 };
        let lines = site.run(plan, &mut |_| ())?;
        let facts =
            json!({ "row": "reference", "case": "delay", "seed": seed, "session": session });
        let found = results.keep(facts, &lines)?;
        let q = found.questions.first().ok_or("no round trips")?;
        let (a, b) = q.values.a.zip(q.values.b).ok_or("no round trips")?;
        Ok::<_, String>(PerFamily { v4: a, v6: b })
    };
    Ok(Base { tcp: of("tcp")?, udp: of("udp")? })
}

/// What a plain program says of round trips that take longer.
fn plainly(site: &Site<'_>, world: &World, results: &Results, session: &str) -> Result<(), String> {
    for transport in ["tcp", "udp"] {
        let growth = plain::growth(site, world, transport).map_err(|e| format!("plain: {e}"))?;
        say(&format!("plain {transport}: {:+.2} % of what was added", growth * 100.0));
        results.append(&json!({
            "row": "plain", "case": "delay", "session": session, "transport": transport,
            "growth": growth
        }))?;
    }
    Ok(())
}

/// One run of a case.
fn one(
    site: &Site<'_>,
    world: &World,
    case: &Case,
    base: Option<Base>,
    results: &Results,
    session: &str,
) -> Result<(), String> {
    let seed = results.next_seed();
    let facts = |truth: Value| {
        json!({
            "row": case.row, "case": case.name, "seed": seed, "session": session, "truth": truth
        })
    };
    let lines_and_truth = match case.injected {
        Injected::Null(family) => {
            let text = plans::null(plans::NULL, short(family));
            (site.run(plans::plan(&text, world, seed)?, &mut |_| ())?, json!({ "effect": 0.0 }))
        }
        Injected::Rate(_) | Injected::Brief(_) | Injected::Default(_) => {
            let text = match case.injected {
                Injected::Brief(_) => plans::brief(),
                Injected::Default(_) => plans::THROUGHPUT_DEFAULT.to_owned(),
                _ => plans::THROUGHPUT.to_owned(),
            };
            let plan = plans::plan(&text, world, seed)?;
            let truth = rate_truth(&world.links[0].conditions);
            (site.run(plan, &mut |_| ())?, json!({ "effect": truth }))
        }
        Injected::Loss(family, share) => {
            let mut world = world.clone();
            world.links[0].conditions.get_mut(family).loss = share;
            let sign = if family == Family::V6 { 1.0 } else { -1.0 };
            let lines = altered(site, &world, plans::LOSS, seed)?;
            (lines, json!({ "effect": sign * share }))
        }
        Injected::Bursts(frames) => {
            let mut world = world.clone();
            world.links[0].conditions.v6.bursts = Some(bursts(frames));
            let lines = altered(site, &world, plans::LOSS, seed)?;
            (lines, json!({ "effect": Metric::Loss.margin_default() }))
        }
        Injected::Delay(effect) => {
            let base = base.ok_or("no base")?;
            // In turns within each case, so that every difference is seen with both.
            let transport = ["tcp", "udp"][results.count(case.row, &case.name) % 2];
            delayed(site, world, effect, (transport, base), seed)?
        }
    };
    let (lines, truth) = lines_and_truth;
    let found = results.keep(facts(truth), &lines)?;
    say(&format!("{} {seed}: {}", case.name, told(&found)));
    Ok(())
}

/// A run in the same lab with the conditions of `world` on its first link.
fn altered(site: &Site<'_>, world: &World, text: &str, seed: u64) -> Result<Vec<Line>, String> {
    site.lab.alter(0, world.links[0].conditions).map_err(|e| e.to_string())?;
    site.run(plans::plan(text, world, seed)?, &mut |_| ())
}

/// A run of one transport with a delay that brings its round trips to the wanted ratio; what is
/// true follows in the end from all references of the session.
fn delayed(
    site: &Site<'_>,
    world: &World,
    effect: f64,
    (transport, base): (&str, Base),
    seed: u64,
) -> Result<(Vec<Line>, Value), String> {
    let base = if transport == "tcp" { base.tcp } else { base.udp };
    let wanted = 1.0 + effect;
    // Of each direction, in ns.
    let half = |more_s: f64| (more_s / 2.0 * 1e9).round() as u64;
    let added = match base.v6 <= wanted * base.v4 {
        true => PerFamily { v4: 0, v6: half(wanted * base.v4 - base.v6) },
        false => PerFamily { v4: half(base.v6 / wanted - base.v4), v6: 0 },
    };
    let mut world = world.clone();
    for family in Family::BOTH {
        world.links[0].conditions.get_mut(family).delay_ns += *added.get(family);
    }
    let lines = altered(site, &world, &plans::round_trip(transport), seed)?;
    let truth = json!({
        "transport": transport, "added_ns": { "v4": 2 * added.v4, "v6": 2 * added.v6 }
    });
    Ok((lines, truth))
}

/// The answers in one line.
fn told(found: &Analysis) -> String {
    let answers = found.questions.iter().map(|q| {
        let range = q.effect.as_ref().map_or_else(String::new, |e| {
            format!(
                "{:+.3} % [{:+.3}, {:+.3}]",
                e.estimate * 100.0,
                e.range95.low * 100.0,
                e.range95.high * 100.0
            )
        });
        format!("{} {:?} {range}", q.cell, q.verdict)
    });
    let seconds = found.span_ns as f64 / 1e9;
    format!("{} ({seconds:.1} s)", answers.collect::<Vec<_>>().join("; "))
}
