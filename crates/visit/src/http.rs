//! One request and its answer, over a connection of its own that nothing else goes over.

use super::body::Reading;
use super::failure::{Failure, Phase, Why};
use super::site::Site;
use super::stamped::{Exchange, Stamps};
use super::visit::Limits;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes};
use hyper::client::conn::{http1, http2};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, USER_AGENT};
use hyper::http::uri::Uri;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use v6gap_core::observation;
use v6gap_core::workload::Http;

/// Most bytes of the head of an answer.
pub(crate) const HEAD_BYTES_MAX: usize = 64 << 10;

/// Most lines of it.
const HEAD_LINES_MAX: usize = 200;

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Status of the answer.
    pub status: u16,
    /// Its headers, in their order; what is not text is left out.
    pub headers: Vec<(String, String)>,
    /// What of its body was read.
    pub body: observation::Body,
}

/// Asks over a connection that stands.
pub(crate) async fn exchange<S>(
    stream: S,
    http: Http,
    site: &Site,
    agent: &str,
    limits: &Limits,
    stamps: &Arc<Stamps>,
) -> Result<Told, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(Exchange::new(stream, stamps.clone(), http));
    let failed = |error: hyper::Error| Phase::Response.failed(stamps.read_bytes(), of(&error));
    let request = request(http, site, agent).map_err(|why| Phase::Response.failed(0, why))?;
    match http {
        Http::Two => {
            let mut builder = http2::Builder::new(TokioExecutor::new());
            builder.max_header_list_size(HEAD_BYTES_MAX as u32);
            builder.initial_stream_window_size(limits.window_bytes);
            builder.initial_connection_window_size(limits.window_bytes);
            let (mut sender, connection) = builder.handshake(io).await.map_err(failed)?;
            let answer = sender.send_request(request);
            tokio::spawn(async { drop(connection.await) });
            let answer = within(limits, Phase::Response, stamps, answer).await?.map_err(failed)?;
            told(answer, limits, stamps).await
        }
        Http::One | Http::Three => {
            let mut builder = http1::Builder::new();
            builder.max_buf_size(HEAD_BYTES_MAX).max_headers(HEAD_LINES_MAX);
            let (mut sender, connection) = builder.handshake(io).await.map_err(failed)?;
            let answer = sender.send_request(request);
            tokio::spawn(async { drop(connection.await) });
            let answer = within(limits, Phase::Response, stamps, answer).await?.map_err(failed)?;
            told(answer, limits, stamps).await
        }
    }
}

/// Awaits a step for no longer than it may take.
pub(crate) async fn within<T>(
    limits: &Limits,
    phase: Phase,
    stamps: &Stamps,
    step: impl Future<Output = T>,
) -> Result<T, Failure> {
    let silent = |_| phase.failed(stamps.read_bytes(), Why::Silent(limits.silence_ns));
    tokio::time::timeout(Duration::from_nanos(limits.silence_ns), step).await.map_err(silent)
}

/// The request: what is said of us, and that nothing is to be packed or kept open.
pub(crate) fn request(http: Http, site: &Site, agent: &str) -> Result<Request<Empty<Bytes>>, Why> {
    let authority = site.authority();
    let mut builder = Request::get(match http {
        Http::One => Uri::from(site.path.clone()),
        Http::Two | Http::Three => {
            let whole = Uri::builder().scheme(site.scheme.name()).authority(&*authority);
            whole.path_and_query(site.path.clone()).build().map_err(bad)?
        }
    });
    if http == Http::One {
        builder = builder.header(HOST, &authority).header(CONNECTION, "close");
    }
    let builder = builder.header(USER_AGENT, agent).header(ACCEPT, "*/*");
    builder.header(ACCEPT_ENCODING, "identity").body(Empty::new()).map_err(bad)
}

fn bad(error: hyper::http::Error) -> Why {
    Why::Protocol(format!("no request can be made of it: {error}"))
}

/// Reads the body, as much as may be.
async fn told<B>(answer: Response<B>, limits: &Limits, stamps: &Stamps) -> Result<Told, Failure>
where
    B: Body,
    B::Error: Error + 'static,
{
    let (status, headers) = (answer.status().as_u16(), text_of(answer.headers()));
    let mut reading = Reading::new(limits, stamps);
    let mut body = pin!(answer.into_body());
    while reading.goes_on() {
        let Some(frame) = within(limits, Phase::Body, stamps, body.frame()).await? else {
            reading.ended();
            break;
        };
        let frame = frame.map_err(|e| Phase::Body.failed(stamps.read_bytes(), of(&e)))?;
        reading.came(frame.data_ref().map_or(0, |data| data.remaining_bytes()));
    }
    Ok(Told { status, headers, body: reading.body() })
}

/// Bytes of what came.
trait Remaining {
    fn remaining_bytes(&self) -> u64;
}

impl<T: hyper::body::Buf> Remaining for T {
    fn remaining_bytes(&self) -> u64 {
        self.remaining() as u64
    }
}

pub(crate) fn text_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = headers.iter().filter_map(|(name, value)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    });
    text.collect()
}

/// An error and what it was caused by, in words.
pub(crate) fn of(error: &(dyn Error + 'static)) -> Why {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(&format!(": {error}"));
        cause = error.source();
    }
    Why::Protocol(words)
}
