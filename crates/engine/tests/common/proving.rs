//! Sources that prove themselves to a validation without sockets.

use std::net::SocketAddr;
use v6gap_core::arm::Arm;
use v6gap_core::family::PerFamily;
use v6gap_core::session::validation::{Handling, Own, PROOF, Validation};
use v6gap_core::wire::datagram::{Flags, Header};

/// A server that has no addresses, so that every source is another host's.
pub const NOWHERE: Own<'static> = Own { addresses: Some(&[]), ports: PerFamily { v4: 0, v6: 0 } };

/// A message of nothing but the header.
pub fn message(tag: [u8; 8], flags: Flags, arm: Arm, challenge: u64) -> [u8; 20] {
    let header = Header { tag, sequence: 0, turn: 0, next: 0, arm, flags };
    header.with_challenge(challenge).alone()
}

/// Lets `source` prove itself.
pub fn prove(validation: &mut Validation<'_>, tag: [u8; 8], source: SocketAddr, arm: Arm) {
    let introduction = message(tag, Flags::INTRODUCTION, arm, 0);
    let Handling::Answer(challenge) = validation.judge(source, &introduction) else {
        panic!("{source} is not challenged");
    };
    let challenge = Header::decode(&challenge).expect("a header").challenge();
    let handling = validation.judge(source, &message(tag, PROOF, arm, challenge));
    assert!(matches!(handling, Handling::Proved { .. }), "{source}: {handling:?}");
}
