//! Sends a part of a journal. The stream says nothing of it: that the archive has it is known by
//! the sink's word alone.

use crate::parts;
use async_nats::Client;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use v6gap_core::fleet::PART_BYTES;
use v6gap_core::fleet::REQUEST_NS;
use v6gap_core::fleet::agent::Event;
use v6gap_core::fleet::id::JobId;
use v6gap_core::fleet::message::{ChunkHeader, SPOKEN};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::subject;
use v6gap_core::record::RunId;
use v6gap_store::Store;

/// What is sent.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub host: HostName,
    pub run: RunId,
    pub job: Option<JobId>,
    pub at: u64,
    pub bytes: u64,
}

/// Sends it, and says whether it is on its way, in any case within the time that is waited for.
pub(super) async fn send(
    client: Client,
    part: Part,
    journal: PathBuf,
    says: UnboundedSender<Event>,
) {
    let (run, end) = (part.run.clone(), part.at.saturating_add(part.bytes));
    let sent =
        tokio::time::timeout(Duration::from_nanos(REQUEST_NS), try_to(client, part, journal));
    let taken = sent.await.ok().flatten().is_some();
    // Nobody listens any more once the agent ends.
    let _ = says.send(Event::Published { run, end, taken });
}

async fn try_to(client: Client, part: Part, journal: PathBuf) -> Option<()> {
    let subject = subject::result(&part.host, &part.run, part.at);
    // Deflating half a megabyte takes ten milliseconds, in which nobody else would be heard.
    let message = tokio::task::spawn_blocking(move || message(&part, &journal)).await.ok()??;
    client.publish(subject, message.into()).await.ok()?;
    client.flush().await.ok()
}

fn message(part: &Part, journal: &std::path::Path) -> Option<Vec<u8>> {
    let wanted = part.bytes.min(PART_BYTES as u64);
    let bytes = Store::read_part(journal, part.at, wanted).ok()?;
    // A shorter one is not what was said, so it is not sent.
    if bytes.len() as u64 != part.bytes {
        return None;
    }
    let header = ChunkHeader {
        version: SPOKEN.highest(),
        from: part.host.clone(),
        run: part.run.clone(),
        job: part.job.clone(),
        at: part.at,
        bytes: part.bytes,
        hash: parts::hash(&bytes),
    };
    parts::write(&header, &bytes).ok()
}
