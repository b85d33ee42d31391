//! Subjects, streams and buckets of the broker, and what each role may say and hear.

use super::names::HostName;
use crate::record::RunId;
use alloc::format;
use alloc::string::String;

/// Bucket of grants. Its stream allows atomic batches and a time to live for each message, keeps
/// one value a key, and is read by the leader of its replicas alone (no direct get).
pub const GRANTS: &str = "grants";
/// Bucket of plans that are applied, by their names.
pub const MESHES: &str = "meshes";
/// Bucket of the last visit of each path; can be made again from the archive.
pub const STATE: &str = "state";
/// Stream of results.
pub const RESULTS: &str = "RESULTS";
/// What the stream of results holds.
pub const RESULTS_SUBJECTS: &str = "v6gap.res.>";
/// All heartbeats.
pub const HEARTBEATS: &str = "v6gap.hb.*.*";
/// All replies.
pub const REPLIES: &str = "v6gap.rep.*.*.*";

fn of(kind: &str, host: &HostName) -> String {
    format!("v6gap.{kind}.{}.{}", host.site(), host.host())
}

/// Where a host says that it is there.
pub fn heartbeat(host: &HostName) -> String {
    of("hb", host)
}

/// Where a host is given orders.
pub fn command(host: &HostName) -> String {
    of("cmd", host)
}

/// Where a host answers the order of that number. Nobody else may write there, so the subject
/// proves who answered, and it passes leaf nodes, which `allow_responses` does not.
pub fn reply(host: &HostName, number: u64) -> String {
    format!("{}.{number}", of("rep", host))
}

/// Where a host sends a part of a run that begins at `at` bytes of its journal.
pub fn result(host: &HostName, run: &RunId, at: u64) -> String {
    format!("{}.{run}.{at}", of("res", host))
}

/// Where a host hears what the archive has.
pub fn ack(host: &HostName) -> String {
    of("ack", host)
}

/// The host that a subject of these is of: its third and fourth part.
pub fn host(subject: &str) -> Option<HostName> {
    let mut parts = subject.split('.');
    if parts.next() != Some("v6gap") {
        return None;
    }
    let (_, site, host) = (parts.next()?, parts.next()?, parts.next()?);
    HostName::new(site, host).ok()
}

/// What a role may write to and listen to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Subjects that it may write to.
    pub publish: alloc::vec::Vec<String>,
    /// Subjects that it may listen to.
    pub subscribe: alloc::vec::Vec<String>,
}

/// Rights of the agent of a host, all of them: it needs none of `JetStream`, and no inbox, since
/// nothing that it says is answered.
pub fn agent(host: &HostName) -> Rights {
    Rights {
        publish: [
            heartbeat(host),
            format!("{}.>", of("rep", host)),
            format!("{}.>", of("res", host)),
        ]
        .into(),
        subscribe: [command(host), ack(host)].into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_says_whose_it_is() {
        let name: HostName = "rome/lab-a".parse().unwrap();
        let run = RunId::from_bits(0);
        for subject in
            [heartbeat(&name), command(&name), reply(&name, 7), result(&name, &run, 0), ack(&name)]
        {
            assert_eq!(host(&subject), Some(name.clone()), "{subject}");
        }
        assert_eq!(reply(&name, 7), "v6gap.rep.rome.lab-a.7");
        assert_eq!(result(&name, &run, 12), "v6gap.res.rome.lab-a.000000.12");
        for subject in ["", "v6gap", "v6gap.hb.rome", "other.hb.rome.a", "v6gap.hb.*.>"] {
            assert_eq!(host(subject), None, "{subject}");
        }
    }

    #[test]
    fn an_agent_may_nothing_of_others() {
        let rights = agent(&"rome/a".parse().unwrap());
        let all = rights.publish.iter().chain(&rights.subscribe);
        assert!(all.clone().all(|subject| subject.contains(".rome.a")), "{rights:?}");
        assert!(!rights.publish.iter().any(|subject| subject.contains("cmd")));
    }
}
