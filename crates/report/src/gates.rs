//! What gates noted of trials that were kept, in words: the judge names the gate.

/// What stands between the name of a gate and the number of its trials.
const NOTED: &str = ": noted in ";

/// Gates that note something of a trial and keep it, and what they saw.
const GATES: [(&str, &str); 17] = [
    ("answers-differ", "the families were answered with bodies of other lengths"),
    ("fragmentation", "fragments were sent"),
    ("idle-restart", "connections rested so long that TCP may have started slowly again"),
    ("incomplete", "datagrams waited in vain for a fragment and are lost"),
    ("link-late", "the lab's user-space link was late"),
    ("lost", "exchanges or connections failed, which are in no mean"),
    ("marking", "packets came in with other marks than they were sent with"),
    ("no-value", "a value was lacking"),
    ("path-mtu", "ICMP said that packets were too big or could not be delivered"),
    ("queue-drops", "a host's own queue dropped packets, which the network did not lose"),
    ("rate-missed", "the sender left out more than 1 % of what it was asked for"),
    ("receiver-bound", "the receiver did not keep up and dropped datagrams"),
    ("refused-segments", "TCP segments came in that no connection had asked for"),
    ("retransmissions", "TCP segments were sent again"),
    ("search-bound", "the search reached the highest rate that it may try"),
    ("sender-bound", "the sender, not the network, set the rate"),
    ("short-body", "the body was too short, or came too suddenly, to have a rate"),
];

/// A reason for doubt: one that is the name of a gate says what the gate saw, and all others what
/// they said.
pub(crate) fn in_words(caveat: &str) -> String {
    let told = caveat.split_once(NOTED).and_then(|(before, noted)| {
        // Whose it is may stand before it.
        let at = before.rfind(": ").map_or(0, |at| at + 2);
        let (whose, name) = before.split_at(at);
        let (_, seen) = GATES.iter().find(|(gate, _)| *gate == name)?;
        let noted = match noted.strip_prefix("1 trials") {
            Some(rest) => format!("1 trial{rest}"),
            None => noted.to_owned(),
        };
        Some(format!("{whose}{seen} (noted in {noted})"))
    });
    told.unwrap_or_else(|| caveat.to_owned())
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn a_gate_says_what_it_saw_and_not_its_name() {
        let search =
            "the search reached the highest rate that it may try (noted in 2 trials, kept)";
        assert_eq!(in_words("search-bound: noted in 2 trials, kept"), search);
        assert_eq!(in_words("B: search-bound: noted in 2 trials, kept"), format!("B: {search}"));
        let once = "TCP segments were sent again (noted in 1 trial, kept)";
        assert_eq!(in_words("retransmissions: noted in 1 trials, kept"), once);
        for other in ["new-gate: noted in 2 trials, kept", "given up before the end: no time"] {
            assert_eq!(in_words(other), other);
        }
    }
}
