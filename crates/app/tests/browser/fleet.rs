//! How the paths between the hosts of a fleet do: fifty hosts, from stored runs whose truth is
//! known and as one is added, and more than fit one table.

use super::many_runs::{self, CHANGED, EARLIER, FAR, OPEN, STALE};
use super::{Beside, Chromium, PROGRAM, Scene, of, paths, replay};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Both themes, as wide as a table and as narrow as a telephone.
const FORMS: [(&str, u32); 4] = [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)];

/// 2026-11-27 10:00 (UTC).
const NOW_NS: u64 = 1_795_773_600_000_000_000;

/// Hosts of the fleet that is shown whole.
const SITES: usize = 10;
const HOSTS: usize = 50;

/// The cells of the matrix that lead somewhere.
const CELLS: &str = "[...document.querySelectorAll('[data-testid=fleet-matrix] td a')]";

/// The box that the matrix scrolls in.
const BOX: &str = "document.querySelector('[data-testid=fleet-matrix] .card.matrix')";

fn runs(home: &Path, sites: usize, now_ns: u64) -> PathBuf {
    std::fs::create_dir_all(home).unwrap();
    let (id, packed) = replay::RECORDED[0];
    let journal = std::fs::read_to_string(replay::unpack(home, id, packed)).unwrap();
    many_runs::fill(&apart(home), sites, now_ns, (id, &journal))
}

/// Where they lie: not among the results of this computer.
fn apart(home: &Path) -> PathBuf {
    home.join("archive")
}

/// The cell of a path.
fn cell(from: usize, to: usize) -> String {
    let href = format!("/fleet/{}/{}", many_runs::name(from), many_runs::name(to));
    format!("document.querySelector('[data-testid=fleet-matrix] td a[href=\"{href}\"]')")
}

/// Fifty hosts as they were at a time.
pub fn replayed(home: &Path, browser: Chromium) -> Chromium {
    println!("   replayed: fifty hosts of a fleet are one table");
    let home = home.join("fleet-replayed");
    let folder = runs(&home, SITES, NOW_NS);
    let at = NOW_NS.to_string();
    let line = ["web", "--no-open", "-p", "25067", "--fleet", folder.to_str().unwrap()];
    let mut web = Beside::start(&home, &[&line[..], &["--fleet-at-unix-ns", &at]].concat());
    let mut scene = paths::scene(&home, &mut web, browser);
    scene.until(&of("new-run"));
    scene.until("!document.querySelector('nav a[data-screen=fleet]').hidden");
    scene.value("document.querySelector('nav a[data-screen=fleet]').click()");
    scene.until(&format!("{CELLS}.length === {}", HOSTS * (HOSTS - 1)));
    says_what_the_terminal_says(&mut scene, &folder);
    is_readable(&mut scene);
    scene.keep("fleet", &FORMS);
    is_walked_through(&mut scene);
    println!("   replayed: the page of a path of the fleet, and the report of a run");
    path(&mut scene);
    println!("   replayed: two sites alone");
    scene.go(&format!("/fleet?sites=s0,s{FAR}"), "fleet-headline");
    scene.until(&format!("{CELLS}.length === 90"));
    assert_eq!(scene.value(&format!("{}.innerText", cell(0, 5 * FAR))), "▼ +50 %");
    scene.keep("fleet-sites", &[("light", 1280), ("light", 390)]);
    scene.value(&format!("{}.click()", of("all-sites")));
    scene.until(&format!("{CELLS}.length === {}", HOSTS * (HOSTS - 1)));
    paths::end(scene)
}

