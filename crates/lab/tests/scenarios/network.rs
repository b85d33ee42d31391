//! The path of a world, frame by frame, through the pure clocks of the user-space link.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::wiremodel::Carried;
use v6gap_core::world::{Hop, Side, World};
use v6gap_lab::clock::{Arriving, Fate, LineSettings, LinkClock};

/// What an Ethernet frame has before the IP packet, in bytes.
const ETHERNET_BYTES: usize = 14;

/// Which way along the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the server.
    There,
    /// To the client.
    Back,
}

/// A packet on its way.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Its number, which copies share.
    pub number: usize,
    /// When it is at the end that it was last seen at, in ns.
    pub at_ns: u64,
    /// Length of the IP packet, in bytes.
    pub bytes: u32,
}

/// What packets of a family are on a link: the family that it sees, and what became of them.
type Inside = PerFamily<(Family, Carried)>;

/// All directions of the links between client and server.
pub struct Network {
    there: Vec<(LinkClock, Inside)>,
    back: Vec<(LinkClock, Inside)>,
    random: ChaCha8Rng,
}

impl Network {
    pub fn new(world: &World, seed: u64) -> Self {
        let path = world.path();
        let on_path = PerFamily::from_fn(|family| world.on_path(family));
        let inside = |hop: usize| {
            PerFamily::from_fn(|family| {
                let on = on_path.get(family)[hop];
                (on.family, on.carried)
            })
        };
        let path: Vec<(Hop, Inside)> =
            path.into_iter().enumerate().map(|(i, hop)| (hop, inside(i))).collect();
        let clock = |(hop, inside): &(Hop, Inside), from: Side| {
            let link = &world.links[hop.link];
            let clock = LinkClock::new(LineSettings {
                conditions: *link.met(from),
                queue_frames: link.queue_frames,
                vlan_tags: world.vlan_tags,
                priority: false,
            });
            (clock, *inside)
        };
        Network {
            there: path.iter().map(|hop| clock(hop, hop.0.from)).collect(),
            back: path.iter().rev().map(|hop| clock(hop, hop.0.from.other())).collect(),
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Sends packets of one family, in order of time, to the other end; those that arrive, in the
    /// order of their arrival.
    pub fn pass(&mut self, way: Way, family: Family, packets: Vec<Packet>) -> Vec<Packet> {
        let random = &mut self.random;
        let mut draw = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let hops = match way {
            Way::There => &mut self.there,
            Way::Back => &mut self.back,
        };
        hops.iter_mut().fold(packets, |packets, (hop, inside)| {
            let mut arrived = Vec::new();
            for packet in packets {
                let (family, carried) = *inside.get(family);
                let bytes = carried.link_bytes(packet.bytes);
                let frame = Arriving {
                    at_ns: packet.at_ns,
                    family,
                    frame_bytes: bytes as usize + ETHERNET_BYTES,
                    priority: false,
                };
                if let Fate::Due(due) = hop.admit(frame, &mut draw) {
                    let times = [Some(due.at_ns), due.copy_at_ns];
                    let copies = times.into_iter().flatten();
                    arrived.extend(copies.map(|at_ns| Packet { at_ns, ..packet }));
                }
            }
            arrived.sort_by_key(|packet| packet.at_ns);
            arrived
        })
    }
}
