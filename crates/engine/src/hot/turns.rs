//! Whose turn it is: the order in which the arms of a block exchange messages, a function of
//! numbers alone, so that both ends and every test agree on it.
//!
//! Pairs of turns go AB, BA, AB, BA, …: neither arm is always first, and slow drift meets both
//! alike. Connections are made and warmed up in the same balanced order, because connections made
//! always A before B give a precise and wrong ratio.

use v6gap_core::arm::{Arm, PerArm, TurnOrder};
use v6gap_core::family::Family;
use v6gap_core::workload::Echo;

/// One turn: some exchanges in a row on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Whose turn it is.
    pub arm: Arm,
    /// Index of the connection among those of the arm.
    pub connection: u16,
    /// How many exchanges.
    pub exchanges: u32,
    /// Whether they belong to the warm-up and are not counted.
    pub warmup: bool,
}

/// All turns of a block, those of the warm-up first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    order: TurnOrder,
    connections: u16,
    warmup_exchanges: u32,
    warmup_turns: u16,
    turn_exchanges: u32,
    shorter: PerArm<usize>,
    /// Turns of both arms, warm-up included.
    pub count: u16,
}

impl Turns {
    /// The turns of `echo`; `None` if there are none or more than a message can number.
    pub fn new(order: TurnOrder, echo: &Echo) -> Option<Self> {
        let connections = u16::try_from(echo.connections).ok().filter(|&c| c > 0)?;
        let (warmup_turns, count) = echo.turns_of_both()?;
        (echo.turn_exchanges > 0).then_some(Turns {
            order,
            connections,
            warmup_exchanges: echo.warmup_exchanges,
            warmup_turns,
            turn_exchanges: echo.turn_exchanges,
            shorter: PerArm::default(),
            count,
        })
    }

    /// The same with arms of these families, whose messages may differ in length.
    #[must_use]
    pub fn over(self, families: PerArm<Family>, echo: &Echo) -> Self {
        let shorter = families.map(|family| echo.parity.shorter_bytes(family) as usize);
        Turns { shorter, ..self }
    }

    /// Bytes by which messages of an arm are shorter than the longest.
    pub fn shorter(&self, arm: Arm) -> usize {
        *self.shorter.get(arm)
    }

    /// Exchanges of the longest turn.
    pub fn longest(&self) -> u32 {
        self.turn_exchanges.max(self.warmup_exchanges)
    }

    /// Exchanges of both arms, with one more of each turn: where several requests are on the way at
    /// a time, it ends with one that is not counted.
    pub fn exchanges(&self) -> u64 {
        let of = |turns: u16, exchanges: u32| u64::from(turns) * (u64::from(exchanges) + 1);
        let counted = self.count - self.warmup_turns;
        of(self.warmup_turns, self.warmup_exchanges) + of(counted, self.turn_exchanges)
    }

    /// Turn `number`, counted from 0; `None` after the last one. Both turns of a pair use
    /// connections of the same index.
    #[inline]
    pub fn at(&self, number: u16) -> Option<Turn> {
        if number >= self.count {
            return None;
        }
        let warmup = number < self.warmup_turns;
        let in_phase = if warmup { number } else { number - self.warmup_turns };
        let exchanges = if warmup { self.warmup_exchanges } else { self.turn_exchanges };
        let (arm, connection) = pair(self.order, in_phase, self.connections);
        Some(Turn { arm, connection, exchanges, warmup })
    }
}

/// The connections of both arms in the order in which they are made.
pub fn creation(order: TurnOrder, connections: u16) -> impl Iterator<Item = (Arm, u16)> {
    (0..connections.saturating_mul(2)).map(move |number| pair(order, number, connections))
}

/// Arm and connection of turn `number` of a phase.
fn pair(order: TurnOrder, number: u16, connections: u16) -> (Arm, u16) {
    let pair = number / 2;
    let order = if pair.is_multiple_of(2) { order } else { order.reversed() };
    (order.arms()[usize::from(number % 2)], pair % connections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::{Transport, Wait};

    fn echo(connections: u32, turns: u32, warmup_exchanges: u32) -> Echo {
        Echo {
            transport: Transport::Tcp,
            message_bytes: 64,
            connections,
            turn_exchanges: 5,
            turns,
            warmup_exchanges,
            wait: Wait::Block,
            ..Echo::default()
        }
    }

    fn all(order: TurnOrder, echo: &Echo) -> Vec<Turn> {
        let turns = Turns::new(order, echo).unwrap();
        (0..).map_while(|n| turns.at(n)).collect()
    }

    #[test]
    fn arms_alternate_in_balanced_pairs() {
        use Arm::{A, B};
        let arms =
            |order| -> Vec<Arm> { all(order, &echo(3, 4, 0)).iter().map(|t| t.arm).collect() };
        assert_eq!(arms(TurnOrder::Ab), [A, B, B, A, A, B, B, A]);
        assert_eq!(arms(TurnOrder::Ba), [B, A, A, B, B, A, A, B]);
    }

    #[test]
    fn both_turns_of_a_pair_use_the_same_index() {
        let turns = all(TurnOrder::Ab, &echo(3, 4, 0));
        let indices: Vec<u16> = turns.iter().map(|t| t.connection).collect();
        assert_eq!(indices, [0, 0, 1, 1, 2, 2, 0, 0]);
    }

    /// The order asked for holds for the first counted turn, however many connections were warmed
    /// up.
    #[test]
    fn the_warm_up_meets_every_connection_and_does_not_change_the_order() {
        for connections in 1..5 {
            let turns = all(TurnOrder::Ba, &echo(connections, 2, 3));
            let (warm, counted): (Vec<Turn>, Vec<Turn>) = turns.iter().partition(|t| t.warmup);
            assert_eq!(warm.len() as u32, 2 * connections);
            assert!(warm.iter().all(|t| t.exchanges == 3));
            assert_eq!(counted.len(), 4);
            assert!(counted.iter().all(|t| t.exchanges == 5));
            assert_eq!(counted[0].arm, Arm::B);
        }
    }

    #[test]
    fn every_connection_is_made_once() {
        for connections in [1_u16, 2, 7] {
            let mut made: Vec<(Arm, u16)> = creation(TurnOrder::Ba, connections).collect();
            made.sort();
            made.dedup();
            assert_eq!(made.len(), 2 * usize::from(connections));
        }
    }

    #[test]
    fn what_cannot_be_numbered_is_refused() {
        assert_eq!(Turns::new(TurnOrder::Ab, &echo(0, 1, 0)), None);
        assert_eq!(Turns::new(TurnOrder::Ab, &echo(1, 0, 0)), None);
        assert_eq!(Turns::new(TurnOrder::Ab, &echo(1, 32_768, 0)), None);
        assert_eq!(Turns::new(TurnOrder::Ab, &echo(40_000, 1, 1)), None);
        assert!(Turns::new(TurnOrder::Ab, &echo(1, 32_767, 0)).is_some());
    }
}
