//! Step 7: every figure on a page has a title and, after it, the table of its numbers, each cell of
//! which is what the figure's JSON says.

use super::{Chromium, OURS, Scene, Tab, keep, of};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What a page shows of each figure, as the JSON of it would say; the table must come after it.
pub const SHOWN: &str = "[...document.querySelectorAll('svg[role=img]')].map((svg) => { \
    const figure = svg.closest('figure'); const table = figure?.querySelector('table'); \
    const follows = Node.DOCUMENT_POSITION_FOLLOWING; \
    const after = table && svg.compareDocumentPosition(table) & follows; \
    const cells = (row) => [...row.cells].map((cell) => cell.textContent); \
    return { schema: 'v6gap.figure/1', id: figure?.id.replace(/^fig-/, ''), \
        title: svg.querySelector(':scope > title')?.textContent, \
        foot: figure?.querySelector('figcaption')?.textContent, \
        columns: after ? cells(table.tHead.rows[0]) : null, \
        rows: after ? [...table.tBodies].flatMap((body) => [...body.rows].map(cells)) : null }; })";

/// The Result screen of a run, which is open, and its report alone.
pub fn steps(scene: &mut Scene<'_>, id: &str) {
    let written = written(scene, id);
    assert_eq!(scene.value(&format!("({SHOWN}).length")), 0, "figures outside the report");
    scene.until(&format!("{} && document.querySelector('iframe').dataset.loaded", of("result")));
    let frame = scene.browser.frame(&scene.tab, &format!("/{id}/report.html"));
    agree(&mut scene.browser, &frame, &written, "the Result screen");
    report(scene, id, &written);
}

/// The JSON of each figure, as anybody gets it.
fn written(scene: &mut Scene<'_>, id: &str) -> Vec<Value> {
    let all = format!(
        "{OURS}.then(({{ ask }}) => ask('/runs/{id}/figures').then((all) => Promise.all(\
         all.map((f) => ask(`/runs/{id}/figures/${{f.number}}.json`)))))"
    );
    scene.value(&all).as_array().unwrap().clone()
}

/// The report by itself: no barriers, and its figures.
fn report(scene: &mut Scene<'_>, id: &str, written: &[Value]) {
    let there = format!("ticketed('/runs/{id}/report.html')");
    let page = scene.value(&format!("{OURS}.then(({{ ticketed }}) => {there})"));
    scene.value(&format!("location.href = {page}"));
    scene.until("document.readyState === 'complete' && document.querySelector('svg[role=img]')");
    for width in [1280, 500] {
        scene.browser.size(&scene.tab, width, 800);
        let found = scene.browser.barriers(&scene.tab);
        assert!(found.is_empty(), "report, {width}: {found:#?}");
        keep(&mut scene.browser, &scene.tab, &format!("report-{width}"), width);
    }
    agree(&mut scene.browser, &scene.tab, written, "the report");
}

/// That a page shows what was written, byte for byte and under its number, and no other figure.
fn agree(browser: &mut Chromium, tab: &Tab, written: &[Value], place: &str) {
    let shown = browser.value(tab, SHOWN);
    let shown = shown.as_array().unwrap();
    let ids = |all: &[Value]| all.iter().map(|f| f["id"].to_string()).collect::<BTreeSet<_>>();
    assert_eq!((shown.len(), ids(shown)), (written.len(), ids(written)), "{place}");
    let mut cells = 0;
    for (at, written) in written.iter().enumerate() {
        let id = &written["id"];
        let shown = shown.iter().find(|shown| shown["id"] == *id).unwrap();
        let title = written["title"].as_str().unwrap();
        assert!(!title.is_empty(), "{written}");
        let heading = format!("document.querySelector('#fig-' + {id} + ' h3').textContent");
        assert_eq!(browser.value(tab, &heading), format!("Figure {}. {title}", at + 1));
        let rows = written["rows"].as_array().unwrap();
        assert!(!rows.is_empty(), "{place}: no numbers behind {id}");
        cells += rows.iter().map(|row| row.as_array().unwrap().len()).sum::<usize>();
        for part in ["schema", "title", "foot", "columns", "rows"] {
            assert_eq!(shown[part], written[part], "{place}, {id}: {part}");
        }
    }
    assert!(!written.is_empty() && cells >= CELLS_MIN, "{place}: {cells} cells");
    println!("    {place}: {} figures, {cells} cells", written.len());
}

/// Cells that are compared at least, of all figures of a run together.
const CELLS_MIN: usize = 50;

/// That the comparison sees a cell that differs, a table that is gone and one that comes first.
pub fn prove(browser: &mut Chromium, tab: &Tab) {
    let picture = "<svg role=\"img\"><title>t</title></svg>";
    let table = "<table><thead><tr><th>a<th>b</thead><tbody><tr><th>1<td>2</tbody></table>";
    let foot = "<figcaption>f</figcaption>";
    let right = json!([{"schema": "v6gap.figure/1", "id": "x", "title": "t", "foot": "f",
                        "columns": ["a", "b"], "rows": [["1", "2"]]}]);
    let mut seen = |inside: [&str; 3]| {
        let page = format!("<figure id=fig-x>{}</figure>", inside.concat());
        let parsed = format!(
            "(() => {{ const document = new DOMParser().parseFromString({page:?}, 'text/html'); \
             return {SHOWN}; }})()"
        );
        browser.value(tab, &parsed)
    };
    assert_eq!(seen([picture, foot, table]), right);
    assert_ne!(seen([picture, foot, &table.replace('2', "3")]), right);
    assert_ne!(seen([table, picture, foot]), right);
    assert_ne!(seen([picture, foot, ""]), right);
    assert_ne!(seen(["<svg role=\"img\"></svg>", foot, table]), right);
}
