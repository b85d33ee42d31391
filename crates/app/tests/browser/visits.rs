//! A host that does not run this program, visited from the page's own field: a service of HTTP on
//! loopback. Needs no lab.

use super::figures::SHOWN;
use super::{Beside, Chromium, OURS, Scene, of, ports, shown};
use std::io::{Read, Write};
use std::path::Path;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfine\n";

/// All steps.
pub fn steps(home: &Path, browser: Chromium) -> Chromium {
    println!("   a website is visited, and its report has both figures");
    let (home, port) = (home.join("visited"), service());
    let mut web = Beside::start(&home, &["web", "--no-open", "-p", "24667"]);
    let (link, mut browser) = (web.link(), browser);
    let tab = browser.open(&link, false);
    let base = link.split("/#").next().unwrap().to_owned();
    let mut scene = Scene { home: &home, browser, tab, base };
    begins(&mut scene, port);
    scene.until(&of("headline"));
    let result = shown(scene.home, "last");
    assert_eq!(result["target"], format!("http://127.0.0.1:{port}/"));
    assert_eq!(scene.value(&format!("{}.textContent", of("headline"))), result["headline"]);
    reports(&mut scene, result["id"].as_str().unwrap());
    let own = |url: &&String| ["data:", "about:", &scene.base].iter().any(|o| url.starts_with(o));
    let asked = scene.browser.asked.iter();
    assert_eq!(asked.filter(|url| !own(url)).collect::<Vec<_>>(), Vec::<&String>::new());
    // What follows has another server.
    scene.browser.asked.clear();
    scene.browser
}

/// Answers on one port of both families, as long as the tests run.
fn service() -> u16 {
    let (port, listeners) = ports::listening();
    for listener in listeners {
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                // Who only looks for the way there asks for nothing.
                if stream.read(&mut [0; 2048]).is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(ANSWER);
                }
            }
        });
    }
    port
}

fn begins(scene: &mut Scene<'_>, port: u16) {
    scene.until(&of("new-run"));
    scene.pick("site", "where");
    scene.value(&format!("{}.focus()", of("site")));
    scene.browser.type_in(&scene.tab, &format!("http://127.0.0.1:{port}/"));
    for (field, text) in [("v6", "::1"), ("pairs", "6")] {
        scene.value(&format!("document.querySelector('#visits-{field}').value = '{text}'"));
    }
    let line = format!("v6gap probe http://127.0.0.1:{port}/");
    scene.until(&format!("{}.textContent.startsWith('{line}')", of("command")));
    scene.screens("visit");
    scene.value(&format!("{}.click()", of("start")));
    scene.until(&of("live"));
    let live = of("live");
    scene.until(&format!("Number({live}.dataset.pairs) >= 1 && Number({live}.dataset.points) > 0"));
}

/// The result has its figures, and so has its report alone, which keeps nobody out.
fn reports(scene: &mut Scene<'_>, id: &str) {
    scene.go(&format!("/r/{id}"), "result");
    scene.until("document.querySelector('iframe').dataset.loaded");
    let report = scene.browser.frame(&scene.tab, &format!("/{id}/report.html"));
    let drawn = scene.browser.value(&report, SHOWN);
    for name in ["visit-1", "ladder"] {
        let figure = drawn.as_array().unwrap().iter().find(|figure| figure["id"] == name);
        let rows = figure.and_then(|figure| figure["rows"].as_array());
        assert!(rows.is_some_and(|rows| !rows.is_empty()), "{name}: {drawn}");
    }
    let there = format!("ticketed('/runs/{id}/report.html')");
    let page = scene.value(&format!("{OURS}.then(({{ ticketed }}) => {there})"));
    scene.value(&format!("location.href = {page}"));
    scene.until("document.readyState === 'complete' && document.querySelector('#fig-ladder')");
    scene.screens("visited");
}
