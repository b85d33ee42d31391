//! One visit: a connection of its own through its phases.

use super::failure::{Failure, Phase, Why};
use super::http::{self, Told, within};
use super::quic;
use super::site::{Scheme, Site};
use super::stamped::{Stamped, Stamps};
use super::tls::{self, Chain, Secured};
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;
use v6gap_core::family::Family;
use v6gap_core::observation::{Endpoints, Granted};
use v6gap_core::workload::{Http, Visit};
use v6gap_sys::clock;
use v6gap_sys::socket::{Domain, Stream, StreamOptions};

/// Bounds of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest wait for anything that is due, in ns.
    pub silence_ns: u64,
    /// Most bytes of a body that are read, but for those that come along.
    pub body_bytes: u64,
    /// Time after which no more of it is read, in ns from the head of the answer.
    pub body_ns: u64,
    /// What a server may have on the way by HTTP/2 and QUIC, in bytes, and receive buffer of QUIC's
    /// socket; without it these are the libraries' and the system's own.
    pub window_bytes: Option<u32>,
    /// Largest segment of TCP either way, in bytes, where it is not to be as large as the path
    /// seems to take.
    pub segment_bytes: Option<u32>,
}

/// The window of a download, in bytes, over both families: 1 Gbit/s at a round trip of 130 ms.
const WINDOW_BYTES: u32 = 16 << 20;

impl Limits {
    /// Those of a visit, with the longest wait for anything that is due, in ns.
    pub fn of(visit: &Visit, silence_ns: u64) -> Self {
        Limits {
            silence_ns,
            body_bytes: visit.body_bytes,
            body_ns: visit.body_ns(),
            window_bytes: visit.downloads().then_some(WINDOW_BYTES),
            segment_bytes: None,
        }
    }
}

/// What is visited and how.
#[derive(Debug, Clone)]
pub struct Manner<'a> {
    /// The service.
    pub site: &'a Site,
    /// The version of HTTP that is spoken; `None` for a connection alone.
    pub http: Option<Http>,
    /// Address of the service.
    pub remote: SocketAddr,
    /// Address to go from, where the system is not to choose.
    pub local: Option<SocketAddr>,
    /// What is said of us (User-Agent).
    pub agent: &'a str,
    /// Bounds.
    pub limits: Limits,
}

/// What a visit saw. Times are in ns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visited {
    /// The addresses of the connection, as its socket told: the proof of family.
    pub endpoints: Option<Endpoints>,
    /// Establishing the TCP connection.
    pub connect_ns: Option<u64>,
    /// Whether this end had to send again while connecting, where the system tells.
    pub asked_again: Option<bool>,
    /// The handshake of TLS over TCP.
    pub tls_ns: Option<u64>,
    /// The handshake of QUIC.
    pub quic_ns: Option<u64>,
    /// From the request to the first byte of the answer.
    pub response_ns: Option<u64>,
    /// What TLS agreed on.
    pub secured: Option<Secured>,
    /// The server's certificates.
    pub chain: Chain,
    /// The answer.
    pub told: Option<Told>,
    /// Bytes that came, those of TLS included.
    pub read_bytes: u64,
    /// What the segments of a download over TCP were made of, where the system tells.
    pub granted: Option<Granted>,
}

/// Makes visits, one at a time. At first it resumes nothing.
#[derive(Debug, Default)]
pub struct Visitor {
    /// What all visits share, if what is given in one may be used in the next.
    shared: Option<(rustls::ClientConfig, tls::Seen)>,
}

impl Visitor {
    /// Begins to remember tickets of visits by a version of HTTP: what is given in one is offered
    /// in the next, which tells whether both were at the same service.
    ///
    /// # Errors
    /// If TLS cannot be had.
    pub fn remember(&mut self, http: Http) -> Result<(), Failure> {
        self.shared = Some(tls::config(http).map_err(no_tls)?);
        Ok(())
    }

    /// Resumes nothing any more.
    pub fn forget(&mut self) {
        self.shared = None;
    }

    /// Visits once; the connection is reset at the end.
    ///
    /// # Errors
    /// The phase that failed, and why.
    pub fn visit(&self, manner: &Manner<'_>) -> Result<Visited, Failure> {
        if manner.http != Some(Http::Three) {
            return self.over_tcp(manner);
        }
        if manner.site.scheme == Scheme::Https {
            return self.over_quic(manner);
        }
        let why = "HTTP/3 is spoken over https:// alone";
        Err(Phase::Quic.failed(0, Why::Protocol(why.to_owned())))
    }

