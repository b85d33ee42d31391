//! Name servers: those that are named, and the one that this system asks.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use v6gap_core::family::Family;
use v6gap_core::workload::Lookup;
use v6gap_sys::host::resolver;

/// The first one of this system, where it tells.
pub(crate) fn of_system() -> Option<SocketAddr> {
    resolver::servers().ok()?.into_iter().next()
}

/// The name server that a text names: an address, and a port behind it where that is another than
/// usual.
///
/// # Errors
/// If it names none, in words.
pub fn parse(text: &str) -> Result<SocketAddr, String> {
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inside = inside.and_then(|text| text.parse::<Ipv6Addr>().ok()).map(IpAddr::V6);
    let alone = inside.or_else(|| text.parse().ok());
    let server = alone.map(|address| SocketAddr::new(address, Lookup::PORT));
    let Some(server) = server.or_else(|| text.parse().ok()) else {
        return Err(
            "it must be an address, as in 192.0.2.53 or 2001:db8::53, or one with a port, \
                    as in 192.0.2.53:5300 or [2001:db8::53]:5300"
                .to_owned(),
        );
    };
    if Family::of(&server.ip()).is_none() {
        return Err("it is IPv4 in IPv6 form: write it as IPv4".to_owned());
    }
    match server.port() {
        0 => Err("nobody can be asked at port 0".to_owned()),
        _ => Ok(server),
    }
}

/// Why these are not asked beside each other, in words: there are too many, or one is named twice.
pub fn objection(servers: &[SocketAddr]) -> Option<String> {
    let most = usize::from(Lookup::SERVERS_MAX);
    if servers.len() > most {
        return Some(format!("{} name servers are more than {most}", servers.len()));
    }
    let is_again = |(index, server): &(usize, &SocketAddr)| servers[..*index].contains(server);
    let (_, again) = servers.iter().enumerate().find(is_again)?;
    Some(format!("the name server {} is named twice", Lookup::called(again)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_server_is_an_address_perhaps_with_a_port() {
        for (text, expected) in [
            ("192.0.2.53", "192.0.2.53:53"),
            ("192.0.2.53:5300", "192.0.2.53:5300"),
            ("2001:db8::53", "[2001:db8::53]:53"),
            ("[2001:db8::53]", "[2001:db8::53]:53"),
            ("[2001:db8::53]:5300", "[2001:db8::53]:5300"),
            ("[fe80::53%2]:53", "[fe80::53%2]:53"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_name_server_says_how_one_is_written() {
        for text in ["", "dns.example", "192.0.2", "192.0.2.53:", "[192.0.2.53]", "[::1]:65536"] {
            let why = parse(text).unwrap_err();
            assert!(why.contains("[2001:db8::53]:5300"), "{text}: {why}");
        }
        assert!(parse("::ffff:192.0.2.53").unwrap_err().contains("write it as IPv4"));
        assert!(parse("192.0.2.53:0").unwrap_err().contains("port 0"));
    }

    #[test]
    fn no_more_than_four_are_asked_and_each_once() {
        let of = |last: u8| SocketAddr::new([192, 0, 2, last].into(), Lookup::PORT);
        let servers: Vec<SocketAddr> = (1..=5).map(of).collect();
        assert_eq!(objection(&[]), None);
        assert_eq!(objection(&servers[..4]), None);
        assert_eq!(objection(&servers).as_deref(), Some("5 name servers are more than 4"));
        let twice = objection(&[of(1), of(2), of(1)]);
        assert_eq!(twice.as_deref(), Some("the name server 192.0.2.1 is named twice"));
    }
}
