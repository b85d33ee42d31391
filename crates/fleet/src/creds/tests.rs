//! Tokens are read by other rules than they were written by: split, decoded and verified by hand.

use super::*;
use data_encoding::BASE64URL_NOPAD;

/// What a token says, after its signature was found to be that of `issuer`.
fn read(token: &str, issuer: &str) -> Value {
    let parts: Vec<&str> = token.split('.').collect();
    let [head, claims, signature] = parts[..] else { panic!("three parts: {token}") };
    let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).unwrap();
    assert_eq!(decode(head), br#"{"typ":"JWT","alg":"ed25519-nkey"}"#);
    let key = KeyPair::from_public_key(issuer).unwrap();
    key.verify(format!("{head}.{claims}").as_bytes(), &decode(signature)).unwrap();
    let claims: Value = serde_json::from_slice(&decode(claims)).unwrap();
    assert_eq!(claims["iss"], issuer);
    claims
}

fn made() -> Made {
    Made { at_unix_s: 1_800_000_000, name: "n".to_owned() }
}

#[test]
fn an_operator_signs_itself_and_names_the_servers_account() {
    let (of, system) = (KeyPair::new_operator(), KeyPair::new_account());
    let claims = read(&operator(&of, &system, &made()).unwrap(), &of.public_key());
    assert_eq!(claims["sub"], of.public_key());
    assert_eq!(claims["nats"]["system_account"], system.public_key());
    assert_eq!(claims["nats"]["type"], "operator");
    assert_eq!(claims["iat"], 1_800_000_000);
}

#[test]
fn an_account_has_a_key_for_each_role_and_who_is_let_in_no_more() {
    let (of, fleet) = (KeyPair::new_operator(), KeyPair::new_account());
    let signers = Role::ALL.map(|role| (role, KeyPair::new_account())).into();
    let revoked = BTreeMap::from([("UA".to_owned(), 7)]);
    let token = account(&of, &fleet, &signers, &revoked, &made()).unwrap();
    let claims = read(&token, &of.public_key());
    assert_eq!(claims["sub"], fleet.public_key());
    assert_eq!(claims["nats"]["revocations"], json!({ "UA": 7 }));
    assert_eq!(claims["nats"]["limits"]["streams"], -1);
    let scopes = claims["nats"]["signing_keys"].as_array().unwrap();
    assert_eq!(scopes.len(), 4);
    for scope in scopes {
        let role = Role::ALL.into_iter().find(|role| scope["role"] == role.word()).unwrap();
        assert_eq!(scope["key"], signers[&role].public_key());
        let allowed = &scope["template"]["pub"]["allow"];
        assert_eq!(*allowed, json!(role.template().publish));
    }
}

#[test]
fn a_user_has_tags_and_no_rights_of_its_own() {
    let (signer, fleet, key) =
        (KeyPair::new_account(), KeyPair::new_account(), KeyPair::new_user());
    let called = Called::Agent("rome/lab-a".parse().unwrap());
    let token = user(&signer, &fleet, &key, &called, &made()).unwrap();
    let claims = read(&token, &signer.public_key());
    assert_eq!((&claims["sub"], &claims["name"]), (&json!(key.public_key()), &json!("rome/lab-a")));
    let expected = json!({
        "type": "user", "version": 2, "issuer_account": fleet.public_key(),
        "tags": ["site:rome", "host:lab-a"],
    });
    assert_eq!(claims["nats"], expected);
}

#[test]
fn a_token_that_was_changed_is_found_out() {
    let (of, system) = (KeyPair::new_operator(), KeyPair::new_account());
    let token = operator(&of, &system, &made()).unwrap();
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    let mut claims = BASE64URL_NOPAD.decode(parts[1].as_bytes()).unwrap();
    let at = claims.iter().position(|&byte| byte == b'O').unwrap();
    claims[at] = b'A';
    parts[1] = BASE64URL_NOPAD.encode(&claims);
    let signature = BASE64URL_NOPAD.decode(parts[2].as_bytes()).unwrap();
    let signed = format!("{}.{}", parts[0], parts[1]);
    assert!(of.verify(signed.as_bytes(), &signature).is_err());
}
