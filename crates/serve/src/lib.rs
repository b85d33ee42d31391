//! v6gap in a browser: pages, an API, and the events of a run as they happen.
//!
//! It measures nothing and knows no verdict. Whatever a page asks for, the program itself is run as
//! a person would run it in a terminal, and what it writes is passed on: so both say the same, byte
//! for byte, and nothing of a web server lives in a process that measures.
//!
//! Every request is hostile until proved otherwise: see [`guard`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![forbid(unsafe_code)]

mod answer;
mod api;
mod assets;
mod connection;
mod fleet;
mod following;
pub mod form;
pub mod guard;
mod metrics;
mod passed;
mod paths;
mod places;
mod program;
mod run;
mod session;

pub use fleet::Fleet;
pub use metrics::{Page, Scrapes};
pub use program::Program;
pub use session::Keys;

use axum::Router;
use axum::middleware;
use places::Places;
use serde_json::Value;
use socket2::SockRef;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// How the pages are served.
#[derive(Debug)]
pub struct Options {
    /// Where to listen: loopback of both families, unless it was asked for otherwise.
    pub listen: Vec<SocketAddr>,
    /// Names beyond `localhost` and the addresses of loopback by which a browser may ask for it.
    pub names: Vec<String>,
    /// Whether stored results can be looked at and nothing else.
    pub read_only: bool,
    /// Longest measurement that may be asked for.
    pub time_max: Option<Duration>,
    /// Highest rate over a network that may be asked for, in bit/s.
    pub rate_bps_max: Option<u64>,
    /// The program that is run.
    pub program: Program,
    /// Who may come in.
    pub keys: Arc<Keys>,
    /// What happens in place of measurements, if none shall be made.
    pub demo: Option<Demo>,
    /// A fleet that is shown.
    pub fleet: Option<Fleet>,
    /// The styles of what the program writes of one (`fleet matrix --format page`).
    pub matrix_style: &'static str,
}

/// A recording, which happens again whatever is to be measured.
#[derive(Debug, Clone)]
pub struct Demo {
    /// The arguments that play it.
    pub args: Vec<String>,
    /// Where and when it was made, for pages to say.
    pub about: Value,
    /// What a look at a host found then, as `check --json` says it.
    pub check: Value,
    /// When the log of a watch that goes with it ends, in ns since the Unix epoch: pages show its
    /// paths as they were then.
    pub at_unix_ns: Option<u64>,
}

/// What every request can see.
#[derive(Debug)]
struct Shared {
    names: Vec<String>,
    read_only: bool,
    time_max: Option<Duration>,
    rate_bps_max: Option<u64>,
    program: Program,
    keys: Arc<Keys>,
    demo: Option<Demo>,
    fleet: Option<Fleet>,
    matrix_style: &'static str,
    run: run::Current,
    following: following::Following,
}

/// How often is looked whether it shall stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Serves until `stop` is set; what is being measured then is stopped after its present block and
/// kept. `listening` is told where, once, and `waiting` is called if there is such a block.
///
/// # Errors
/// If no address can be listened on.
pub fn serve(
    options: Options,
    listening: impl FnOnce(&[SocketAddr]),
    waiting: impl FnOnce(),
    stop: &AtomicBool,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(until_stopped(options, listening, waiting, stop))
}

async fn until_stopped(
    options: Options,
    listening: impl FnOnce(&[SocketAddr]),
    waiting: impl FnOnce(),
    stop: &AtomicBool,
) -> io::Result<()> {
    let (listeners, addresses) = bind(&options.listen).await?;
    let shared = Arc::new(Shared {
        names: options.names,
        read_only: options.read_only,
        time_max: options.time_max,
        rate_bps_max: options.rate_bps_max,
        program: options.program,
        keys: options.keys,
        demo: options.demo,
        fleet: options.fleet,
        matrix_style: options.matrix_style,
        run: run::Current::default(),
        following: following::Following::default(),
    });
    let router = router(Arc::clone(&shared));
    listening(&addresses);
    let mut served = tokio::task::JoinSet::new();
    let places = Places::new(connection::CONNECTIONS_MAX);
    for listener in listeners {
        served.spawn(connection::serve(listener, router.clone(), Arc::clone(&places), None));
    }
    told_to_stop(stop).await;
    served.abort_all();
    shared.run.stop_and_wait(waiting).await;
    Ok(())
}

/// Until the program is told to end.
async fn told_to_stop(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// All addresses on one port: if it is taken in one family, the next is tried in all. Where `[::]`
/// takes IPv4 as well, addresses of that are served with it.
async fn bind(wanted: &[SocketAddr]) -> io::Result<(Vec<TcpListener>, Vec<SocketAddr>)> {
    /// Ports that are tried beyond the first.
    const MORE_PORTS: u16 = 20;
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut wanted = wanted.to_vec();
    // After an address of IPv4 it would find its port taken.
    wanted.sort_by_key(|address| address.ip() != IpAddr::from(Ipv6Addr::UNSPECIFIED));
    'ports: for more in 0..=MORE_PORTS {
        let mut listeners: Vec<TcpListener> = Vec::new();
        for address in &wanted {
            let mut address = *address;
            address.set_port(address.port().saturating_add(more));
            match TcpListener::bind(address).await {
                Ok(listener) => listeners.push(listener),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    if address.is_ipv4() && listeners.first().is_some_and(takes_both) {
                        continue;
                    }
                    last = error;
                    continue 'ports;
                }
                // A host without one of the families still has the other.
                Err(error) => last = error,
            }
        }
        if !listeners.is_empty() {
            let addresses = listeners.iter().filter_map(|l| l.local_addr().ok()).collect();
            return Ok((listeners, addresses));
        }
    }
    Err(last)
}

/// Whether it is `[::]` and takes IPv4 as well: then nobody else has its port of that.
fn takes_both(listener: &TcpListener) -> bool {
    let everywhere = listener.local_addr().is_ok_and(|a| a.is_ipv6() && a.ip().is_unspecified());
    everywhere && SockRef::from(listener).only_v6().is_ok_and(|only| !only)
}

fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .merge(assets::routes())
        .nest("/api/v1", api::routes(Arc::clone(&shared)))
        .fallback(answer::not_found)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[tokio::test]
    async fn every_address_of_both_families_is_served_on_one_port() {
        let free = std::net::TcpListener::bind("[::]:0").unwrap().local_addr().unwrap().port();
        let of = |address: &str| SocketAddr::new(address.parse().unwrap(), free);
        for wanted in [["0.0.0.0", "::"], ["::", "0.0.0.0"], ["127.0.0.1", "::1"]] {
            let (listeners, addresses) = bind(&wanted.map(of)).await.unwrap();
            assert!(!listeners.is_empty());
            let port = addresses[0].port();
            assert!(addresses.iter().all(|address| address.port() == port), "{addresses:?}");
            for address in ["127.0.0.1", "::1"] {
                TcpStream::connect(SocketAddr::new(address.parse().unwrap(), port)).unwrap();
            }
        }
    }
}
