//! A fleet that measures for real: three nodes of a hub and six agents at two sites, between which
//! IPv6 takes a router more. A hub's host is cut off for a minute in the middle. The matrix must
//! be what the world is, nothing may have happened at once that must not, and a round of all paths
//! must take as long as was estimated.

use super::fleet_time::round;
use super::fleet_truth::{as_the_world_is, kept, none_at_once};
use super::machines::Machines;
use super::programs::{Running, until};
use super::support::figure;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// The hub's hosts.
const HUBS: [&str; 3] = ["hub1", "hub2", "hub3"];

/// The agents; their hosts have a hyphen in place of the slash. What is first here measures to what
/// comes later.
pub const AGENTS: [&str; 6] = ["east/a", "east/b", "east/c", "west/a", "west/b", "west/c"];

/// Paths of all with all, and those of one site with the other.
pub const PATHS: usize = 15;
pub const BETWEEN: usize = 9;

/// How long the hub's host is cut off.
const CUT: Duration = Duration::from_secs(60);

/// Paths that were measured some time before it is.
const BEFORE: usize = 4;

/// What each visit measures, in a few seconds.
pub const PLAN: &str = "\
v6gap = 1
name = \"Visit\"

[design]
pairs = 6
null_blocks = 1

[[measure]]
metric = \"rtt\"
protocol = \"tcp\"
message = \"64 B\"
connections = 1
turn = 5
turns = 4
";

/// The file of that plan.
const VISIT: &str = "visit.toml";

