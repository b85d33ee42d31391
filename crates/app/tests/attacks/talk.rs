//! The attacker's own end of a control connection, in both dialects of the protocol: nothing of the
//! program under attack is used but the number of its version, and each step can be left out.
//!
//! | | 1 | 2 and 3 |
//! |---|---|---|
//! | the server's preamble | 8 bytes | 8 bytes and a nonce of 16 |
//! | prologue of the handshake | both preambles, 16 bytes | both, 32 bytes |
//! | a UDP source | knocks; the same challenge for all | introduces itself; one for each |

use serde_json::{Value, json};
use snow::params::HashChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::{Builder, HandshakeState, TransportState};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use v6gap_lab::Node;

/// What this end says first: any version from 1 to 3.
pub const PREAMBLE: [u8; 8] = *b"v6gC\x01\x03\0\0";

// An attacker who speaks no version of the server's is turned away and proves nothing.
const _: () = assert!(PREAMBLE[5] == v6gap_core::wire::version::SPOKEN.highest());

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";
const NONCE_BYTES: usize = 16;
pub const HANDSHAKE_BYTES: usize = 48;
const PATIENCE: Duration = Duration::from_secs(3);

/// Which version of the protocol the server speaks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dialect {
    One,
    Two,
}

/// Opens a connection from a node, and from `source` if that is given.
pub fn connect(node: &Node, source: Option<IpAddr>, to: SocketAddr) -> Result<TcpStream> {
    node.run(|| connect_here(source, to)).unwrap()
}

