//! Other platforms: the hop limit alone, which all have in one way.

use super::super::Domain;
use super::Marks;
use socket2::Socket;
use std::io;
use std::net::Ipv6Addr;

const BECAUSE: &str = "this program has it on Linux only";

fn refused<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, BECAUSE))
}

pub(super) fn set_traffic_class(_: &Socket, _: Domain, _: u8) -> io::Result<()> {
    refused()
}

pub(super) fn traffic_class(_: &Socket, _: Domain) -> Option<u8> {
    None
}

pub(super) fn lease_flow_label(_: &Socket, _: Ipv6Addr, _: u32) -> io::Result<()> {
    refused()
}

pub(super) fn flow_label(_: &Socket, _: Domain) -> Option<u32> {
    None
}

pub(super) fn arrived(_: &Socket, _: Domain) -> io::Result<Marks> {
    refused()
}
