//! Mesh plans on their way to be applied. First it is read when their paths were measured last,
//! which takes long where there are many: whoever leads goes on meanwhile. What was said of mesh
//! plans counts in the order in which it was said.

use super::visits::Visited;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use v6gap_core::fleet::work::{Outcome, Work};

/// The key of a mesh plan and what was said of it: its text, or none if it is applied no more.
pub(super) type Said = (String, Vec<u8>);

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
    /// What was measured since any of them was said: what is read may not have it yet.
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

    /// What was read, with what was measured meanwhile.
    pub(super) fn take(&mut self, read: Read) -> Read {
        let Read { said, visits } = read;
        self.count = self.count.saturating_sub(said.len());
        let visits = visits.map(|visits| [visits, self.meanwhile.clone()].concat());
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
        // What is taken away needs none.
        let visits = match said.iter().all(|(_, text)| text.is_empty()) {
            true => Some(Vec::new()),
            false => visits().await,
        };
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

    fn said(key: &str, text: &str) -> Said {
        (key.to_owned(), text.as_bytes().to_vec())
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
            applies.want(said("one", "text"));
            for _ in 0..9 {
                tokio::task::yield_now().await;
            }
            assert!(were_read.try_recv().is_err(), "the broker has not told");
            // Much may happen before it does.
            applies.want(said("one", ""));
            applies.want(said("two", "text"));
            applies.came(&work(), &measured, 3);
            answers.send(Some(vec![visited(2)])).unwrap();
            let first = applies.take(were_read.recv().await.unwrap());
            assert_eq!(first.said, [said("one", "text")]);
            assert_eq!(first.visits, Some(vec![visited(2), visited(3)]));
            answers.send(None).unwrap();
            let second = applies.take(were_read.recv().await.unwrap());
            assert_eq!(second.said, [said("one", ""), said("two", "text")]);
            assert_eq!(second.visits, None, "it did not tell");
            applies.want(said("two", ""));
            let third = applies.take(were_read.recv().await.unwrap());
            assert_eq!((third.said, third.visits), (vec![said("two", "")], Some(Vec::new())));
        });
        over.unwrap();
    }
}
