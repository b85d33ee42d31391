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
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::Mutex;
    use v6gap_core::fleet::work::{Class, SentPlan};
    use v6gap_sys::stop::Stopper;

    fn work() -> Work {
        let (name, text, hash) = ("light.toml".to_owned(), String::new(), String::new());
        Work {
            from: "rome/a".parse().unwrap(),
            to: "oslo/b".parse().unwrap(),
            to_is_agent: true,
            class: Class::Light,
            links: Vec::new(),
            plan: Arc::new(SentPlan { name, text, hash, needs: Vec::new() }),
            longest_ns: 1,
            every_ns: 1,
            port: None,
            failed: 0,
            continued: None,
        }
    }

    fn said(key: &str) -> Said {
        Said { key: key.to_owned(), text: b"text".to_vec(), unix_ns: 0 }
    }

    #[test]
    fn nobody_waits_for_visits_and_what_is_said_counts_in_its_order() {
        let over = crate::block_on(&Stopper::default(), async |_| {
            let (answers, answer) = unbounded_channel::<Option<Vec<Visited>>>();
            let answer = Arc::new(Mutex::new(answer));
            let (mut applies, mut were_read) = Applies::new(move || {
                let answer = Arc::clone(&answer);
                async move { answer.lock().await.recv().await.flatten() }
            });
            let visited = |unix_ns| Visited::new(&work(), None, unix_ns);
            let measured = Outcome::Measured { run: None };
            applies.came(&work(), &measured, 1);
            applies.want(said("one"));
            for _ in 0..9 {
                tokio::task::yield_now().await;
            }
            assert!(were_read.try_recv().is_err(), "the broker has not told");
            // Much may happen before it does.
            applies.want(said("two"));
            applies.want(said("three"));
            applies.came(&work(), &measured, 4);
            applies.seen(&[visited(3)]);
            answers.send(Some(vec![visited(2)])).unwrap();
            let first = applies.take(were_read.recv().await.unwrap());
            assert_eq!(first.said, [said("one")]);
            assert_eq!(first.visits, Some([2, 3, 4].map(visited).to_vec()));
            answers.send(None).unwrap();
            let second = applies.take(were_read.recv().await.unwrap());
            assert_eq!(second.said, [said("two"), said("three")]);
            assert_eq!(second.visits, None, "it did not tell");
            applies.seen(&[visited(5)]);
            applies.want(said("two"));
            answers.send(Some(Vec::new())).unwrap();
            let third = applies.take(were_read.recv().await.unwrap());
            assert_eq!((third.said, third.visits), (vec![said("two")], Some(Vec::new())));
        });
        over.unwrap();
    }
}
