//! A text for collectors of metrics, on an address of this host.

use crate::failure::{Failure, Outcome};
use crate::output;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::Builder;
use v6gap_report::metrics::CONTENT_TYPE;
use v6gap_serve::{Page, Scrapes};

/// Listens there, says so, and tells what is put into the page, at first `text`. `other` is a line
/// to be typed for another address, and `readable` what others can read there.
///
/// # Errors
/// If the address cannot be listened on.
pub(crate) fn told(
    listen: SocketAddr,
    text: String,
    other: &dyn Fn(SocketAddr) -> String,
    readable: &str,
) -> Result<Arc<Page>, Failure> {
    let refused = |error: io::Error| {
        Failure::new("E111", Outcome::Usage, format!("cannot tell metrics on {listen}"))
            .seen(format!("{error}."))
            .run(other(SocketAddr::new(listen.ip(), 9467)), "another port")
    };
    let scrapes = Scrapes::bind(listen).map_err(refused)?;
    let page = Arc::new(Page::default());
    page.put(text);
    let (address, served) = (scrapes.address(), Arc::clone(&page));
    let thread = Builder::new().spawn(move || scrapes.serve(served, CONTENT_TYPE));
    thread.map_err(|e| Failure::unexpected(format!("cannot start a thread: {e}")))?;
    if !address.ip().is_loopback() {
        output::to_stderr(&format!("note: whoever reaches this address can read {readable}"));
    }
    output::to_stdout(&format!("Metrics  http://{address}/metrics"));
    Ok(page)
}
