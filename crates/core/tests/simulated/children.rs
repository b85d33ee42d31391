//! What agents begin: servers, and clients that measure to them.

use crate::agents::Child;
use crate::bug::Bug;
use crate::process::Up;
use crate::world::{Ev, MS, SECOND, World};
use v6gap_core::fleet::agent::{Ended, Event, Trouble};
use v6gap_core::fleet::id::Token;
use v6gap_core::fleet::message::{Measured, Prepare, Role};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::{PREPARE_NS, READY_NS};
use v6gap_core::record::RunId;

/// How long a block takes, and its bytes in the journal: a run has parts enough to be mixed up.
const BLOCK: u64 = 2 * SECOND;
const BLOCK_BYTES: u64 = 150_000;

/// What a start may be late, and what it takes to end a client, in part by slow clocks.
const SLACK: u64 = 3 * SECOND;

impl World {
    fn begins(&mut self, at: usize, prepare: Box<Prepare>, run: Option<RunId>) -> u64 {
        if self.agents[at].child.is_some() {
            self.oracle.broken(format!("G1: a{at} begins two"));
        }
        self.processes += 1;
        let process = self.processes;
        let (listens, client, since_ns) = (false, None, None);
        self.agents[at].child = Some(Child { process, prepare, listens, client, run, since_ns });
        process
    }

    pub fn serve(&mut self, at: usize, prepare: Box<Prepare>) {
        let process = self.begins(at, prepare, None);
        let in_ns = self.random.between(50 * MS, 1500 * MS);
        self.push(in_ns, Ev::Listens(at, process));
    }

    pub fn listens(&mut self, at: usize, process: u64) {
        let child = self.agents[at].child.as_mut().filter(|child| child.process == process);
        if let Some(child) = child {
            child.listens = true;
            self.agent_event(at, Event::Listens);
        }
    }

    pub fn measure(&mut self, at: usize, prepare: Box<Prepare>, until_ns: u64) {
        // Its own longest time, by which the child ends itself.
        let own_ns = prepare.longest_ns - SECOND;
        let clock_ns = self.agents[at].told_ns(self.now, self.bug);
        if clock_ns.saturating_add(own_ns) > until_ns {
            let failure = Some(Trouble { why: "it is too late".to_string(), lasting: false });
            let ended = Ended { measured: Measured::default(), bytes: 0, failure };
            let life = self.agents[at].process.life;
            return self.push(MS, Ev::AgentAnswer(at, life, Event::Ended(Box::new(ended))));
        }
        let known = prepare.continued.clone();
        let there = known.filter(|run| self.agents[at].disk.runs.contains_key(run));
        let run = there.unwrap_or_else(|| RunId::from_bits(self.processes as u32 + 1));
        let (peer, token) = (prepare.peer.name.clone(), prepare.token);
        let process = self.begins(at, prepare, Some(run));
        self.is_in_time(at, token);
        let server = self.index.get(&peer).copied();
        let is_let_in = server.is_none_or(|server| {
            self.agents[server].child.as_ref().is_some_and(|child| {
                let same = child.prepare.token == token && child.prepare.role == Role::Server;
                same && child.listens && child.client.is_none()
            })
        });
        let locked = [Some(at), server].into_iter().flatten().any(|host| self.agents[host].local);
        if !is_let_in || locked && self.bug != Some(Bug::NoHostLock) {
            return self.push(500 * MS, Ev::Ends(at, process, false));
        }
        if let Some(child) = server.and_then(|server| self.agents[server].child.as_mut()) {
            child.client = Some(process);
        }
        self.measures(at, process, peer, own_ns);
    }

    /// G2: what begins later than a start may count would outlast what is held for it.
    fn is_in_time(&mut self, at: usize, token: Token) {
        let Some(granted) = self.broker.granted.get(&token.0) else { return };
        let since_ns = self.now - granted.at_ns;
        if since_ns > PREPARE_NS + READY_NS + SLACK {
            self.oracle.broken(format!("G2: a{at} begins {since_ns} ns after the grant"));
        }
    }

