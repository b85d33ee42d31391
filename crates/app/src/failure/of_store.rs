//! Errors of stored results, plan files, namespaces and the system.

use super::{Failure, Outcome};
use crate::diag;
use std::io::ErrorKind;
use std::path::Path;
use v6gap_judge::analysis::AnalysisError;
use v6gap_perform::world::NotBuilt;
use v6gap_store::{PlanFileError, Store, StoreError};
use v6gap_sys::Unavailable;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::NotFound { ref reference } => {
                let failure = Failure::new("E502", Outcome::Usage, text);
                let failure = match Store::exists(Path::new(reference)) {
                    true => failure
                        .run(format!("v6gap show ./{reference}"), "the file that is called so"),
                    false => failure,
                };
                failure
                    .run("v6gap list", "shows what is stored")
                    .run("v6gap demo --quick", "makes a first result")
            }
            StoreError::Ambiguous { .. } => {
                Failure::new("E503", Outcome::Usage, text).run("v6gap list", "")
            }
            StoreError::Record { .. } => Failure::new("E504", Outcome::Unexpected, text),
            StoreError::NoJournal { .. } => Failure::new("E512", Outcome::Usage, text)
                .seen(
                    "A journal is what `v6gap export` writes without --format, and journal.jsonl \
                     in the folder of a run. Documents say what came of a run and cannot be \
                     turned back into one.",
                )
                .run("v6gap export RESULT -o RESULT.jsonl", "there: writes the journal"),
            StoreError::Taken { ref id } => Failure::new("E513", Outcome::Usage, text)
                .run(format!("v6gap show {id}"), "the one that is stored")
                .run("v6gap show FILE", "the other one, without storing it"),
            StoreError::Unfit { .. } => Failure::new("E514", Outcome::Usage, text),
            StoreError::Held { .. } => Failure::new("E505", Outcome::Usage, text)
                .seen("It was waited for in vain for 10 s."),
            StoreError::Locked { .. } => Failure::new("E505", Outcome::Usage, text)
                .seen("It can be shown meanwhile; changing it has to wait."),
            StoreError::NoHome => {
                Failure::new("E506", Outcome::Usage, text).run("V6GAP_DATA=folder v6gap …", "")
            }
            StoreError::Io { ref source, .. } => {
                let (code, outcome) = match source.kind() {
                    ErrorKind::NotFound => ("E507", Outcome::Usage),
                    ErrorKind::PermissionDenied => ("E508", Outcome::Permission),
                    _ => return Failure::refused(text),
                };
                Failure::new(code, outcome, text)
            }
        }
    }
}

impl From<PlanFileError> for Failure {
    fn from(error: PlanFileError) -> Self {
        match error {
            PlanFileError::Store(error) => error.into(),
            PlanFileError::Wrong { path, text, problems } => {
                let (what, rest) = diag::problems(&path, &text, &problems);
                Failure::new("E501", Outcome::Usage, what).verbatim(rest)
            }
        }
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        Failure::new("E504", Outcome::Unexpected, error.to_string())
    }
}

impl From<Unavailable> for Failure {
    fn from(error: Unavailable) -> Self {
        Failure::unexpected(error.to_string())
    }
}

impl From<NotBuilt> for Failure {
    fn from(error: NotBuilt) -> Self {
        let NotBuilt { why, console } = error;
        match console {
            Some(console) => Failure::system(&why, &console),
            None => Failure::unexpected(format!("the lab could not be built: {why}")),
        }
    }
}

impl Failure {
    /// The system refused an operation on a file or a stream, as `what` says with its words.
    pub fn refused(what: impl Into<String>) -> Self {
        Failure::new("E509", Outcome::Unexpected, what)
            .run("df -h", "where there is room")
            .run("V6GAP_DATA=folder v6gap …", "keeps results in another folder")
    }

    /// What was measured could not be stored.
    pub fn not_stored(error: &std::io::Error) -> Self {
        let cause = error.get_ref().map_or_else(|| error.to_string(), ToString::to_string);
        Failure::refused(cause)
    }

    /// This process may not listen along at `interface`.
    pub fn capture(interface: &str) -> Self {
        let what = format!("capturing at {interface} is not permitted");
        Failure::new("E302", Outcome::Permission, what)
            .seen("Nothing was sent. Measuring without --capture needs no privileges.")
            .likely("this process lacks the capability CAP_NET_RAW.")
            .run("sudo v6gap … --capture", "")
            .run("sudo setcap cap_net_raw+ep \"$(command -v v6gap)\"", "once, for everybody")
            .run("v6gap demo --capture", "captures in a lab, without privileges")
    }

    /// A managed device cannot be read; `why` in words.
    pub fn device(name: &str, why: &str) -> Self {
        let what = format!("the counters of {name} cannot be read by SNMP");
        Failure::new("E303", Outcome::Peer, what)
            .seen(format!("{why}."))
            .seen("Nothing was measured. Without --snmp the measurement needs no device.")
    }

    /// A lab of this host cannot be used as it was asked; `why` in words.
    pub fn of_lab(why: String) -> Self {
        Failure::new("E310", Outcome::Usage, why)
            .run("v6gap lab list", "labs that are up or being built")
    }

    /// This host lacks what a world asks for; `why` says what, why and how to get it.
    pub fn not_provided(why: &str) -> Self {
        Failure::new("E304", Outcome::Permission, format!("the lab cannot be made: {why}"))
            .seen("Nothing was measured.")
            .run("v6gap lab list --kinds", "what this host provides")
    }

    /// The emulated system of a lab did not come up; `why` in words, and what it said last.
    pub fn system(why: &str, console: &[String]) -> Self {
        let said = match console.is_empty() {
            true => "It said nothing.".to_owned(),
            false => "What it said last:".to_owned(),
        };
        Failure::new("E305", Outcome::Peer, why)
            .seen(said)
            .verbatim(console.join("\n"))
            .likely("its kernel is of another kind, or this computer is too busy to emulate it.")
            .run("v6gap explain E305", "what such a kernel must have")
    }

    /// The system gives this process no network namespaces; `why` in the words of the refusal.
    pub fn namespaces(why: &str) -> Self {
        let what = "a network on this computer needs permission to create network namespaces";
        Failure::new("E301", Outcome::Permission, what)
            .seen(format!("({why})"))
            .run("sudo v6gap demo", "")
            .run("sudo sysctl kernel.unprivileged_userns_clone=1", "Debian")
            .run("sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0", "Ubuntu")
            .run("docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN …", "in a container")
            .run("v6gap serve;  v6gap run HOST", "two hosts, no privileges")
    }
}