/// All with all. What carries the paths between the sites takes one measurement at a time, so that
/// there is a link to be held, too. A path that is given up is tried again after a quarter of its
/// period; none is due twice.
const MESH: &str = "\
[[links]]
name = \"between-sites\"
paths = [[\"east/*\", \"west/*\"]]

[[groups]]
name = \"all\"
kind = \"mesh\"
hosts = [\"*\"]

[[measure]]
group = \"all\"
plan = \"visit.toml\"
every = \"8 min\"
class = \"exclusive\"
";

pub fn host_of(agent: &str) -> String {
    agent.replace('/', "-")
}

/// Links 1 to 6 lead from the agents to the routers of their sites, link 7 from the one to the
/// other, links 8 and 9 there by one more router. Then each of the hub's hosts has two with a
/// switch between them: what is cut is beyond it, where no host loses an address.
fn world() -> String {
    let link = |one: &str, other: &str, more: &str| {
        format!("[[links]]\nbetween = [\"{one}\", \"{other}\"]\n{more}\n")
    };
    let site = |agent: &str| if agent.starts_with("east") { "left" } else { "right" };
    let mut links: String = AGENTS
        .iter()
        .map(|agent| link(&host_of(agent), site(agent), "delay = \"2500 us\""))
        .collect();
    links += &link("left", "right", "");
    links += &link("left", "added", "delay = \"2500 us\"");
    links += &link("added", "right", "");
    for (hub, router) in HUBS.iter().zip(["left", "left", "right"]) {
        let switch = format!("at-{hub}");
        links += &(link(hub, &switch, "") + &link(&switch, router, ""));
    }
    let hosts: Vec<String> =
        HUBS.map(str::to_owned).into_iter().chain(AGENTS.map(host_of)).collect();
    format!(
        "v6gap = 1\nhosts = {hosts:?}\nrouters = [\"left\", \"right\", \"added\"]\n\
         switches = {:?}\nclient = \"east-a\"\nserver = \"west-a\"\n\
         [every]\nrate = \"100 Mbit/s\"\n{links}",
        HUBS.map(|hub| format!("at-{hub}")),
    )
}

/// The world, with IPv6 between the sites on its longer way.
fn machines() -> Machines {
    // Segments: 1 to 9 are the links of that number, and each hub's host has the next.
    let at = |n: usize| [format!("10.46.{n}.1"), format!("fd46:{n:x}::1")];
    let agents: Vec<String> = AGENTS.map(host_of).into();
    let agents = agents.iter().enumerate().map(|(n, host)| (host.as_str(), at(n + 1)));
    let hubs = HUBS.iter().enumerate().map(|(n, hub)| (*hub, at(n + 10)));
    let all: Vec<(&str, [String; 2])> = agents.chain(hubs).collect();
    let machines = Machines::new("fleet", &world(), &all);
    for n in 1..=3 {
        machines.ip("right", &format!("-6 route replace fd46:{n}::/64 via fd46:9::1"));
    }
    for n in 4..=6 {
        machines.ip("left", &format!("-6 route replace fd46:{n}::/64 via fd46:8::2"));
    }
    machines
}

/// Makes the hub and invites all agents, as docs/fleet.md says it for three hosts: the folder is
/// copied to them.
fn invited(machines: &Machines) {
    machines.run("hub1", "v6gap fleet hub init /srv/v6gap --nodes hub1,hub2,hub3");
    let copy = |from: &str, to: &str| {
        let (from, to) = (machines.home().join(from), machines.home().join(to));
        assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
    };
    for agent in AGENTS {
        let host = host_of(agent);
        let invite = format!("v6gap fleet hub invite {agent} --hub /srv/v6gap -o {host}.creds");
        machines.run("hub1", &invite);
        copy(&format!("hub1/{host}.creds"), &format!("{host}/agent.creds"));
    }
    for hub in &HUBS[1..] {
        copy("hub1/srv/v6gap", &format!("{hub}/srv/v6gap"));
    }
    std::fs::write(machines.folder("hub1").join("mesh.toml"), mesh("two-sites", VISIT)).unwrap();
    std::fs::write(machines.folder("hub1").join(VISIT), PLAN).unwrap();
}

/// The mesh plan of that name, which has all measured by the plan of that file.
pub fn mesh(name: &str, plan: &str) -> String {
    let hosts = AGENTS.map(|agent| format!("[hosts.\"{agent}\"]\n")).concat();
    format!("v6gap = 1\nname = \"{name}\"\n{hosts}{}", MESH.replace(VISIT, plan))
}

/// Paths that coordinators say were measured, once for each time.
fn measured(hubs: &mut [Running]) -> Vec<String> {
    let path = |line: &String| {
        let (path, _) = line.split_once(" (visit.toml): measured")?;
        Some(path.to_owned())
    };
    hubs.iter_mut().flat_map(|hub| hub.said().iter().filter_map(path).collect::<Vec<_>>()).collect()
}

/// The same, each once.
fn paths(hubs: &mut [Running]) -> BTreeSet<String> {
    measured(hubs).into_iter().collect()
}

/// Which coordinator said last that it leads.
fn leader(hubs: &mut [Running]) -> Option<usize> {
    let leads = |hub: &mut Running| {
        let mut said = hub.said().iter().rev();
        let last = said.find(|line| line.starts_with("This coordinator leads"));
        last.is_some_and(|line| line == "This coordinator leads.")
    };
    hubs.iter_mut().position(leads)
}

/// How often coordinators gave something up for a round.
fn given_up(hubs: &mut [Running]) -> usize {
    let count = |hub: &mut Running| hub.said().iter().filter(|l| l.contains(": given up")).count();
    hubs.iter_mut().map(count).sum()
}

/// Cuts off the host of the coordinator that leads.
fn cut(machines: &Machines, hubs: &mut [Running]) {
    let leads = until("a coordinator that leads", || leader(hubs));
    let hub = HUBS[leads];
    let beyond = format!("link{}", 11 + 2 * leads);
    let before = measured(hubs).len();
    machines.ip(&format!("at-{hub}"), &format!("link set {beyond} down"));
    std::thread::sleep(CUT);
    figure("paths measured while the leader was cut off", measured(hubs).len() - before);
    machines.ip(&format!("at-{hub}"), &format!("link set {beyond} up"));
}

pub fn is_the_world() {
    let machines = machines();
    invited(&machines);
    let node = |(n, hub): (usize, &&str)| {
        machines.start(hub, &format!("v6gap fleet hub run /srv/v6gap --node {}", n + 1))
    };
    let mut hubs: Vec<Running> = HUBS.iter().enumerate().map(node).collect();
    hubs.iter_mut().for_each(|hub| drop(hub.until_said("Ready:")));
    let agent =
        |agent: &str| machines.start(&host_of(agent), "v6gap fleet agent --creds agent.creds");
    let mut agents: Vec<Running> = AGENTS.into_iter().map(agent).collect();
    agents.iter_mut().for_each(|agent| drop(agent.until_said("Idle.")));

    let start = Instant::now();
    machines.run("hub1", "v6gap fleet apply mesh.toml --creds /srv/v6gap/operator.creds");
    let before = until("paths that are measured", || {
        Some(paths(&mut hubs)).filter(|paths| paths.len() >= BEFORE)
    });
    // That of these the broker knows, too.
    until("one more", || (paths(&mut hubs).len() > before.len()).then_some(()));
    assert!(paths(&mut hubs).len() < PATHS, "nothing is left to be measured");
    cut(&machines, &mut hubs);
    until("all paths", || (paths(&mut hubs).len() == PATHS).then_some(()));
    figure("all paths measured after", format!("{:.0} s", start.elapsed().as_secs_f64()));
    figure("given up for a round", given_up(&mut hubs));
    let again = measured(&mut hubs);
    for path in &before {
        let times = again.iter().filter(|of| *of == path).count();
        assert_eq!(times, 1, "{path} was measured again by the next coordinator: {again:?}");
    }

    let round = round(&machines, &mut hubs);
    kept(&machines);
    as_the_world_is(&machines);
    none_at_once(&machines);
    round.is_as_estimated(&machines);
    agents.into_iter().chain(hubs).for_each(Running::stop);
}
