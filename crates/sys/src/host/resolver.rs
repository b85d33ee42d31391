//! The name servers that this host asks.

use crate::Unavailable;
use std::net::IpAddr;

/// Where Unix keeps them (resolv.conf(5)).
const FILE: &str = "/etc/resolv.conf";

/// Their addresses, in the order in which they are asked.
///
/// # Errors
/// Where no file tells.
pub fn servers() -> Result<Vec<IpAddr>, Unavailable> {
    const WHAT: &str = "the name servers of this host";
    let text = Unavailable::or_read(WHAT, FILE)?;
    let servers = parsed(&text);
    if servers.is_empty() { Err(Unavailable::new(WHAT, "none is listed")) } else { Ok(servers) }
}

fn parsed(text: &str) -> Vec<IpAddr> {
    let server = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        words.next().filter(|word| *word == "nameserver")?;
        words.next()?.parse().ok()
    };
    text.lines().filter_map(server).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_stand_behind_their_word() {
        let text = "# nameserver 192.0.2.1\nsearch example.org\nnameserver 192.0.2.53\n\
                    nameserver\t2001:db8::53 \noptions edns0\nnameserver here\n";
        let expected: [IpAddr; 2] =
            ["192.0.2.53".parse().unwrap(), "2001:db8::53".parse().unwrap()];
        assert_eq!(parsed(text), expected);
    }
}
