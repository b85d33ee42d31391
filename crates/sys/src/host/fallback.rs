//! Windows: what the standard library tells.

use super::Host;

#[expect(clippy::disallowed_methods, reason = "the standard library has no other host name")]
pub(super) fn complete(host: Host) -> Host {
    Host {
        os: Some(std::env::consts::OS.to_owned()),
        hostname: std::env::var("COMPUTERNAME").ok(),
        ..host
    }
}

pub(super) fn hypervisor() -> Result<Option<String>, &'static str> {
    Err("this program can read it on Linux only")
}
