//! The control connection with an iperf3 server: who speaks when.

use crate::fill::fill;
use std::io;
use std::net::SocketAddr;
use v6gap_core::iperf3::{COOKIE_BYTES, JSON_BYTES_MAX, Params, Results, State, cookie};
use v6gap_sys::socket::{ErrorClass, SocketError, Stream, StreamOptions};
use v6gap_sys::{Unavailable, clock, entropy};

/// Why a test came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Iperf3Error {
    /// The system said so.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The system said so in the middle of it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// There are no random bytes.
    #[error(transparent)]
    Random(#[from] Unavailable),
    /// It measures for somebody else.
    #[error("its server is busy with another client")]
    Busy,
    /// It gives up, with its number of why.
    #[error("its server gives up (error {0} of iperf3)")]
    Refused(u32),
    /// It says something else than is due.
    #[error("its server says {found} where {due} is due")]
    Unexpected {
        /// What is due.
        due: &'static str,
        /// What it says.
        found: String,
    },
    /// What it says cannot be read.
    #[error("what its server counted cannot be read: {0}")]
    Malformed(String),
    /// Data stopped, or came to nothing.
    #[error("{0}")]
    Data(String),
}

impl Iperf3Error {
    /// Whether it looks as it does where the server has ended a test and does not listen yet.
    pub(crate) fn is_between_tests(&self) -> bool {
        let class = match self {
            Iperf3Error::Socket(error) => error.class(),
            Iperf3Error::Io(error) => ErrorClass::of(error),
            _ => return false,
        };
        matches!(class, ErrorClass::Refused | ErrorClass::Closed)
    }
}

/// A test from its beginning to its end.
pub(crate) struct Control {
    stream: Stream,
    /// Begins each of the test's connections.
    pub cookie: [u8; COOKIE_BYTES],
    /// Longest wait for what is due, in ns.
    silence_ns: u64,
    /// Whether the server knows that it is over.
    over: bool,
}

impl Control {
    /// Connects, and hears whether the server is free.
    ///
    /// # Errors
    /// If it cannot be reached, or is busy.
    pub(crate) fn open(
        local: Option<SocketAddr>,
        remote: SocketAddr,
        silence_ns: u64,
    ) -> Result<Self, Iperf3Error> {
        let random: [u8; COOKIE_BYTES - 1] = entropy::bytes()?;
        let options = StreamOptions { no_delay: true, ..StreamOptions::default() };
        let stream = Stream::connect(local, remote, &options, silence_ns)?;
        stream.set_write_timeout(Some(silence_ns))?;
        let control = Control { stream, cookie: cookie(&random), silence_ns, over: false };
        control.stream.write_all(&control.cookie)?;
        control.await_state(State::ParamExchange, "a question for parameters")?;
        Ok(control)
    }

    /// Tells what is to be done; the server waits for the connections then.
    ///
    /// # Errors
    /// If it does not agree.
    pub(crate) fn agree(&self, params: &Params) -> Result<(), Iperf3Error> {
        self.write(&params.json())?;
        self.await_state(State::CreateStreams, "a question for connections")
    }

    /// Waits until the server lets the test begin.
    ///
    /// # Errors
    /// If it does not.
    pub(crate) fn begin(&self) -> Result<(), Iperf3Error> {
        self.await_state(State::TestStart, "the start of the test")?;
        self.await_state(State::TestRunning, "the start of the test")
    }

    /// Ends the test; the server counts what came until then.
    ///
    /// # Errors
    /// If it does not ask for results.
    pub(crate) fn end(&self) -> Result<(), Iperf3Error> {
        self.tell_end()?;
        self.await_end()
    }

    /// Tells that the test is over.
    ///
    /// # Errors
    /// If the connection broke.
    pub(crate) fn tell_end(&self) -> Result<(), Iperf3Error> {
        Ok(self.stream.write_all(&[State::TestEnd.octet()])?)
    }

    /// Whether the server has said something that was not read yet.
    ///
    /// # Errors
    /// If the system does not tell.
    pub(crate) fn has_said(&self) -> Result<bool, Iperf3Error> {
        Ok(self.stream.wait_readable(0)?)
    }

    /// Waits until the server knows that the test is over.
    ///
    /// # Errors
    /// If it does not ask for results.
    pub(crate) fn await_end(&self) -> Result<(), Iperf3Error> {
        self.await_state(State::ExchangeResults, "a question for results")
    }

    /// Tells what this end counted and hears what the server did.
    ///
    /// # Errors
    /// If that cannot be read.
    pub(crate) fn exchange(mut self, own: &Results) -> Result<Results, Iperf3Error> {
        self.write(&own.json())?;
        let told = self.read_json()?;
        let results = Results::read(&told).map_err(Iperf3Error::Malformed)?;
        self.await_state(State::DisplayResults, "the end of the test")?;
        self.stream.write_all(&[State::Done.octet()])?;
        self.over = true;
        Ok(results)
    }

    fn await_state(&self, due: State, what: &'static str) -> Result<(), Iperf3Error> {
        let (mut octet, until_ns) = ([0], self.until_ns());
        fill(&self.stream, &mut octet, until_ns)?;
        match State::of(octet[0]) {
            Some(state) if state == due => Ok(()),
            Some(State::AccessDenied) => Err(Iperf3Error::Busy),
            Some(State::ServerError) => {
                let mut number = [0; 4];
                fill(&self.stream, &mut number, until_ns)?;
                Err(Iperf3Error::Refused(u32::from_be_bytes(number)))
            }
            Some(state) => Err(Iperf3Error::Unexpected { due: what, found: format!("{state:?}") }),
            None => {
                Err(Iperf3Error::Unexpected { due: what, found: format!("octet {}", octet[0]) })
            }
        }
    }

    fn until_ns(&self) -> u64 {
        clock::now_ns().saturating_add(self.silence_ns)
    }

    fn write(&self, json: &[u8]) -> Result<(), Iperf3Error> {
        let length = u32::try_from(json.len()).unwrap_or(u32::MAX).to_be_bytes();
        self.stream.write_all(&[&length[..], json].concat())?;
        Ok(())
    }

    fn read_json(&self) -> Result<Vec<u8>, Iperf3Error> {
        let (mut length, until_ns) = ([0; 4], self.until_ns());
        fill(&self.stream, &mut length, until_ns)?;
        let length = u32::from_be_bytes(length);
        if length > JSON_BYTES_MAX {
            return Err(Iperf3Error::Malformed(format!("it has {length} bytes")));
        }
        let mut text = vec![0; length as usize];
        fill(&self.stream, &mut text, until_ns)?;
        Ok(text)
    }
}

impl Drop for Control {
    /// A server that is not told waits for its client for minutes.
    fn drop(&mut self) {
        if !self.over {
            let _ = self.stream.write_all(&[State::ClientTerminate.octet()]);
        }
    }
}