/// What is told of all paths, and each of those that are not as the others.
fn says_what_the_terminal_says(scene: &mut Scene<'_>, folder: &Path) {
    let told = terminal(folder);
    let cells = told["cells"].as_array().unwrap();
    let count = |verdict: &str, stale: bool| {
        let is_it = |cell: &&Value| cell["verdict"] == verdict && cell["stale"] == stale;
        cells.iter().filter(is_it).count()
    };
    // The far site has 5 hosts and 45 others, one of which is stale.
    assert_eq!((count("worse", false), count("worse", true)), (220, 5), "{}", told["shared"]);
    assert_eq!((count("inconclusive", false), cells.len()), (1, 1225));
    let headline = format!("{}.textContent", of("fleet-headline"));
    let said = "220 of 1176 paths are worse over IPv6 (rtt-tcp-64)";
    assert_eq!(scene.value(&headline), said);
    for (class, paths) in [
        ("worse:not(.stale)", count("worse", false)),
        ("worse.stale", count("worse", true)),
        ("open:not(.stale)", count("inconclusive", false)),
        ("stale", HOSTS - 1),
    ] {
        // Each path has a cell from either of its ends.
        let shown = format!("{CELLS}.filter((a) => a.parentElement.matches('.{class}')).length");
        assert_eq!(scene.value(&shown), 2 * paths, "{class}");
    }
    for ((from, to), sign, words) in [
        (CHANGED, "▼", "worse, +50 %"),
        (OPEN, "?", "can't tell, +0.60 %"),
        ((0, 1), "=", "same, "),
        ((0, STALE), "=", "d ago, stale"),
    ] {
        let cell = cell(from, to);
        assert_eq!(scene.value(&format!("{cell}.textContent")), sign, "{words}");
        let label = scene.value(&format!("{cell}.getAttribute('aria-label')"));
        assert!(label.as_str().unwrap().contains(words), "{label}: {words}");
    }
    let text = scene.value(&format!("{}.innerText", of("fleet-matrix")));
    let text = text.as_str().unwrap();
    let leave = format!("they leave s{FAR}: 220 of 220 worse paths");
    for said in [leave.as_str(), "hop 2, 2001:db8::7"] {
        assert!(text.contains(said), "no {said}: {text}");
    }
}

/// All of it at the width of a table; on a telephone it scrolls in its box, and its headings stay.
fn is_readable(scene: &mut Scene<'_>) {
    let fits = format!("{BOX}.scrollWidth <= {BOX}.clientWidth");
    assert_eq!(scene.value(&fits), true, "fifty hosts are wider than 1280");
    let least = format!("Math.min(...{CELLS}.map((a) => a.getBoundingClientRect().width))");
    assert!(scene.value(&least).as_f64().unwrap() >= 20.0);
    let worst = "getComputedStyle(document.querySelector('.worst')).display";
    assert_eq!(scene.value(worst), "none");
    scene.browser.size(&scene.tab, 390, 800);
    assert_eq!(scene.value(worst), "block");
    assert_eq!(scene.value("document.querySelectorAll('.worst li a').length"), 10);
    assert_eq!(scene.value(&format!("!({fits})")), true);
    scene.value(&format!("{BOX}.scrollTo(600, 400)"));
    let offset = |of: &str, side: &str| {
        format!(
            "Math.abs({BOX}.querySelector('{of}').getBoundingClientRect().{side} \
             - {BOX}.getBoundingClientRect().{side}) <= 2"
        )
    };
    for (heading, side) in [
        ("tbody tr:last-child th", "left"),
        ("thead th:last-child", "top"),
        ("thead td", "left"),
        ("thead td", "top"),
    ] {
        assert_eq!(scene.value(&offset(heading, side)), true, "{heading} {side}");
    }
    scene.value(&format!("{BOX}.scrollTo(0, 0)"));
    scene.browser.size(&scene.tab, 1280, 800);
}

/// One stop of the tab key, arrows from cell to cell, Enter into the path.
fn is_walked_through(scene: &mut Scene<'_>) {
    assert_eq!(scene.value(&format!("{CELLS}.filter((a) => a.tabIndex === 0).length")), 1);
    scene.value(&format!("{}.focus()", cell(0, 1)));
    for key in ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"] {
        scene.browser.press(&scene.tab, key);
    }
    // Over the cell of the host itself.
    let at = scene.value("document.activeElement.getAttribute('href')");
    assert_eq!(at, format!("/fleet/{}/{}", many_runs::name(3), many_runs::name(1)));
    scene.browser.enter(&scene.tab);
    scene.until(&of("fleet-path"));
    assert_eq!(scene.value("location.pathname"), at);
    scene.value(&format!("{}.click()", of("to-fleet")));
    scene.until(&cell(CHANGED.0, CHANGED.1));
}

