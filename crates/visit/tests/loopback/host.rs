//! A host of a stranger: one port of both families with HTTP/1.1, 2 and 3.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use v6gap_core::workload::Http;

/// What it answers.
pub const BODY: &str = "what is asked for\n";

/// How it behaves.
#[derive(Debug, Clone, Default)]
pub struct Manners {
    /// Versions of HTTP that it speaks; all if none is named.
    pub http: Vec<Http>,
    /// How long it thinks.
    pub before_answer_ns: u64,
    /// Whether it says nothing at all.
    pub is_silent: bool,
    /// Whether it sends half of an answer and no more.
    pub stalls: bool,
    /// Whether the head of its answer never ends.
    pub endless_head: bool,
    /// Whether that has more lines than anybody takes, over HTTP/3.
    pub many_lines: bool,
    /// Whether it says first that the answer is on its way, over HTTP/3.
    pub hints_early: bool,
    /// Whether the body of its answer never ends.
    pub endless_body: bool,
    /// Bytes of the body, if it is not [`BODY`].
    pub body_bytes: Option<usize>,
    /// Whether it leaves in the middle of a body.
    pub breaks: bool,
}

impl Manners {
    fn alpn(&self) -> Vec<Vec<u8>> {
        let all = [Http::Two, Http::One];
        let spoken = |http: &Http| self.http.is_empty() || self.http.contains(http);
        all.into_iter().filter(spoken).map(|http| http.alpn().to_vec()).collect()
    }
}

impl Manners {
    /// The body of its answer, if that ends.
    fn body(&self) -> Bytes {
        let usual = || Bytes::from_static(BODY.as_bytes());
        self.body_bytes.map_or_else(usual, |bytes| Bytes::from(vec![0_u8; bytes]))
    }
}

type Asked = Arc<Mutex<Vec<Vec<String>>>>;

/// A running host, which ends when it is dropped.
pub struct Host {
    pub port: u16,
    asked: Asked,
    _running: Option<oneshot::Sender<()>>,
}

impl Host {
    pub fn start(manners: Manners) -> Host {
        let asked = Asked::default();
        let heads = asked.clone();
        let (told, port) = std::sync::mpsc::channel();
        let (running, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let here = [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()];
                told.send(listen(manners, heads, here, 0).await).unwrap();
                let _ = stopped.await;
            });
        });
        Host { port: port.recv().unwrap(), asked, _running: Some(running) }
    }

    /// Serves at these addresses for ever, and says so first.
    #[allow(dead_code, reason = "of the suite of links alone")]
    pub fn serve(manners: Manners, at: [IpAddr; 2], port: u16) -> ! {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            listen(manners, Asked::default(), at, port).await;
            println!("Serving");
            std::future::pending::<()>().await;
        });
        unreachable!("it serves for ever")
    }

    /// A port at which nobody listens.
    pub fn nowhere(port: u16) -> Host {
        Host { port, asked: Asked::default(), _running: None }
    }

    /// The heads of all requests.
    pub fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

async fn listen(manners: Manners, asked: Asked, at: [IpAddr; 2], port: u16) -> u16 {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let chain = vec![CertificateDer::from(made.cert.der().to_vec())];
    let key = || PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = |alpn: Vec<Vec<u8>>| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = builder.with_single_cert(chain.clone(), key()).unwrap();
        config.alpn_protocols = alpn;
        config
    };
    let acceptor = TlsAcceptor::from(Arc::new(config(manners.alpn())));
    let quic =
        quinn::crypto::rustls::QuicServerConfig::try_from(config(vec![b"h3".to_vec()])).unwrap();
    let quic = quinn::ServerConfig::with_crypto(Arc::new(quic));
    // A port that the system chose in one family may be taken in the other, or over UDP.
    let mut tried = 0;
    let (port, listeners, endpoints) = loop {
        match bind(at, port, &quic).await {
            Ok(bound) => break bound,
            Err(_) if port == 0 && tried < 100 => tried += 1,
            Err(error) => panic!("{error}"),
        }
    };
    for listener in listeners {
        let (acceptor, manners, asked) = (acceptor.clone(), manners.clone(), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acceptor.clone(), manners.clone(), asked.clone()));
            }
        });
    }
    for endpoint in endpoints {
        let (manners, asked) = (manners.clone(), asked.clone());
        tokio::spawn(async move {
            while let Some(incoming) = endpoint.accept().await {
                tokio::spawn(serve_quic(incoming, manners.clone(), asked.clone()));
            }
        });
    }
    port
}

