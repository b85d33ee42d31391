//! Options of iperf3 that this program does not have, and what to do instead.

/// What to say to an option that iperf3 has and this program has not, if it is one.
pub fn sentence(option: &str) -> Option<&'static str> {
    let name = option.split('=').next().unwrap_or(option);
    Some(match name {
        "--sctp" => "v6gap does not measure SCTP.",
        "-k" | "--blockcount" | "-n" | "--bytes" => {
            "v6gap measures for a time, so that both families meet the same conditions: \
             --for TIME or --pairs N."
        }
        "-t" | "--time" => {
            "--for TIME is that of the whole run; that of one trial is `time` in a plan file."
        }
        "-F" | "--file" => "v6gap reads no file to send: that would measure the disk.",
        "-I" | "--pidfile" => {
            "v6gap serve stays in the foreground; the service manager knows its process."
        }
        "-D" | "--daemon" => "v6gap serve stays in the foreground; a service manager can keep it.",
        "--get-server-output" => "both ends are in every result: v6gap show last -V.",
        "-u" | "--udp" => "TCP and UDP are both measured; --measure udp keeps UDP alone.",
        "-R" | "--reverse" => "the direction is `direction = \"receive\"` in a plan file.",
        "--bidir" => "v6gap measures one direction at a time, so that neither disturbs the other.",
        "-b" | "--bitrate" | "--bandwidth" => "the rate of UDP is `bitrate` in a plan file.",
        "-l" | "--length" => {
            "sizes are `message`, `payload` and `write` in a plan file; a list makes a sweep."
        }
        "-P" | "--parallel" => "v6gap measures one connection at a time.",
        "-w" | "--window" => {
            "v6gap leaves the window to the system, which sizes it alike for both."
        }
        "-i" | "--interval" => "v6gap shows what it found after each pair of trials.",
        "-O" | "--omit" => "the start that is left out is `warmup` in a plan file.",
        "-M" | "--set-mss" => {
            "the MSS follows from the MTU, which differs in what it leaves to each family."
        }
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
        assert_eq!(sentence("--pears"), None);
    }
}
