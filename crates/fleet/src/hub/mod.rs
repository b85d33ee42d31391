//! A hub: where agents, coordinator and sink meet. It is a folder with keys, and what is run of it.

pub mod authority;
pub mod config;
pub mod invite;
pub mod keys;
pub mod nodes;
pub mod server;

use crate::creds::{self, Called, Made};
use crate::error::FleetError;
use crate::letter::Letter;
use crate::rights::Role;
use authority::Authority;
use config::Places;
use invite::Invited;
use keys::Keys;
use nkeys::{KeyPair, XKey};
use nodes::Node;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use v6gap_store::Store;
use v6gap_sys::secrets;

/// What the folder of a hub says of it.
const FILE: &str = "hub.json";

/// The parts of a hub that have credentials in its folder.
const PARTS: [Role; 3] = [Role::Coordinator, Role::Sink, Role::Operator];

/// A hub.
#[derive(Debug)]
pub struct Hub {
    /// Its folder, as an absolute path.
    pub folder: PathBuf,
    /// Its nodes: one or three.
    pub nodes: Vec<Node>,
    /// Whether it speaks TLS.
    pub encrypted: bool,
    /// Its keys.
    pub keys: Keys,
}

/// What is in [`FILE`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Described {
    v6gap: u8,
    encrypted: bool,
    nodes: Vec<Node>,
}

impl Hub {
    /// Makes a hub in a folder: keys, certificates, configurations and the credentials of its
    /// parts.
    ///
    /// # Errors
    /// If there is one, or the folder cannot be written.
    pub fn init(folder: &Path, nodes: Vec<Node>, encrypted: bool) -> Result<Self, FleetError> {
        let folder = std::path::absolute(folder).map_err(FleetError::io(folder))?;
        if Store::exists(&folder.join(FILE)) {
            return Err(FleetError::HubThere(folder));
        }
        Store::private_folder(&folder)?;
        let hub = Hub { folder, nodes, encrypted, keys: Keys::generate() };
        hub.keys.write(&hub.folder)?;
        if encrypted {
            hub.certify()?;
        }
        for role in PARTS {
            let text = hub.letter(&Called::Part(role), role, &XKey::new())?.text();
            make(&hub.part(role), &text)?;
        }
        hub.configure()?;
        // Last, so that there is a whole hub or none.
        let described = Described { v6gap: 1, encrypted, nodes: hub.nodes.clone() };
        let path = hub.folder.join(FILE);
        let text = serde_json::to_string_pretty(&described);
        Store::write_file(&path, text.map_err(|e| FleetError::file(&path, e))? + "\n")?;
        Ok(hub)
    }

    /// The hub in a folder.
    ///
    /// # Errors
    /// If there is none, or its files cannot be read.
    pub fn open(folder: &Path) -> Result<Self, FleetError> {
        let folder = std::path::absolute(folder).map_err(FleetError::io(folder))?;
        let path = folder.join(FILE);
        if !Store::exists(&path) {
            return Err(FleetError::NoHub(folder));
        }
        let text = secrets::read(&path, None).map_err(FleetError::io(&path))?.text;
        let Described { encrypted, nodes, .. } =
            serde_json::from_str(&text).map_err(|e| FleetError::file(&path, e))?;
        let keys = Keys::read(&folder)?;
        Ok(Hub { folder, nodes, encrypted, keys })
    }

    /// Writes the configurations of all nodes anew: where its folder is, and who is let in no more.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn configure(&self) -> Result<(), FleetError> {
        let revoked = Invited::read(&self.folder)?.revoked();
        let accounts = config::accounts(self, &revoked)?;
        for index in 0..self.nodes.len() {
            let Places { config, .. } = Places::of(&self.folder, index);
            // Nodes without TLS know each other by a word that stands in it.
            Store::write_secret(&config, config::text(self, index, &accounts)?)?;
        }
        Ok(())
    }

    /// [`Hub::configure`], if others are let in no more than a node was told: the list may have
    /// come here from the host of another node.
    ///
    /// # Errors
    /// If the list cannot be read or the configurations cannot be written.
    pub fn keep_configured(&self) -> Result<(), FleetError> {
        let revoked = Invited::read(&self.folder)?.revoked();
        let account = self.keys.account.public_key();
        let is_told = |index: usize| {
            let Places { config, .. } = Places::of(&self.folder, index);
            let told = Store::read_list(&config).ok();
            told.and_then(|text| config::revoked(&text, &account)).as_ref() == Some(&revoked)
        };
        match (0..self.nodes.len()).all(is_told) {
            true => Ok(()),
            false => self.configure(),
        }
    }

    /// Where the credentials of a part are.
    pub fn part(&self, role: Role) -> PathBuf {
        self.folder.join(format!("{}.creds", role.word()))
    }

    /// Where agents reach it.
    pub fn addresses(&self) -> Vec<String> {
        let scheme = if self.encrypted { "tls" } else { "nats" };
        self.nodes.iter().map(|node| format!("{scheme}://{node}")).collect()
    }

    /// Credentials of somebody new.
    fn letter(&self, called: &Called, role: Role, seal: &XKey) -> Result<Letter, FleetError> {
        let user = KeyPair::new_user();
        let signer = self.keys.signer(role)?;
        let token = creds::user(signer, &self.keys.account, &user, called, &Made::now()?)?;
        let authority = match self.encrypted {
            true => {
                let path = self.folder.join("authority.pem");
                Some(secrets::read(&path, None).map_err(FleetError::io(&path))?.text)
            }
            false => None,
        };
        Ok(Letter {
            token,
            user: user.seed()?,
            name: called.to_string(),
            hubs: self.addresses(),
            jobs: self.keys.jobs.public_key(),
            seals: self.keys.seals.public_key(),
            seal: seal.seed()?,
            authority,
        })
    }

    fn certify(&self) -> Result<(), FleetError> {
        let authority = Authority::generate()?;
        Store::write_file(&self.folder.join("authority.pem"), &authority.certificate)?;
        for (index, node) in self.nodes.iter().enumerate() {
            let places = Places::of(&self.folder, index);
            let made = authority.certify(std::slice::from_ref(&node.host))?;
            // It makes the folder, too.
            Store::write_file(&places.certificate, made.certificate)?;
            make(&places.key, &made.key)?;
        }
        Ok(())
    }
}

/// Makes a file that its owner alone may read.
fn make(path: &Path, text: &str) -> Result<(), FleetError> {
    secrets::create(path, text).map_err(FleetError::io(path)).map(drop)
}
