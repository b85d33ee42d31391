//! One machine or two, by real servers that differ in one thing: what a probe says of them.

use super::sites::{AT, NAME, PORT, certified, nginx_of};
use super::support::{Home, figure, text};
use super::two_hosts::Lab;

/// How the site of IPv6 differs from that of IPv4, and what is said then.
const WORLDS: [(&str, &str); 4] = [
    ("", "one service: a TLS ticket from IPv4 was accepted over IPv6"),
    ("tickets", "whether both addresses lead to one machine is not known"),
    ("key", "their certificates have different keys"),
    ("edge", "different edges of a network answer"),
];

/// The words are right where the sites differ in nothing, in tickets, in keys, and in the edge.
pub fn are_told_apart() {
    let lab = Lab::up("same", &[]);
    for (differs, said) in WORLDS {
        let home = Home::new("same");
        let [four, six] = AT;
        let own = certified(&home, "one");
        let at_four = format!("listen {four}:{PORT} ssl http2;");
        let at_six = format!("listen [{six}]:{PORT} ssl http2;");
        let sites = match differs {
            // Each site has keys of its own for its tickets.
            "tickets" => vec![format!("{at_four} {own}"), format!("{at_six} {own}")],
            "key" => {
                let other = certified(&home, "other");
                vec![format!("{at_four} {own}"), format!("{at_six} {other}")]
            }
            "edge" => {
                let edge = |name: &str| format!("add_header X-Served-By cache-1-{name} always;");
                vec![
                    format!("{at_four} {own} {}", edge("fra")),
                    format!("{at_six} {own} {}", edge("ams")),
                ]
            }
            _ => vec![format!("{at_four} {at_six} {own}")],
        };
        let server = nginx_of(&lab, &home, &sites);
        let mut probe = lab.command(&home, "client");
        probe.args(["probe", &format!("https://{NAME}:{PORT}/"), "--v4", four, "--v6", six]);
        probe.args(["--mine", "--no-report", "--no-path", "-q", "--measure", "first-byte"]);
        let output = probe.args(["--http", "2", "--pairs", "6"]).output().unwrap();
        drop(server);
        let found = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(found.contains(said), "{differs}: {found} {}", text(&output.stderr));
        figure(if differs.is_empty() { "nothing differs" } else { differs }, said);
    }
}
