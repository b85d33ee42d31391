//! What an end of a link does with what it sends.

use crate::clock::HEADER_BYTES;
use crate::netlink::{Bucket, Delayed, Shape};
use std::ops::RangeInclusive;
use v6gap_core::world::{Conditions, Link, LinkModel, Side, World};

/// How long a bucket gathers what a late timer left unused, in ms: virtual machines have been seen
/// to wake 6 ms late, and what does not go into the bucket is lost to the trial.
const GATHERED_MS: u64 = 10;
/// Its depth in bytes: no packet is too large for a slow line, and a burst on a quick one is not
/// more than the hosts take.
const DEPTH_BYTES: RangeInclusive<u64> = 15_400..=123_200;
/// Depth of the bucket before the user-space link, in bytes, which has a queue of its own.
const FEED_DEPTH_BYTES: u64 = 61_600;
/// Share of the link's rate, in parts per thousand, at which a host feeds the user-space link: a
/// little less, so that packets wait at the host, where they slow the sender, and not on the link.
const FEED_PER_MILLE: u64 = 999;
/// Packets that may wait at a host, as in an interface of Linux. A sender is held back by the room
/// of its socket, which holds over a hundred pieces of datagrams; losses are the network's.
const HOST_QUEUE: u32 = 1000;
/// Least bytes that a packet takes on the line (IEEE 802.3).
const PACKET_BYTES_MIN: f64 = 84.0;

/// What an end of `link` does with what it sends; `None` if nothing.
///
/// A host that feeds the user-space link must be slowed down by a queue of its own. What only
/// forwards has nobody to slow down, and with a queue here as well as on the link it would have a
/// longer one than the world says.
pub(crate) fn shape(world: &World, link: &Link, side: Side) -> Option<Shape> {
    let wire = world.model == LinkModel::Wire;
    let node = link.node(side);
    let forwards = world.only_forwards(node);
    if world.model == LinkModel::Bare || (wire && forwards) {
        return None;
    }
    let bucket = |rate: u64| {
        let rate_bps = if wire { rate.saturating_mul(FEED_PER_MILLE) / 1000 } else { rate };
        let depth = if wire { FEED_DEPTH_BYTES } else { depth_bytes(rate) };
        Bucket { rate_bps, burst_bytes: (depth as u32).max(ten_packets(link)) }
    };
    let met = *link.met(side);
    let own = if forwards { 0 } else { HOST_QUEUE };
    let queue = |met: Conditions| met.queue_frames.unwrap_or(link.queue_frames).max(own);
    Some(Shape {
        buckets: met.map(|met| met.rate_bps.map(bucket)),
        queue_packets: met.map(queue),
        delayed: (world.model == LinkModel::Netem).then(|| met.map(|met| delayed(met, queue(met)))),
        mtu: link.mtu,
        vlan_tags: world.vlan_tags,
        more_bytes: 0,
        priority: world.priority_bits(),
    })
}

/// Full packets that a bucket holds at least, in bytes.
fn ten_packets(link: &Link) -> u32 {
    10 * (link.mtu + HEADER_BYTES as u32 + 24)
}

/// Frames that a bucket before the user-space link lets through at once, the smallest ones; full
/// ones are fewer, and never more wait for the line than the bucket held.
pub(crate) fn fed_frames(link: &Link) -> u32 {
    let depth = (FEED_DEPTH_BYTES as u32).max(ten_packets(link));
    (f64::from(depth) / PACKET_BYTES_MIN) as u32 + 1
}

/// What the kernel's bucket holds at most, in bytes.
fn depth_bytes(rate_bps: u64) -> u64 {
    let gathered = rate_bps / 8 * GATHERED_MS / 1000;
    gathered.clamp(*DEPTH_BYTES.start(), *DEPTH_BYTES.end())
}

/// What netem does in place of a plain queue: those that wait for the line and those that are on
/// the way have room.
fn delayed(met: Conditions, queue: u32) -> Delayed {
    let on_the_way = met.rate_bps.unwrap_or(0) as f64 / 8.0 / PACKET_BYTES_MIN;
    let on_the_way = on_the_way * met.delay_ns as f64 / 1e9;
    Delayed {
        limit_packets: queue.saturating_add(on_the_way.ceil() as u32),
        delay_ns: met.delay_ns,
        loss: met.loss,
        duplication: met.duplication,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::PerFamily;

    /// A host has at least the queue of an interface, and more where the world says so of a family.
    #[test]
    fn a_host_has_the_queue_of_each_family() {
        let mut world = World::client_router_server(LinkModel::Wire, Some(10_000_000));
        let queues = |world: &World| {
            let shape = shape(world, &world.links[0], Side::First).expect("a host is shaped");
            shape.queue_packets
        };
        assert_eq!(queues(&world), PerFamily { v4: 1000, v6: 1000 });
        world.links[0].conditions.v6.queue_frames = Some(5000);
        assert_eq!(queues(&world), PerFamily { v4: 1000, v6: 5000 });
    }

    #[test]
    fn buckets_hold_what_a_late_timer_leaves_within_bounds() {
        let of = |mbps: u64| depth_bytes(mbps * 1_000_000);
        assert_eq!([1, 10, 50, 100, 1000].map(of), [15_400, 15_400, 62_500, 123_200, 123_200]);
    }
}
