//! Both ends in this process: a server thread beside the measuring one, in a lab or on loopback.

use crate::tool;
use crate::world::{RealWorld, Way};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{Builder, JoinHandle};
use v6gap_core::family::PerFamily;
use v6gap_core::record::Host;
use v6gap_engine::server::{Server, ServerOptions};

/// Runs `work` while a server answers at `addresses`, in `lab`'s server node if there is a lab.
/// `work` is told where the server listens.
///
/// # Errors
/// If the server cannot start, in words; otherwise what `work` returns.
pub fn with_server<T>(
    lab: Option<&RealWorld>,
    addresses: PerFamily<Option<SocketAddr>>,
    processors: Vec<usize>,
    host: Host,
    work: impl FnOnce(PerFamily<Option<SocketAddr>>) -> T,
) -> Result<T, String> {
    let way = lab.map(|lab| lab.way_to(&lab.server())).transpose()?;
    let server = LocalServer::start(way, addresses, processors, host)?;
    let outcome = work(server.addresses);
    server.end().map(|()| outcome)
}

/// A server on a thread of this process. It has ended when this is dropped.
pub struct LocalServer {
    /// Where it listens.
    pub addresses: PerFamily<Option<SocketAddr>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

impl LocalServer {
    /// Starts a server that listens at `addresses`, at the end of `way` if there is one.
    ///
    /// # Errors
    /// If it cannot start, in words.
    pub fn start(
        way: Option<Way>,
        addresses: PerFamily<Option<SocketAddr>>,
        processors: Vec<usize>,
        host: Host,
    ) -> Result<Self, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let options = ServerOptions { addresses, processors, ..ServerOptions::new(tool(), host) };
        let (ready, listening) = mpsc::channel();
        let stopping = Arc::clone(&stop);
        let thread = Builder::new()
            .spawn(move || serve(way, &options, ready, &stopping))
            .map_err(|e| format!("cannot start a thread for the server: {e}"))?;
        let heard = listening.recv();
        let addresses = heard.unwrap_or_default();
        let server = LocalServer { addresses, stop, thread: Some(thread) };
        match heard {
            Ok(_) => Ok(server),
            Err(_) => Err(server.end().err().unwrap_or("the server ended at once".to_owned())),
        }
    }

    /// Lets it end at once when somebody leaves, or a little later.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// In words, if something failed meanwhile.
    pub fn end(mut self) -> Result<(), String> {
        self.joined()
    }

    fn joined(&mut self) -> Result<(), String> {
        self.stop();
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(served)) => served,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The panic that is under way says more than another one.
            self.stop();
            let _ = self.thread.take().map(JoinHandle::join);
        } else {
            let _ = self.joined();
        }
    }
}

fn serve(
    way: Option<Way>,
    options: &ServerOptions,
    ready: mpsc::Sender<PerFamily<Option<SocketAddr>>>,
    stop: &AtomicBool,
) -> Result<(), String> {
    if let Some(way) = way {
        way.go()?;
    }
    let server = Server::bind(options).map_err(|e| e.to_string())?;
    // The other thread waits for this; if it is gone, there is nobody to serve.
    if ready.send(*server.addresses()).is_err() {
        return Ok(());
    }
    server.run(stop, &mut |_| ()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::family::Family;

    #[test]
    fn a_panic_beside_the_server_ends_it_too() {
        let listen = PerFamily::from_fn(|f: Family| Some(SocketAddr::new(f.loopback(), 0)));
        let panicked = std::panic::catch_unwind(|| {
            with_server(None, listen, Vec::new(), Host::default(), |_| {
                std::panic::resume_unwind(Box::new(7))
            })
            .map(|(): ()| ())
        });
        assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&7));
    }
}
