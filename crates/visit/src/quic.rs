//! A visit over QUIC: HTTP/3.

use super::body::Reading;
use super::failure::{Failure, Phase, Why};
use super::http::{self, Told, within};
use super::stamped::Stamps;
use super::tls::Secured;
use super::visit::{self, Limits, Manner, Secure, Visited, since};
use hyper::body::{Buf, Bytes};
use quinn::crypto::rustls::{HandshakeData, QuicClientConfig};
use quinn::udp::{RecvMeta, Transmit};
use quinn::{
    AsyncUdpSocket, Endpoint, EndpointConfig, Runtime, TokioRuntime, TransportConfig, UdpPoller,
    VarInt,
};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use v6gap_core::family::Family;
use v6gap_core::observation::Endpoints;
use v6gap_core::workload::Http;
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, SocketError};

/// Most bytes that may come, of all that QUIC carries, before the head of the answer is whole: its
/// library keeps an unfinished one however long it is.
const UNTIL_HEAD_BYTES_MAX: u64 = 1 << 20;

/// Most bytes that may come beside a body: what is under way when enough of it is there, as much as
/// the windows of a connection let through, and frames that nobody asked for.
const BESIDE_BODY_BYTES_MAX: u64 = 32 << 20;

/// Time between two looks at that.
const LOOK: Duration = Duration::from_millis(20);

/// A socket whose calls are stamped.
#[derive(Debug)]
struct Stamped {
    inner: Arc<dyn AsyncUdpSocket>,
    stamps: Arc<Stamps>,
}

