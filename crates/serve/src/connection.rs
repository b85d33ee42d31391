//! Connections and what one may cost: there are only so many, a request has to be told and an
//! answer taken within a time, and who is slow or silent is let go.

use crate::answer;
use crate::guard::Peer;
use crate::places::{Place, Places};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;

/// Connections at a time; further ones wait until one of them ends.
pub(crate) const CONNECTIONS_MAX: usize = 64;

/// Longest that the head of a request may take, from the last answer on, and then its body, which
/// is at most a plan; also how long a connection may rest, and take nothing of what it is sent.
const PART_TIME: Duration = Duration::from_secs(10);

/// How long is waited when the system gives no connection, as when it has no room for one.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves whoever connects, as long as there are places. Where a connection has a `whole` time, it
/// is over then, and after its first answer.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    places: Arc<Places>,
    whole: Option<Duration>,
) {
    let mut open = JoinSet::new();
    // Nobody closes the places.
    while let Ok(place) = places.next().await {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(of_peer) = places.of(peer.ip()) else { continue };
                let place = (place, of_peer);
                let router = router.clone().layer(Extension(Peer(peer.ip())));
                open.spawn(one(stream, router, place, whole));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
        while open.try_join_next().is_some() {}
    }
}

async fn one(
    stream: TcpStream,
    router: Router,
    place: (OwnedSemaphorePermit, Place),
    whole: Option<Duration>,
) {
    // Answers are small; a page waits for each of them.
    let _ = stream.set_nodelay(true);
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PART_TIME).keep_alive(whole.is_none());
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(PART_TIME));
    let served = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
    // Whatever ended it, nobody is left to be told.
    match whole {
        Some(whole) => drop(tokio::time::timeout(whole, served).await),
        None => drop(served.await),
    }
    drop(place);
}

/// Reads the whole body before anything looks at the request, up to `most` bytes.
pub(crate) async fn whole(request: Request, next: Next, most: usize) -> Response {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(PART_TIME, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(Err(_)) => {
            let why = format!("What is asked here has at most {} kB.", most >> 10);
            answer::plain(StatusCode::PAYLOAD_TOO_LARGE, "the request is too long", &why)
        }
        Err(_) => {
            let why = format!("It had not come to its end after {} s.", PART_TIME.as_secs());
            answer::plain(StatusCode::REQUEST_TIMEOUT, "the request is too slow", &why)
        }
    }
}
