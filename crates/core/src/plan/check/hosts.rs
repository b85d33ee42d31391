//! The `[hosts]` table of a plan: addresses that are some.

use super::Problems;
use crate::plan::draft::Draft;
use alloc::format;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Tells of what is no address, or of the other family, and of hosts beside a lab's.
pub(super) fn check(draft: &Draft, problems: &mut Problems) {
    let hosts = &draft.hosts;
    if draft.lab.is_some() {
        let given = [
            ("hosts.server", hosts.server.is_some()),
            ("hosts.v4", hosts.v4.is_some()),
            ("hosts.v6", hosts.v6.is_some()),
            ("hosts.bind", !hosts.bind.is_empty()),
        ];
        for (key, _) in given.into_iter().filter(|(_, given)| *given) {
            problems.add(key, "the lab has hosts of its own");
        }
    }
    if let Some(text) = hosts.v4.as_ref().filter(|text| text.parse::<Ipv4Addr>().is_err()) {
        problems.add("hosts.v4", format!("\"{text}\" is no IPv4 address"));
    }
    // A link-local address has a zone behind it.
    let is_v6 = |text: &str| {
        let address = text.split('%').next().unwrap_or(text);
        address.parse::<Ipv6Addr>().is_ok()
    };
    if let Some(text) = hosts.v6.as_ref().filter(|text| !is_v6(text)) {
        problems.add("hosts.v6", format!("\"{text}\" is no IPv6 address"));
    }
    let is_any = |text: &str| is_v6(text) || text.parse::<IpAddr>().is_ok();
    for text in hosts.bind.iter().filter(|text| !is_any(text)) {
        problems.add("hosts.bind", format!("\"{text}\" is no address"));
    }
    for of_v6 in [false, true] {
        if hosts.bind.iter().filter(|text| is_any(text) && is_v6(text) == of_v6).count() > 1 {
            problems.add("hosts.bind", "one address of each family at most");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::check::check;
    use crate::plan::draft::{Draft, Hosts, Lab, Measure};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn keys(hosts: Hosts, lab: Option<Lab>) -> Vec<String> {
        let measure = [Measure { metric: "rtt".to_string(), ..Measure::default() }].into();
        let draft = Draft { v6gap: 1, hosts, lab, measure, ..Draft::default() };
        let found = check(&draft, 1).err().unwrap_or_default();
        found.into_iter().map(|problem| problem.key).collect()
    }

    #[test]
    fn what_is_no_address_is_told() {
        let text = |text: &str| Some(text.to_string());
        let swapped = Hosts { v4: text("2001:db8::1"), v6: text("192.0.2.1"), ..Hosts::default() };
        assert_eq!(keys(swapped, None), ["hosts.v4", "hosts.v6"]);
        let bind = ["nonsense", "fe80::1%eth0", "192.0.2.1", "192.0.2.2"].map(ToString::to_string);
        let hosts = Hosts { v6: text("fe80::7%eth0"), bind: bind.to_vec(), ..Hosts::default() };
        assert_eq!(keys(hosts, None), ["hosts.bind", "hosts.bind"]);
        let server = Hosts { server: text("b"), ..Hosts::default() };
        assert_eq!(keys(server.clone(), None), Vec::<String>::new());
        assert_eq!(keys(server, Some(Lab::default())), ["hosts.server"]);
    }
}
