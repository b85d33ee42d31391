//! Who is next to whom, and the way from anywhere to anywhere.
//!
//! Links that a switch joins are one segment, and so one subnet; a link between hosts or routers is
//! a segment of its own. The way of packets is the one over the fewest segments. Where several are
//! as short, numbers that no two ways share decide, so that the way back is the way there and what
//! each router does on its own makes one way.

use super::{Link, NodeKind, Side, World};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// One end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct End {
    /// The link, by its place among the links.
    pub link: usize,
    /// Which of its ends.
    pub side: Side,
}

/// A link of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The link, by its place among the links.
    pub link: usize,
    /// The end that packets are sent from.
    pub from: Side,
}

/// Links that frames cross without a router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Links of the segment, in ascending order.
    pub links: Vec<usize>,
    /// The ends of its links that are at hosts and routers, in the order of links and sides: the
    /// place of each is its host number less one.
    pub members: Vec<End>,
}

/// Where a node sends what is for a segment that is not its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NextHop {
    /// The node's own end.
    pub out: End,
    /// The router's end in the same segment.
    pub via: End,
}

/// The segments of a world and who is in them.
#[derive(Debug, Clone)]
pub struct Topology {
    /// The links, for their ends.
    links: Vec<Link>,
    kinds: Vec<NodeKind>,
    segments: Vec<Segment>,
    /// Segment of each link.
    segment_of: Vec<usize>,
}

/// Length of a way: segments, and what decides between ways of as many.
type Cost = (u32, u128, u128);

/// How a node is reached in the best way.
#[derive(Debug, Clone, Copy)]
struct Reached {
    cost: Cost,
    /// The node before it, and the ends that the packet leaves and comes by.
    from: Option<(usize, NextHop)>,
}

/// The steps to a node from where all were reached, over one segment each.
fn steps(reached: &[Option<Reached>], to: usize) -> Option<Vec<NextHop>> {
    let mut steps = Vec::new();
    let mut node = to;
    while let Some((before, step)) = reached.get(node).copied().flatten()?.from {
        steps.push(step);
        node = before;
    }
    steps.reverse();
    Some(steps)
}

