//! As many series as 50 hosts that all watch each other would have: the text is made while nobody
//! waits for it, and is handed over in time.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use v6gap_core::family::PerFamily;
use v6gap_core::metric::Metric;
use v6gap_core::watch::Kind;
use v6gap_core::watch::metrics::{Metrics, OfPath, Question};
use v6gap_report::metrics::{CONTENT_TYPE, text};
use v6gap_serve::{Page, Scrapes};

/// Paths, each with so many questions.
const PATHS: usize = 1_225;
const QUESTIONS: usize = 8;

/// Series that there are at least.
const SERIES: usize = 118_000;

/// Longest that a scrape may take, from the question to the last byte of the answer.
const LONGEST: Duration = Duration::from_millis(20);

/// How often is scraped; the median counts.
const TIMES: usize = 21;

/// Whether it was in time; by day, when the program is not the one that is released, no time is
/// judged.
pub fn in_time() -> bool {
    let metrics = metrics();
    let start = Instant::now();
    let text = text(&metrics);
    let made = start.elapsed();
    let series = text.lines().filter(|line| !line.starts_with('#')).count();
    let page = Arc::new(Page::default());
    let scrapes = Scrapes::bind("[::1]:0".parse().unwrap()).unwrap();
    let (address, served, bytes) = (scrapes.address(), Arc::clone(&page), text.len());
    page.put(text);
    std::thread::spawn(move || scrapes.serve(served, CONTENT_TYPE));
    let mut taken: Vec<Duration> = (0..TIMES).map(|_| scrape(address, bytes)).collect();
    taken.sort_unstable();
    let median = taken[TIMES / 2];
    let is_judged = std::env::var_os("V6GAP_FULL").is_some();
    let passed = (median < LONGEST || !is_judged) && series >= SERIES;
    let word = if passed { "ok    " } else { "FAILED" };
    println!(
        "{word} many_series ({:.4} s, at most {} s; {series} series, {:.1} MB, made in {:.2} s)",
        median.as_secs_f64(),
        LONGEST.as_secs_f64(),
        bytes as f64 / 1e6,
        made.as_secs_f64()
    );
    passed
}

fn metrics() -> Metrics {
    let question = Question {
        kind: Kind::Light,
        metric: Metric::Rtt,
        verdict: "worse".to_owned(),
        range: Some([0.089, 0.086, 0.092]),
        margin: Some(0.05),
        predicted: Some(0.0),
        values: Some(PerFamily { v4: 0.001_234, v6: 0.001_345 }),
    };
    let questions = (0..QUESTIONS).map(|n| (format!("rtt-tcp-{n}"), question.clone()));
    let path = OfPath {
        host: "lab.example".to_owned(),
        every_ns: 900_000_000_000,
        up: Some(PerFamily { v4: true, v6: true }),
        measured_unix_ns: Some(1_763_560_962_500_000_000),
        questions: questions.collect(),
        ..OfPath::default()
    };
    let paths = (0..PATHS).map(|n| (format!("site-{}/host-{n}", n % 10), path.clone()));
    Metrics { paths: paths.collect(), ..Metrics::new("site-1/host-1", "0.1.0") }
}

/// How long one scrape takes.
fn scrape(address: SocketAddr, bytes: usize) -> Duration {
    // Room for all of it, so that the reader's own growing is not counted.
    let mut answer = Vec::with_capacity(bytes + 4096);
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    stream.read_to_end(&mut answer).unwrap();
    let taken = start.elapsed();
    assert!(answer.starts_with(b"HTTP/1.1 200 ") && answer.len() > bytes);
    taken
}
