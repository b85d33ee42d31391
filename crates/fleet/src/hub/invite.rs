//! Who is invited to a hub, and who is let in no more.

use super::Hub;
use crate::creds::Called;
use crate::error::FleetError;
use crate::letter::Letter;
use crate::rights::Role;
use nkeys::{KeyPair, XKey};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use v6gap_core::fleet::names::HostName;
use v6gap_store::{KeptLines, Store};
use v6gap_sys::secrets;

/// The list, in the folder of a hub.
const FILE: &str = "agents.json";

/// A key is never invited twice, so none of its tokens counts, whatever the clock showed when they
/// were made: the end of the year 9999.
const FOR_EVER_UNIX_S: u64 = 253_402_300_799;

/// Held by whoever changes the list: of two who did at once one would be lost.
const LOCK: &str = "agents.lock";

/// All agents that were ever invited, in the order of that.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invited {
    v6gap: u8,
    agents: Vec<Agent>,
}

/// An agent that was invited.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    name: HostName,
    /// Public key of its token.
    user: String,
    /// Public key for which words are sealed.
    seal: String,
    /// When it was revoked, in s since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revoked_unix_s: Option<u64>,
}

impl Invited {
    /// Keeps others from changing the list in the folder of a hub.
    fn lock(folder: &Path) -> Result<KeptLines, FleetError> {
        Ok(KeptLines::open(&folder.join(LOCK), &mut |_| {})?)
    }

    /// The list in the folder of a hub; empty if nobody was invited.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(folder: &Path) -> Result<Self, FleetError> {
        let path = folder.join(FILE);
        if !Store::exists(&path) {
            return Ok(Invited { v6gap: 1, agents: Vec::new() });
        }
        let text = Store::read_list(&path)?;
        serde_json::from_str(&text).map_err(|error| FleetError::file(&path, error))
    }

    fn write(&self, folder: &Path) -> Result<(), FleetError> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self);
        let text = text.map_err(|error| FleetError::file(&path, error))? + "\n";
        Ok(Store::write_file(&path, text)?)
    }

    /// Keys whose tokens do not count, with until when in s since 1970.
    pub fn revoked(&self) -> BTreeMap<String, u64> {
        let revoked = self.agents.iter().filter(|agent| agent.revoked_unix_s.is_some());
        revoked.map(|agent| (agent.user.clone(), FOR_EVER_UNIX_S)).collect()
    }

    /// Those that are let in, with the public key for which the words of their jobs are sealed.
    pub fn seals(&self) -> BTreeMap<HostName, String> {
        let there = self.agents.iter().filter(|agent| agent.revoked_unix_s.is_none());
        there.map(|agent| (agent.name.clone(), agent.seal.clone())).collect()
    }

    /// Those that are let in no more, by whatever key.
    pub fn gone(&self) -> BTreeSet<HostName> {
        let there = self.seals();
        let names = self.agents.iter().map(|agent| &agent.name);
        names.filter(|name| !there.contains_key(*name)).cloned().collect()
    }
}

impl Hub {
    /// Invites an agent: returns its credentials, which are kept nowhere here.
    ///
    /// # Errors
    /// If it is invited already, or the list cannot be written.
    pub fn invite(&self, name: &HostName) -> Result<Letter, FleetError> {
        let _lock = Invited::lock(&self.folder)?;
        let (letter, invited) = self.with(name)?;
        invited.write(&self.folder)?;
        Ok(letter)
    }

    /// Credentials of an agent, and the list with it.
    fn with(&self, name: &HostName) -> Result<(Letter, Invited), FleetError> {
        let mut invited = Invited::read(&self.folder)?;
        if invited.seals().contains_key(name) {
            let (name, hub) = (name.to_string(), self.folder.clone());
            return Err(FleetError::Invited { name, hub });
        }
        let seal = XKey::new();
        let letter = self.letter(&Called::Agent(name.clone()), Role::Agent, &seal)?;
        invited.agents.push(Agent {
            name: name.clone(),
            user: KeyPair::from_seed(&letter.user)?.public_key(),
            seal: seal.public_key(),
            revoked_unix_s: None,
        });
        Ok((letter, invited))
    }

