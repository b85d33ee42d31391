//! What a server writes about its clients, on a thread of its own: whoever reads it slowly or not
//! at all holds up nobody. What cannot be written in time is dropped and counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

/// Lines that may wait to be written.
const LINES_MAX: usize = 256;

/// How long the last lines may take when the server ends.
const LAST: Duration = Duration::from_secs(1);

/// Lines on their way to a writer.
pub struct Log {
    lines: SyncSender<String>,
    dropped: Arc<AtomicU64>,
    ended: Receiver<()>,
}

impl Log {
    /// A log that `write` writes, whole lines or several at a time.
    ///
    /// # Errors
    /// If there is no thread for it.
    pub fn start(mut write: impl FnMut(&str) + Send + 'static) -> io::Result<Log> {
        let (lines, waiting) = mpsc::sync_channel::<String>(LINES_MAX);
        let (end, ended) = mpsc::channel();
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let body = move || {
            for line in waiting {
                write(&line);
                let dropped = counted.swap(0, Ordering::Relaxed);
                if dropped > 0 {
                    write(&format!("… {dropped} lines dropped"));
                }
            }
            // Nobody may be waiting any more.
            let _ = end.send(());
        };
        thread::Builder::new().name("log".to_string()).spawn(body)?;
        Ok(Log { lines, dropped, ended })
    }

    /// Writes a line some time soon, if there is room for it.
    pub fn say(&self, line: String) {
        if self.lines.try_send(line).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Lets what waits be written, but not for long.
    pub fn finish(self) {
        let Log { lines, ended, .. } = self;
        drop(lines);
        let _ = ended.recv_timeout(LAST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn a_writer_that_is_stuck_holds_up_nobody_and_what_is_lost_is_counted() {
        let (go_on, held) = mpsc::channel::<()>();
        let written = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&written);
        let log = Log::start(move |line| {
            held.recv().ok();
            seen.lock().unwrap().push(line.to_owned());
        })
        .unwrap();
        let all = LINES_MAX as u64 + 1234;
        (0..all).for_each(|i| log.say(i.to_string()));
        // One line is in the writer's hands, if it was quick enough.
        let dropped = log.dropped.load(Ordering::Relaxed);
        assert!((1233..=1234).contains(&dropped), "{dropped}");
        drop(go_on);
        log.finish();
        let written = written.lock().unwrap();
        assert!(written.contains(&format!("… {dropped} lines dropped")), "{written:?}");
        assert_eq!(written.len() as u64, all - dropped + 1);
    }
}
