//! macOS and FreeBSD: what `uname` and the C library tell.

pub(super) use super::unix::complete;

pub(super) fn hypervisor() -> Result<Option<String>, &'static str> {
    Err("this program can read it on Linux only")
}
