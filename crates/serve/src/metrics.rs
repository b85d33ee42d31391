//! A text that collectors of metrics scrape: one page, which somebody else puts there. It is ready
//! whenever it is asked for, so that a scrape costs a copy and nothing is reckoned for it.

use crate::places::Places;
use crate::{answer, connection, guard};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

/// Where the text is, as all collectors expect it.
const PATH: &str = "/metrics";

/// Connections at a time; further ones wait until one of them ends.
const CONNECTIONS_MAX: usize = 8;

/// Longest that a connection may last: its question, and its answer to the last byte.
const WHOLE_TIME: Duration = Duration::from_secs(30);

/// The text that is there now.
#[derive(Debug, Default)]
pub struct Page(Mutex<Bytes>);

impl Page {
    /// Puts another text there.
    pub fn put(&self, text: String) {
        // Whoever was interrupted in this had the old text or the new one in place.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Bytes::from(text);
    }

    fn text(&self) -> Bytes {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A place that is listened on.
#[derive(Debug)]
pub struct Scrapes {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
}

/// What every request can see.
#[derive(Debug)]
struct Shared {
    page: Arc<Page>,
    kind: &'static str,
    is_local: bool,
}

impl Scrapes {
    /// Listens there; nobody is answered before [`Scrapes::serve`].
    ///
    /// # Errors
    /// If that address cannot be listened on.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        Ok(Scrapes { runtime, listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers with the text of the page, which is of that type as HTTP says it; for ever.
    pub fn serve(self, page: Arc<Page>, kind: &'static str) {
        let is_local = self.address.ip().to_canonical().is_loopback();
        let shared = Arc::new(Shared { page, kind, is_local });
        let router = Router::new()
            .route(PATH, get(scrape))
            .fallback(answer::not_found)
            .layer(middleware::from_fn_with_state(Arc::clone(&shared), check))
            .with_state(shared);
        let places = Places::new(CONNECTIONS_MAX);
        let served = connection::serve(self.listener, router, places, Some(WHOLE_TIME));
        self.runtime.block_on(served);
    }
}

async fn scrape(State(shared): State<Arc<Shared>>) -> Response {
    ([(CONTENT_TYPE, shared.kind)], shared.page.text()).into_response()
}

/// On loopback the page is for this computer alone, also when a browser on it is made to ask by
/// another name. By which names others reach it, nobody has said.
async fn check(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let (method, version) = (request.method(), request.version());
    match guard::judge(method, request.headers(), version, &[]) {
        Err(refusal) if shared.is_local => answer::refused(refusal),
        _ => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    /// Asks a server that goes on to the end of the tests.
    struct Asked {
        page: Arc<Page>,
        address: SocketAddr,
    }

    impl Asked {
        fn new() -> Self {
            let scrapes = Scrapes::bind("[::1]:0".parse().unwrap()).unwrap();
            let (page, address) = (Arc::new(Page::default()), scrapes.address());
            let served = Arc::clone(&page);
            std::thread::spawn(move || scrapes.serve(served, "text/plain; version=0.0.4"));
            Asked { page, address }
        }

        fn get(&self, line: &str, host: &str) -> String {
            let mut stream = TcpStream::connect(self.address).unwrap();
            write!(stream, "{line} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            let mut answer = String::new();
            // There is one answer, and then an end.
            stream.read_to_string(&mut answer).unwrap();
            answer
        }
    }

    #[test]
    fn the_text_that_is_there_now_is_told() {
        let asked = Asked::new();
        for text in ["a 1\n", "a 2\n"] {
            asked.page.put(text.to_owned());
            let answer = asked.get("GET /metrics", "[::1]:9466");
            assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
            assert!(answer.contains("content-type: text/plain; version=0.0.4\r\n"), "{answer}");
            assert!(answer.ends_with(&format!("\r\n\r\n{text}")), "{answer}");
        }
        let head = asked.get("HEAD /metrics", "localhost");
        assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    }

    #[test]
    fn there_is_nothing_else_and_no_other_way_to_ask() {
        let asked = Asked::new();
        for (line, host, status) in [
            ("GET /", "[::1]", "404"),
            ("GET /metrics/", "[::1]", "404"),
            ("GET /metrics", "metrics.example", "403"),
            ("POST /metrics", "[::1]", "403"),
            ("DELETE /metrics", "[::1]", "403"),
        ] {
            let answer = asked.get(line, host);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line} {host}: {answer}");
        }
    }
}