impl Topology {
    /// The topology of a world, whose links must have nodes that exist.
    pub fn of(world: &World) -> Topology {
        let kinds: Vec<NodeKind> = world.nodes.iter().map(|node| node.kind).collect();
        let links = world.links.clone();
        let at = |link: &Link, side| kinds.get(link.node(side)).copied();
        // Links that a switch joins take the number of the first of them.
        let mut first: Vec<usize> = (0..links.len()).collect();
        let mut of_switch: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, link) in links.iter().enumerate() {
            for side in Side::BOTH.into_iter().filter(|s| at(link, *s) == Some(NodeKind::Switch)) {
                let own = first[number];
                let other = first[*of_switch.entry(link.node(side)).or_insert(number)];
                let (low, high) = (own.min(other), own.max(other));
                first.iter_mut().filter(|f| **f == high).for_each(|f| *f = low);
            }
        }
        let mut numbers: Vec<usize> = first.clone();
        numbers.sort_unstable();
        numbers.dedup();
        let segment_of: Vec<usize> =
            first.iter().map(|f| numbers.binary_search(f).unwrap_or(0)).collect();
        let segments = (0..numbers.len()).map(|segment| {
            let own = |link: &usize| segment_of[*link] == segment;
            let own: Vec<usize> = (0..links.len()).filter(own).collect();
            let ends = own.iter().flat_map(|&link| Side::BOTH.map(|side| End { link, side }));
            let is_member = |end: &End| {
                at(&links[end.link], end.side).is_some_and(|kind| kind != NodeKind::Switch)
            };
            let members = ends.filter(is_member).collect();
            Segment { links: own, members }
        });
        let segments = segments.collect();
        Topology { links, kinds, segments, segment_of }
    }

    /// All segments; the first link of each is before that of the next.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The segment of a link.
    pub fn segment_of(&self, link: usize) -> usize {
        self.segment_of.get(link).copied().unwrap_or(0)
    }

    /// The node at an end.
    pub fn node(&self, end: End) -> usize {
        self.links[end.link].node(end.side)
    }

    /// The ends that a node has, in the order of links.
    pub fn ends_of(&self, node: usize) -> impl Iterator<Item = End> {
        let ends = (0..self.links.len()).flat_map(|link| Side::BOTH.map(|side| End { link, side }));
        ends.filter(move |end| self.node(*end) == node)
    }

    /// How every node is reached from `start`; `None` where there is no way.
    fn reach(&self, start: usize) -> Vec<Option<Reached>> {
        let mut reached: Vec<Option<Reached>> = alloc::vec![None; self.kinds.len()];
        let mut settled = alloc::vec![false; self.kinds.len()];
        let Some(first) = reached.get_mut(start) else { return reached };
        *first = Some(Reached { cost: (0, 0, 0), from: None });
        loop {
            let open = (0..reached.len()).filter(|&node| !settled[node]);
            let best = open.filter_map(|node| Some((reached[node]?.cost, node))).min();
            let Some((cost, node)) = best else { return reached };
            settled[node] = true;
            // Hosts do not forward.
            if node != start && self.kinds[node] != NodeKind::Router {
                continue;
            }
            for (out, via) in self.neighbours(node) {
                let cost = self.through(cost, node, start, self.segment_of[out.link]);
                let there = &mut reached[self.node(via)];
                if there.is_none_or(|known| cost < known.cost) {
                    *there = Some(Reached { cost, from: Some((node, NextHop { out, via })) });
                }
            }
        }
    }

    /// The cost of going on through `node` over `segment`.
    fn through(&self, cost: Cost, node: usize, start: usize, segment: usize) -> Cost {
        let node_bit = if node == start { 0 } else { 1_u128 << (node % 100) };
        (cost.0 + 1, cost.1 + (1_u128 << (segment % 100)), cost.2 + node_bit)
    }

    /// Every step from a node to another in one of its segments.
    fn neighbours(&self, node: usize) -> impl Iterator<Item = (End, End)> {
        self.ends_of(node).flat_map(move |out| {
            let members = &self.segments[self.segment_of[out.link]].members;
            let others = members.iter().filter(move |&&end| self.node(end) != node);
            others.map(move |&via| (out, via))
        })
    }

    /// Which nodes can be reached from a node.
    pub fn reachable(&self, from: usize) -> Vec<bool> {
        self.reach(from).iter().map(Option::is_some).collect()
    }

    /// Where a node sends what is for each segment that is not its own and can be reached.
    pub fn routes(&self, node: usize) -> Vec<(usize, NextHop)> {
        let ways = self.ways(node).into_iter();
        ways.filter_map(|(number, steps)| Some((number, *steps.first()?))).collect()
    }

    /// The routers by which a node reaches each segment that is not its own, in turn.
    pub fn routers_to(&self, node: usize) -> Vec<(usize, Vec<usize>)> {
        let routers = |steps: Vec<NextHop>| steps.iter().map(|step| self.node(step.via)).collect();
        self.ways(node).into_iter().map(|(number, steps)| (number, routers(steps))).collect()
    }

    /// The steps from a node to another, over one segment each; none if there is no way.
    pub fn steps(&self, from: usize, to: usize) -> Vec<NextHop> {
        steps(&self.reach(from), to).unwrap_or_default()
    }

    /// The steps to the last router before each segment that is not a node's own.
    fn ways(&self, node: usize) -> Vec<(usize, Vec<NextHop>)> {
        let reached = self.reach(node);
        let mut ways = Vec::new();
        for (number, segment) in self.segments.iter().enumerate() {
            let members = || segment.members.iter().map(|&end| self.node(end));
            if members().any(|member| member == node) {
                continue;
            }
            let cost = |router: usize| {
                let cost = reached[router].filter(|_| self.kinds[router] == NodeKind::Router)?.cost;
                Some((self.through(cost, router, node, number), router))
            };
            let Some((_, last)) = members().filter_map(cost).min() else { continue };
            ways.extend(steps(&reached, last).map(|steps| (number, steps)));
        }
        ways
    }

    /// The links from one node to another in turn; `None` if there is no way.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        let mut hops = Vec::new();
        for step in steps(&self.reach(from), to)? {
            hops.extend(self.across(step.out, step.via)?);
        }
        Some(hops)
    }

    /// The ends by which two nodes meet on the way from one to the other: that at `from` and that
    /// at `to`.
    pub fn ends_towards(&self, from: usize, to: usize) -> Option<(End, End)> {
        let steps = steps(&self.reach(from), to)?;
        Some((steps.first()?.out, steps.last()?.via))
    }

    /// The links of one segment between two of its ends.
    fn across(&self, out: End, via: End) -> Option<Vec<Hop>> {
        // How each link was come to: the end it was sent from and the hop before.
        let mut before: BTreeMap<usize, (Side, Option<usize>)> = BTreeMap::new();
        before.insert(out.link, (out.side, None));
        let mut open = alloc::vec![out];
        while let Some(end) = open.pop() {
            let far = End { link: end.link, side: end.side.other() };
            if far == via {
                break;
            }
            let node = self.node(far);
            if self.kinds.get(node) != Some(&NodeKind::Switch) {
                continue;
            }
            let ends: Vec<End> = self.ends_of(node).collect();
            for next in ends {
                before.entry(next.link).or_insert_with(|| {
                    open.push(next);
                    (next.side, Some(end.link))
                });
            }
        }
        let mut hops = Vec::new();
        let mut link = Some(via.link);
        while let Some(number) = link {
            let &(from, earlier) = before.get(&number)?;
            hops.push(Hop { link: number, from });
            link = earlier;
        }
        hops.reverse();
        Some(hops)
    }
}
