//! What is to be measured, and who says what comes next.

use super::id::JobId;
use super::names::{HostName, LinkName};
use crate::record::RunId;
use crate::watch::Moment;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What a measurement takes for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Both hosts.
    Light,
    /// Both hosts and what carries them.
    Exclusive,
}

/// A plan as it is sent to agents.
#[derive(Debug, PartialEq, Eq)]
pub struct SentPlan {
    /// What it is called in the mesh's plan.
    pub name: String,
    /// The text of its file.
    pub text: String,
    /// A hash of the text, for records and for people: 16 hexadecimal digits.
    pub hash: String,
    /// Features that both ends must have.
    pub needs: Vec<String>,
}

/// One measurement of one path that is to be made again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The host that measures.
    pub from: HostName,
    /// The host that is measured to.
    pub to: HostName,
    /// Whether an agent runs at the far end; otherwise a server of its own is there.
    pub to_is_agent: bool,
    /// What a measurement takes for itself.
    pub class: Class,
    /// What carries it and is taken; none for [`Class::Light`].
    pub links: Vec<LinkName>,
    /// What is measured.
    pub plan: Arc<SentPlan>,
    /// Longest time that one measurement takes, in ns; above 0.
    pub longest_ns: u64,
    /// How often it is wanted, in ns.
    pub every_ns: u64,
    /// Port of the far end; `None` is the program's own.
    pub port: Option<u16>,
    /// Attempts of this round that failed.
    pub failed: u32,
    /// The run to continue.
    pub continued: Option<RunId>,
}

/// What work is known by: from where to where, the name of its plan, and the hash of that one's
/// text, which is another plan under the name once it is edited. Where the hash is not known it is
/// empty.
pub type Key<'a> = (&'a HostName, &'a HostName, &'a str, &'a str);

impl Work {
    /// What makes it the same work at another time.
    pub fn key(&self) -> Key<'_> {
        (&self.from, &self.to, &self.plan.name, &self.plan.hash)
    }
}

/// The time, by both of a host's clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// A clock that nobody sets and that goes on while the host sleeps, in ns from anywhere. All
    /// deadlines are by this one.
    pub ns: u64,
    /// The wall's time. For histories and hours only.
    pub wall: Moment,
}

/// How a job came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was measured, into that run if the client said so.
    Measured {
        /// The run at the client's.
        run: Option<RunId>,
    },
    /// An attempt failed, and another one is to be made.
    Failed {
        /// What it failed by, in words.
        why: String,
        /// After how long the next one may begin, in ns.
        again_ns: u64,
        /// Whether it was begun, so that something may have been sent.
        began: bool,
        /// The run for that to continue.
        run: Option<RunId>,
    },
    /// All attempts of this round failed, or another would not come out otherwise.
    GivenUp {
        /// What the last one failed by, in words.
        why: String,
        /// Attempts that were made.
        attempts: u32,
        /// Whether another attempt would come out the same.
        lasting: bool,
        /// Whether the last one was begun, so that something may have been sent.
        began: bool,
        /// The run that has what was measured nevertheless.
        run: Option<RunId>,
    },
    /// It was not granted, or too late; or this coordinator does not lead any more and another one
    /// sees to it.
    Lost {
        /// Whether it was begun, so that something may have been sent.
        began: bool,
    },
}

/// Whoever decides what is measured next: the timetable of a mesh.
pub trait Timetable {
    /// The work that is to begin now, among what is due and `is_free`; `None` if there is none. It
    /// is under way from then on, until [`Timetable::came`] is called for it.
    fn next(&mut self, now: Now, is_free: &dyn Fn(&Work) -> bool) -> Option<Work>;

    /// Work that [`Timetable::next`] gave came out so.
    fn came(&mut self, work: &Work, job: &JobId, outcome: &Outcome, now: Now);
}
