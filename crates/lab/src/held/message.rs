//! What holder and asker say to each other: one request and one reply a connection.
//!
//! A request is text up to the end of the stream: `status`, `reset`, `down` or `join NODE`. A reply
//! is `+` and text, with file descriptors if asked for, or `-` and a reason.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Longest request, in bytes.
const REQUEST_BYTES_MAX: u64 = 4096;
/// Longest reply, in bytes.
const REPLY_BYTES_MAX: u64 = 1 << 20;
/// Descriptors in one reply: user and network namespace.
const DESCRIPTORS_MAX: usize = 2;

/// What a holder can be asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Tell what you are.
    Status,
    /// Hand out the namespaces of a node.
    Join(String),
    /// Start the counts of the wire anew.
    Reset,
    /// End.
    Down,
    /// Something else.
    Unknown,
}

/// A reply: text or reason, and descriptors.
pub(crate) struct Reply {
    pub answer: Result<String, String>,
    pub descriptors: Vec<OwnedFd>,
}

/// Sends a request and reads its reply.
pub(crate) fn ask(mut holder: UnixStream, request: &Request) -> io::Result<Reply> {
    holder.write_all(encode(request).as_bytes())?;
    holder.shutdown(Shutdown::Write)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut first = [0_u8; 1];
    let mut parts = [IoSliceMut::new(&mut first)];
    let received = recvmsg(&holder, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            descriptors.extend(sent);
        }
    }
    let mut text = String::new();
    holder.take(REPLY_BYTES_MAX).read_to_string(&mut text)?;
    let answer = match (received.bytes, first) {
        (1, [b'+']) => Ok(text),
        (1, [b'-']) => Err(text),
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    };
    Ok(Reply { answer, descriptors })
}

/// Reads the request that a peer sent.
pub(crate) fn read_request(peer: &UnixStream) -> io::Result<Request> {
    let mut text = String::new();
    peer.take(REQUEST_BYTES_MAX).read_to_string(&mut text)?;
    Ok(decode(&text))
}

/// Sends a reply with descriptors.
pub(crate) fn reply(
    mut peer: &UnixStream,
    answer: Result<&str, &str>,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let (mark, text) = match answer {
        Ok(text) => (b"+", text),
        Err(reason) => (b"-", reason),
    };
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // The descriptors travel with the first byte.
    sendmsg(peer, &[IoSlice::new(mark)], &mut control, SendFlags::NOSIGNAL)?;
    peer.write_all(text.as_bytes())
}

fn encode(request: &Request) -> String {
    match request {
        Request::Status => "status".to_owned(),
        Request::Join(node) => format!("join {node}"),
        Request::Reset => "reset".to_owned(),
        Request::Down => "down".to_owned(),
        Request::Unknown => String::new(),
    }
}

fn decode(text: &str) -> Request {
    match (text, text.strip_prefix("join ")) {
        ("status", _) => Request::Status,
        ("reset", _) => Request::Reset,
        ("down", _) => Request::Down,
        (_, Some(node)) => Request::Join(node.to_owned()),
        _ => Request::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn requests_survive_their_journey() {
        for request in
            [Request::Status, Request::Reset, Request::Down, Request::Join("a b".to_owned())]
        {
            assert_eq!(decode(&encode(&request)), request);
        }
        for junk in ["", "statuses", "join", "\0\0"] {
            assert_eq!(decode(junk), Request::Unknown);
        }
    }

    #[test]
    fn a_reply_carries_descriptors_and_text() {
        let (asker, holder) = UnixStream::pair().expect("a pair of sockets");
        let answering = std::thread::spawn(move || {
            let request = read_request(&holder).expect("a request");
            assert_eq!(request, Request::Join("server".to_owned()));
            let file = std::fs::File::open("/proc/self/ns/net").expect("/proc is mounted");
            reply(&holder, Ok("here"), &[file.as_fd(), file.as_fd()]).expect("sent");
        });
        let reply = ask(asker, &Request::Join("server".to_owned())).expect("a reply");
        answering.join().expect("no panic");
        assert_eq!(reply.answer.as_deref(), Ok("here"));
        assert_eq!(reply.descriptors.len(), 2);
    }

    #[test]
    fn a_holder_that_hangs_up_is_an_error() {
        let (asker, holder) = UnixStream::pair().expect("a pair of sockets");
        let answering = std::thread::spawn(move || read_request(&holder).map(drop));
        let error = ask(asker, &Request::Status).map(|reply| reply.answer).expect_err("no reply");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        answering.join().expect("no panic").expect("a request");
    }
}
