//! `watch --listen`: what collectors of metrics scrape of a watch, made when something happened.

use crate::failure::{Failure, Outcome};
use crate::output;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::Builder;
use v6gap_core::watch::metrics::Metrics;
use v6gap_perform::always::{self, Tidings};
use v6gap_report::metrics::{CONTENT_TYPE, text};
use v6gap_serve::{Page, Scrapes};
use v6gap_store::Store;

/// What is told of a watch that goes on.
pub struct Told {
    metrics: Metrics,
    page: Arc<Page>,
}

impl Told {
    /// Listens there and says so, with what is known of before.
    ///
    /// # Errors
    /// If the address cannot be listened on, or the log cannot be read.
    pub fn start(listen: SocketAddr, store: &Store) -> Result<Self, Failure> {
        let refused = |error: io::Error| {
            Failure::new("E209", Outcome::Usage, format!("cannot tell metrics on {listen}"))
                .seen(format!("{error}."))
                .run("v6gap watch lab-b --listen [::1]:9467", "another port")
        };
        let metrics = always::metrics(store)?;
        let scrapes = Scrapes::bind(listen).map_err(refused)?;
        let page = Arc::new(Page::default());
        let (address, served) = (scrapes.address(), Arc::clone(&page));
        let thread = Builder::new().spawn(move || scrapes.serve(served, CONTENT_TYPE));
        thread.map_err(|e| Failure::unexpected(format!("cannot start a thread: {e}")))?;
        if !address.ip().is_loopback() {
            output::to_stderr(
                "note: whoever reaches this address can read the paths and what was found of them",
            );
        }
        output::to_stdout(&format!("Metrics  http://{address}/metrics"));
        Ok(Told { metrics, page })
    }

    /// Takes note of what happened.
    pub fn take(&mut self, tidings: &Tidings<'_>) {
        if let Tidings::Logged(entry) = tidings {
            self.metrics.take(entry);
            self.page.put(text(&self.metrics));
        }
    }
}
