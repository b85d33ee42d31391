//! What an end measured, one form for each kind of workload.

use super::{Connections, LookedUp, Probed, Received, Returned, Searched, Sent, Times, Visited};
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};

/// What one end measured of the workload itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Nothing: it only answered.
    #[default]
    Nothing,
    /// Times of exchanges; at the server, times between connections.
    Times(Times),
    /// Connections that this end opened.
    Connections(Box<Connections>),
    /// Bulk data that arrived.
    Received(Received),
    /// Bulk data that was sent.
    Sent(Sent),
    /// Bulk data both ways at the same time.
    BothWays {
        /// What arrived here.
        received: Received,
        /// What left here.
        sent: Sent,
    },
    /// Bulk data that left here, and what arrived at a far end that does not run this program: by
    /// its acknowledgements, or by what it told.
    Delivered {
        /// What arrived there.
        received: Received,
        /// What left here.
        sent: Sent,
    },
    /// Probes that came back.
    Probed(Box<Probed>),
    /// Probes that were sent back.
    Returned(Box<Returned>),
    /// A search for the rate of the path, as the end that sent saw it.
    Searched(Box<Searched>),
    /// A visit to a service of a stranger.
    Visited(Box<Visited>),
    /// An answer of a name server.
    LookedUp(Box<LookedUp>),
}

impl Measured {
    /// What arrived at this end, or is known by it to have arrived at the other.
    pub fn received(&self) -> Option<&Received> {
        match self {
            Measured::Received(received)
            | Measured::BothWays { received, .. }
            | Measured::Delivered { received, .. } => Some(received),
            _ => None,
        }
    }

    /// What left this end, if it was an end that sent.
    pub fn sent(&self) -> Option<&Sent> {
        match self {
            Measured::Sent(sent)
            | Measured::BothWays { sent, .. }
            | Measured::Delivered { sent, .. } => Some(sent),
            Measured::Searched(searched) => Some(&searched.sent),
            _ => None,
        }
    }
}
