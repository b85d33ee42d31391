//! Unix: what `uname` and the C library tell.

use super::Host;

/// Adds what all Unix systems share.
pub(super) fn complete(host: Host) -> Host {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| Some(name.to_string_lossy().into_owned());
    Host {
        os: text(names.sysname()),
        kernel: text(names.release()),
        hostname: text(names.nodename()),
        page_size: Some(rustix::param::page_size()),
        is_root: Some(rustix::process::geteuid().is_root()),
        ..host
    }
}
