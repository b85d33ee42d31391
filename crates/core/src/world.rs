//! A world: hosts, links and what each family meets on them, as plain data.
//!
//! The simulator, the kernel lab and the user-space link all interpret this one value, so a test's
//! known truth and the network that it runs on cannot differ.

use crate::family::PerFamily;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How the lab makes a link, always named with a figure taken on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkModel {
    /// A virtual cable as the kernel gives it, without rate: what the protocol stack costs.
    Bare,
    /// A token bucket in the kernel with exact Ethernet framing: true rates and queues, false round
    /// trips.
    Shaped,
    /// A token bucket for back-pressure and a user-space link that serialises each frame: true
    /// rates and true round trips.
    Wire,
}

/// What one direction of a link does to the frames of one family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Line rate in bit/s, counted with preamble, frame check sequence and inter-packet gap;
    /// `None` is without limit.
    pub rate_bps: Option<u64>,
    /// Delay added after serialisation, in ns.
    pub delay_ns: u64,
    /// Share of frames lost at random, 0 to 1.
    pub loss: f64,
    /// Largest IP packet that passes, in bytes; a larger one vanishes without a word (a black
    /// hole); `None` lets all pass.
    pub black_hole_above: Option<u32>,
}

impl Conditions {
    /// A link that only has a rate.
    pub const fn rate(rate_bps: Option<u64>) -> Self {
        Conditions { rate_bps, delay_ns: 0, loss: 0.0, black_hole_above: None }
    }
}

/// A link between two neighbouring nodes; both directions meet the same conditions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Conditions for each family.
    pub conditions: PerFamily<Conditions>,
    /// Maximum transmission unit of the interfaces at its ends, in bytes.
    pub mtu: u32,
    /// Frames that may wait for the line in each direction.
    pub queue_frames: u32,
}

impl Link {
    /// A link with one rate for both families, MTU 1500 and a queue of 100 frames.
    pub const fn ethernet(rate_bps: Option<u64>) -> Self {
        let conditions =
            PerFamily { v4: Conditions::rate(rate_bps), v6: Conditions::rate(rate_bps) };
        Link { conditions, mtu: 1500, queue_frames: 100 }
    }
}

/// A chain of nodes: the first is the client, the last the server, those between are routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// How its links are made.
    pub model: LinkModel,
    /// Names of the nodes along the path; at least two.
    pub nodes: Vec<String>,
    /// Links between neighbours; one less than nodes.
    pub links: Vec<Link>,
    /// Families that the nodes have addresses for.
    pub families: PerFamily<bool>,
}

impl World {
    /// The first-look world: client – router – server, two subnets, one rate, both families.
    pub fn client_router_server(model: LinkModel, rate_bps: Option<u64>) -> Self {
        World {
            model,
            nodes: ["client", "router", "server"].map(ToString::to_string).to_vec(),
            links: [Link::ethernet(rate_bps); 2].to_vec(),
            families: PerFamily { v4: true, v6: true },
        }
    }

    /// The same world with the two families' conditions and addresses exchanged.
    pub fn swapped(mut self) -> Self {
        self.families = self.families.swapped();
        for link in &mut self.links {
            link.conditions = link.conditions.swapped();
        }
        self
    }
}
