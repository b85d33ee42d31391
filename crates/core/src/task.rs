//! One thing to do that both ends agreed on: a trial of one arm, or for slices a block of both.

use crate::arm::{Arm, TurnOrder};
use crate::family::{Family, PerFamily};
use crate::workload::{Feature, Features, Impossible, Interleaving, Needed, Workload};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A secret of one task: who knows it was given it over the control connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// What every datagram of the task starts with.
    pub fn tag(&self) -> [u8; 8] {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        [a, b, c, d, e, f, g, h]
    }

    /// What every datagram of the task's load starts with, which shares no byte with the tag.
    pub fn load_tag(&self) -> [u8; 8] {
        let [.., a, b, c, d, e, f, g, h] = self.0;
        [a, b, c, d, e, f, g, h]
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Serialize for Token {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Token(<[u8; 16]>::deserialize(deserializer)?))
    }
}

/// An arm that takes part in a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskArm {
    /// Which arm.
    pub arm: Arm,
    /// Family of the arm.
    pub family: Family,
}

/// What both ends do together between one "ready" and one report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Number of the task in its session.
    pub number: u32,
    /// What to do.
    pub workload: Workload,
    /// One arm for interleaving by trial, both for slices, in the order of the arms' names.
    pub arms: Vec<TaskArm>,
    /// Which arm takes the first turn of a slice.
    pub order: TurnOrder,
    /// Seed for source ports and payload.
    pub seed: u64,
    /// The secret by which the data flows are recognised.
    pub token: Token,
    /// In which family what the client sends over each family arrives at the server: another where
    /// it is translated on the way.
    #[serde(default = "native", skip_serializing_if = "is_native")]
    pub arrives: PerFamily<Family>,
    /// The tasks of a session with the same number are measured by the same processes, and those
    /// with another one by others, drawn anew; a server that starts none passes over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<u32>,
}

impl Task {
    /// What a server has to know to do it.
    pub fn features(&self) -> Features {
        // The other parts have been there since the first version, or bind nobody.
        let Task { number: _, workload, arms: _, order: _, seed: _, token: _, arrives, draw: _ } =
            self;
        let mut needed = Needed::of(workload);
        if *arrives != native() {
            needed.insert(Feature::Translated);
        }
        needed
    }

    /// What is wrong with it whatever a server allows.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), Impossible> {
        let arms: Vec<Arm> = self.arms.iter().map(|member| member.arm).collect();
        match (self.workload.interleaving(), arms.as_slice()) {
            (Interleaving::Trial, [_]) | (Interleaving::Slice, [Arm::A, Arm::B]) => {}
            (Interleaving::Trial, _) => {
                return Err(Impossible::Senseless("a task of this kind needs one arm"));
            }
            (Interleaving::Slice, _) => {
                return Err(Impossible::Senseless("a task of this kind needs arm a and arm b"));
            }
        }
        if self.workload.is_of_strangers() {
            return Err(Impossible::OF_STRANGERS);
        }
        self.workload.check(self.datagram_bytes_max())
    }

    /// Largest UDP payload that every family of the task can carry, at either end, in bytes.
    fn datagram_bytes_max(&self) -> u32 {
        let families = self.arms.iter().flat_map(|arm| [arm.family, *self.arrives.get(arm.family)]);
        families.map(Family::udp_payload_bytes_max).min().unwrap_or(0)
    }
}

/// Where nothing is translated.
pub const fn native() -> PerFamily<Family> {
    PerFamily { v4: Family::V4, v6: Family::V6 }
}

/// [`Task::arrives`] of a server with these addresses, as far as they tell.
pub fn arriving(addresses: PerFamily<Option<IpAddr>>) -> PerFamily<Family> {
    PerFamily::from_fn(|family| {
        addresses.get(family).and_then(|address| Family::arriving(&address)).unwrap_or(family)
    })
}

fn is_native(arrives: &PerFamily<Family>) -> bool {
    *arrives == native()
}
