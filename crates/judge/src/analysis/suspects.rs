//! What else may lie behind a difference that the headers do not explain: only what the record of
//! the run shows to differ between the families, each with the command that would test it.

use super::collect::{Block, Collected};
use super::words::counted;
use super::{Explained, Question, Verdict, again, offloads, placement, routes, translation};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::SocketAddr;
use serde::Serialize;
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::family::Family;
use v6gap_core::observation::{EndReport, Ends, PerEnd};
use v6gap_core::record::TrialRecord;
use v6gap_core::workload::Transport;
use v6gap_stats::summary;

/// Segments sent again over one family that are worth a word, and how many times those of the other
/// they must be.
const RETRANSMITTED_MIN: u64 = 5;
const RETRANSMITTED_TIMES: u64 = 3;

/// Share of its time that a thread works from which its processor is the limit.
const BUSY: f64 = 0.95;

/// One of the ends.
type End = fn(&Ends) -> Option<&EndReport>;

/// Something recorded that differs between the families and may be the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suspect {
    /// Stable name, as in `path-mtu`.
    pub id: String,
    /// What was seen, with its figures, as part of a sentence.
    pub text: String,
    /// A command that tests it.
    pub test: String,
}

/// Names the suspects of every question whose difference the headers do not explain, in its
/// sentence too.
pub(super) fn name(found: &Collected<'_>, questions: &mut [Question]) {
    for question in questions.iter_mut().filter(|q| is_unexplained(q)) {
        let counts =
            |b: &&Block<'_>| b.valid && b.kind() == BlockKind::Compare && b.cell() == question.cell;
        let blocks: Vec<&Block<'_>> = found.blocks.iter().filter(counts).collect();
        question.suspects = suspects(found, question.transport, &blocks);
        let texts: Vec<&str> = question.suspects.iter().map(|s| s.text.as_str()).collect();
        let more = match texts.is_empty() {
            false => format!(" Look at: {}.", texts.join("; ")),
            true if question.prediction.is_some() => {
                " Nothing that was recorded explains the rest.".to_string()
            }
            // What the headers cost is not known either.
            true => continue,
        };
        question.sentence.push_str(&more);
    }
}

fn is_unexplained(question: &Question) -> bool {
    let differs = |verdict| matches!(verdict, Verdict::Better | Verdict::Worse);
    let left = |explained: Option<Explained>| {
        let left = [Explained::Part, Explained::Little, Explained::BetterThanPredicted];
        explained.is_some_and(|e| left.contains(&e))
    };
    differs(question.verdict)
        && question.prediction.as_ref().is_none_or(|p| differs(p.verdict) && left(p.explained))
}

/// All that is found in these blocks, in a fixed order.
fn suspects(found: &Collected<'_>, transport: Transport, blocks: &[&Block<'_>]) -> Vec<Suspect> {
    let seen = Seen { found, transport, blocks, families: found.run.plan.design.arms };
    // What a family has is the same in both arms of one.
    let of_families = !seen.families.is_null();
    let translation = of_families.then(|| seen.translation()).flatten();
    let one = [seen.path_mtu(), seen.routers(), translation, seen.retransmissions()];
    let more = [seen.busy(), seen.marks()];
    let mut all: Vec<Suspect> = one.into_iter().chain(more).flatten().collect();
    all.extend(of_families.then(|| seen.offloads()).into_iter().flatten());
    all.extend(seen.placement());
    all
}

struct Seen<'a> {
    found: &'a Collected<'a>,
    transport: Transport,
    blocks: &'a [&'a Block<'a>],
    families: PerArm<Family>,
}

fn suspect(id: &str, text: String, test: String) -> Option<Suspect> {
    Some(Suspect { id: id.to_string(), text, test })
}

