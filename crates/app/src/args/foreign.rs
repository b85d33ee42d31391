//! Options of iperf3, and some that are near, that this program does not have, and what to do
//! instead.

/// What to say to an option that iperf3 has and this program has not, if it is one.
pub fn sentence(option: &str) -> Option<&'static str> {
    let name = option.split('=').next().unwrap_or(option);
    Some(match name {
        "--sctp" => "v6gap does not measure SCTP.",
        "-k" | "--blockcount" => "v6gap counts bytes: -n SIZE.",
        "-F" | "--file" => "v6gap reads no file to send: that would measure the disk.",
        "-I" | "--pidfile" => {
            "v6gap serve stays in the foreground; the service manager knows its process."
        }
        "-D" | "--daemon" => "v6gap serve stays in the foreground; a service manager can keep it.",
        "--get-server-output" => "both ends are in every result: v6gap show last -V.",
        "-T" | "--title" => "a result gets its title later: v6gap note last --title WORDS.",
        "-f" => "v6gap chooses the units; --json has bit/s and s, --format is of documents.",
        "--logfile" => "results are stored, and what is printed can be led to a file: > FILE.",
        "--timestamps" => "a journal has the time of each trial: v6gap export last.",
        "--bind-dev" => "v6gap is told an address to measure from: -B ADDR.",
        "--mss" => "segments have their size by -M BYTES.",
        "--require-window" => "a plan can ask for that: require_window = true beside a window.",
        "--order" => "a plan can ask for that: order = \"sequential\" below [design].",
        "-i" | "--interval" => "v6gap shows what it found after each pair of trials.",
        _ if name.starts_with("--rsa-")
            || ["--username", "--authorized-users-path"].contains(&name) =>
        {
            "v6gap knows a shared key: --key WORD or --key-file FILE at both ends."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iperf_options_get_a_sentence_and_others_none() {
        assert_eq!(sentence("--sctp"), Some("v6gap does not measure SCTP."));
        assert!(sentence("--rsa-public-key-path=x").is_some_and(|s| s.contains("--key")));
        assert!(sentence("-T").is_some_and(|s| s.contains("v6gap note")));
        assert_eq!(sentence("--pears"), None);
    }
}
