//! Who is invited, as a coordinator knows it from the folder of its hub, and what becomes of an
//! order to somebody who is not.

use crate::error::FleetError;
use crate::hub::invite::Invited;
use crate::orders::Writer;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use v6gap_core::fleet::message::{Answer, Command, Failure, Measured, Order, Reply};
use v6gap_core::fleet::names::HostName;

/// How old it may be, in ns: somebody may have been invited since, or anew with another key.
const LIST_NS: u64 = 5_000_000_000;

/// The list of who is invited.
#[derive(Debug, Default)]
pub(super) struct List {
    /// Public keys for which words are sealed.
    seals: BTreeMap<HostName, String>,
    /// Who was revoked.
    gone: BTreeSet<HostName>,
    /// When it was read, in ns.
    read_ns: Option<u64>,
    /// Why it could not be read the last time.
    trouble: Option<String>,
}

impl List {
    /// Reads it in the folder of a hub, unless it was just read. One that cannot be read changes
    /// nothing; why not is returned when it was not said before.
    pub fn look(&mut self, folder: &Path, now_ns: u64) -> Option<String> {
        if self.read_ns.is_some_and(|read_ns| now_ns.saturating_sub(read_ns) <= LIST_NS) {
            return None;
        }
        self.read_ns = Some(now_ns);
        let trouble = match Invited::read(folder) {
            Ok(all) => {
                (self.seals, self.gone) = (all.seals(), all.gone());
                None
            }
            Err(error) => Some(error.to_string()),
        };
        let is_new = trouble != self.trouble;
        self.trouble.clone_from(&trouble);
        trouble.filter(|_| is_new)
    }

    /// Whether that host was revoked, so that what it said is of nobody. One that the list does not
    /// have may be invited at another node.
    pub fn is_gone(&self, host: &HostName) -> bool {
        self.gone.contains(host)
    }

    /// An order as it is sent to its host.
    ///
    /// # Errors
    /// In words, if the host is not in the list or has a key there that is none.
    pub fn written(&self, command: &Command, writer: &Writer) -> Result<Vec<u8>, String> {
        let seal = self.seals.get(&command.to);
        let seal =
            seal.ok_or("it is not invited here: copy agents.json to this node of the hub")?;
        writer.write(command, seal).map_err(|error: FleetError| error.to_string())
    }
}

/// That an order which cannot be given came to nothing: of one to prepare, an answer is waited for.
pub(super) fn not_given(command: &Command, why: String) -> Option<Reply> {
    let Order::Prepare(prepare) = &command.order else { return None };
    // The list may be another one at the next attempt.
    let failure = Failure { why, lasting: false, measured: Measured::default() };
    Some(Reply {
        version: command.version,
        from: command.to.clone(),
        number: command.number,
        token: prepare.token,
        answer: Answer::Failed(failure),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::{Hub, nodes};
    use crate::orders::tests::prepare;
    use nkeys::{KeyPair, XKey};
    use v6gap_core::fleet::id::Token;

    #[test]
    fn a_list_that_cannot_be_read_changes_nothing_and_is_told_once() {
        let folder = std::env::temp_dir().join(format!("v6gap-list-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |text: &str| std::fs::write(folder.join("agents.json"), text).unwrap();
        let seal = XKey::new().public_key();
        let good =
            format!(r#"{{"v6gap":1,"agents":[{{"name":"rome/a","user":"U","seal":"{seal}"}}]}}"#);
        let writer = Writer { jobs: KeyPair::new_user(), seals: XKey::new() };
        let mut list = List::default();
        let mut now_ns = 0;
        let mut look = |list: &mut List| {
            now_ns += LIST_NS + 1;
            list.look(&folder, now_ns)
        };
        write(&good);
        assert_eq!(look(&mut list), None);
        assert!(list.written(&prepare(), &writer).is_ok());
        write("half of");
        let why = look(&mut list).unwrap();
        assert!(why.contains("agents.json"), "{why}");
        assert_eq!(look(&mut list), None, "it was said");
        assert!(list.written(&prepare(), &writer).is_ok(), "who was invited is");
        write(&good);
        assert_eq!(look(&mut list), None);
        write("half of");
        assert_eq!(look(&mut list), Some(why), "it was good meanwhile");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn who_was_revoked_is_gone_until_it_is_invited_anew() {
        let folder = std::env::temp_dir().join(format!("v6gap-gone-{}", std::process::id()));
        let hub = Hub::init(&folder, nodes::parse("localhost").unwrap(), false).unwrap();
        let [one, other]: [HostName; 2] = ["rome/a", "rome/b"].map(|name| name.parse().unwrap());
        let mut list = List::default();
        let mut now_ns = 0;
        let mut gone = || {
            now_ns += LIST_NS + 1;
            assert_eq!(list.look(&folder, now_ns), None);
            [&one, &other].map(|host| list.is_gone(host))
        };
        assert_eq!(gone(), [false, false], "they may be invited at another node");
        hub.invite(&one).unwrap();
        hub.invite(&other).unwrap();
        hub.revoke(&one).unwrap();
        assert_eq!(gone(), [true, false]);
        hub.invite(&one).unwrap();
        assert_eq!(gone(), [false, false]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn an_order_to_prepare_for_who_is_not_invited_fails_by_that_and_no_other_is_waited_for() {
        let writer = Writer { jobs: KeyPair::new_user(), seals: XKey::new() };
        let why = List::default().written(&prepare(), &writer).unwrap_err();
        assert!(why.contains("not invited here: copy agents.json"), "{why}");
        let reply = not_given(&prepare(), why.clone()).unwrap();
        assert_eq!((reply.from.as_str(), reply.number, reply.token), ("rome/a", 1, Token(7)));
        let failure = Failure { why, lasting: false, measured: Measured::default() };
        assert_eq!(reply.answer, Answer::Failed(failure));
        let status = Command { order: Order::Status, ..prepare() };
        assert_eq!(not_given(&status, String::new()), None);
    }
}
