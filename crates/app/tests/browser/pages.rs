//! Pages with every view that there is, as the report's own tests keep them: no barriers in either
//! theme and at either width, and every figure with its numbers.

use super::figures::SHOWN;
use super::{Chromium, screens};
use std::path::Path;

/// One run with what `run` asks, one without a verdict, one with everything else that is drawn, one
/// of visits; two runs compared, and three, which have a history.
const PAGES: [&str; 6] = ["lab", "invalid", "views", "visited", "two", "three"];

/// All of them, each in a tab of its own.
pub fn steps(browser: &mut Chromium) {
    println!("7. and 9. every view there is");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/snapshots");
    let folder = folder.canonicalize().unwrap();
    for name in PAGES {
        let url = format!("file://{}/{name}.html", folder.display());
        let tab = browser.open(&url, false);
        browser.until(&tab, "document.readyState === 'complete' && document.querySelector('h1')");
        screens(browser, &tab, &format!("page-{name}"));
        let shown = browser.value(&tab, SHOWN);
        let shown = shown.as_array().unwrap();
        for figure in shown {
            let rows = figure["rows"].as_array().map_or(0, Vec::len);
            assert!(rows > 0 && figure["title"].is_string(), "{name}: {figure}");
        }
        println!("    {name}: {} figures", shown.len());
        let other: Vec<_> = browser.asked.iter().filter(|asked| **asked != url).collect();
        assert!(other.iter().all(|asked| asked.starts_with("data:")), "{other:?}");
        browser.asked.clear();
    }
}
