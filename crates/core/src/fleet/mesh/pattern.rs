//! Names of hosts with `*`: all of them, all of a site, or one.

use super::MeshHost;
use alloc::format;
use alloc::string::String;
use core::ops::Range;

/// Positions of the hosts, which are in the order of their names, that `text` means: `*` is all,
/// `SITE/*` those of a site, and `SITE/HOST` one.
///
/// # Errors
/// In words, if there is none.
pub(super) fn hosts(text: &str, all: &[MeshHost]) -> Result<Range<usize>, String> {
    if text == "*" {
        return Ok(0..all.len());
    }
    if let Some(site) = text.strip_suffix("/*") {
        let found = of_site(site, all);
        let none = || format!("no host of site \"{site}\" is among the hosts");
        return if found.is_empty() { Err(none()) } else { Ok(found) };
    }
    if text.contains('*') {
        return Err(format!(
            "\"{text}\": * stands for all hosts, or as in rome/* for all of a site"
        ));
    }
    let found = all.iter().position(|host| is_called(host, text));
    found.map(|at| at..at + 1).ok_or_else(|| format!("\"{text}\" is not among the hosts"))
}

/// Positions of the hosts of a site.
pub(super) fn of_site(site: &str, all: &[MeshHost]) -> Range<usize> {
    let first = all.partition_point(|host| host.name.site() < site);
    let of_it = all.get(first..).unwrap_or_default();
    let count = of_it.iter().take_while(|host| host.name.site() == site).count();
    first..first + count
}

fn is_called(host: &MeshHost, text: &str) -> bool {
    text.split_once('/') == Some((host.name.site(), host.name.host()))
}
