//! What is alike over both families where messages are compared: their payload, or the packets that
//! carry them.

use crate::family::Family;
use serde::{Deserialize, Serialize};

/// Which length is the same over both families.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parity {
    /// That of the payload: the same work for the application.
    #[default]
    Payload,
    /// That of the IP packet: payloads over IPv6 are shorter by what its header is longer, so that
    /// the line has as much to carry.
    Packet,
}

impl Parity {
    /// Bytes by which a payload over `family` is shorter than one over IPv4.
    pub const fn shorter_bytes(self, family: Family) -> u32 {
        match self {
            Parity::Payload => 0,
            Parity::Packet => family.header_bytes() - Family::V4.header_bytes(),
        }
    }

    /// Payload over `family` of what has `bytes` over IPv4.
    pub const fn bytes(self, bytes: u32, family: Family) -> u32 {
        bytes.saturating_sub(self.shorter_bytes(family))
    }

    /// What it adds to the label of a question, with a comma before it.
    pub const fn words(self) -> &'static str {
        match self {
            Parity::Payload => "",
            Parity::Packet => ", equal packets",
        }
    }

    /// Whether it is the usual one, which records do not have.
    pub fn is_usual(&self) -> bool {
        *self == Parity::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_length_have_payloads_of_two() {
        let of = |parity: Parity| Family::BOTH.map(|family| parity.bytes(64, family));
        assert_eq!((of(Parity::Payload), of(Parity::Packet)), ([64, 64], [64, 44]));
        let whole = |family: Family| Parity::Packet.bytes(64, family) + family.header_bytes();
        assert_eq!(whole(Family::V4), whole(Family::V6));
        assert_eq!(Parity::Packet.bytes(3, Family::V6), 0);
    }
}
