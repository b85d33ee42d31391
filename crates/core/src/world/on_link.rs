//! What packets of one family are on each link of the path: as they were sent, in a tunnel, or
//! translated.

use super::{LaidTunnel, World};
use crate::family::Family;
use crate::wiremodel::Carried;
use alloc::vec::Vec;

/// Packets of one family on a link of the path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnLink<'a> {
    /// The family that the link sees.
    pub family: Family,
    /// The tunnel that they are in.
    pub tunnel: Option<&'a LaidTunnel>,
    /// What became of them.
    pub carried: Carried,
}

impl World {
    /// What packets of `family` between client and server are on each link of [`path`](Self::path)
    /// in turn; the same on the way back.
    pub fn on_path(&self, family: Family) -> Vec<OnLink<'_>> {
        let over = self.tunnels_on_path(family).into_iter().enumerate();
        let translated = self.translated(family);
        let on_link = |(place, tunnel): (usize, Option<&'_ LaidTunnel>)| match (tunnel, translated)
        {
            (Some(laid), _) => (laid.tunnel.outer, Carried::In(self.encapsulation(laid))),
            (None, None) => (family, Carried::Plain),
            (None, Some((_, at))) => {
                let seen = if place < at { Family::V6 } else { Family::V4 };
                let carried = match seen == family {
                    true => Carried::Plain,
                    false => Carried::Translated { from: family },
                };
                (seen, carried)
            }
        };
        let all = over.map(|(place, tunnel)| {
            let (family, carried) = on_link((place, tunnel));
            OnLink { family, tunnel, carried }
        });
        all.collect()
    }
}
