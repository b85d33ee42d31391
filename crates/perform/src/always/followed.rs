//! The paths of a watch as they are followed, each from its part of the log: the watch does so as
//! it goes, and lists do it again, so that both know the same changes.

use std::collections::BTreeMap;
use v6gap_core::metric::Metric;
use v6gap_core::watch::log::Logged;
use v6gap_judge::changes::{Asked, Change, Event, Watched, What};

/// All paths of a watch.
#[derive(Debug, Clone, Default)]
pub struct Followed {
    paths: BTreeMap<String, Watched>,
    /// The last change of each question, by path, cell and metric.
    last: BTreeMap<(String, String, Metric), Last>,
}

/// The last change of a question.
#[derive(Debug, Clone)]
pub struct Last {
    /// The question.
    pub asked: Asked,
    /// The change.
    pub change: Change,
}

impl Followed {
    /// Takes the next entry of the log, and says what it shows.
    pub fn take(&mut self, entry: &Logged) -> Vec<Event> {
        match entry {
            Logged::Watching(watching) => {
                for listed in &watching.paths {
                    if self.path(&listed.name).listed(listed) {
                        self.last.retain(|(of, ..), _| *of != listed.name);
                    }
                }
                Vec::new()
            }
            Logged::Ended(ended) => {
                let events = self.path(&ended.path).take(ended);
                events.iter().for_each(|event| self.note(event));
                events
            }
            Logged::Began(_) | Logged::Measures(_) | Logged::Missed(_) | Logged::Notified(_) => {
                Vec::new()
            }
        }
    }

    /// The last change of a question, if there was one.
    pub fn last(&self, path: &str, cell: &str, metric: Metric) -> Option<&Last> {
        self.last.get(&(path.to_owned(), cell.to_owned(), metric))
    }

    /// The last changes of all questions of a path.
    pub fn of_path<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Last> {
        self.last.iter().filter(move |((of, ..), _)| of == path).map(|(_, last)| last)
    }

    fn path(&mut self, name: &str) -> &mut Watched {
        self.paths.entry(name.to_owned()).or_default()
    }

    fn note(&mut self, event: &Event) {
        if let What::Changed { asked, change } = &event.what {
            let question = (event.path.clone(), asked.cell.clone(), asked.metric);
            let last = Last { asked: asked.clone(), change: (**change).clone() };
            self.last.insert(question, last);
        }
    }
}
