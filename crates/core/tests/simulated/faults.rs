//! What goes wrong, besides the messages that are always late, lost or twice.

use crate::process::{Node, Trouble, Up};
use crate::world::{Ev, SECOND, World};
use v6gap_core::fleet::{agent, coordinator};

/// Kinds of faults.
const KINDS: usize = 17;

impl World {
    /// Something goes wrong, and the next thing after a while.
    pub fn fault(&mut self) {
        if self.is_calm() {
            return;
        }
        let next = self.random.between(3 * SECOND, 20 * SECOND);
        self.push(next, Ev::Fault);
        let kind = self.random.below(KINDS);
        let coordinator = self.random.below(self.coordinators.len());
        let agent = self.random.below(self.agents.len());
        // Most of what may go wrong with a coordinator is of no interest where it does not lead.
        let leader = self.coordinators.iter().position(|node| node.process.machine.leads());
        let leader = leader.unwrap_or(coordinator);
        self.note(|| format!("fault {kind}, c{leader}, a{agent}"));
        self.faults += 1;
        match kind {
            0 => self.troubles(Node::Coordinator(leader), Trouble::Crash),
            1 => self.troubles(Node::Coordinator(leader), Trouble::Sleep),
            2 => self.troubles(Node::Coordinator(coordinator), Trouble::Sleep),
            3 => self.parts(leader, true, false),
            4 => self.parts(leader, false, true),
            5 => self.troubles(Node::Agent(agent), Trouble::Crash),
            6 => self.troubles(Node::Agent(agent), Trouble::Sleep),
            7 => self.half_of_the_agents(),
            8 => self.disconnects(Node::Agent(agent)),
            9 => self.broker_goes_down(),
            10 => self.keys_expire(leader),
            11 => self.stream.wipe(),
            12 => self.troubles(Node::Sink, Trouble::Crash),
            13 => self.sink_trouble(),
            14 => self.clock_steps(agent),
            15 => self.disk_fills(agent),
            _ => {
                if self.local_begins(agent) {
                    let in_ns = self.random.between(5 * SECOND, 40 * SECOND);
                    self.push(in_ns, Ev::LocalOver(agent));
                }
            }
        }
    }

    /// A process dies or sleeps before one of its next actions.
    fn troubles(&mut self, node: Node, trouble: Trouble) {
        let actions = self.random.bits() % 12;
        match node {
            Node::Coordinator(at) => self.coordinators[at].process.light(actions, trouble),
            Node::Agent(at) => self.agents[at].process.light(actions, trouble),
            Node::Sink => self.sink.process.light(actions, trouble),
        }
        let most = if trouble == Trouble::Sleep { 90 } else { 30 };
        let in_ns = self.random.between(5 * SECOND, most * SECOND);
        self.push(in_ns, Ev::Heal(node));
    }

    fn parts(&mut self, at: usize, broker: bool, agents: bool) {
        self.coordinators[at].no_broker |= broker;
        self.coordinators[at].no_agents |= agents;
        self.reconnects(Node::Coordinator(at));
    }

    fn disconnects(&mut self, node: Node) {
        match node {
            Node::Coordinator(at) => self.coordinators[at].no_agents = true,
            Node::Agent(at) => self.agents[at].cut = true,
            Node::Sink => self.sink.cut = true,
        }
        self.reconnects(node);
    }

    fn reconnects(&mut self, node: Node) {
        let in_ns = self.random.between(2 * SECOND, 60 * SECOND);
        self.push(in_ns, Ev::Reconnect(node));
    }

    fn half_of_the_agents(&mut self) {
        for at in 0..self.agents.len() {
            if self.random.chance(50) {
                self.troubles(Node::Agent(at), Trouble::Crash);
            }
        }
    }

    fn broker_goes_down(&mut self) {
        self.broker_down = true;
        let in_ns = self.random.between(SECOND, 8 * SECOND);
        self.push(in_ns, Ev::BrokerUp);
    }

