//! Connections and what one may cost: there are only so many, a request has to be told and an
//! answer taken within a time, and who is slow or silent is let go.

use crate::answer;
use crate::guard::Peer;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;

/// Connections at a time; further ones wait until one of them ends.
pub(crate) const CONNECTIONS_MAX: usize = 64;

/// Part of them that one other computer may have, by its IPv4 address or IPv6 /64: further ones are
/// closed. Who is on this one shares its address with all others there.
const PART: usize = 4;

/// Longest that the head of a request may take, from the last answer on, and then its body, which
/// is at most a plan; also how long a connection may rest, and take nothing of what it is sent.
const PART_TIME: Duration = Duration::from_secs(10);

/// How long is waited when the system gives no connection, as when it has no room for one.
const PAUSE: Duration = Duration::from_millis(200);

/// Places for connections, for all listeners together.
#[derive(Debug)]
pub(crate) struct Places {
    all: Arc<Semaphore>,
    of_each: usize,
    near: Mutex<BTreeMap<IpAddr, usize>>,
}

/// A place of somebody.
struct Place {
    places: Arc<Places>,
    near: IpAddr,
}

impl Places {
    /// So many.
    pub fn new(most: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(most));
        Arc::new(Places { all, of_each: most.div_ceil(PART), near: Mutex::default() })
    }

    fn near(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        // A count is right whoever was interrupted beside it.
        self.near.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One for `peer`, unless it has its part.
    fn of(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let near = match peer.to_canonical() {
            IpAddr::V6(six) if !six.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX)))
            }
            other => other,
        };
        let mut all = self.near();
        let count = all.entry(near).or_default();
        if *count >= self.of_each && !near.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Place { places: Arc::clone(self), near })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.places.near();
        if let Some(count) = all.get_mut(&self.near) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.near);
            }
        }
    }
}

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
    while let Ok(place) = Arc::clone(&places.all).acquire_owned().await {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_computer_has_its_part_of_the_places_and_gives_them_back() {
        let places = Places::new(8);
        let of = |peer: &str| places.of(peer.parse().unwrap());
        let held = [of("2001:db8::1"), of("2001:db8::2")];
        assert!(held.iter().all(Option::is_some) && of("2001:db8::3").is_none());
        let others = [of("2001:db8:0:1::1"), of("192.0.2.1"), of("::ffff:192.0.2.1")];
        assert!(others.iter().all(Option::is_some) && of("192.0.2.1").is_none());
        let here: Vec<_> = (0..8).map(|_| of("::1")).collect();
        assert!(here.iter().all(Option::is_some));
        drop((held, others, here));
        assert!(of("2001:db8::3").is_some() && places.near().is_empty());
    }
}
