//! The connections that have not yet shown what they are for, all together: whom the loop waits
//! for, and who has to go when there are too many.

use super::pending::{Became, Pending};
use crate::control::Key;
use std::collections::VecDeque;
use std::net::SocketAddr;
use v6gap_core::session::lobby;
use v6gap_core::wire::version::VersionRange;

/// The pending connections, the oldest first.
#[derive(Default)]
pub(super) struct Lobby {
    all: VecDeque<Pending>,
    crowd: lobby::Lobby<u64>,
    entered: u64,
    /// Where those came from that had to go.
    gone: Vec<SocketAddr>,
}

impl Lobby {
    /// Lets one in, and others go if that is one too many.
    pub(super) fn enter(&mut self, mut pending: Pending) {
        pending.id = self.entered;
        self.entered += 1;
        self.crowd.enter(pending.id, pending.peer.ip());
        self.crowd.keeps(pending.id, pending.kept());
        self.all.push_back(pending);
        self.clear();
    }

    /// Where the next of those came from that had to go because there were too many.
    pub(super) fn turned_away(&mut self) -> Option<SocketAddr> {
        self.gone.pop()
    }

    /// Drops those whose time is over.
    pub(super) fn expire(&mut self, now_ns: u64) {
        let Lobby { all, crowd, .. } = self;
        all.retain(|pending| {
            let stays = pending.deadline_ns() > now_ns;
            if !stays {
                crowd.leave(pending.id);
            }
            stays
        });
    }

    /// All connections in the lobby.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.all.iter()
    }

    /// Advances those for which `ready` holds and returns the ones that became something.
    pub(super) fn advance(
        &mut self,
        ready: &[bool],
        key: &Key,
        versions: VersionRange,
    ) -> Vec<(Pending, Became)> {
        let mut done = Vec::new();
        let mut waiting = VecDeque::with_capacity(self.all.len());
        for (mut pending, &ready) in self.all.drain(..).zip(ready) {
            if !ready {
                waiting.push_back(pending);
                continue;
            }
            let steps = pending.steps();
            match pending.advance(key, versions) {
                Became::Pending => {
                    if pending.steps() > steps {
                        self.crowd.advance(pending.id);
                    }
                    self.crowd.keeps(pending.id, pending.kept());
                    waiting.push_back(pending);
                }
                became => {
                    self.crowd.leave(pending.id);
                    done.push((pending, became));
                }
            }
        }
        self.all = waiting;
        self.clear();
        done
    }

    /// Turns away whoever is too many.
    fn clear(&mut self) {
        while let Some(id) = self.crowd.crowded_out() {
            let position = self.all.iter().position(|pending| pending.id == id);
            if let Some(pending) = position.and_then(|position| self.all.remove(position)) {
                self.gone.push(pending.peer);
                pending.turn_away();
            }
        }
    }
}
