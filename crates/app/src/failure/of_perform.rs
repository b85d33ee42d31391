//! Why a plan was not performed, for a person: what is likely, and what to try.

use super::{Failure, Outcome};
use serde_json::Value;
use v6gap_core::record::RunId;
use v6gap_core::unit::format_span;
use v6gap_perform::always::WatchTrouble;
use v6gap_perform::errors::{DeviceError, RunError, TrialKind};
use v6gap_perform::target::{Elsewhere, Unfit};
use v6gap_perform::{CaptureTrouble, DeviceTrouble, LOOPBACK, NoLab, Occupant, Trouble};

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Occupied(occupant) => occupied(&occupant),
            Trouble::Connect { target, error } => Failure::of_connect(&target, &error),
            Trouble::OneFamily { target, problem } => Failure::one_family(&target, &problem),
            Trouble::BlackHole { target, family, passes } => {
                Failure::black_hole(&target, family, passes)
            }
            Trouble::BrokenOff { target, error, continues, kept } => {
                let again = Some(&*target).filter(|_| continues);
                of_kept(broken_off(&target, &error), again, kept.as_ref())
            }
            Trouble::TimeUp { target, most_ns, kept } => {
                let most = format_span(most_ns as f64);
                let what = format!("the time of this session is over: {target} allows {most}");
                of_kept(Failure::new("E212", Outcome::Peer, what), Some(&target), kept.as_ref())
            }
            Trouble::NoFurtherLab { target, error, kept } => {
                let what = "No lab could be made for the next round.";
                of_kept(Failure::from(*error).seen(what), Some(&target), kept.as_ref())
            }
            Trouble::OutOfPlace(_) => Failure::usage(trouble.to_string())
                .run("v6gap demo --measure rate-at-loss", "does it in a lab")
                .run(
                    "--force-search (in a plan: force = true)",
                    "does it on a network that is yours to flood",
                ),
            Trouble::Elsewhere(Elsewhere::Here(id)) => {
                Failure::usage(format!("--bind cannot change {id}: it was measured from elsewhere"))
            }
            Trouble::Elsewhere(Elsewhere::Gone(unfit)) => unfit.into(),
            Trouble::Elsewhere(other @ (Elsewhere::Another { .. } | Elsewhere::Link { .. })) => {
                Failure::usage(other.to_string())
                    .seen("Pairs with two hosts, or over two links, are no pairs with or over one.")
                    .run("v6gap run HOST", "measures it anew; the port may be another (-p)")
            }
            Trouble::Elsewhere(there) => Failure::usage(there.to_string()),
            Trouble::Capture(trouble) => trouble.into(),
            Trouble::Device(trouble) => trouble.into(),
            Trouble::Name(unfit) => unfit.into(),
            Trouble::Lab(none) => none.into(),
            Trouble::Store(error) => error.into(),
            Trouble::Foreign { target, tool, family, other_works, why } => {
                let outcome = if other_works { Outcome::OneFamily } else { Outcome::Peer };
                let what = format!("no test with {tool} at {target} over {family}: {why}");
                let failure = Failure::new("E215", outcome, what);
                match other_works {
                    true => {
                        let other = format!("Over {} it does its part.", family.other());
                        failure.of(family).seen(other)
                    }
                    false => failure,
                }
            }
            Trouble::Busy { target, tool } => busy(&target, tool),
            Trouble::NotYours(target) => {
                let what = format!("{target} is not said to be yours, and this loads it");
                Failure::usage(what).run("--mine", "says that the host is yours to load")
            }
            Trouble::NoHeader(_) | Trouble::NoServer(_) | Trouble::System(_) => {
                Failure::unexpected(trouble.to_string())
            }
        }
    }
}

fn occupied(occupant: &Occupant) -> Failure {
    let what = "this host is being measured and was not to be waited for";
    let claims = format!("ls -l {}/v6gap-claim-*", occupant.folder.display());
    Failure::new("E204", Outcome::Peer, what)
        .seen(format!("It is measured {occupant}."))
        .run("v6gap …", "waits its turn (leave out --no-wait)")
        .run(claims, "whose measurements this host has")
}

/// Of no family: over both a server tells the same while it measures for somebody else.
fn busy(target: &str, tool: &str) -> Failure {
    let what = format!("the server of {tool} at {target} is busy with another client");
    let again = format!("v6gap run {target} --against {tool}");
    Failure::new("E204", Outcome::Peer, what).run(again, "waits for it, for a minute at most")
}

fn broken_off(target: &str, error: &RunError) -> Failure {
    match error {
        RunError::Lost(problem) => Failure::lost(target, &problem.trouble),
        RunError::Store(error) => Failure::not_stored(error),
        RunError::Declined(why) => Failure::new("E214", Outcome::Declined, why.clone()),
        RunError::Random(_) => Failure::unexpected(error.to_string()),
        RunError::Trial(trial) => match (trial.kind(), trial.family(), trial.address()) {
            (TrialKind::Blocked, Some(family), Some(address)) => {
                Failure::udp_blocked(target, family, address).seen(format!("{error}."))
            }
            _ => measurement_failed(target, error),
        },
        RunError::Server(_) => measurement_failed(target, error),
    }
}

fn measurement_failed(target: &str, error: &RunError) -> Failure {
    let what = format!("a measurement with {target} failed");
    Failure::new("E211", Outcome::Peer, what).seen(format!("{error}."))
}

