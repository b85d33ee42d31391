//! Who may do what: JSON Web Tokens of NATS, signed with nkeys.
//!
//! A token is a head, claims and an Ed25519 signature over both, each in base64url without padding,
//! between dots. The operator signs accounts, an account's signing keys sign users. What a user may
//! do is not in the user's token: it is in the account's, beside the key that signed the user, as a
//! template into which the server puts the user's tags. So no server needs to be told of a new
//! agent, and whoever can sign agents cannot sign more than agents.

use crate::error::FleetError;
use crate::rights::{Role, Template};
use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use v6gap_core::fleet::names::HostName;

/// Head of every token: the kind of signature is that of nkeys.
const HEAD: &str = r#"{"typ":"JWT","alg":"ed25519-nkey"}"#;

/// Version of the claims.
const VERSION: u8 = 2;

/// Random bytes of a token's own name.
const NAME_BYTES: usize = 16;

/// When a token is made, and what it is called.
#[derive(Debug, Clone)]
pub struct Made {
    /// In s since 1970.
    pub at_unix_s: u64,
    /// Different in each token.
    pub name: String,
}

impl Made {
    /// A token that is made now.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn now() -> Result<Self, FleetError> {
        let random: [u8; NAME_BYTES] = v6gap_sys::entropy::bytes()?;
        let name = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Made { at_unix_s: v6gap_sys::clock::wall_ns() / 1_000_000_000, name })
    }
}

/// What the operator says of itself.
///
/// # Errors
/// If `operator` has no seed.
pub fn operator(operator: &KeyPair, system: &KeyPair, made: &Made) -> Result<String, FleetError> {
    let claims = json!({
        "type": "operator", "version": VERSION, "system_account": system.public_key(),
    });
    sign(operator, &operator.public_key(), "v6gap", claims, made)
}

/// The account in which servers talk of themselves, which JetStream wants to be there.
///
/// # Errors
/// If `operator` has no seed.
pub fn system(operator: &KeyPair, system: &KeyPair, made: &Made) -> Result<String, FleetError> {
    let claims = json!({ "type": "account", "version": VERSION, "limits": limits() });
    sign(operator, &system.public_key(), "SYS", claims, made)
}

/// The account of the fleet: a signing key for each role with what it may do, and who is let in no
/// more. `revoked` has, by the public key of a user, the time in s since 1970 until which its
/// tokens do not count.
///
/// # Errors
/// If `operator` has no seed.
pub fn account(
    operator: &KeyPair,
    account: &KeyPair,
    signers: &BTreeMap<Role, KeyPair>,
    revoked: &BTreeMap<String, u64>,
    made: &Made,
) -> Result<String, FleetError> {
    let scopes: Vec<Value> = signers.iter().map(|(role, key)| scope(*role, key)).collect();
    let mut limits = limits();
    for of_streams in ["mem_storage", "disk_storage", "streams", "consumer"] {
        limits.insert(of_streams.to_owned(), json!(-1));
    }
    let claims = json!({
        "type": "account", "version": VERSION, "limits": limits, "signing_keys": scopes,
        "revocations": revoked,
    });
    sign(operator, &account.public_key(), "fleet", claims, made)
}

/// Who is let in no more, as the token of an account says; nothing if it is none.
pub fn revoked(token: &str) -> Option<BTreeMap<String, u64>> {
    let claims = BASE64URL_NOPAD.decode(token.split('.').nth(1)?.as_bytes()).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    serde_json::from_value(claims.pointer("/nats/revocations")?.clone()).ok()
}

/// A user of the fleet's account. It has no rights of its own: a token that is signed with a scoped
/// key and has some is refused by the server.
///
/// # Errors
/// If `signer` has no seed.
pub fn user(
    signer: &KeyPair,
    account: &KeyPair,
    user: &KeyPair,
    called: &Called,
    made: &Made,
) -> Result<String, FleetError> {
    let claims = json!({
        "type": "user", "version": VERSION, "issuer_account": account.public_key(),
        "tags": called.tags(),
    });
    sign(signer, &user.public_key(), &called.to_string(), claims, made)
}

/// What a user is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Called {
    /// An agent, whose name is in the subjects that are its own.
    Agent(HostName),
    /// A part of the hub.
    Part(Role),
}

impl Called {
    fn tags(&self) -> Vec<String> {
        match self {
            Called::Agent(name) => {
                vec![format!("site:{}", name.site()), format!("host:{}", name.host())]
            }
            Called::Part(_) => Vec::new(),
        }
    }
}

impl std::fmt::Display for Called {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Called::Agent(name) => write!(f, "{name}"),
            Called::Part(role) => f.write_str(role.word()),
        }
    }
}

fn scope(role: Role, key: &KeyPair) -> Value {
    let Template { publish, subscribe } = role.template();
    json!({
        "kind": "user_scope", "key": key.public_key(), "role": role.word(),
        "template": {
            "pub": { "allow": publish }, "sub": { "allow": subscribe },
            "subs": -1, "data": -1, "payload": -1,
        },
    })
}

/// Nothing is limited: what a fleet may take is limited by its streams.
fn limits() -> Map<String, Value> {
    let names = ["subs", "data", "payload", "imports", "exports", "conn", "leaf"];
    let mut limits: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!(-1))).collect();
    limits.insert("wildcards".to_owned(), json!(true));
    limits
}

fn sign(
    issuer: &KeyPair,
    subject: &str,
    name: &str,
    claims: Value,
    made: &Made,
) -> Result<String, FleetError> {
    let claims = json!({
        "jti": made.name, "iat": made.at_unix_s, "iss": issuer.public_key(), "name": name,
        "sub": subject, "nats": claims,
    });
    let encode = |bytes: &[u8]| BASE64URL_NOPAD.encode(bytes);
    let signed = format!("{}.{}", encode(HEAD.as_bytes()), encode(claims.to_string().as_bytes()));
    let signature = issuer.sign(signed.as_bytes())?;
    Ok(format!("{signed}.{}", encode(&signature)))
}

#[cfg(test)]
mod tests;
