//! Mesh plans on their way to be applied. First it is read when their paths were measured last,
//! which takes long where there are many: whoever leads goes on meanwhile. What was said of mesh
//! plans counts in the order in which it was said.

use super::visits::Visited;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use v6gap_core::fleet::work::{Outcome, Work};

/// A mesh plan that was said to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub key: String,
    pub text: Vec<u8>,
    /// When, in ns since the Unix epoch.
    pub unix_ns: u64,
}

/// What was said, once visits were read for it.
#[derive(Debug)]
pub(super) struct Read {
    pub said: Vec<Said>,
    /// The last visit of each path; nothing if the broker did not tell.
    pub visits: Option<Vec<Visited>>,
}

/// Mesh plans on their way.
#[derive(Debug)]
pub(super) struct Applies {
    wanted: UnboundedSender<Said>,
    count: usize,
    /// What was measured, or heard of, since any of them was said: what is read may not have it
    /// yet.
    meanwhile: Vec<Visited>,
}

impl Applies {
    /// None yet, and where those are heard for which `visits` has read the last visit of each path.
    pub(super) fn new<F>(
        visits: impl FnMut() -> F + Send + 'static,
    ) -> (Self, UnboundedReceiver<Read>)
    where
        F: Future<Output = Option<Vec<Visited>>> + Send + 'static,
    {
        let (wanted, wants) = unbounded_channel();
        let (reads, were_read) = unbounded_channel();
        drop(tokio::spawn(read(wants, reads, visits)));
        (Applies { wanted, count: 0, meanwhile: Vec::new() }, were_read)
    }

    /// This was said.
    pub(super) fn want(&mut self, said: Said) {
        self.count += 1;
        // What reads goes on for as long as this is there.
        let _ = self.wanted.send(said);
    }

    /// Work came out so at that time, in ns since the Unix epoch.
    pub(super) fn came(&mut self, work: &Work, outcome: &Outcome, unix_ns: u64) {
        if let (1.., Outcome::Measured { run }) = (self.count, outcome) {
            self.meanwhile.push(Visited::new(work, run.clone(), unix_ns));
        }
    }

    /// These visits were heard of from elsewhere.
    pub(super) fn seen(&mut self, visits: &[Visited]) {
        if self.count > 0 {
            self.meanwhile.extend_from_slice(visits);
        }
    }

    /// What was read, with what was measured meanwhile, the newest last.
    pub(super) fn take(&mut self, read: Read) -> Read {
        let Read { said, visits } = read;
        self.count = self.count.saturating_sub(said.len());
        let visits = visits.map(|visits| {
            let mut all = [visits, self.meanwhile.clone()].concat();
            all.sort_by_key(|visited| visited.unix_ns);
            all
        });
        if self.count == 0 {
            self.meanwhile.clear();
        }
        Read { said, visits }
    }
}

/// Reads visits once for all that was said since the last time, until nothing more is.
async fn read<F: Future<Output = Option<Vec<Visited>>>>(
    mut wants: UnboundedReceiver<Said>,
    reads: UnboundedSender<Read>,
    mut visits: impl FnMut() -> F,
) {
    while let Some(first) = wants.recv().await {
        let mut said = vec![first];
        while let Ok(next) = wants.try_recv() {
            said.push(next);
        }
        let visits = visits().await;
        // Nobody listens any more once the coordinator ends.
        let _ = reads.send(Read { said, visits });
    }
}

#[cfg(test)]
mod tests;