/// Adds what is kept of a run, and how to go on with the host `again`, if it can go on.
fn of_kept(failure: Failure, again: Option<&str>, id: Option<&RunId>) -> Failure {
    let Some(id) = id else { return failure };
    let failure = failure.seen(format!("What was measured until then is kept as {id}."));
    match again {
        // Its server went with this process.
        Some(LOOPBACK) => failure,
        Some(target) => {
            failure.run(format!("v6gap run {target} --continue {id}"), "goes on with it")
        }
        None => failure.run(format!("v6gap show {id}"), "shows it again"),
    }
}

impl From<WatchTrouble> for Failure {
    fn from(trouble: WatchTrouble) -> Self {
        let what = trouble.to_string();
        match trouble {
            WatchTrouble::Store(error) => error.into(),
            WatchTrouble::Program { .. } | WatchTrouble::Teller(_) => Failure::unexpected(what),
            WatchTrouble::Path { said, .. } => Failure::usage(what).verbatim(in_words(&said)),
        }
    }
}

/// An error as this program tells it to programs, for people.
fn in_words(error: &str) -> String {
    let told: Value = serde_json::from_str(error).unwrap_or_default();
    let Some(title) = told["title"].as_str() else { return error.trim_end().to_owned() };
    let why = told["why"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let lines = why.map(|why| format!("  {why}"));
    std::iter::once(format!("error: {title}")).chain(lines).collect::<Vec<_>>().join("\n")
}

impl From<CaptureTrouble> for Failure {
    fn from(trouble: CaptureTrouble) -> Self {
        let said = trouble.to_string();
        match trouble {
            CaptureTrouble::Exists(_) => Failure::usage(said),
            CaptureTrouble::NotPermitted { interface } => Failure::capture(&interface),
            CaptureTrouble::NoLab(_) => Failure::usage(format!("--capture-at {said}"))
                .run("v6gap demo --capture", "captures in a lab"),
            CaptureTrouble::NoNode { .. } => Failure::usage(format!("--capture-at {said}")),
            CaptureTrouble::OtherSystem(_) => Failure::usage(format!("--capture-at {said}"))
                .likely("a node at the other end of its link was meant."),
        }
    }
}

impl From<DeviceTrouble> for Failure {
    fn from(trouble: DeviceTrouble) -> Self {
        match trouble {
            DeviceTrouble::Agent { name, why } => Failure::device(&name, &why)
                .run("apt-get install snmpd", "on Debian, brings the agent for labs"),
            DeviceTrouble::NoAddress { name, over } => {
                let family = over.map_or("usable".to_owned(), |family| family.to_string());
                Failure::usage(format!("--snmp {name}: it has no {family} address"))
            }
            DeviceTrouble::Refused { name, address, error, community } => {
                let failure = Failure::device(&name, &format!("{error} ({address})"));
                of_device(failure, &error, community)
            }
        }
    }
}

/// Adds what is likely and what to try.
fn of_device(failure: Failure, error: &DeviceError, community: bool) -> Failure {
    match error {
        DeviceError::Silent { .. } if community => failure
            .likely("a wrong community: agents answer nothing then. Or UDP port 161 is closed.")
            .run("v6gap … --snmp-community WORD", "names the right one"),
        DeviceError::Silent { .. } | DeviceError::Unreachable => {
            failure.likely("no agent runs there, or UDP port 161 is closed on the way.")
        }
        DeviceError::WrongKey => failure
            .likely("the user, a key, the digest or the cipher is not the agent's.")
            .run("--snmp-auth DIGEST --snmp-priv CIPHER", "choose what the agent was given"),
        _ => failure,
    }
}

impl From<Unfit> for Failure {
    fn from(unfit: Unfit) -> Self {
        match unfit {
            Unfit::NoAddress { name, missing, found, asked } => {
                Failure::no_address(&name, missing, found, asked.as_deref())
            }
            Unfit::Unknown { name, system } => Failure::unknown_name(&name, &system),
            Unfit::NoZone { address, interfaces } => Failure::needs_zone(&address, &interfaces),
            Unfit::Unusable { address, why } => Failure::bad_address(&address, &why),
            Unfit::NotHere { address, error } => Failure::not_here(&address, &error),
            Unfit::NoSuchWay { .. } => Failure::usage(format!("--bind {unfit}")),
            Unfit::Two { .. } => Failure::usage(format!("--bind names {unfit}")),
        }
    }
}

impl From<NoLab> for Failure {
    fn from(none: NoLab) -> Self {
        match none {
            NoLab::Refused(why) => Failure::namespaces(&why),
            NoLab::NotProvided(why) => Failure::not_provided(&why),
            NoLab::NotBuilt(error) => error.into(),
            NoLab::NotPaced { ref lab, .. } => {
                let again = format!("v6gap run --lab {lab}");
                Failure::new("E310", Outcome::Usage, none.to_string())
                    .seen("Hosts can be measured, and routers by what waits for each answer.")
                    .run(again.clone(), "between the ends that the lab was made for")
                    .run(format!("v6gap lab down {lab}"), "--lab then makes one for other ends")
                    .run(again + " --measure rtt,connect --from NODE --to NODE", "at a router")
            }
            NoLab::NotAsked | NoLab::NotJoined(_) => Failure::unexpected(none.to_string()),
        }
    }
}
