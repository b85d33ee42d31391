//! Everything that can go wrong in the lab, each naming the operation and its object.

use std::io;
use v6gap_sys::Unavailable;
use v6gap_sys::netns::Refusal;

/// Why a lab could not be built, used or found.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The host gives no namespaces.
    #[error("no network lab on this host: {0}")]
    Refused(#[from] Refusal),
    /// The world contradicts itself or asks for more than the lab has.
    #[error("the world cannot be built: {0}")]
    World(String),
    /// The world asks for what this host does not have.
    #[error("the world cannot be built here: {0}")]
    Unavailable(#[from] Unavailable),
    /// The kernel refused a setting.
    #[error("cannot {operation}: {reason}")]
    Kernel {
        /// What was tried, with the object's name.
        operation: String,
        /// The kernel's words.
        reason: String,
    },
    /// A system call failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// What was tried, with the object's name.
        operation: String,
        /// The error.
        source: io::Error,
    },
    /// Interfaces did not come up in time.
    #[error("{0} was not ready after 3 s")]
    NotReady(String),
    /// An emulated system did not come up.
    #[error("the system at {node} did not come up: {why}")]
    NotUp {
        /// The node.
        node: String,
        /// What became of it.
        why: &'static str,
        /// Last lines of the system's console.
        console: Vec<String>,
    },
    /// What was asked for is nothing that this system can do at an emulated one.
    #[error("{0} is another system: only the server that runs there can be asked")]
    OtherSystem(String),
    /// The world has no such node.
    #[error("the lab has no node called `{0}`")]
    NoNode(String),
    /// A lab's name cannot be one.
    #[error("`{0}` is no name for a lab: 1 to 32 letters, digits, `-` and `_`")]
    Name(String),
    /// No lab of that name is up.
    #[error("no lab called `{0}` is up")]
    NoLab(String),
    /// A lab of that name is being built, and answers once it is up.
    #[error("the lab called `{0}` is being built still, or another user has its name")]
    Building(String),
    /// A lab of that name is up already.
    #[error("a lab called `{0}` is up already")]
    Exists(String),
    /// The holder of a lab answered with an error.
    #[error("the lab called `{name}` answers: {reason}")]
    Holder {
        /// The lab's name.
        name: String,
        /// The holder's words.
        reason: String,
    },
}

impl LabError {
    /// A failed system call: what was tried and what came of it.
    pub(crate) fn system(operation: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { operation: operation.into(), source }
    }
}
