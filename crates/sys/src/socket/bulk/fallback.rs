//! Other platforms: none of it.

use super::Reaped;
use crate::Unavailable;
use socket2::Socket;
use std::io;
use std::net::TcpStream;

const BECAUSE: &str = "this program has it on Linux only";

#[derive(Debug)]
pub(super) struct MemoryFile;

impl MemoryFile {
    pub(super) fn new(_bytes: &[u8]) -> Result<Self, Unavailable> {
        Err(Unavailable::new("sending a file without copying", BECAUSE))
    }
}

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, BECAUSE))
}

pub(super) fn set_pace(_socket: &Socket, _bytes_per_s: u64) -> Result<(), Unavailable> {
    Err(Unavailable::new("pacing by the kernel", BECAUSE))
}

pub(super) fn pace(_socket: &Socket) -> Result<Option<u64>, Unavailable> {
    Err(Unavailable::new("pacing by the kernel", BECAUSE))
}

pub(super) fn send_file(_stream: &TcpStream, _file: &MemoryFile, _n: usize) -> io::Result<usize> {
    unsupported()
}

pub(super) fn allow_in_place(_socket: &Socket) -> Result<(), Unavailable> {
    Err(Unavailable::new("sending memory without copying", BECAUSE))
}

pub(super) fn write_in_place(_stream: &TcpStream, _bytes: &[u8]) -> io::Result<usize> {
    unsupported()
}

pub(super) fn reap(_stream: &TcpStream) -> io::Result<Reaped> {
    unsupported()
}

pub(super) fn discard(_stream: &TcpStream, _count: usize) -> io::Result<usize> {
    unsupported()
}

pub(super) fn can_discard() -> Result<(), Unavailable> {
    Err(Unavailable::new("receiving without copying", BECAUSE))
}
