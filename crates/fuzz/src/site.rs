//! Where a stranger's redirect leads: what is taken for a site is the same one when it is written
//! and read again, and holds no credentials.

use v6gap_visit::Site;

/// A URL as it was typed or came from a server.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(site) = Site::parse(text) else { return };
    assert!(text.is_ascii() && site.port > 0 && !site.host.is_empty());
    let behind_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = behind_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    assert!(!authority.contains('@'), "{authority}");
    assert!(!site.host.contains(['@', '/', ' ', '[', ']']), "{:?}", site.host);
    assert!(site.url().bytes().all(|octet| (0x21..0x7f).contains(&octet)), "{:?}", site.url());
    let again = Site::parse(&site.url()).expect("what is written can be read");
    let parts = |site: &Site| (site.scheme, site.host.clone(), site.port, site.url());
    assert_eq!(parts(&again), parts(&site));
}
