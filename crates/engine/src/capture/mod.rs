//! Captures: what passes chosen interfaces while a trial runs, counted, and written as pcapng.
//!
//! One thread empties the rings of all interfaces into the files every few milliseconds; the kernel
//! stamps the frames, so that lateness does not show. Between trials it sleeps. Its work is still
//! work on the machine that is measured: whoever captures says so with the result.

mod file;
#[cfg(test)]
mod tests;

pub use file::{File, Interface};

use std::io::{self, Write};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use v6gap_core::observation::{ETHERNET_BYTES, TAG_BYTES, Tapped};
use v6gap_sys::capture::{Frame, Link, Tap};
use v6gap_sys::{clock, cpu};

/// Bytes of each interface's ring: frames of 10 ms and more on a line of 10 Gbit/s.
pub const RING_BYTES: usize = 16 << 20;

/// How often the rings are emptied while a trial runs.
const PERIOD: Duration = Duration::from_millis(5);

/// Where to capture and into what.
pub struct Spot {
    /// Whose interfaces these are.
    pub node: String,
    /// The interfaces.
    pub taps: Vec<Tap>,
    /// The file of this node.
    pub sink: Box<dyn Write + Send>,
}

/// What is the same for all spots.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Most bytes of all files together; what comes later is counted and not written.
    pub limit_bytes: u64,
    /// Bytes that are kept of each frame.
    pub snap_bytes: u32,
    /// The filter in words.
    pub filter: String,
    /// The program that captures.
    pub program: String,
    /// The operating system.
    pub system: String,
    /// Names of addresses, for whoever reads the files.
    pub names: Vec<(IpAddr, String)>,
    /// The processor to work on, where one is free of measuring threads.
    pub processor: Option<usize>,
}

/// What was captured of a trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Captured {
    /// What passed each interface.
    pub taps: Vec<Tapped>,
    /// What could not be written, and why. Told once.
    pub troubles: Vec<String>,
}

enum Order {
    Begin(String, Sender<()>),
    End(Sender<Captured>),
}

/// A thread that captures; it ends, and its files are complete, when this is dropped.
pub struct Recorder {
    orders: Option<Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Starts the thread; nothing is written yet.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(spots: Vec<Spot>, setup: Setup) -> io::Result<Self> {
        let (orders, received) = channel();
        let work = move || {
            if let Some(processor) = setup.processor {
                // Where it cannot be held, the scheduler finds it a place.
                let _ = cpu::pin_thread(processor);
            }
            let share = setup.limit_bytes / spots.len().max(1) as u64;
            let mut points: Vec<Point> =
                spots.into_iter().map(|spot| Point::new(spot, &setup, share)).collect();
            serve(&mut points, &received);
        };
        let name = "v6gap-capture".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(work)?;
        Ok(Recorder { orders: Some(orders), thread: Some(thread) })
    }

    /// Begins a section of the files, headed by `comment`: frames from now on belong to it.
    pub fn begin(&mut self, comment: &str) {
        self.ask(|told| Order::Begin(comment.to_owned(), told));
    }

    /// Ends the section, and says what was in it.
    pub fn end(&mut self) -> Captured {
        self.ask(Order::End).unwrap_or_else(|| Captured {
            troubles: vec!["the capture has ended early".to_owned()],
            ..Captured::default()
        })
    }

    fn ask<T>(&mut self, order: impl FnOnce(Sender<T>) -> Order) -> Option<T> {
        let (told, answer) = channel();
        self.orders.as_ref()?.send(order(told)).ok()?;
        answer.recv().ok()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // The thread ends when nobody can give it orders.
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // If it panicked, its files are incomplete; what was measured is not.
            let _ = thread.join();
        }
    }
}

/// The thread's work: sleeps until a section begins, then empties the rings until it ends.
fn serve(points: &mut [Point], orders: &Receiver<Order>) {
    let mut open = false;
    loop {
        let order = match open {
            true => orders.recv_timeout(PERIOD),
            false => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match order {
            Ok(Order::Begin(comment, told)) => {
                points.iter_mut().for_each(|point| point.begin(&comment));
                open = true;
                // Whoever asked waits for it, or has gone.
                let _ = told.send(());
            }
            Ok(Order::End(told)) => {
                open = false;
                let mut captured = Captured::default();
                points.iter_mut().for_each(|point| point.end(&mut captured));
                let _ = told.send(captured);
            }
            Err(RecvTimeoutError::Timeout) => points.iter_mut().for_each(Point::empty),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// One node: its interfaces, its file and the counts of the present section.
struct Point {
    node: String,
    taps: Vec<Tap>,
    file: File,
    counts: Vec<Tapped>,
}

impl Point {
    fn new(spot: Spot, setup: &Setup, limit_bytes: u64) -> Self {
        let Spot { node, taps, sink } = spot;
        let interfaces = taps.iter().map(|tap| Interface {
            node: node.clone(),
            interface: tap.interface().to_owned(),
            link: tap.link(),
        });
        let file = File::new(sink, interfaces.collect(), setup, limit_bytes);
        Point { node, taps, file, counts: Vec::new() }
    }

    /// What came between the trials is thrown away.
    fn begin(&mut self, comment: &str) {
        for tap in &mut self.taps {
            while tap.take(|_| ()).is_some() {}
            // The count starts anew when it is read.
            let _ = tap.dropped();
        }
        let of = |tap: &Tap| Tapped {
            node: self.node.clone(),
            interface: tap.interface().to_owned(),
            ..Tapped::default()
        };
        self.counts = self.taps.iter().map(of).collect();
        self.file.begin(comment);
    }

    /// Takes what has come so far, and no more than a ring holds, so that it ends.
    fn empty(&mut self) {
        const FRAMES_MAX: usize = 1 << 17;
        for (index, (tap, count)) in self.taps.iter_mut().zip(&mut self.counts).enumerate() {
            let link = tap.link();
            let file = &mut self.file;
            for _ in 0..FRAMES_MAX {
                let seen = tap.take(|seen| {
                    note(count, link, &seen);
                    count.written += u64::from(file.frame(index, &seen));
                });
                if seen.is_none() {
                    break;
                }
            }
        }
    }

    fn end(&mut self, captured: &mut Captured) {
        self.empty();
        for (tap, count) in self.taps.iter().zip(&mut self.counts) {
            count.dropped = tap.dropped().map_or(0, u64::from);
        }
        self.file.end(&self.counts, clock::wall_ns());
        captured.taps.append(&mut self.counts);
        captured.troubles.extend(self.file.trouble().map(|why| format!("{}: {why}", self.node)));
    }
}

/// Counts a frame.
fn note(count: &mut Tapped, link: Link, seen: &Frame<'_>) {
    let direction = if seen.outgoing { &mut count.sent } else { &mut count.received };
    let tag = if seen.tag.is_some() { TAG_BYTES } else { 0 };
    let octets = (seen.length + tag) as u64;
    let word = |at: usize| {
        seen.bytes.get(at..at + 2).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let (ethertype, packet) = match link {
        Link::Ethernet => (word(12), seen.bytes.get(ETHERNET_BYTES..).unwrap_or_default()),
        Link::Ip => (file::ethertype_of(seen.bytes), seen.bytes),
    };
    direction.count(ethertype, packet, octets);
}
