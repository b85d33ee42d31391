//! The keys of a hub: one file, which its owner alone may read.

use crate::error::FleetError;
use crate::parts;
use crate::rights::Role;
use nkeys::{KeyPair, XKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use v6gap_sys::secrets;

/// The file with them, in the folder of the hub.
const FILE: &str = "keys.json";

/// Keys of a hub.
#[derive(Debug)]
pub struct Keys {
    /// Signs the accounts.
    pub operator: KeyPair,
    /// The account of servers.
    pub system: KeyPair,
    /// The account of the fleet.
    pub account: KeyPair,
    /// Sign users, each in its role.
    pub signers: BTreeMap<Role, KeyPair>,
    /// Signs jobs: agents know its public half and start nothing without its signature.
    pub jobs: KeyPair,
    /// Seals the words of jobs for the two hosts that use them.
    pub seals: XKey,
}

/// Seeds as they are written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Seeds {
    v6gap: u8,
    operator: String,
    system: String,
    account: String,
    agent: String,
    coordinator: String,
    sink: String,
    operators: String,
    jobs: String,
    seals: String,
}

impl Keys {
    /// New keys.
    pub fn generate() -> Self {
        Keys {
            operator: KeyPair::new_operator(),
            system: KeyPair::new_account(),
            account: KeyPair::new_account(),
            signers: Role::ALL.map(|role| (role, KeyPair::new_account())).into(),
            jobs: KeyPair::new_user(),
            seals: XKey::new(),
        }
    }

    /// The key that signs users of a role.
    ///
    /// # Errors
    /// Never for keys that were made or read here.
    pub fn signer(&self, role: Role) -> Result<&KeyPair, FleetError> {
        self.signers.get(&role).ok_or_else(|| FleetError::NotInvited(role.word().to_owned()))
    }

    /// What nodes without certificates prove themselves by to each other. It follows from a key, so
    /// that all who have the hub's folder have the same, and nobody learns the key from it.
    ///
    /// # Errors
    /// Never for keys that were made or read here.
    pub fn routes_word(&self) -> Result<String, FleetError> {
        let text = format!("v6gap routes {}", self.system.seed()?);
        Ok(parts::hash(text.as_bytes()))
    }

    /// Writes them into the folder of a hub, where none are.
    ///
    /// # Errors
    /// If they are there, or cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FleetError> {
        let path = folder.join(FILE);
        let of = |role| self.signer(role).and_then(|key| Ok(key.seed()?));
        let seeds = Seeds {
            v6gap: 1,
            operator: self.operator.seed()?,
            system: self.system.seed()?,
            account: self.account.seed()?,
            agent: of(Role::Agent)?,
            coordinator: of(Role::Coordinator)?,
            sink: of(Role::Sink)?,
            operators: of(Role::Operator)?,
            jobs: self.jobs.seed()?,
            seals: self.seals.seed()?,
        };
        let text = serde_json::to_string_pretty(&seeds).map_err(|e| FleetError::file(&path, e))?;
        secrets::create(&path, &(text + "\n")).map_err(FleetError::io(&path))?;
        Ok(())
    }

    /// Reads those of the hub in `folder`.
    ///
    /// # Errors
    /// If there are none, others may read them, or they are no keys.
    pub fn read(folder: &Path) -> Result<Self, FleetError> {
        let path = folder.join(FILE);
        let secret = secrets::read(&path, None).map_err(FleetError::io(&path))?;
        if let Ok(others @ 1..) = secret.others {
            let why = format!("others may read or change it (mode bits {others:03o})");
            return Err(FleetError::file(&path, why));
        }
        let seeds: Seeds =
            serde_json::from_str(&secret.text).map_err(|e| FleetError::file(&path, e))?;
        let key = |seed: &str| KeyPair::from_seed(seed).map_err(FleetError::from);
        Ok(Keys {
            operator: key(&seeds.operator)?,
            system: key(&seeds.system)?,
            account: key(&seeds.account)?,
            signers: BTreeMap::from([
                (Role::Agent, key(&seeds.agent)?),
                (Role::Coordinator, key(&seeds.coordinator)?),
                (Role::Sink, key(&seeds.sink)?),
                (Role::Operator, key(&seeds.operators)?),
            ]),
            jobs: key(&seeds.jobs)?,
            seals: XKey::from_seed(&seeds.seals)?,
        })
    }
}
