//! Where what a page of a fleet shows leads.

use v6gap_core::fleet::names::HostName;

/// Where the answer to a path leads, and what is said of two sites, if anywhere.
pub struct Links<'a> {
    /// To the history of a path, or its report.
    pub path: &'a dyn Fn(&HostName, &HostName) -> Option<String>,
    /// To the hosts of two sites, which may be one.
    pub sites: &'a dyn Fn(&str, &str) -> Option<String>,
}

impl Links<'_> {
    /// Nowhere.
    pub const NONE: Links<'static> = Links { path: &|_, _| None, sites: &|_, _| None };

    /// To the pages of `v6gap web`. Names of hosts and sites need no escaping in an address.
    pub const OF_PAGES: Links<'static> = Links {
        path: &|from, to| Some(format!("/fleet/{from}/{to}")),
        sites: &|one, other| match one == other {
            true => Some(format!("/fleet?sites={one}")),
            false => Some(format!("/fleet?sites={one},{other}")),
        },
    };
}
