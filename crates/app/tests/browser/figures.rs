//! Step 7: every figure on a page has a title and, after it, the table of its numbers, each cell of
//! which is what the figure's JSON says.

use super::{Chromium, Scene, Tab, keep, of};
use serde_json::{Value, json};

/// What a page shows of each figure, as the JSON of it would say; the table must come after it.
const SHOWN: &str = "[...document.querySelectorAll('svg[role=img]')].map((svg) => { \
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
        "fetch('/api/v1/runs/{id}/figures').then((r) => r.json()).then((all) => Promise.all(\
         all.map((f) => fetch(`/api/v1/runs/{id}/figures/${{f.number}}.json`).then((r) => \
         r.json()))))"
    );
    scene.value(&all).as_array().unwrap().clone()
}

/// The report by itself: no barriers, and its figures.
fn report(scene: &mut Scene<'_>, id: &str, written: &[Value]) {
    let page = format!("{}/api/v1/runs/{id}/report.html", scene.base);
    scene.value(&format!("location.href = '{page}'"));
    scene.until("document.readyState === 'complete' && document.querySelector('svg[role=img]')");
    for width in [1280, 500] {
        scene.browser.size(&scene.tab, width, 800);
        let found = scene.browser.barriers(&scene.tab);
        assert!(found.is_empty(), "report, {width}: {found:#?}");
        keep(&mut scene.browser, &scene.tab, &format!("report-{width}"), width);
    }
    agree(&mut scene.browser, &scene.tab, written, "the report");
}

/// That a page shows what was written, in that order and byte for byte, and no other figure.
fn agree(browser: &mut Chromium, tab: &Tab, written: &[Value], place: &str) {
    let shown = browser.value(tab, SHOWN);
    let shown = shown.as_array().unwrap();
    let ids = |all: &[Value]| all.iter().map(|figure| figure["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(shown), ids(written), "{place}");
    let mut cells = 0;
    for (shown, written) in shown.iter().zip(written) {
        assert!(written["title"].as_str().is_some_and(|title| !title.is_empty()), "{written}");
        for part in ["schema", "title", "foot", "columns"] {
            assert_eq!(shown[part], written[part], "{place}, {}: {part}", written["id"]);
        }
        let rows = |figure: &Value| figure["rows"].as_array().unwrap_or(&Vec::new()).clone();
        assert_eq!(rows(shown).len(), rows(written).len(), "{place}, {}", written["id"]);
        for (shown, written) in rows(shown).iter().zip(rows(written)) {
            assert_eq!(*shown, written, "{place}");
            cells += written.as_array().unwrap().len();
        }
    }
    assert!(!written.is_empty() && cells >= 10 * written.len(), "{place}: {cells} cells");
    println!("    {place}: {} figures, {cells} cells", written.len());
}

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