/// The same for a thread that is at the node.
pub fn connect_here(source: Option<IpAddr>, to: SocketAddr) -> Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(source) = source {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect_timeout(&to.into(), PATIENCE)?;
    socket.set_tcp_nodelay(true)?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Says the preamble and returns the server's with the dialect that it tells.
pub fn greet(stream: &mut TcpStream) -> Result<(Dialect, Vec<u8>)> {
    stream.write_all(&PREAMBLE)?;
    let mut preamble = vec![0; PREAMBLE.len()];
    stream.read_exact(&mut preamble)?;
    if preamble[5] < 2 {
        return Ok((Dialect::One, preamble));
    }
    let mut nonce = [0; NONCE_BYTES];
    stream.read_exact(&mut nonce)?;
    preamble.extend(nonce);
    Ok((Dialect::Two, preamble))
}

/// The pre-shared key of a word.
fn key(word: &str) -> [u8; 32] {
    let mut hash = DefaultResolver.resolve_hash(&HashChoice::Blake2s).unwrap();
    hash.input(b"v6gap control key 1\0");
    hash.input(word.as_bytes());
    let mut key = [0; 32];
    hash.result(&mut key);
    key
}

/// The client's first message of the handshake, and the state that waits for the answer.
pub fn first_message(word: &str, server: &[u8]) -> (HandshakeState, [u8; HANDSHAKE_BYTES]) {
    let prologue = [&PREAMBLE[..], server].concat();
    let mut state = handshake(word, &prologue, |builder| builder.build_initiator());
    let mut message = [0; HANDSHAKE_BYTES];
    state.write_message(&[], &mut message).unwrap();
    (state, message)
}

/// A server's state of the handshake, with both preambles as prologue.
pub fn responder(word: &str, prologue: &[u8]) -> HandshakeState {
    handshake(word, prologue, |builder| builder.build_responder())
}

fn handshake(
    word: &str,
    prologue: &[u8],
    build: impl FnOnce(Builder<'_>) -> std::result::Result<HandshakeState, snow::Error>,
) -> HandshakeState {
    let builder = Builder::new(PATTERN.parse().unwrap());
    let key = key(word);
    build(builder.psk(0, &key).unwrap().prologue(prologue).unwrap()).unwrap()
}

/// A sealed control connection.
pub struct Talk {
    pub stream: TcpStream,
    pub dialect: Dialect,
    /// Whether the server's pings are answered, as by a client that lives.
    pub alive: bool,
    /// What was said in the clear up to the handshake, as somebody on the path records it.
    pub recorded: Vec<u8>,
    noise: TransportState,
    sealed: Vec<u8>,
    plain: Vec<u8>,
}

impl Talk {
    /// Connects and does the handshake.
    pub fn open(node: &Node, source: Option<IpAddr>, to: SocketAddr, word: &str) -> Result<Self> {
        Self::over(connect(node, source, to)?, word)
    }

    /// Does the handshake over a connection.
    pub fn over(mut stream: TcpStream, word: &str) -> Result<Self> {
        let (dialect, preamble) = greet(&mut stream)?;
        let (mut state, message) = first_message(word, &preamble);
        stream.write_all(&message)?;
        let mut answer = [0; HANDSHAKE_BYTES];
        stream.read_exact(&mut answer)?;
        state.read_message(&answer, &mut []).map_err(broken)?;
        let noise = state.into_transport_mode().map_err(broken)?;
        let recorded = [&PREAMBLE[..], &message].concat();
        let (sealed, plain) = (Vec::new(), Vec::new());
        Ok(Talk { stream, dialect, alive: true, recorded, noise, sealed, plain })
    }

    /// Opens a session and waits for its turn: the welcome.
    pub fn session(node: &Node, source: Option<IpAddr>, to: SocketAddr) -> Result<Self> {
        let mut talk = Self::open(node, source, to, "")?;
        talk.say(&hello("lab-a", true))?;
        talk.until("welcome", PATIENCE)?;
        Ok(talk)
    }

    pub fn say(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string().into_bytes();
        let length = (body.len() as u32).to_be_bytes();
        self.put(&[&length[..], &body].concat())
    }

    /// Sends bytes as records, whatever they are.
    pub fn put(&mut self, bytes: &[u8]) -> Result<()> {
        records(&mut self.noise, bytes).and_then(|bytes| self.stream.write_all(&bytes))
    }

    /// The next message, if one comes in that time. Pings are answered and passed over.
    pub fn hear(&mut self, patience: Duration) -> Result<Option<Value>> {
        let until = Instant::now() + patience;
        loop {
            if let Some(message) = frame(&mut self.plain) {
                if message["message"] == "ping" && self.alive {
                    self.say(&json!({ "message": "pong" }))?;
                    continue;
                }
                return Ok(Some(message));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            let mut buffer = vec![0; 1 << 16];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.take(&buffer[..count])?,
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Waits for a message of that kind; another one but a place in the queue is an error that
    /// names it.
    pub fn until(&mut self, kind: &str, patience: Duration) -> Result<Value> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.hear(left)? {
                Some(message) if message["message"] == kind => return Ok(message),
                Some(message) if message["message"] == "queued" => {}
                Some(message) => return Err(Error::other(message.to_string())),
                None => return Err(ErrorKind::TimedOut.into()),
            }
        }
    }

    /// Has the server make a task ready.
    pub fn ready(&mut self, task: &Value) -> Result<()> {
        self.say(task)?;
        self.until("ready", PATIENCE).map(|_| ())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.sealed.extend(bytes);
        open_records(&mut self.noise, &mut self.sealed, &mut self.plain)
    }
}

/// Bytes as sealed records.
pub fn records(noise: &mut TransportState, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len() + 64);
    for piece in bytes.chunks(60_000) {
        let mut record = vec![0; piece.len() + 16];
        noise.write_message(piece, &mut record).map_err(broken)?;
        out.extend((record.len() as u16).to_be_bytes());
        out.extend(record);
    }
    Ok(out)
}

/// Takes whole records out of `sealed` and adds what is in them to `plain`.
pub fn open_records(
    noise: &mut TransportState,
    sealed: &mut Vec<u8>,
    plain: &mut Vec<u8>,
) -> Result<()> {
    while let Some((length, rest)) = sealed.split_first_chunk::<2>() {
        let length = usize::from(u16::from_be_bytes(*length));
        let Some(record) = rest.get(..length) else { break };
        let mut opened = vec![0; length];
        let count = noise.read_message(record, &mut opened).map_err(broken)?;
        plain.extend(&opened[..count]);
        sealed.drain(..2 + length);
    }
    Ok(())
}

/// Takes the next whole message out of what came.
pub fn frame(plain: &mut Vec<u8>) -> Option<Value> {
    let (length, rest) = plain.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length) as usize;
    let message = serde_json::from_slice(rest.get(..length)?).unwrap();
    plain.drain(..4 + length);
    Some(message)
}

fn broken(error: snow::Error) -> Error {
    Error::new(ErrorKind::InvalidData, error.to_string())
}

/// A client's first message.
pub fn hello(name: &str, wait: bool) -> Value {
    json!({
        "message": "hello", "tool": "v6gap 0.1.0", "want": [], "wait": wait,
        "host": { "name": name, "facts": {} },
    })
}