impl AsyncUdpSocket for Stamped {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let before_ns = clock::now_ns();
        self.inner.try_send(transmit)?;
        self.stamps.wrote(before_ns);
        Ok(())
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let count = ready!(self.inner.poll_recv(context, buffers, meta))?;
        self.stamps.read(meta[..count].iter().map(|of| of.len).sum());
        Poll::Ready(Ok(count))
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

/// All phases.
pub(crate) async fn over(secure: Secure, manner: &Manner<'_>) -> Result<Visited, Failure> {
    let stamps = Arc::new(Stamps::default());
    let failed = |why: String| Phase::Quic.failed(stamps.read_bytes(), Why::Protocol(why));
    let Secure { config, seen, .. } = secure;
    let config = QuicClientConfig::try_from(Arc::new(config)).map_err(|e| failed(e.to_string()))?;
    let (endpoint, proof) = endpoint(manner, &stamps)?;
    let mut visited = Visited { endpoints: Some(proof), ..Visited::default() };
    let config = configured(config, &manner.limits);
    let connecting = endpoint.connect_with(config, manner.remote, &manner.site.host);
    let connecting = connecting.map_err(|error| failed(error.to_string()))?;
    let connected = within(&manner.limits, Phase::Quic, &stamps, connecting).await;
    visited.chain = seen.chain();
    let connection = connected?.map_err(|error| failed(error.to_string()))?;
    visited.quic_ns = since(stamps.first_write_ns(), stamps.last_read_ns());
    visited.secured = Some(secured(&connection));
    let asked = ask(connection.clone(), manner, &stamps).await;
    connection.close(VarInt::from_u32(0), b"");
    visited.response_ns = since(stamps.asked_ns(), stamps.answered_ns());
    visited.read_bytes = stamps.read_bytes();
    // What says that it is over is sent by the runtime, which ends with the visit.
    let _ = within(&manner.limits, Phase::Body, &stamps, endpoint.wait_idle()).await;
    visited.told = Some(asked?);
    Ok(visited)
}

/// How a connection is made: as the library does it, but for the window of a download.
fn configured(crypto: QuicClientConfig, limits: &Limits) -> quinn::ClientConfig {
    let mut config = quinn::ClientConfig::new(Arc::new(crypto));
    if let Some(bytes) = limits.window_bytes {
        let mut transport = TransportConfig::default();
        transport.stream_receive_window(VarInt::from_u32(bytes));
        config.transport_config(Arc::new(transport));
    }
    config
}

/// A socket of the right family, and what drives it.
fn endpoint(manner: &Manner<'_>, stamps: &Arc<Stamps>) -> Result<(Endpoint, Endpoints), Failure> {
    let failed = |error: io::Error| Phase::Quic.failed(0, error);
    let family = Family::of(&manner.remote.ip()).unwrap_or(Family::V4);
    let local = manner.local.unwrap_or(SocketAddr::new(family.unspecified(), 0));
    leads_there(local, manner.remote).map_err(|error| Phase::Quic.failed(0, error))?;
    let socket = Datagram::bind(local).map_err(|error| Phase::Quic.failed(0, error))?;
    let domain = socket.domain().map_err(|error| Phase::Quic.failed(0, error))?;
    if let Some(bytes) = manner.limits.window_bytes {
        // As much as the system grants.
        let _ = socket.set_receive_buffer(bytes);
    }
    let socket = socket.into_shared();
    let runtime = Arc::new(TokioRuntime);
    let inner = runtime.wrap_udp_socket(socket).map_err(failed)?;
    let local = inner.local_addr().map_err(failed)?;
    let proof = Endpoints { domain: visit::family(domain), local, peer: manner.remote };
    let socket = Arc::new(Stamped { inner, stamps: stamps.clone() });
    let config = EndpointConfig::default();
    let endpoint = Endpoint::new_with_abstract_socket(config, None, socket, runtime);
    Ok((endpoint.map_err(failed)?, proof))
}

/// Whether the system has a way there: the library tells nobody that it has none, and waits. A
/// socket of its own is asked, which sends nothing.
fn leads_there(local: SocketAddr, remote: SocketAddr) -> Result<(), SocketError> {
    Datagram::bind(local)?.connect(remote)
}

fn secured(connection: &quinn::Connection) -> Secured {
    let data = connection.handshake_data();
    let data = data.and_then(|data| data.downcast::<HandshakeData>().ok());
    let protocol = data.and_then(|data| data.protocol);
    Secured {
        version: "TLS 1.3",
        asked_again: false,
        resumed: false,
        protocol: protocol.map(|name| String::from_utf8_lossy(&name).into_owned()),
    }
}

/// The request and its answer.
async fn ask(
    connection: quinn::Connection,
    manner: &Manner<'_>,
    stamps: &Arc<Stamps>,
) -> Result<Told, Failure> {
    let Manner { site, agent, limits, .. } = manner;
    let in_phase = |phase: Phase, error: &(dyn std::error::Error + 'static)| {
        phase.failed(stamps.read_bytes(), http::of(error))
    };
    let failed = |error: h3::error::StreamError| in_phase(Phase::Response, &error);
    let request =
        http::request(Http::Three, site, agent).map_err(|why| Phase::Response.failed(0, why))?;
    let (request, ()) = (request.map(drop), ());
    let mut builder = h3::client::builder();
    builder.max_field_section_size(http::HEAD_BYTES_MAX as u64);
    let opening = builder.build::<_, _, Bytes>(h3_quinn::Connection::new(connection));
    let opened = within(limits, Phase::Response, stamps, opening).await?;
    let (mut driver, mut sender) = opened.map_err(|error| in_phase(Phase::Response, &error))?;
    tokio::spawn(async move {
        let _ = std::future::poll_fn(|context| driver.poll_close(context)).await;
    });
    stamps.asks();
    let asking = async {
        let mut stream = sender.send_request(request).await?;
        stream.finish().await?;
        let mut answer = stream.recv_response().await?;
        stamps.answered();
        // What only says that the answer is on its way (RFC 9110 section 15.2).
        while answer.status().is_informational() {
            answer = stream.recv_response().await?;
        }
        Ok((stream, answer))
    };
    let (mut stream, answer) = tokio::select! {
        asked = within(limits, Phase::Response, stamps, asking) => asked?.map_err(failed)?,
        () = more_than(UNTIL_HEAD_BYTES_MAX, stamps) => {
            let why = Why::Protocol("the head of the answer does not end".to_owned());
            return Err(Phase::Response.failed(stamps.read_bytes(), why));
        }
    };
    let (status, headers) = (answer.status().as_u16(), http::text_of(answer.headers()));
    let mut reading = Reading::new(limits, stamps);
    // What comes beside the body (frames that nobody knows, trailers) is kept until it is whole.
    let most = stamps.read_bytes() + limits.body_bytes + BESIDE_BODY_BYTES_MAX;
    while reading.goes_on() {
        let part = tokio::select! {
            part = within(limits, Phase::Body, stamps, stream.recv_data()) => part?,
            () = more_than(most, stamps) => {
                let why = Why::Protocol("more came than the body that was asked for".to_owned());
                return Err(Phase::Body.failed(stamps.read_bytes(), why));
            }
        };
        let Some(part) = part.map_err(|error| in_phase(Phase::Body, &error))? else {
            reading.ended();
            break;
        };
        reading.came(part.remaining() as u64);
    }
    Ok(Told { status, headers, body: reading.body() })
}

/// Waits until more than so many bytes came.
async fn more_than(most: u64, stamps: &Stamps) {
    while stamps.read_bytes() <= most {
        tokio::time::sleep(LOOK).await;
    }
}