/// One port in both families and transports, which is the system's choice where `port` is 0.
async fn bind(
    at: [IpAddr; 2],
    port: u16,
    quic: &quinn::ServerConfig,
) -> std::io::Result<(u16, [TcpListener; 2], [quinn::Endpoint; 2])> {
    let four = TcpListener::bind((at[0], port)).await?;
    let port = four.local_addr()?.port();
    let six = TcpListener::bind((at[1], port)).await?;
    let endpoint = |ip| quinn::Endpoint::server(quic.clone(), SocketAddr::new(ip, port));
    Ok((port, [four, six], [endpoint(at[0])?, endpoint(at[1])?]))
}

async fn serve(
    stream: tokio::net::TcpStream,
    acceptor: TlsAcceptor,
    manners: Manners,
    asked: Asked,
) {
    if manners.is_silent {
        std::future::pending::<()>().await;
    }
    let _ = stream.set_nodelay(true);
    let Ok(mut stream) = acceptor.accept(stream).await else { return };
    let is_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    if manners.endless_head && is_two {
        let _ = stream.read(&mut [0; 4096]).await;
        // Settings, an answer whose head is to be continued, and what continues it: `:status: 200`
        // of HPACK's own table (RFC 7541 appendix A), with or without an end.
        let head =
            |kind: u8, stream: u8| [&[0, 0, 1, kind, 0, 0, 0, 0, stream][..], &[0x88]].concat();
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let _ = stream.write_all(&[&settings[..], &head(1, 1)].concat()).await;
        while stream.write_all(&head(9, 1)).await.is_ok() {}
        return;
    }
    if manners.stalls || manners.endless_head {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n").await;
        let _ = stream.flush().await;
        while manners.endless_head && stream.write_all(b"x-more: and more\r\n").await.is_ok() {}
        std::future::pending::<()>().await;
    }
    if manners.breaks {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
        let _ = stream.write_all(&[0; 200_000]).await;
        let _ = stream.shutdown().await;
        return;
    }
    let service = service_fn(move |request| answer(request, manners.clone(), asked.clone()));
    let io = TokioIo::new(stream);
    if is_two {
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = server.serve_connection(io, service).await;
    } else {
        let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
    }
}

fn note<B>(request: &Request<B>, asked: &Asked) {
    let head = |(name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue)| {
        format!("{name}: {}", value.to_str().unwrap())
    };
    asked.lock().unwrap().push(request.headers().iter().map(head).collect());
}

async fn answer(
    request: Request<Incoming>,
    manners: Manners,
    asked: Asked,
) -> Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
    note(&request, &asked);
    tokio::time::sleep(Duration::from_nanos(manners.before_answer_ns)).await;
    let body = if manners.endless_body {
        let parts = std::iter::repeat_with(|| Ok(Frame::data(Bytes::from_static(&[0; 1 << 14]))));
        StreamBody::new(futures_util::stream::iter(parts)).boxed()
    } else {
        Full::new(manners.body()).boxed()
    };
    Ok(Response::builder().header("server", "a host").body(body).unwrap())
}

async fn serve_quic(incoming: quinn::Incoming, manners: Manners, asked: Asked) {
    let Ok(connection) = incoming.await else { return };
    if manners.endless_head || manners.many_lines {
        return raw_head(&connection, manners.many_lines).await;
    }
    let Ok(mut server) = h3::server::Connection::new(h3_quinn::Connection::new(connection)).await
    else {
        return;
    };
    while let Ok(Some(resolver)) = server.accept().await {
        let Ok((request, mut stream)) = resolver.resolve_request().await else { return };
        note(&request, &asked);
        tokio::time::sleep(Duration::from_nanos(manners.before_answer_ns)).await;
        if manners.hints_early {
            let hints = Response::builder().status(103).body(()).unwrap();
            let _ = stream.send_response(hints).await;
        }
        let head = Response::builder().header("server", "a host").body(()).unwrap();
        if stream.send_response(head).await.is_err() {
            return;
        }
        let part = || Bytes::from_static(&[0; 1 << 14]);
        if manners.endless_body {
            while stream.send_data(part()).await.is_ok() {}
            return;
        }
        let _ = stream.send_data(manners.body()).await;
        let _ = stream.finish().await;
    }
}

/// A frame of HEADERS (RFC 9114 section 7.2.2) without an end, or with 25,000 times `:status: 200`
/// of QPACK's own table (RFC 9204 appendix A).
async fn raw_head(connection: &quinn::Connection, many_lines: bool) {
    let Ok((mut sender, _receiver)) = connection.accept_bi().await else { return };
    if many_lines {
        let lines = [0xd9; 25_000];
        let bytes = (2 + lines.len() as u32) | 0x8000_0000;
        let head = [&[1][..], &bytes.to_be_bytes(), &[0, 0], &lines].concat();
        let _ = sender.write_all(&head).await;
    } else {
        let _ = sender.write_all(&[1, 0xbf, 0xff, 0xff, 0xff]).await;
        while sender.write_all(&[0; 1 << 14]).await.is_ok() {}
    }
    let _ = connection.closed().await;
}