    /// [`Hub::invite`], with the credentials in a new file that its owner alone may read. The file
    /// is made first: credentials of an agent that is on the list would be lost without one.
    ///
    /// # Errors
    /// As [`Hub::invite`]; also if there is something of that name.
    pub fn invite_to(&self, name: &HostName, path: &Path) -> Result<(), FleetError> {
        let _lock = Invited::lock(&self.folder)?;
        let (letter, invited) = self.with(name)?;
        super::make(path, &letter.text())?;
        invited.write(&self.folder).inspect_err(|_| {
            // What stays behind is of nobody whom the hub knows.
            let _ = secrets::take_back(path);
        })
    }

    /// Lets an agent in no more. Nodes that run here see it when they are told to read their
    /// configuration again, which `hub run` does.
    ///
    /// # Errors
    /// If it is not invited, or the list or the configurations cannot be written.
    pub fn revoke(&self, name: &HostName) -> Result<(), FleetError> {
        let _lock = Invited::lock(&self.folder)?;
        let mut invited = Invited::read(&self.folder)?;
        let theirs = |agent: &&mut Agent| agent.name == *name && agent.revoked_unix_s.is_none();
        let agent = invited.agents.iter_mut().find(theirs);
        let agent = agent.ok_or_else(|| FleetError::NotInvited(name.to_string()))?;
        agent.revoked_unix_s = Some(v6gap_sys::clock::wall_ns() / 1_000_000_000);
        invited.write(&self.folder)?;
        self.configure()
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{self, Places};
    use super::super::nodes;
    use super::*;

    #[test]
    fn of_two_who_invite_at_once_none_is_lost() {
        let folder = std::env::temp_dir().join(format!("v6gap-invite-{}", std::process::id()));
        let hub = Hub::init(&folder, nodes::parse("localhost").unwrap(), false).unwrap();
        let name: HostName = "rome/a".parse().unwrap();
        let other = Invited::lock(&folder).unwrap();
        assert!(hub.invite(&name).is_err());
        drop(other);
        hub.invite(&name).unwrap();
        assert!(matches!(hub.invite(&name), Err(FleetError::Invited { .. })));
        hub.revoke(&name).unwrap();
        hub.invite(&name).unwrap();
        let invited = Invited::read(&folder).unwrap();
        assert_eq!((invited.seals().len(), invited.revoked().len()), (1, 1));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn whoever_is_on_the_list_has_a_file() {
        let folder = std::env::temp_dir().join(format!("v6gap-file-{}", std::process::id()));
        let hub = Hub::init(&folder, nodes::parse("localhost").unwrap(), false).unwrap();
        let name: HostName = "rome/a".parse().unwrap();
        let is_invited = || Invited::read(&folder).unwrap().seals().contains_key(&name);
        let there = folder.join("there.creds");
        std::fs::write(&there, "mine").unwrap();
        for wrong in [&folder.join("missing/a.creds"), &there] {
            assert!(matches!(hub.invite_to(&name, wrong), Err(FleetError::Io { .. })));
            assert!(!is_invited(), "{}", wrong.display());
        }
        assert_eq!(std::fs::read_to_string(&there).unwrap(), "mine");
        let file = folder.join("a.creds");
        hub.invite_to(&name, &file).unwrap();
        assert!(is_invited() && file.exists());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    /// As on the host of another node, to which the list alone was copied.
    #[test]
    fn nodes_are_told_of_a_list_that_came_from_elsewhere() {
        let folder = std::env::temp_dir().join(format!("v6gap-copied-{}", std::process::id()));
        let nodes = nodes::parse("localhost,localhost,localhost").unwrap();
        let hub = Hub::init(&folder, nodes, false).unwrap();
        let files = [0, 1, 2].map(|index| Places::of(&folder, index).config);
        let texts = || files.clone().map(|file| std::fs::read_to_string(file).unwrap());
        let name: HostName = "rome/a".parse().unwrap();
        hub.invite(&name).unwrap();
        let before = texts();
        hub.keep_configured().unwrap();
        assert_eq!(texts(), before, "nobody was revoked");
        hub.revoke(&name).unwrap();
        files.iter().zip(&before).for_each(|(file, text)| std::fs::write(file, text).unwrap());
        hub.keep_configured().unwrap();
        let (told, account) = (texts(), hub.keys.account.public_key());
        let list = Invited::read(&folder).unwrap().revoked();
        assert_eq!(list.len(), 1);
        for text in &told {
            assert_eq!(config::revoked(text, &account).as_ref(), Some(&list));
        }
        hub.keep_configured().unwrap();
        assert_eq!(texts(), told, "they know it");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
