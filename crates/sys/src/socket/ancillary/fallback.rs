//! Other platforms: the bytes and the sender alone.

use super::{Arrived, Departed, Heard, KernelTimes, Notes};
use crate::Unavailable;
use crate::socket::{Datagram, Domain, SocketError};
use std::io;

const BECAUSE: &str = "this program has it on Linux only";

pub(super) fn report_marks(_socket: &Datagram, _on: bool) -> Result<(), Unavailable> {
    Err(Unavailable::new("the marks of packets that arrive", BECAUSE))
}

pub(super) fn report_local(_socket: &Datagram, _on: bool) -> Result<(), Unavailable> {
    Err(Unavailable::new("the address to which packets were sent", BECAUSE))
}

pub(super) fn report_times(_socket: &Datagram, which: KernelTimes) -> Result<(), Unavailable> {
    match which {
        KernelTimes::Off => Ok(()),
        KernelTimes::Arrivals | KernelTimes::Both => {
            Err(Unavailable::new("the kernel's times of packets", BECAUSE))
        }
    }
}

pub(super) fn receive(socket: &Datagram, bytes: &mut [u8]) -> io::Result<Arrived> {
    let (bytes, source) = socket.recv_from(bytes)?;
    Ok(Arrived { bytes, source, local: None, hop_limit: None, traffic_class: None, wall_ns: None })
}

pub(super) fn answer(socket: &Datagram, bytes: &[u8], arrived: &Arrived) -> io::Result<usize> {
    socket.send_to(bytes, arrived.source)
}

pub(super) fn departed(_socket: &Datagram) -> io::Result<Option<Departed>> {
    Ok(None)
}

pub(in crate::socket) fn hear_routers<S>(
    _socket: &S,
    _domain: Result<Domain, SocketError>,
) -> Result<(), Unavailable> {
    Err(Unavailable::new("what routers tell", BECAUSE))
}

pub(super) fn heard<S>(_socket: &S) -> io::Result<Option<Heard>> {
    Ok(None)
}

pub(super) fn notes(_bytes: &[u8]) -> Notes {
    Notes::default()
}
