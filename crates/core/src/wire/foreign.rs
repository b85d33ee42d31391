//! Words of the other end, made harmless where they enter: short, on one line, and without what
//! drives terminals, forges lines of a log or turns the direction of what follows.

use super::control::{Hello, Message, Queued, Refused, TaskFailure, Welcome};
use crate::host::Host;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Longest name of a host, a program, a feature or a fact, in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Longest reason, in bytes.
pub const WHY_BYTES_MAX: usize = 1024;

/// Longest single fact, in bytes.
pub const FACT_BYTES_MAX: usize = 4 << 10;

/// Most that a client tells of its host, names and facts together, in bytes.
pub const CLIENT_FACTS_BYTES_MAX: usize = 8 << 10;

/// Most that is taken of what a server tells of its host, in bytes.
pub const SERVER_FACTS_BYTES_MAX: usize = 64 << 10;

/// Most features that are taken of either end.
pub const FEATURES_MAX: usize = 1024;

/// Characters that foreign words must not bring along: they drive terminals, begin a line, turn the
/// direction of what follows, or cannot be seen.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// The text on one line, `?` in place of each such character, cut to so many bytes.
pub fn line(text: &str, bytes_max: usize) -> String {
    let mut line = String::new();
    for c in text.chars().map(|c| if is_unsafe(c) { '?' } else { c }) {
        if line.len() + c.len_utf8() > bytes_max {
            break;
        }
        line.push(c);
    }
    line
}

/// The host with harmless words, and as many of its facts, in the order of their names, as fit so
/// many bytes.
pub fn host(host: &Host, bytes_max: usize) -> Host {
    let mut facts = BTreeMap::new();
    let mut bytes = 0;
    for (name, fact) in &host.facts {
        let (name, fact) = (line(name, NAME_BYTES_MAX), line(fact, FACT_BYTES_MAX));
        if bytes + name.len() + fact.len() <= bytes_max {
            bytes += name.len() + fact.len();
            facts.insert(name, fact);
        }
    }
    Host { name: line(&host.name, NAME_BYTES_MAX), facts }
}

/// A message with harmless words. What tasks and their reports hold is checked elsewhere.
pub fn clean(message: Message) -> Message {
    match message {
        Message::Hello(hello) => Message::Hello(Hello {
            tool: line(&hello.tool, NAME_BYTES_MAX),
            host: host(&hello.host, CLIENT_FACTS_BYTES_MAX),
            want: names(&hello.want),
            wait: hello.wait,
        }),
        Message::Queued(Queued { place, seconds, by }) => {
            Message::Queued(Queued { place, seconds, by: line(&by, NAME_BYTES_MAX) })
        }
        Message::Welcome(welcome) => Message::Welcome(Box::new(Welcome {
            tool: line(&welcome.tool, NAME_BYTES_MAX),
            features: names(&welcome.features),
            limits: welcome.limits,
            host: host(&welcome.host, SERVER_FACTS_BYTES_MAX),
        })),
        Message::Refused(Refused { code, why }) => {
            Message::Refused(Refused { code, why: line(&why, WHY_BYTES_MAX) })
        }
        Message::Failed { number, failure } => {
            let why = line(&failure.why, WHY_BYTES_MAX);
            Message::Failed { number, failure: TaskFailure { why, ..failure } }
        }
        Message::Addresses(addresses) => Message::Addresses(addresses.bounded()),
        other => other,
    }
}

fn names(names: &[String]) -> Vec<String> {
    names.iter().take(FEATURES_MAX).map(|name| line(name, NAME_BYTES_MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::arbitrary::message;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn escapes_lines_and_directions_do_not_get_in() {
        let hostile = "lab\x1b[2J\x07\r\nsession 77  measures\u{202e}\u{2028}\u{feff}\u{ad}é";
        let clean = line(hostile, NAME_BYTES_MAX);
        assert_eq!(clean, "lab?[2J???session 77  measures????é");
        assert_eq!(line("ééé", 5), "éé");
    }

    #[test]
    fn facts_fit_all_together() {
        let facts = (0..100).map(|i| (i.to_string(), "x".repeat(i * 100))).collect();
        let told = Host { name: "n".repeat(100), facts };
        let taken = host(&told, CLIENT_FACTS_BYTES_MAX);
        let bytes: usize = taken.facts.iter().map(|(name, fact)| name.len() + fact.len()).sum();
        assert!((4000..=CLIENT_FACTS_BYTES_MAX).contains(&bytes), "{bytes}");
        assert_eq!(taken.name.len(), NAME_BYTES_MAX);
    }

    proptest! {
        /// Whatever is said, what is shown of it is harmless, short, and stays as it is.
        #[test]
        fn any_words_become_harmless(text in any::<String>(), most in 0_usize..100) {
            let clean = line(&text, most);
            prop_assert!(clean.len() <= most && !clean.contains(is_unsafe));
            prop_assert_eq!(line(&clean, most), clean);
        }

        #[test]
        fn cleaning_a_message_keeps_its_kind_and_is_done_once(message in message()) {
            let once = clean(message.clone());
            prop_assert_eq!(
                core::mem::discriminant(&once), core::mem::discriminant(&message)
            );
            prop_assert_eq!(clean(once.clone()), once);
        }
    }

    #[test]
    fn all_that_a_person_may_see_is_cleaned() {
        let bad = || "a\nb".to_string();
        let told = Host { name: bad(), facts: [(bad(), bad())].into() };
        let hello = Hello { tool: bad(), host: told, want: vec![bad()], wait: true };
        let Message::Hello(hello) = clean(Message::Hello(hello)) else { panic!("another kind") };
        let Hello { tool, host, want, .. } = hello;
        let (fact, value) = host.facts.first_key_value().unwrap();
        for text in [&tool, &host.name, &want[0], fact, value] {
            assert_eq!(text, "a?b");
        }
    }
}
