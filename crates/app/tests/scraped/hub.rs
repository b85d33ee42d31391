//! A hub as collectors see it: what it tells is made up, and told by the program's own text and
//! page. Nothing that a hub can tell is missing, and what counts goes on counting.

use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use v6gap_core::fleet::SECOND_NS;
use v6gap_core::fleet::id::Epoch;
use v6gap_core::fleet::metrics::Metrics;
use v6gap_core::fleet::timetable::Standing;
use v6gap_core::fleet::work::{Now, Outcome};
use v6gap_core::watch::Moment;
use v6gap_report::fleet::metrics as text;
use v6gap_report::metrics::CONTENT_TYPE;
use v6gap_serve::{Page, Scrapes};

/// How often it counts on.
const EVERY: Duration = Duration::from_secs(1);

/// How long it takes to grant jobs, in ns.
const GRANT_NS: u64 = 4_000_000;

/// Begins to tell, and says where.
pub fn told() -> String {
    let metrics = begun();
    let page = Arc::new(Page::default());
    let scrapes = Scrapes::bind("[::1]:0".parse().unwrap()).unwrap();
    let (address, served) = (scrapes.address().to_string(), Arc::clone(&page));
    page.put(text(&metrics));
    std::thread::spawn(move || scrapes.serve(served, CONTENT_TYPE));
    std::thread::spawn(move || count_on(metrics, &page));
    address
}

/// Counts on until the suite ends.
fn count_on(mut metrics: Metrics, page: &Page) {
    loop {
        std::thread::sleep(EVERY);
        metrics.granted(GRANT_NS);
        metrics.came(&Outcome::Measured { run: None });
        metrics.unwritten("archive");
        page.put(text(&metrics));
    }
}

/// A hub that leads two agents, of which one has a clock that is off.
fn begun() -> Metrics {
    let mut metrics = Metrics::default();
    metrics.lead(true);
    let standing = Standing { paths: 2, overdue: 1 };
    metrics.stands(Epoch(7), [("backbone".to_owned(), standing)].into());
    metrics.unwritten("archive");
    for (from, unix_s) in [("rome/a", 1_000), ("oslo/b", 997)] {
        let said = json!({
            "from": from, "version_lowest": 1, "version_highest": 1, "program": "1.0",
            "unix_ns": unix_s * SECOND_NS, "state": "idle", "highest": 0,
            "free_bytes": 50_000_000_000_u64, "unarchived": 3,
        });
        let wall = Moment { unix_ns: 1_000 * SECOND_NS, offset_s: 0 };
        metrics.beat(serde_json::from_value(said).unwrap(), Now { ns: 0, wall });
    }
    metrics
}