    /// A hub's clock steps: whatever has a time to live is gone; and often the leader with it.
    fn keys_expire(&mut self, leader: usize) {
        self.broker.expire_all();
        if self.random.chance(60) {
            self.crash_coordinator(leader);
            let in_ns = self.random.between(SECOND, 40 * SECOND);
            self.push(in_ns, Ev::Heal(Node::Coordinator(leader)));
        }
    }

    fn sink_trouble(&mut self) {
        match self.random.below(3) {
            0 => self.troubles(Node::Sink, Trouble::Sleep),
            1 => self.disconnects(Node::Sink),
            _ => {
                self.sink.full = true;
                let in_ns = self.random.between(5 * SECOND, 60 * SECOND);
                self.push(in_ns, Ev::DiskFree(Node::Sink));
            }
        }
    }

    fn disk_fills(&mut self, at: usize) {
        self.agents[at].full = true;
        // Often the agent finds out when something is to be remembered.
        if self.random.chance(50) {
            self.tell_disk(at);
        }
        let in_ns = self.random.between(5 * SECOND, 60 * SECOND);
        self.push(in_ns, Ev::DiskFree(Node::Agent(at)));
    }

    /// A clock of the wall is set wrong: mostly that of a host on which something is measured.
    fn clock_steps(&mut self, agent: usize) {
        let measuring = self.agents.iter().position(|node| node.child.is_some());
        let at = measuring.filter(|_| self.random.chance(70)).unwrap_or(agent);
        let by = self.random.between(5 * SECOND, 600 * SECOND).cast_signed();
        let back = self.random.chance(60);
        self.agents[at].process.clock.off_ns = if back { -by } else { by };
        self.agent_event(at, agent::Event::Time);
        let in_ns = self.random.between(20 * SECOND, 120 * SECOND);
        self.push(in_ns, Ev::ClockRight(Node::Agent(at)));
        if self.random.chance(20) {
            // The hub's, too, by less than what makes agents seem wrong.
            let by = self.random.between(SECOND, 20 * SECOND).cast_signed();
            let at = self.random.below(self.coordinators.len());
            self.coordinators[at].process.clock.off_ns = -by;
            self.push(in_ns, Ev::ClockRight(Node::Coordinator(at)));
        }
    }

    pub fn heal(&mut self, node: Node) {
        match node {
            Node::Coordinator(_) if self.is_draining() => {}
            Node::Coordinator(at) => self.heal_coordinator(at),
            Node::Agent(at) => match self.agents[at].process.up {
                Up::Awake => self.agents[at].process.calm(),
                Up::Asleep => self.wake_agent(at),
                Up::Down => self.restart_agent(at),
            },
            Node::Sink => self.heal_sink(),
        }
    }

    pub fn reconnect(&mut self, node: Node) {
        match node {
            Node::Coordinator(at) => {
                (self.coordinators[at].no_broker, self.coordinators[at].no_agents) = (false, false);
            }
            Node::Agent(at) => self.agents[at].cut = false,
            Node::Sink => self.sink.cut = false,
        }
    }

    pub fn clock_right(&mut self, node: Node) {
        match node {
            Node::Coordinator(at) => self.coordinators[at].process.clock.off_ns = 0,
            Node::Agent(at) => {
                self.agents[at].process.clock.off_ns = 0;
                self.agent_event(at, agent::Event::Time);
            }
            Node::Sink => {}
        }
    }

    pub fn disk_free(&mut self, node: Node) {
        match node {
            Node::Coordinator(_) => {}
            Node::Agent(at) => {
                self.agents[at].full = false;
                self.tell_disk(at);
            }
            Node::Sink => self.sink.full = false,
        }
    }

    /// A process wanted to be told the time.
    pub fn wakes(&mut self, node: Node) {
        let now = self.now;
        match node {
            Node::Coordinator(at) => {
                if self.coordinators[at].process.wakes(now) {
                    self.coordinator_event(at, coordinator::Event::Time);
                }
            }
            Node::Agent(at) => {
                if self.agents[at].process.wakes(now) {
                    self.agent_event(at, agent::Event::Time);
                }
            }
            Node::Sink => {}
        }
    }
}
