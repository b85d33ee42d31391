//! What is done to a fleet, one after the other: every role is killed and put to sleep, half of all
//! agents at once, and a node loses everything.

use crate::cluster::GRANTS;
use crate::fleet::{FEW, Fleet, HALF};
use std::time::Duration;

/// How long what was killed is gone, and what sleeps sleeps, in s.
const GONE_S: u64 = 5;
const ASLEEP_S: u64 = 10;

/// How long a coordinator sleeps, in s: until another one leads.
const LONG_ASLEEP_S: u64 = 15;

/// How long it is looked at each after the end of a fault, in s.
const LOOK_S: u64 = 20;

/// Longest time without a new measurement, in s, whatever is gone.
const MOST_S: u64 = 10;

fn pause(s: u64) {
    std::thread::sleep(Duration::from_secs(s));
}

/// Everything.
pub fn all(fleet: &mut Fleet) {
    agents(fleet);
    nodes(fleet);
    coordinators(fleet);
    sink(fleet);
}

fn agents(fleet: &mut Fleet) {
    let most = Some(MOST_S);
    for (at, killed, asleep) in [
        (FEW, "a few agents killed", "a few agents asleep"),
        (HALF, "half of the agents killed", "half of the agents asleep"),
    ] {
        fleet.watch(killed, LOOK_S, most, |fleet| {
            fleet.kill_agents(at);
            pause(GONE_S);
            fleet.begin_agents(at);
        });
        fleet.was_about(at);
        fleet.watch(asleep, LOOK_S, most, |fleet| {
            fleet.agents[at].1.signal("STOP");
            pause(ASLEEP_S);
            fleet.agents[at].1.signal("CONT");
        });
        fleet.was_about(at);
    }
}

fn nodes(fleet: &mut Fleet) {
    let most = Some(MOST_S);
    let follower = |fleet: &Fleet| (fleet.cluster.leader(GRANTS) + 1) % 3;
    let leader = |fleet: &Fleet| fleet.cluster.leader(GRANTS);
    type Choice<'a> = (&'a dyn Fn(&Fleet) -> usize, &'static str, &'static str);
    let choices: [Choice<'_>; 2] = [
        (&leader, "the node that leads the grants killed", "the node that leads them asleep"),
        (&follower, "a node that follows killed", "a node that follows asleep"),
    ];
    for (choose, killed, asleep) in choices {
        // Two of three are needed, so each fault has a whole hub before it.
        fleet.cluster.until_whole();
        let node = choose(fleet);
        fleet.watch(killed, LOOK_S, most, |fleet| {
            fleet.cluster.kill(node);
            pause(GONE_S);
            fleet.cluster.begin(node);
        });
        fleet.cluster.until_whole();
        let node = choose(fleet);
        // Whoever is connected to one that sleeps hears nothing until it wakes up, also the
        // coordinator that leads.
        fleet.watch(asleep, LOOK_S, Some(ASLEEP_S + MOST_S), |fleet| {
            fleet.cluster.signal(node, "STOP");
            pause(ASLEEP_S);
            fleet.cluster.signal(node, "CONT");
        });
    }
    fleet.cluster.until_whole();
    let node = leader(fleet);
    fleet.watch("the node that leads the grants wiped", LOOK_S, most, |fleet| {
        fleet.cluster.kill(node);
        fleet.cluster.wipe(node);
        pause(GONE_S);
        fleet.cluster.begin(node);
    });
    fleet.cluster.until_whole();
}

fn coordinators(fleet: &mut Fleet) {
    let most = Some(MOST_S);
    let at = fleet.leading();
    fleet.watch("the coordinator that leads killed", 2 * LOOK_S, most, |fleet| {
        fleet.replace_coordinator(at);
    });
    let at = fleet.leading();
    fleet.watch("the coordinator that leads asleep", LOOK_S, most, |fleet| {
        fleet.coordinators[at].signal("STOP");
        pause(LONG_ASLEEP_S);
        fleet.coordinators[at].signal("CONT");
    });
    // It was replaced while it slept, and knows that now.
    assert_ne!(fleet.leading(), at, "one that slept leads");
    let standby = 1 - fleet.leading();
    fleet.watch("the coordinator that stands by killed", LOOK_S, most, |fleet| {
        fleet.replace_coordinator(standby);
    });
}

fn sink(fleet: &mut Fleet) {
    let most = Some(MOST_S);
    fleet.watch("the sink killed", LOOK_S, most, Fleet::replace_sink);
    fleet.watch("the sink asleep", LOOK_S, most, |fleet| {
        fleet.sink.signal("STOP");
        pause(ASLEEP_S);
        fleet.sink.signal("CONT");
    });
}
