//! The two things that a block compares, and values held for both.
//!
//! In a comparing block the arms are the two families; in a null block both arms are the same
//! family, measured as if they differed. Nothing downstream may treat the arms otherwise than
//! alike.

use crate::family::Family;
use core::fmt;
use serde::{Deserialize, Serialize};

/// One side of a block. The effect is always `b` against `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arm {
    /// The reference.
    A,
    /// What is compared with the reference.
    B,
}

impl Arm {
    /// Both arms, the reference first.
    pub const BOTH: [Arm; 2] = [Arm::A, Arm::B];

    /// The other arm.
    pub const fn other(self) -> Arm {
        match self {
            Arm::A => Arm::B,
            Arm::B => Arm::A,
        }
    }
}

/// One value for each arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PerArm<T> {
    /// The value of the reference.
    pub a: T,
    /// The value of what is compared with it.
    pub b: T,
}

impl<T> PerArm<T> {
    /// Calls `f` once for each arm, the reference first.
    pub fn from_fn(mut f: impl FnMut(Arm) -> T) -> Self {
        PerArm { a: f(Arm::A), b: f(Arm::B) }
    }

    /// The value of one arm.
    pub fn get(&self, arm: Arm) -> &T {
        match arm {
            Arm::A => &self.a,
            Arm::B => &self.b,
        }
    }

    /// The value of one arm, to change it.
    pub fn get_mut(&mut self, arm: Arm) -> &mut T {
        match arm {
            Arm::A => &mut self.a,
            Arm::B => &mut self.b,
        }
    }

    /// Applies `f` to both values.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> PerArm<U> {
        PerArm { a: f(self.a), b: f(self.b) }
    }
}

impl PerArm<Family> {
    /// The comparison this program is for: IPv6 against IPv4.
    pub const FAMILIES: PerArm<Family> = PerArm { a: Family::V4, b: Family::V6 };

    /// One family on both sides: any difference found is the instrument's own.
    pub const fn null(family: Family) -> Self {
        PerArm { a: family, b: family }
    }

    /// The arm of a family: the second if it is its family, else the first.
    pub fn arm_of(&self, family: Family) -> Arm {
        if self.b == family { Arm::B } else { Arm::A }
    }

    /// True if both arms are the same family.
    pub fn is_null(&self) -> bool {
        self.a == self.b
    }
}

/// Which arm of a block goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnOrder {
    /// The reference first.
    #[serde(rename = "ab")]
    Ab,
    /// The reference second.
    #[serde(rename = "ba")]
    Ba,
}

impl TurnOrder {
    /// The arms in their turn.
    pub const fn arms(self) -> [Arm; 2] {
        match self {
            TurnOrder::Ab => [Arm::A, Arm::B],
            TurnOrder::Ba => [Arm::B, Arm::A],
        }
    }

    /// The other order.
    pub const fn reversed(self) -> TurnOrder {
        match self {
            TurnOrder::Ab => TurnOrder::Ba,
            TurnOrder::Ba => TurnOrder::Ab,
        }
    }
}

/// What a block is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// Compares the two arms of the plan.
    Compare,
    /// Compares a family with itself.
    Null(Family),
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockKind::Compare => f.write_str("compare"),
            BlockKind::Null(family) => write!(f, "null {family}"),
        }
    }
}