/// The path that changed, by its cell, and the report of its newest run.
fn path(scene: &mut Scene<'_>) {
    scene.value(&format!("{}.click()", cell(CHANGED.0, CHANGED.1)));
    scene.until(&format!("{} && {}", of("fleet-changes"), of("fleet-runs")));
    assert_eq!(scene.value("document.title"), "s0/h0 to s7/h0 – v6gap");
    let changes = scene.value(&format!("{}.innerText", of("fleet-changes")));
    assert!(changes.as_str().unwrap().contains("The change is of IPv6 alone"), "{changes}");
    assert_eq!(scene.value("document.querySelectorAll('.strip svg[role=img]').length"), 2);
    let rows = "document.querySelector('.strip tbody').rows";
    let visits = [0, 1].map(|row| scene.value(&format!("{rows}[{row}].cells[2].textContent")));
    let after = many_runs::SINCE;
    assert_eq!(visits, [(EARLIER + 1 - after).to_string(), after.to_string()]);
    let runs = format!("{}.querySelectorAll('a').length", of("fleet-runs"));
    assert_eq!(scene.value(&runs), EARLIER + 1);
    scene.keep("fleet-path", &FORMS);
    let (id, _) = replay::RECORDED[0];
    let link = format!("{}.querySelector('a[href$=\"/{id}\"]')", of("fleet-runs"));
    scene.value(&format!("{link}.click()"));
    scene.until(&of("fleet-report"));
    scene.until("document.querySelector('iframe').dataset.loaded");
    let report = scene.browser.frame(&scene.tab, &format!("/{id}/report.html"));
    let heading = scene.browser.value(&report, "document.querySelector('h1').textContent");
    assert!(!heading.as_str().unwrap().is_empty());
    scene.screens("fleet-report");
}

/// What the terminal says of the same folder at the same time.
fn terminal(folder: &Path) -> Value {
    let mut command = Command::new(PROGRAM);
    command.args(["fleet", "matrix", "--json", "--at-unix-ns", &NOW_NS.to_string(), "--runs"]);
    let ran = command.arg(folder).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    serde_json::from_slice(&ran.stdout).unwrap()
}

/// As a run is added, and where there are more hosts than one table holds.
pub fn live(home: &Path, browser: Chromium) -> Chromium {
    println!("   live: a run that is added is shown without loading the page again");
    let home = home.join("fleet-live");
    let folder = runs(&home, SITES, now_ns());
    let line = ["web", "--no-open", "-p", "25167", "--fleet", folder.to_str().unwrap()];
    let mut web = Beside::start(&home, &line);
    let mut scene = paths::scene(&home, &mut web, browser);
    scene.until(&of("new-run"));
    scene.go("/fleet", "fleet-headline");
    let (here, other) = (cell(0, 1), cell(0, 2));
    scene.until(&format!("{here} && {here}.textContent === '='"));
    scene.value(&format!("window.stayed = true; {other}.focus(); {BOX}.scrollTop = 40"));
    many_runs::add(&apart(&home), "added1", (0, 1), now_ns());
    scene.until(&format!("{here}.textContent === '▼'"));
    let headline = scene.value(&format!("{}.textContent", of("fleet-headline")));
    assert_eq!(headline, "221 of 1176 paths are worse over IPv6 (rtt-tcp-64)");
    let stays = format!("window.stayed && document.activeElement === {other}");
    assert_eq!(scene.value(&stays), true, "who is in the matrix stays there");
    scene.screens("fleet-live");
    let browser = paths::end(scene);
    drop(web);
    println!("   live: more than sixty hosts are told by their sites");
    let home = home.join("more");
    let folder = runs(&home, 13, now_ns());
    let line = ["web", "--no-open", "-p", "25267", "--fleet", folder.to_str().unwrap()];
    let mut web = Beside::start(&home, &line);
    let mut scene = paths::scene(&home, &mut web, browser);
    scene.until(&of("new-run"));
    scene.go("/fleet", "fleet-headline");
    let sites = format!("{}.querySelectorAll('tbody th a')", of("fleet-matrix"));
    scene.until(&format!("{sites}.length === 91"));
    // All paths of that site are equally bad.
    let first = scene.value(&format!("{sites}[0].getAttribute('href')"));
    let first = first.as_str().unwrap();
    assert!(first.starts_with("/fleet?sites=") && first.contains("s7"), "{first}");
    scene.screens("fleet-by-sites");
    scene.value(&format!("{sites}[0].click()"));
    scene.until(&format!("{CELLS}.length === 90"));
    paths::end(scene)
}

fn now_ns() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}
