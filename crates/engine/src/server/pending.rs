//! Connections that have not yet shown what they are for. They cost a socket and a few bytes, never
//! a thread, and have little time.

use crate::control::handshake::{FIRST_BYTES, Preambles, Proved, Responder, Who};
use crate::control::seal::Sealed;
use crate::control::{Key, PublicKey};
use crate::hot::answer::Arrival;
use std::net::SocketAddr;
use v6gap_core::wire::control::{Hello, Message, RefusalCode, Refused};
use v6gap_core::wire::foreign;
use v6gap_core::wire::frame::HELLO_BYTES_MAX;
use v6gap_core::wire::preamble::{self, Control, Data, Nonce, Preamble, Progress};
use v6gap_core::wire::version::VersionRange;
use v6gap_sys::entropy;
use v6gap_sys::socket::{ErrorClass, Stream};

/// Longest time from accepting a connection to the end of its greeting, in ns.
const PENDING_NS: u64 = 5_000_000_000;

/// Most bytes that a client may send after its handshake until its greeting is complete; a hello
/// has at most [`HELLO_BYTES_MAX`].
const GREETING_BYTES_MAX: usize = HELLO_BYTES_MAX + 4096;

/// Bytes read at a time of a greeting.
const READ_BYTES: usize = 4096;

/// A connection just accepted.
pub(super) struct Pending {
    pub(super) stream: Stream,
    pub(super) peer: SocketAddr,
    pub(super) id: u64,
    deadline_ns: u64,
    bytes: Vec<u8>,
    stage: Stage,
}

/// How far a connection has come.
enum Stage {
    /// The connection's first bytes are awaited.
    Preamble,
    /// Both ends have said what they speak; the handshake is due.
    Handshake(Preambles),
    /// The handshake was answered; its last message is due, if it has one.
    Proof(Box<Responder>),
    /// The handshake is complete: it is to say hello, or to answer after that.
    Greeting(Greeting),
}

/// A connection whose handshake is complete.
struct Greeting {
    sealed: Box<Sealed>,
    who: Who,
    hello: Option<Hello>,
    /// Bytes that have come since the handshake.
    came: usize,
}

/// What became of a connection.
pub(super) enum Became {
    /// Nothing yet.
    Pending,
    /// It was of no use.
    Nothing,
    /// A data connection.
    Data(Data),
    /// The control connection of a client that proved its key and has said hello.
    Client(Client),
    /// It proved a key that was not pinned, and was told so.
    Stranger(PublicKey),
}

/// A client that proved its key and has said hello.
pub(super) struct Client {
    pub(super) sealed: Box<Sealed>,
    pub(super) who: Who,
    pub(super) hello: Hello,
    /// Whether it has answered since.
    pub(super) answered: bool,
    /// Bytes that have come of it.
    came: usize,
}

/// Whether reading goes on.
enum Step {
    On,
    Done(Became),
}

impl Pending {
    /// A connection accepted now.
    pub(super) fn new(arrival: Arrival, now_ns: u64) -> Self {
        let deadline_ns = now_ns.saturating_add(PENDING_NS);
        let bytes = arrival.said().to_vec();
        let Arrival { stream, peer, .. } = arrival;
        Pending { stream, peer, id: 0, deadline_ns, bytes, stage: Stage::Preamble }
    }

    /// When it has to be ready.
    pub(super) fn deadline_ns(&self) -> u64 {
        self.deadline_ns
    }

    /// Reads what is there, never beyond what belongs to the stage, and answers.
    pub(super) fn advance(&mut self, key: &Key, versions: VersionRange) -> Became {
        loop {
            let step = match &self.stage {
                Stage::Preamble => self.on_preamble(versions),
                Stage::Handshake(preambles) => self.on_handshake(key, *preambles),
                Stage::Proof(responder) => self.on_proof(responder.awaits()),
                Stage::Greeting(_) => self.on_greeting(),
            };
            if let Step::Done(became) = step {
                return became;
            }
        }
    }

