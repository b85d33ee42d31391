//! Files of keys, right and wrong.

use super::*;

/// Alice's and Bob's keys in RFC 7748 section 6.1, the private one first.
const ALICE: [&str; 2] = [
    "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a",
];
const BOB: [&str; 2] = [
    "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
    "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f",
];

fn of(lines: &str) -> Result<Pinned, NoPinnedKeys> {
    Pinned::of_text(&format!("{HEADING}\n{lines}"))
}

#[test]
fn public_keys_are_those_of_the_standard() {
    for [private, public] in [ALICE, BOB] {
        let pinned = of(&format!("private {private}\npeer other {}", BOB[1])).unwrap();
        assert_eq!(pinned.public().to_string(), public);
    }
}

#[test]
fn a_new_file_is_read_once_it_names_a_peer() {
    let (text, public) = Pinned::new_file([9; KEY_BYTES]);
    assert!(Pinned::is_in(&text) && text.contains(&format!("# {public}\n")));
    assert_eq!(Pinned::of_text(&text).err(), Some(NoPinnedKeys::Peer));
    let pinned = Pinned::of_text(&format!("{text}peer bob {}  # at home\n", BOB[1])).unwrap();
    assert_eq!(pinned.public(), public);
    let key = |digits| PublicKey(key_of(digits).unwrap());
    assert_eq!(pinned.peer(&key(BOB[1])), Some("bob"));
    assert_eq!(pinned.peer(&key(ALICE[1])), None);
}

#[test]
fn a_wrong_line_is_named_and_not_shown() {
    let private = format!("private {}", ALICE[0]);
    for (lines, line) in [
        (format!("{private}\n{private}"), 3),
        (format!("{private}0"), 2),
        (format!("{private}\npeer {}", BOB[1]), 3),
        (format!("{private}\n\npeer bob {}é", &BOB[1][2..]), 4),
        (format!("{private}\npeer bob {}", "00".repeat(KEY_BYTES)), 3),
        (format!("{private}\npeer bob 01{}", "00".repeat(KEY_BYTES - 1)), 3),
    ] {
        let Err(error @ NoPinnedKeys::Line { line: found, .. }) = of(&lines) else {
            panic!("{lines}");
        };
        assert_eq!(found, line, "{error}");
        assert!(!error.to_string().contains(ALICE[0]), "{error}");
    }
    assert_eq!(of(&format!("peer bob {}", BOB[1])).err(), Some(NoPinnedKeys::Private));
}

/// Else what stands in the clear there would let everybody in who guesses it.
#[test]
fn what_was_meant_to_have_keys_is_no_word() {
    let private = format!("private {}", ALICE[0]);
    for (text, line) in [
        (format!("{HEADING}, version 2\n{private}"), 1),
        (format!("# The private key of this computer\n\n{private}"), 3),
    ] {
        assert!(Pinned::is_in(&text), "{text}");
        let error = Pinned::of_text(&text).err();
        assert!(matches!(error, Some(NoPinnedKeys::Line { line: told, .. }) if told == line));
    }
    for text in [
        format!("\u{feff}{HEADING}\n{private}\npeer bob {}", BOB[1]),
        format!("# keys of Alice\n\n {HEADING}  # of hers\n{private}\npeer bob {}", BOB[1]),
    ] {
        assert!(Pinned::is_in(&text) && Pinned::of_text(&text).is_ok(), "{text}");
    }
    for word in ["", "a word\nv6gap pinned keys", "private property", "# a word"] {
        assert!(!Pinned::is_in(word), "{word}");
    }
}

#[test]
fn a_host_has_to_prove_the_key_of_its_name() {
    let pinned = of(&format!("private {}\npeer alice {}\npeer bob {}", ALICE[0], ALICE[1], BOB[1]));
    let bob = PublicKey(key_of(BOB[1]).unwrap());
    let named = |name| pinned.as_ref().unwrap().towards(name).peer(&bob).map(str::to_owned);
    assert_eq!(named("alice"), None);
    assert_eq!(named("bob").as_deref(), Some("bob"));
    assert_eq!(named("192.0.2.7").as_deref(), Some("bob"));
}
