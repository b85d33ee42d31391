//! A managed device that answers anything to whoever reads its counters: bounded data or an error,
//! in bounded time.
//!
//! The agent is a thread with a socket of loopback. What it answers has the number of the question
//! in it, or nothing would be looked at; the rest comes from the bytes.

use arbitrary::{Result, Unstructured};
use std::cell::Cell;
use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex, Once};
use v6gap_core::family::Family;
use v6gap_engine::device::{Access, Credentials, Device, Side};

/// Longer than a busy machine takes, in ns.
const TIMEOUT_NS: u64 = 5_000_000_000;

/// Most interfaces of a reading.
const PORTS_MAX: usize = 600;

/// Most answers of an input; then the agent answers nothing that makes sense.
const ANSWERS_MAX: usize = 64;

struct Agent {
    address: SocketAddr,
    inputs: Sender<Vec<u8>>,
}

static AGENT: LazyLock<Mutex<Agent>> = LazyLock::new(|| {
    let loopback = SocketAddr::new(Family::V4.loopback(), 0);
    let socket = UdpSocket::bind(loopback).expect("loopback has a free port");
    let address = socket.local_addr().expect("a bound socket has an address");
    let (inputs, received) = channel();
    std::thread::spawn(move || answer(&socket, &received));
    Mutex::new(Agent { address, inputs })
});

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Reads the agent, which answers what the bytes say.
pub fn run(data: &[u8]) {
    static HOOK: Once = Once::new();
    // The reader survives panics of the library inside it; a hook that aborts would not let it.
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    let agent = AGENT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    agent.inputs.send(data.to_vec()).expect("the agent's thread lives as long as the process");
    let credentials = match data.first().map_or(0, |kind| kind & 0x80) {
        0 => Credentials::Community("public".to_owned()),
        _ => Credentials::User {
            name: "reader".to_owned(),
            digest: v6gap_engine::device::Digest::Sha256,
            password: None,
            secret: None,
        },
    };
    let name = "sw".to_owned();
    let access = Access { name, address: agent.address, credentials, timeout_ns: TIMEOUT_NS };
    let mut device = Device::open(&access).expect("a socket on loopback");
    QUIET.set(true);
    let found = device.read(Side::Before);
    QUIET.set(false);
    if let Ok(reading) = found {
        assert!(reading.ports.len() <= PORTS_MAX, "{} interfaces", reading.ports.len());
        for name in reading.names.values().chain([&reading.name]) {
            assert!(name.chars().count() <= 64 && !name.chars().any(char::is_control), "{name:?}");
        }
    }
}

/// The agent's thread: an answer for each question, of the newest input.
fn answer(socket: &UdpSocket, inputs: &Receiver<Vec<u8>>) {
    let mut question = [0; 4096];
    let mut input: Vec<u8> = Vec::new();
    let (mut used, mut answers) = (0, 0);
    while let Ok((length, from)) = socket.recv_from(&mut question) {
        // Who asks takes a new socket within one input, too.
        if let Some(next) = inputs.try_iter().last() {
            input = next;
            (used, answers) = (1.min(input.len()), 0);
        }
        answers += 1;
        let rest = if answers > ANSWERS_MAX { &[][..] } else { &input[used..] };
        let mut bytes = Unstructured::new(rest);
        let reply = reply(&question[..length], &mut bytes).unwrap_or_default();
        used = input.len() - bytes.len().min(input.len());
        // Nobody waits for it any more, or it is too long: then there is none.
        let _ = socket.send_to(&reply, from);
    }
}

/// An answer to `question`: bytes as they are, or in the envelope of a response.
fn reply(question: &[u8], bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind: u8 = bytes.arbitrary()?;
    let length = usize::from(bytes.arbitrary::<u8>()?).min(bytes.len());
    if kind.is_multiple_of(8) {
        return Ok(bytes.bytes(length)?.to_vec());
    }
    let (head, id, objects) = parts(question).unwrap_or_default();
    let bound = match kind % 8 {
        1 => bytes.bytes(length)?.to_vec(),
        _ => bindings(&objects, bytes)?,
    };
    let status: &[u8] = if kind % 8 == 2 { &[2, 1, 5, 2, 1, 0] } else { &[2, 1, 0, 2, 1, 0] };
    let inside = [&id, status, &wrapped(0x30, &bound)].concat();
    Ok(wrapped(0x30, &[head, wrapped(0xa2, &inside)].concat()))
}

/// For each object that was asked for, the one behind it or itself, with any value.
fn bindings(objects: &[Vec<u8>], bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for object in objects {
        let mut object = object.clone();
        let more = usize::from(bytes.arbitrary::<u8>()? % 4).min(bytes.len());
        object.extend_from_slice(bytes.bytes(more)?);
        let tag: u8 = bytes.arbitrary()?;
        const TAGS: [u8; 8] = [0x41, 0x42, 0x43, 0x46, 0x02, 0x04, 0x82, 0x05];
        let tag = TAGS.get(usize::from(tag)).copied().unwrap_or(tag);
        let length = usize::from(bytes.arbitrary::<u8>()? % 80).min(bytes.len());
        let value = wrapped(tag, bytes.bytes(length)?);
        all.extend(wrapped(0x30, &[wrapped(0x06, &object), value].concat()));
    }
    Ok(all)
}

/// A question: what stands before the request, its number, and the objects that it asks for.
type Question = (Vec<u8>, Vec<u8>, Vec<Vec<u8>>);

fn parts(question: &[u8]) -> Option<Question> {
    let (_, message, _) = split(question)?;
    let (version, _, rest) = split_whole(message)?;
    let (community, _, rest) = split_whole(rest)?;
    let (_, request, _) = split(rest)?;
    let (id, _, rest) = split_whole(request)?;
    let (_, _, rest) = split_whole(rest)?;
    let (_, _, rest) = split_whole(rest)?;
    let (_, mut list, _) = split(rest)?;
    let mut objects = Vec::new();
    while let Some((_, pair, rest)) = split(list) {
        objects.push(split(pair)?.1.to_vec());
        list = rest;
    }
    Some(([version, community].concat(), id.to_vec(), objects))
}

/// The tag and value at the front of BER, and what follows.
fn split(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, length, at) = match *bytes {
        [tag, length @ ..=0x7f, ..] => (tag, usize::from(length), 2),
        [tag, 0x81, length, ..] => (tag, usize::from(length), 3),
        [tag, 0x82, high, low, ..] => (tag, usize::from(u16::from_be_bytes([high, low])), 4),
        _ => return None,
    };
    let (value, rest) = bytes.get(at..)?.split_at_checked(length)?;
    Some((tag, value, rest))
}

/// [`split`] with tag and length still before the value.
fn split_whole(bytes: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (tag, _, rest) = split(bytes)?;
    Some((&bytes[..bytes.len() - rest.len()], tag, rest))
}

fn wrapped(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = match value.len() {
        length @ ..=0x7f => vec![tag, length as u8],
        length => [&[tag, 0x82][..], &(length as u16).to_be_bytes()].concat(),
    };
    bytes.extend_from_slice(value);
    bytes
}