    fn on_preamble(&mut self, versions: VersionRange) -> Step {
        match preamble::decode(&self.bytes) {
            Ok(Progress::Needs(bytes)) => self.read(bytes),
            Ok(Progress::Complete(Preamble::Data(data))) => Step::Done(Became::Data(data)),
            Ok(Progress::Complete(Preamble::Control(client))) => match self.greet(client, versions)
            {
                Some(preambles) => {
                    self.bytes.clear();
                    self.stage = Stage::Handshake(preambles);
                    Step::On
                }
                None => Step::Done(Became::Nothing),
            },
            Err(_) => Step::Done(Became::Nothing),
        }
    }

    /// Answers the client's preamble; `None` if there is no common version or the client is gone.
    /// The answer goes out in any case, for it tells the client why.
    fn greet(&self, client: Control, versions: VersionRange) -> Option<Preambles> {
        let server = Control { versions };
        // Without randomness a recorded handshake would fit again.
        let nonce = Nonce(entropy::bytes().ok()?);
        let said = self.write(&[&server.encode()[..], &nonce.0].concat());
        let agreed = versions.agree(client.versions).is_ok();
        (said && agreed).then_some(Preambles { client, server, nonce })
    }

    fn on_handshake(&mut self, key: &Key, preambles: Preambles) -> Step {
        let Ok(message) = <&[u8; FIRST_BYTES]>::try_from(&self.bytes[..]) else {
            return self.read(FIRST_BYTES);
        };
        match Responder::begin(key, &preambles, message) {
            Ok((responder, answer)) if self.write(&answer) => {
                self.bytes.clear();
                self.stage = Stage::Proof(Box::new(responder));
                Step::On
            }
            _ => Step::Done(Became::Nothing),
        }
    }

    fn on_proof(&mut self, wanted: usize) -> Step {
        if self.bytes.len() < wanted {
            return self.read(wanted);
        }
        let (last, stage) = (std::mem::take(&mut self.bytes), self.take_stage());
        let Stage::Proof(responder) = stage else { return Step::Done(Became::Nothing) };
        match responder.complete(&last) {
            Ok(Proved { sealed, who }) => {
                let sealed = Box::new(sealed);
                self.stage = Stage::Greeting(Greeting { sealed, who, hello: None, came: 0 });
                Step::On
            }
            Err(_) => Step::Done(Became::Nothing),
        }
    }

    /// Takes the stage out; who does not put another one in is done with the connection.
    fn take_stage(&mut self) -> Stage {
        std::mem::replace(&mut self.stage, Stage::Preamble)
    }

    /// The first whole message has to be a hello; its records show that the handshake was no
    /// recorded one.
    fn on_greeting(&mut self) -> Step {
        let mut buffer = [0; READ_BYTES];
        let read = self.stream.read(&mut buffer);
        let nothing = Step::Done(Became::Nothing);
        let Stage::Greeting(mut greeting) = self.take_stage() else { return nothing };
        let step = match read {
            Ok(bytes) if bytes > 0 && greeting.came + bytes <= GREETING_BYTES_MAX => {
                greeting.came += bytes;
                match greeting.sealed.take(&buffer[..bytes]) {
                    Ok(()) => Step::On,
                    Err(_) => return nothing,
                }
            }
            Err(error) if ErrorClass::of(&error) == ErrorClass::WouldBlock => {
                Step::Done(Became::Pending)
            }
            _ => return nothing,
        };
        let Greeting { mut sealed, who, hello, came } = greeting;
        let said = sealed.next().map(|said| said.map(foreign::clean));
        let became = match (hello, said, who) {
            (hello, Ok(None), who) => {
                self.stage = Stage::Greeting(Greeting { sealed, who, hello, came });
                return step;
            }
            // Said only now: what the client had sent and nobody read would take the answer away.
            (None, Ok(Some(Message::Hello(_))), Who::Stranger(public)) => {
                let why = format!("no peer of this server has the public key {public}");
                refuse(&self.stream, &mut sealed, RefusalCode::Stranger, why);
                Became::Stranger(public)
            }
            (None, Ok(Some(Message::Hello(hello))), who) => {
                Became::Client(Client { sealed, who, hello, answered: false, came })
            }
            (Some(hello), Ok(Some(Message::Pong)), who) => {
                Became::Client(Client { sealed, who, hello, answered: true, came })
            }
            _ => Became::Nothing,
        };
        Step::Done(became)
    }