    /// The client measures from now on.
    fn measures(&mut self, at: usize, process: u64, peer: HostName, own_ns: u64) {
        let node = &mut self.agents[at];
        if let Some(child) = &mut node.child {
            child.since_ns = Some(self.now);
        }
        let hosts = [node.name.clone(), peer];
        let work = self.works.iter().find(|work| work.from == hosts[0] && work.to == hosts[1]);
        let links = work.map(|work| work.links.clone()).unwrap_or_default();
        let others = self.agents.iter().filter(|other| other.local);
        let others: Vec<HostName> = others.map(|other| other.name.clone()).collect();
        self.oracle.begin(process, hosts, &links, &others);
        // Some never end by themselves, and some go wrong.
        let noise = !self.is_calm();
        if noise && self.random.chance(6) && self.agents[at].process.up == Up::Awake {
            return;
        }
        let in_ns = self.random.between(2 * SECOND, own_ns);
        let well = !(noise && self.random.chance(5));
        self.push(in_ns, Ev::Ends(at, process, well));
    }

    /// Nobody will kill it, so it sees to its longest time itself: that both fail at once is more
    /// than is promised.
    pub fn ends_itself(&mut self, at: usize) {
        let Some(child) = &self.agents[at].child else { return };
        let Some(since_ns) = child.since_ns else { return };
        let (process, own_ns) = (child.process, child.prepare.longest_ns - SECOND);
        self.push((since_ns + own_ns).saturating_sub(self.now), Ev::Ends(at, process, false));
    }

    /// A process ends and its agent is told.
    pub fn ends(&mut self, at: usize, process: u64, well: bool) {
        let node = &self.agents[at];
        let Some(child) = node.child.as_ref().filter(|child| child.process == process) else {
            return;
        };
        let (run, since_ns) = (child.run.clone(), child.since_ns);
        let key = (node.name.clone(), child.prepare.peer.name.clone());
        if let Some(since_ns) = since_ns.filter(|_| well) {
            let works = self.works.iter().zip(&mut self.fresh_ns);
            let mut same = works.filter(|(work, _)| (&work.from, &work.to) == (&key.0, &key.1));
            if let Some((_, fresh_ns)) = same.next() {
                *fresh_ns = since_ns;
            }
        }
        self.child_dies(at);
        let failure = (!well).then(|| Trouble { why: "it failed".to_string(), lasting: false });
        let bytes = run.as_ref().and_then(|run| self.agents[at].disk.runs.get(run)).copied();
        let measured = Measured { run: run.filter(|_| bytes.is_some()), bytes: bytes.unwrap_or(0) };
        let ended = Ended { measured, bytes: 1, failure };
        self.agent_event(at, Event::Ended(Box::new(ended)));
    }

    /// A process is there no more: who measured to it sees that, and who was measured, too.
    pub fn child_dies(&mut self, at: usize) {
        self.stops_measuring(at);
        let Some(child) = self.agents[at].child.take() else { return };
        let Some(peer) = self.index.get(&child.prepare.peer.name).copied() else { return };
        let Some(other) = &self.agents[peer].child else { return };
        match child.client {
            Some(client) if other.process == client => {
                self.stops_measuring(peer);
                self.push(500 * MS, Ev::Ends(peer, client, false));
            }
            None if other.client == Some(child.process) => {
                let (server, in_ns) = (other.process, self.random.between(MS, SECOND));
                self.push(in_ns, Ev::Ends(peer, server, true));
            }
            Some(_) | None => {}
        }
    }

    /// A client measures no more: the blocks that are complete are on its disk.
    fn stops_measuring(&mut self, at: usize) {
        let (now, node) = (self.now, &mut self.agents[at]);
        let Some(child) = &mut node.child else { return };
        let (Some(since_ns), Some(run)) = (child.since_ns.take(), child.run.clone()) else {
            return;
        };
        self.oracle.end(child.process);
        let most_ns = child.prepare.longest_ns + SLACK;
        if now - since_ns > most_ns {
            // G2: a link that it has would be given to others.
            self.oracle.broken(format!("G2: a{at} measures longer than {most_ns} ns"));
        }
        let bytes = (now - since_ns) / BLOCK * BLOCK_BYTES;
        if bytes > 0 {
            let all = node.disk.runs.entry(run.clone()).or_insert(0);
            *all += bytes;
            self.oracle.measured.insert((node.name.clone(), run), *all);
        }
    }
}