impl Seen<'_> {
    fn trials(&self, arm: Arm) -> impl Iterator<Item = &TrialRecord> {
        self.blocks.iter().map(move |b| *b.trials.get(arm))
    }

    /// A value of each arm, if both have one and they differ.
    fn apart<T: PartialEq>(&self, of: impl Fn(Arm) -> Option<T>) -> Option<PerArm<T>> {
        let (a, b) = (of(Arm::A)?, of(Arm::B)?);
        (a != b).then_some(PerArm { a, b })
    }

    fn both(&self, say: impl Fn(Arm) -> String) -> String {
        let PerArm { a, b } = self.families;
        let again = if self.families.is_null() { " again" } else { "" };
        format!("{} over {a} and {} over {b}{again}", say(Arm::A), say(Arm::B))
    }

    /// The address that was measured, for a command.
    fn address(&self, family: Family) -> String {
        let address = self.found.run.addresses.get(family).map(|a| a.to_string());
        address.unwrap_or_else(|| self.found.run.target.clone())
    }

    /// Measures again, so that options can be added.
    fn again(&self) -> String {
        again::command(self.found.run)
    }

    fn path_mtu(&self) -> Option<Suspect> {
        let mtu = self
            .apart(|arm| self.trials(arm).filter_map(|t| t.ends.client.granted.path_mtu).min())?;
        let least = if mtu.a < mtu.b { self.families.a } else { self.families.b };
        let text = self.both(|arm| format!("{} B", mtu.get(arm)));
        let test = format!("tracepath -n {}", self.address(least));
        suspect("path-mtu", format!("the path MTU, {text}"), test)
    }

    /// Routers on the way to the server, else back: where every trial of a family saw one number.
    fn routers(&self) -> Option<Suspect> {
        routes::WAYS.into_iter().enumerate().find_map(|(index, way)| {
            let routers = self.apart(|arm| {
                let mut all: Vec<u8> = self
                    .trials(arm)
                    .flat_map(|t| core::mem::take(&mut routes::passed(&t.ends)[index]))
                    .collect();
                all.sort_unstable();
                all.dedup();
                <[u8; 1]>::try_from(all).ok().map(|[one]| one)
            })?;
            let text = self.both(|arm| counted((*routers.get(arm)).into(), "router"));
            let PerArm { a, b } = self.families.map(|family| self.address(family));
            let test = format!("traceroute -n {a}; traceroute -n {b}");
            suspect("routers", format!("the routes {way}, {text}"), test)
        })
    }

    /// An address of one end that the other end saw as another.
    fn translation(&self) -> Option<Suspect> {
        let translated = |arm| {
            self.trials(arm).find_map(|t| {
                let (client, server) = (t.ends.client.endpoints?, t.ends.server.seen()?.endpoints?);
                let pairs = [(client.local, server.peer), (client.peer, server.local)];
                // A socket on all addresses does not say at which one something came.
                let other = |(sent, seen): &(SocketAddr, SocketAddr)| {
                    !seen.ip().is_unspecified() && sent.ip() != seen.ip()
                };
                let change = pairs.into_iter().find(other);
                change.map(|(sent, seen)| (sent.ip(), seen.ip()))
            })
        };
        let by_name = |arm| {
            let addresses = |t: &TrialRecord| {
                let ends = t.ends.client.endpoints;
                ends.into_iter().flat_map(|e| [e.local.ip(), e.peer.ip()]).collect::<Vec<_>>()
            };
            self.trials(arm).flat_map(addresses).find_map(|a| Some((a, translation::kind(&a)?)))
        };
        for arm in Arm::BOTH {
            let family = self.families.get(arm);
            let test = format!("ip route get {}", self.address(*family));
            if let Some((address, what)) = by_name(arm) {
                let text = format!("translation over {family}, {address} is an address of {what}");
                return suspect("translation", text, test);
            }
            if let (Some((sent, seen)), None) = (translated(arm), translated(arm.other())) {
                let text = format!("translation over {family} alone, {sent} was seen as {seen}");
                return suspect("translation", text, test);
            }
        }
        None
    }

    fn retransmissions(&self) -> Option<Suspect> {
        if self.transport != Transport::Tcp {
            return None;
        }
        let again =
            PerArm::from_fn(|arm| self.trials(arm).map(sent_again).fold(0, u64::saturating_add));
        let (less, more) = (again.a.min(again.b), again.a.max(again.b));
        if more < RETRANSMITTED_MIN || more < less.saturating_mul(RETRANSMITTED_TIMES) {
            return None;
        }
        let text = self.both(|arm| again.get(arm).to_string());
        let test = format!("{} --measure loss", self.again());
        suspect("retransmissions", format!("segments sent again, {text}"), test)
    }

    /// A thread that has no time left in a transfer: then a processor is compared, not the path.
    fn busy(&self) -> Option<Suspect> {
        let ends: [(&str, End); 2] =
            [("the client", |e| Some(&e.client)), ("the server", |e| e.server.seen())];
        ends.into_iter().find_map(|(who, end)| {
            let share = |arm| {
                let all: Vec<f64> = self.trials(arm).filter_map(|t| busy(end(&t.ends)?)).collect();
                (!all.is_empty()).then(|| summary::median(&all).min(1.0))
            };
            let shares = PerArm { a: share(Arm::A)?, b: share(Arm::B)? };
            if shares.a.max(shares.b) < BUSY {
                return None;
            }
            let text = self.both(|arm| format!("{:.0} % of the time", shares.get(arm) * 100.0));
            let test = format!("{} -P 2", self.again());
            suspect("processor", format!("a processor of {who} at its limit, busy {text}"), test)
        })
    }

    /// Marks that came in at the server as they were not sent, over one family or otherwise.
    fn marks(&self) -> Option<Suspect> {
        let change = |arm| {
            self.trials(arm).find_map(|t| {
                let sent = t.ends.client.granted.marking.traffic_class?;
                let came = t.ends.server.seen()?.granted.arrived?.traffic_class?;
                Some((sent, came))
            })
        };
        let (a, b) = (change(Arm::A)?, change(Arm::B)?);
        if a == b || (a.0 == a.1 && b.0 == b.1) {
            return None;
        }
        let text = self.both(|arm| {
            let (sent, came) = if arm == Arm::A { a } else { b };
            format!("{sent:#04x} sent and {came:#04x} come in")
        });
        let test = format!("{} --dscp CS0", self.again());
        suspect("dscp", format!("the traffic class, {text}"), test)
    }

    /// A lab has links of its own; what the host's cards do is of no account there.
    fn offloads(&self) -> Vec<Suspect> {
        if self.found.run.plan.world.is_some() {
            return Vec::new();
        }
        let PerEnd { client, server } = &self.found.run.hosts;
        let differing = [client, server].into_iter().flat_map(offloads::differences);
        let named = differing.filter_map(|text| {
            let interface = text.split(' ').next().unwrap_or_default().to_string();
            let seen = text.split(':').next().unwrap_or_default();
            let test = format!("ethtool -K {interface} tso off gso off");
            suspect("offloads", format!("offloads, {seen}"), test)
        });
        named.collect()
    }

    fn placement(&self) -> Vec<Suspect> {
        let named = placement::among(self.blocks).into_iter().filter_map(|apart| {
            let seen = apart.text.split(':').next().unwrap_or_default();
            let end = (apart.end)(&self.blocks.first()?.trials.a.ends)?;
            let test = format!("ethtool -x {}", end.interface().unwrap_or("INTERFACE"));
            suspect("placement", format!("placement, {seen}"), test)
        });
        named.collect()
    }
}

/// Segments that both ends of a trial sent again: by the connections' own accounts, else by the
/// hosts' counters.
fn sent_again(trial: &TrialRecord) -> u64 {
    let of = |end: &EndReport| {
        let accounts = end.connections.iter().filter_map(|c| c.account);
        let told: u64 = accounts.map(|a| u64::from(a.retransmitted_segments)).sum();
        let sender = end.measured.sent().and_then(|s| s.retransmitted_segments);
        let counted = u64::try_from(end.counter("Tcp.RetransSegs")).unwrap_or(0);
        sender.unwrap_or(if end.connections.is_empty() { counted } else { told })
    };
    trial.ends.all().map(of).fold(0, u64::saturating_add)
}

/// Share of its time that a measuring thread of a transfer worked, the mean of its end's threads.
fn busy(end: &EndReport) -> Option<f64> {
    let sent = end.measured.sent().map(|s| s.span_ns);
    let span_ns = sent.or_else(|| end.measured.received().map(|r| r.span_ns))?;
    let threads = end.connections.len().max(1) as f64;
    let worked = (end.user_ns? + end.system_ns?) as f64;
    (span_ns > 0).then(|| worked / threads / span_ns as f64)
}

#[cfg(test)]
mod tests;