    fn over_tcp(&self, manner: &Manner<'_>) -> Result<Visited, Failure> {
        let is_secure = manner.site.scheme == Scheme::Https && manner.http.is_some();
        // What needs no answer is done before a clock runs.
        let secure = is_secure.then(|| self.secure(manner, Phase::Tls)).transpose()?;
        let runtime = runtime(Phase::Connect)?;
        let Manner { local, remote, limits, .. } = manner;
        let mss = limits.segment_bytes;
        let options = StreamOptions { no_delay: true, mss, ..StreamOptions::default() };
        let begun_ns = clock::now_ns();
        let connected = Stream::connect_timed(*local, *remote, &options, limits.silence_ns);
        let (stream, times) = connected.map_err(|error| {
            let connect_ns = Some(clock::now_ns() - begun_ns);
            Failure { connect_ns, ..Phase::Connect.failed(0, error) }
        })?;
        let failed = |error| Phase::Connect.failed(0, Why::Io(error));
        let mut visited = Visited {
            endpoints: endpoints(&stream),
            connect_ns: Some(times.connect_ns),
            asked_again: stream.info().ok().map(|info| info.total_retrans > 0),
            ..Visited::default()
        };
        stream.linger_zero().map_err(|error| Phase::Connect.failed(0, error))?;
        let Some(http) = manner.http else { return Ok(visited) };
        let socket = stream.share().map_err(failed)?;
        let stamps = Arc::new(Stamps::default());
        let all = over(socket, secure, (http, manner), &stamps, &mut visited);
        runtime.block_on(all)?;
        drop(runtime);
        visited.read_bytes = stamps.read_bytes();
        if limits.window_bytes.is_some() {
            visited.granted = stream.info().ok().map(|info| Granted {
                // Of what comes, which need not be as large as what this end may send.
                mss: Some(info.rcv_mss),
                path_mtu: Some(info.pmtu),
                timestamps: Some(info.timestamps),
                ..Granted::default()
            });
        }
        Ok(visited)
    }

    fn over_quic(&self, manner: &Manner<'_>) -> Result<Visited, Failure> {
        let secure = self.secure(manner, Phase::Quic)?;
        runtime(Phase::Quic)?.block_on(quic::over(secure, manner))
    }

    /// TLS for one visit, and the name that is asked for.
    fn secure(&self, manner: &Manner<'_>, phase: Phase) -> Result<Secure, Failure> {
        let failed = |why: String| phase.failed(0, Why::Protocol(why));
        let (config, seen) = match &self.shared {
            Some(shared) => shared.clone(),
            None => tls::config(manner.http.unwrap_or(Http::One)).map_err(no_tls)?,
        };
        let name = ServerName::try_from(manner.site.host.clone());
        let name = name.map_err(|error| failed(error.to_string()))?;
        Ok(Secure { config, seen, name })
    }
}

/// What moves the bytes of one visit. With it ends whatever still drives the connection: a body
/// that is not read to its end must not go on coming beside what is measured next.
fn runtime(phase: Phase) -> Result<Runtime, Failure> {
    let made = Builder::new_current_thread().enable_io().enable_time().build();
    made.map_err(|error| phase.failed(0, error))
}

fn no_tls(error: rustls::Error) -> Failure {
    Phase::Tls.failed(0, Why::Protocol(error.to_string()))
}

/// What TLS needs.
pub(crate) struct Secure {
    pub config: rustls::ClientConfig,
    pub seen: tls::Seen,
    pub name: ServerName<'static>,
}

/// The phases over a TCP connection that stands.
async fn over(
    socket: std::net::TcpStream,
    secure: Option<Secure>,
    (http, manner): (Http, &Manner<'_>),
    stamps: &Arc<Stamps>,
    visited: &mut Visited,
) -> Result<(), Failure> {
    let Manner { site, agent, limits, .. } = manner;
    let failed = |error: io::Error| Phase::Tls.failed(stamps.read_bytes(), error);
    let socket = TcpStream::from_std(socket).map_err(failed)?;
    let stream = Stamped::new(socket, stamps.clone());
    let told = match secure {
        None => http::exchange(stream, http, site, agent, limits, stamps).await?,
        Some(Secure { config, seen, name }) => {
            let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
            let connected = within(limits, Phase::Tls, stamps, connecting).await;
            // Also those of a server that is not taken.
            visited.chain = seen.chain();
            let stream = connected?.map_err(failed)?;
            visited.tls_ns = since(stamps.first_write_ns(), stamps.last_read_ns());
            let secured = tls::secured(stream.get_ref().1);
            agrees(http, &secured).map_err(|why| Phase::Tls.failed(stamps.read_bytes(), why))?;
            visited.secured = Some(secured);
            http::exchange(stream, http, site, agent, limits, stamps).await?
        }
    };
    visited.response_ns = since(stamps.asked_ns(), stamps.answered_ns());
    visited.told = Some(told);
    Ok(())
}

/// The proof of family of a connection.
fn endpoints(stream: &Stream) -> Option<Endpoints> {
    let domain = family(stream.domain().ok()?);
    Some(Endpoints { domain, local: stream.local().ok()?, peer: stream.peer().ok()? })
}

/// The family of a socket itself.
pub(crate) fn family(domain: Domain) -> Family {
    match domain {
        Domain::V4 => Family::V4,
        Domain::V6 => Family::V6,
    }
}

/// A server that has no ALPN speaks HTTP/1.1.
fn agrees(http: Http, secured: &Secured) -> Result<(), Why> {
    let agreed = secured.protocol.as_deref().unwrap_or("http/1.1");
    if agreed.as_bytes() == http.alpn() {
        return Ok(());
    }
    Err(Why::Protocol(format!("the server does not speak {http}")))
}

/// From one stamp to another.
pub(crate) fn since(from_ns: Option<u64>, to_ns: Option<u64>) -> Option<u64> {
    to_ns?.checked_sub(from_ns?)
}
