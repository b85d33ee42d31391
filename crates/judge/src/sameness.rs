//! Whether two addresses of a name are one machine, by what was seen of both. What says that they
//! are different wins over what says that they are the same: a ticket may be taken by many
//! machines, and a difference is one.

use alloc::string::String;
use alloc::vec::Vec;
use v6gap_core::family::PerFamily;

/// What is known of the far ends of both families.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    /// They are different machines, or answer differently.
    Different(Difference),
    /// Nothing tells.
    Unknown,
    /// They are one service: a session of one was taken by the other.
    Service,
    /// They are one machine.
    Proved,
}

/// In what they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The public keys of their certificates.
    Key,
    /// The statuses of their answers.
    Status,
    /// What they call themselves.
    Server,
    /// The edges of a network that answered.
    Edge,
}

/// What was seen over one family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The public key of its certificate.
    pub key: Option<Vec<u8>>,
    /// Status of its answer.
    pub status: Option<u16>,
    /// What it calls itself (`Server`).
    pub server: Option<String>,
    /// Which edge of a network answered, by the headers that tell.
    pub edge: Option<String>,
}

/// What was seen of both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// Of each by itself.
    pub of: PerFamily<Seen>,
    /// Whether a ticket of one family was taken over the other; `None` if none was given.
    pub ticket: Option<bool>,
    /// Whether the address of IPv6 is made of that of IPv4 (RFC 6052).
    pub translated: bool,
}

/// What follows.
pub fn same(evidence: &Evidence) -> Same {
    let Evidence { of: PerFamily { v4, v6 }, ticket, translated } = evidence;
    if *translated {
        return Same::Proved;
    }
    // What tells of the machine comes before what tells of its answer.
    let differences = [
        (Difference::Key, differ(&v4.key, &v6.key)),
        (Difference::Server, differ(&v4.server, &v6.server)),
        (Difference::Edge, differ(&v4.edge, &v6.edge)),
        (Difference::Status, differ(&v4.status, &v6.status)),
    ];
    match (differences.into_iter().find(|(_, differ)| *differ), ticket) {
        (Some((difference, _)), _) => Same::Different(difference),
        (None, Some(true)) => Same::Service,
        (None, Some(false) | None) => Same::Unknown,
    }
}

/// What is not known of one differs from nothing.
fn differ<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn evidence(ticket: Option<bool>) -> Evidence {
        let seen = Seen {
            key: Some(alloc::vec![1, 2]),
            status: Some(200),
            server: Some("a".to_string()),
            edge: None,
        };
        Evidence { of: PerFamily { v4: seen.clone(), v6: seen }, ticket, translated: false }
    }

    #[test]
    fn a_ticket_says_service_and_no_ticket_says_nothing() {
        assert_eq!(same(&evidence(Some(true))), Same::Service);
        assert_eq!(same(&evidence(Some(false))), Same::Unknown);
        assert_eq!(same(&evidence(None)), Same::Unknown);
        assert_eq!(same(&Evidence::default()), Same::Unknown);
    }

    #[test]
    fn any_difference_wins() {
        type Change = fn(&mut Seen);
        let changed: [(Difference, Change); 4] = [
            (Difference::Key, |seen| seen.key = Some(alloc::vec![9])),
            (Difference::Status, |seen| seen.status = Some(301)),
            (Difference::Server, |seen| seen.server = Some("b".to_string())),
            (Difference::Edge, |seen| seen.edge = Some("ams".to_string())),
        ];
        for (difference, change) in changed {
            let mut found = evidence(Some(true));
            found.of.v4.edge = Some("fra".to_string());
            change(&mut found.of.v6);
            assert_eq!(same(&found), Same::Different(difference));
        }
    }

    #[test]
    fn another_machine_is_told_before_another_status() {
        let mut found = evidence(None);
        (found.of.v6.status, found.of.v6.server) = (Some(403), Some("b".to_string()));
        assert_eq!(same(&found), Same::Different(Difference::Server));
    }

    #[test]
    fn a_translated_address_is_the_machine_itself() {
        let found = Evidence { translated: true, ..evidence(None) };
        assert_eq!(same(&found), Same::Proved);
    }
}
