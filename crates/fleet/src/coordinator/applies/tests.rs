//! Mesh plans wait for visits, and nothing else does.

use super::*;
use crate::fixtures::work;
use std::sync::Arc;
use tokio::sync::Mutex;
use v6gap_sys::stop::Stopper;

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
        let visited = |unix_ns| Visited::new(&work("rome/a", "oslo/b"), None, unix_ns);
        let measured = Outcome::Measured { run: None };
        applies.came(&work("rome/a", "oslo/b"), &measured, 1);
        applies.want(said("one"));
        for _ in 0..9 {
            tokio::task::yield_now().await;
        }
        assert!(were_read.try_recv().is_err(), "the broker has not told");
        // Much may happen before it does.
        applies.want(said("two"));
        applies.want(said("three"));
        applies.came(&work("rome/a", "oslo/b"), &measured, 4);
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
