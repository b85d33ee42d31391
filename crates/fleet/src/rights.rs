//! Roles of a fleet and the subjects that each may use.

/// Who speaks in a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// A host that measures.
    Agent,
    /// Says who measures when.
    Coordinator,
    /// Keeps results.
    Sink,
    /// The person who says what shall be measured.
    Operator,
}

/// What a role may do; `{{tag(…)}}` stands for a tag of the user, which the server puts there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Subjects that it may publish to.
    pub publish: Vec<String>,
    /// Subjects that it may subscribe to.
    pub subscribe: Vec<String>,
}

/// The name of an agent in its subjects.
const OWN: &str = "{{tag(site)}}.{{tag(host)}}";

/// Where an operator asks how the fleet does.
pub const ASK: &str = "v6gap.ask.status";

/// Where an operator is answered, and nowhere else: a question says where its answer goes, and who
/// asks may not write wherever a coordinator may.
pub const ANSWERED: &str = "_INBOX.operator.";

/// Where streams are made and read.
const API: &str = "$JS.API";

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Agent, Role::Coordinator, Role::Sink, Role::Operator];

    /// Its name in files and tokens.
    pub fn word(self) -> &'static str {
        match self {
            Role::Agent => "agent",
            Role::Coordinator => "coordinator",
            Role::Sink => "sink",
            Role::Operator => "operator",
        }
    }

    /// What it may do. An agent has no right in JetStream at all, and no inbox: it says what it has
    /// to say, and nothing answers that. Only the coordinator commands and grants, only the sink
    /// says that a result is kept.
    pub fn template(self) -> Template {
        let own = |kinds: &[&str]| -> Vec<String> {
            kinds.iter().map(|kind| kind.replace("OWN", OWN)).collect()
        };
        let inbox = format!("_INBOX.{}.>", self.word());
        let (publish, subscribe) = match self {
            Role::Agent => (
                own(&["v6gap.hb.OWN", "v6gap.rep.OWN.>", "v6gap.res.OWN.>"]),
                own(&["v6gap.cmd.OWN", "v6gap.ack.OWN"]),
            ),
            Role::Coordinator => (
                // The last one: who asks how the fleet does is answered.
                own(&["v6gap.cmd.>", "$KV.grants.>", "$KV.state.>", &format!("{ANSWERED}>")])
                    .into_iter()
                    .chain(reads(&["KV_grants", "KV_meshes", "KV_state"]))
                    .chain(makes())
                    .collect(),
                own(&["v6gap.hb.>", "v6gap.rep.>", "$KV.meshes.>", "v6gap.ask.>"])
                    .into_iter()
                    .chain([inbox])
                    .collect(),
            ),
            Role::Sink => (
                own(&["v6gap.ack.>", "$JS.ACK.RESULTS.>"])
                    .into_iter()
                    .chain(reads(&["RESULTS"]))
                    .chain(consumes("RESULTS"))
                    .chain(makes())
                    .collect(),
                vec![inbox],
            ),
            Role::Operator => (
                own(&["$KV.meshes.>", "v6gap.ask.>"])
                    .into_iter()
                    .chain(reads(&["KV_grants", "KV_meshes", "KV_state", "RESULTS"]))
                    .collect(),
                vec![inbox],
            ),
        };
        Template { publish, subscribe }
    }
}

/// Reading single messages at the leader of a stream, and how the stream does.
fn reads(streams: &[&str]) -> Vec<String> {
    let kinds = ["STREAM.INFO", "STREAM.MSG.GET"];
    let of = |stream: &&str| kinds.map(|kind| format!("{API}.{kind}.{stream}"));
    streams.iter().flat_map(of).chain([format!("{API}.INFO")]).collect()
}

/// Making the streams of the fleet if they are not there, and changing those that an earlier
/// version made otherwise. Nobody may delete one.
fn makes() -> Vec<String> {
    let create = |stream: &&str| format!("{API}.STREAM.CREATE.{stream}");
    let info = |stream: &&str| format!("{API}.STREAM.INFO.{stream}");
    let all = ["RESULTS", "KV_grants", "KV_meshes", "KV_state"];
    let updates = ["RESULTS", "KV_state"].map(|stream| format!("{API}.STREAM.UPDATE.{stream}"));
    all.iter().flat_map(|stream| [create(stream), info(stream)]).chain(updates).collect()
}

/// Having what is new in a stream, by a consumer.
fn consumes(stream: &str) -> Vec<String> {
    ["CONSUMER.CREATE", "CONSUMER.DURABLE.CREATE", "CONSUMER.INFO", "CONSUMER.MSG.NEXT"]
        .iter()
        .map(|kind| format!("{API}.{kind}.{stream}.>"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use v6gap_core::fleet::names::HostName;
    use v6gap_core::fleet::subject;

    #[test]
    fn an_agent_s_rights_are_those_that_its_machine_counts_on() {
        let host: HostName = "rome/lab-a".parse().unwrap();
        let filled = |subjects: Vec<String>| -> BTreeSet<String> {
            let tag =
                |s: String| s.replace("{{tag(site)}}", "rome").replace("{{tag(host)}}", "lab-a");
            subjects.into_iter().map(tag).collect()
        };
        let (Template { publish, subscribe }, expected) =
            (Role::Agent.template(), subject::agent(&host));
        assert_eq!(filled(publish), expected.publish.into_iter().collect());
        assert_eq!(filled(subscribe), expected.subscribe.into_iter().collect());
    }

    #[test]
    fn an_agent_has_no_right_beyond_its_own_subjects() {
        let Template { publish, subscribe } = Role::Agent.template();
        assert_eq!(publish.len(), 3);
        for subject in publish.iter().chain(&subscribe) {
            assert!(subject.contains(OWN), "{subject}");
            assert!(!subject.contains("$JS") && !subject.contains("$KV"), "{subject}");
        }
        assert!(subscribe.iter().all(|subject| !subject.contains(['*', '>'])), "{subscribe:?}");
    }

    #[test]
    fn what_is_one_role_s_is_no_other_s() {
        let may = |role: Role, start: &str| {
            role.template().publish.iter().any(|subject| subject.starts_with(start))
        };
        for (start, whose) in [
            ("v6gap.cmd", Role::Coordinator),
            ("$KV.grants", Role::Coordinator),
            ("v6gap.ack", Role::Sink),
            ("$KV.meshes", Role::Operator),
            ("v6gap.res", Role::Agent),
        ] {
            for role in Role::ALL {
                assert_eq!(may(role, start), role == whose, "{} {start}", role.word());
            }
        }
        for role in Role::ALL {
            assert!(role.template().publish.iter().all(|s| !s.contains("DELETE") && s != ">"));
        }
    }
}
