//! macOS and FreeBSD: what `uname` and the C library tell.

pub(super) use super::unix::complete;