    /// Asks a client whether it is still there, before it takes a place among those that wait.
    pub(super) fn ask(mut self, client: Client) -> Option<Pending> {
        let Client { mut sealed, who, mut hello, came, .. } = client;
        // Nobody asks for them, and they may be long.
        hello.host.facts.clear();
        let bytes = sealed.seal(&Message::Ping).ok()?;
        self.write(&bytes).then(|| {
            // What it has said is kept, and weighs.
            self.stage = Stage::Greeting(Greeting { sealed, who, hello: Some(hello), came });
            self
        })
    }

    /// What it was told, if it has said no more than its preamble since.
    pub(super) fn nonce(&self) -> Option<&Nonce> {
        match &self.stage {
            Stage::Handshake(preambles) if self.bytes.is_empty() => Some(&preambles.nonce),
            _ => None,
        }
    }

    /// How far it has come; only ever grows. What anybody can say brings nobody further.
    pub(super) fn steps(&self) -> u8 {
        match &self.stage {
            Stage::Preamble => 0,
            Stage::Handshake(_) | Stage::Proof(_) => 1,
            Stage::Greeting(Greeting { who: Who::Stranger(_), .. }) => 1,
            Stage::Greeting(Greeting { hello: None, .. }) => 2,
            Stage::Greeting(_) => 3,
        }
    }

    /// Bytes that are kept of what it said.
    pub(super) fn kept(&self) -> usize {
        match &self.stage {
            Stage::Greeting(greeting) => greeting.came,
            _ => self.bytes.len(),
        }
    }

    /// Says why there will be no session, if there is a way to say so.
    pub(super) fn turn_away(self) {
        if let Stage::Greeting(Greeting { mut sealed, .. }) = self.stage {
            crowded(&self.stream, &mut sealed);
        }
    }

    /// Reads towards `wanted` bytes.
    fn read(&mut self, wanted: usize) -> Step {
        let had = self.bytes.len();
        self.bytes.resize(wanted, 0);
        let read = self.stream.read(&mut self.bytes[had..]);
        self.bytes.truncate(had + read.as_ref().map_or(0, |bytes| *bytes));
        match read {
            Ok(0) => Step::Done(Became::Nothing),
            Ok(_) => Step::On,
            Err(error) if ErrorClass::of(&error) == ErrorClass::WouldBlock => {
                Step::Done(Became::Pending)
            }
            Err(_) => Step::Done(Became::Nothing),
        }
    }

    /// Writes a few bytes, for which a fresh socket always has room.
    fn write(&self, bytes: &[u8]) -> bool {
        self.stream.write(bytes).is_ok_and(|written| written == bytes.len())
    }
}

/// Tells a client that others of its network have taken its place.
pub(super) fn crowded(stream: &Stream, sealed: &mut Sealed) {
    let why = "too many connections from your network".to_string();
    refuse(stream, sealed, RefusalCode::Crowded, why);
}

fn refuse(stream: &Stream, sealed: &mut Sealed, code: RefusalCode, why: String) {
    if let Ok(bytes) = sealed.seal(&Message::Refused(Refused { code, why })) {
        // There is room in a fresh socket; if not, the end of the connection must do.
        let _ = stream.write(&bytes);
    }
}
