//! The paths that are watched: the first screen and the page of one, from a log whose truth is
//! known and as a watch of loopback goes on.

use super::simulated::{self, CHANGES, FAILS, STAYS};
use super::{Beside, Chromium, OURS, PROGRAM, Scene, of, replay, screens};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Both themes, as wide as a table and as narrow as a telephone.
const FORMS: [(&str, u32); 4] = [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)];

/// Port of the far end of the watch, and one that answers nobody.
const SERVER: u16 = 24768;

/// One path that is measured once a second, a second long.
const WATCH: &str = "v6gap = 1\nevery = \"1 s\"\n\n[[paths]]\nname = \"here\"\nhost = \"here\"\n\
                     v4 = \"127.0.0.1\"\nv6 = \"::1\"\nport = 24768\ntime = \"1 s\"\n\
                     measure = [\"connect\"]\n";

/// The first page of a server, by its link.
pub fn scene<'a>(home: &'a Path, web: &mut Beside, mut browser: Chromium) -> Scene<'a> {
    let link = web.link();
    let tab = browser.open(&link, false);
    let base = link.split("/#").next().unwrap().to_owned();
    Scene { home, browser, tab, base }
}

/// No request left the page; what follows has another server.
pub fn end(scene: Scene<'_>) -> Chromium {
    let Scene { mut browser, base, tab, .. } = scene;
    browser.leave(&tab);
    let own = |url: &&String| ["data:", "about:", &base].iter().any(|own| url.starts_with(own));
    let others: Vec<&String> = browser.asked.iter().filter(|url| !own(url)).collect();
    assert!(others.is_empty(), "{others:?}");
    browser.asked.clear();
    browser
}

/// From a log: a path that changed, one that does not answer, and one that stays as it is.
pub fn replayed(home: &Path, browser: Chromium) -> Chromium {
    println!("   replayed: the first screen has the paths of a watch");
    let home = home.join("paths-replayed");
    std::fs::create_dir_all(&home).unwrap();
    let (id, packed) = replay::RECORDED[0];
    let run = replay::unpack(&home, id, packed);
    let log = simulated::log(&home, id);
    let line = ["web", "--no-open", "-p", "24867", "--demo", run.to_str().unwrap()];
    let more = ["--demo-watch", log.to_str().unwrap()];
    let mut web = Beside::start(&home, &[&line[..], &more].concat());
    let mut scene = scene(&home, &mut web, browser);
    scene.until(&of("new-run"));
    scene.until("document.querySelector('.presets')");
    let strips = format!("{}.querySelectorAll('.strip svg').length", of("paths"));
    scene.until(&format!("{strips} === 3"));
    assert_eq!(scene.value(&format!("{}.hidden", of("watch-hint"))), true);
    says(&mut scene, CHANGES, &["▼ worse", "The change is of IPv6", "9 before, 12 since."]);
    says(&mut scene, FAILS, &["IPv6 to \"nas\" has not answered since 2026-11-22 22:4", "17 down"]);
    says(&mut scene, STAYS, &["= same", "Last change\nnone", "2 missed (behind)"]);
    scene.keep("paths", &FORMS);
    println!("   replayed: the page of a path");
    path(&mut scene);
    scene.keep("path", &FORMS);
    opened(&mut scene);
    end(scene)
}

/// That the card of a path says all of this.
fn says(scene: &mut Scene<'_>, name: &str, expected: &[&str]) {
    let card = of(&format!("path-{name}"));
    let text = scene.value(&format!("{card}.innerText"));
    let text = text.as_str().unwrap();
    expected.iter().for_each(|said| assert!(text.contains(said), "{name}: no {said}: {text}"));
}

/// The page of the path that changed, by its link on the first screen.
fn path(scene: &mut Scene<'_>) {
    scene.value(&format!("{}.querySelector('h2 a').click()", of(&format!("path-{CHANGES}"))));
    scene.until(&format!("{} && {}", of("path"), of("runs")));
    assert_eq!(scene.value("location.pathname"), "/p/lab-b");
    assert_eq!(scene.value("document.title"), "lab-b – v6gap");
    for (part, said) in [("changes", "The change is of IPv6"), ("changes", "9 before, 12 since.")] {
        let text = scene.value(&format!("{}.innerText", of(part)));
        assert!(text.as_str().unwrap().contains(said), "{text}");
    }
    let link = scene.value(&format!("{}.querySelector('a').getAttribute('href')", of("runs")));
    assert_eq!(link, "/r/ygbv7b");
    // What is drawn has a title and a description, and its table says what the program says.
    let told = format!("{OURS}.then(({{ ask }}) => ask('/paths/lab-b/strips?since=14d'))");
    let told = scene.value(&told);
    let strip = &told["strips"][0];
    let drawn = "document.querySelector('.strip svg[role=img]')";
    for part in ["title", "desc"] {
        let shown = scene.value(&format!("{drawn}.querySelector(':scope > {part}').textContent"));
        assert_eq!(shown, strip[part], "{part}");
    }
    let cells = "[...document.querySelectorAll('.strip tbody tr')]\
                 .map((row) => [...row.cells].map((cell) => cell.textContent))";
    let cells = scene.value(cells);
    assert_eq!(cells, strip["rows"]);
    assert_eq!(cells.as_array().map(Vec::len), Some(2), "{cells}");
}

/// With everything open that can be opened, as a person who does not see the strips would have it.
fn opened(scene: &mut Scene<'_>) {
    scene.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    screens(&mut scene.browser, &scene.tab, "path-opened");
    scene.go("/", "paths");
    scene.until("document.querySelectorAll('.strip svg').length === 3");
    scene.value("document.querySelectorAll('.strip details').forEach((o) => { o.open = true; })");
    for width in [1280, 390] {
        scene.browser.size(&scene.tab, width, 800);
        let found = scene.browser.barriers(&scene.tab);
        assert!(found.is_empty(), "paths opened, {width}: {found:#?}");
        let wide = scene.value("document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(wide, true, "paths opened are wider than {width}");
    }
    scene.browser.size(&scene.tab, 1280, 800);
}

/// As it goes on: nothing, then a host that does not answer, then one that does.
pub fn live(home: &Path, browser: Chromium) -> Chromium {
    println!("   live: the first screen says how to begin");
    let home = home.join("paths-live");
    std::fs::create_dir_all(&home).unwrap();
    let mut web = Beside::start(&home, &["web", "--no-open", "-p", "24967"]);
    let mut scene = scene(&home, &mut web, browser);
    scene.until(&format!("{}.innerText.includes('v6gap watch HOST')", of("watch-hint")));
    scene.value("window.stayed = true");
    println!("   live: a watch that begins elsewhere is shown without loading the page again");
    let file = home.join("watch.toml");
    std::fs::write(&file, WATCH).unwrap();
    let watch = Beside::start(&home, &["watch", "--config", file.to_str().unwrap()]);
    let card = of("path-here");
    let down = format!("{card}.querySelector('[data-testid=down]')");
    scene.until(&format!("{down} && {down}.innerText.includes('has not answered since')"));
    scene.screens("paths-down");
    println!("   live: it answers, and its strip grows");
    let port = SERVER.to_string();
    let listen = ["serve", "--listen", "127.0.0.1", "--listen", "::1", "-p", &port];
    let mut server = Beside::start(&home, &listen);
    server.line("Serving");
    scene.until(&format!("!{down} && {card}.querySelector('.strip svg')"));
    scene.until(&format!("{card}.querySelector('.answers .chip')"));
    assert_eq!(scene.value("window.stayed"), true);
    scene.value(&format!("{card}.querySelector('h2 a').click()"));
    scene.until(&format!("{} && document.querySelector('.strip tbody td')", of("path")));
    let visits = "Number(document.querySelector('.strip tbody tr').cells[2].textContent)";
    let before = scene.value(visits).as_u64().unwrap();
    scene.until(&format!("{visits} > {before}"));
    scene.until(&format!("{}.innerText.includes('did not answer from')", of("outages")));
    scene.until(&of("runs"));
    for (theme, width) in FORMS {
        let tab = &scene.tab;
        scene.browser.size(tab, width, 800);
        let chosen = format!("document.documentElement.dataset.theme = '{theme}'");
        scene.browser.value(tab, &chosen);
        let found = scene.browser.barriers(tab);
        assert!(found.is_empty(), "path, live, {theme}, {width}: {found:#?}");
        let wide = scene.browser.value(tab, "document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(wide, true, "the page of a path is wider than {width}");
        super::keep(&mut scene.browser, tab, &format!("path-live-{theme}-{width}"), width);
    }
    scene.browser.size(&scene.tab, 1280, 800);
    drop(watch);
    let said = terminal(scene.home);
    assert_eq!(said["paths"][0]["name"], "here");
    end(scene)
}

/// What the terminal says of all paths.
fn terminal(home: &Path) -> Value {
    let mut command = Command::new(PROGRAM);
    command.args(["watch", "status", "--json"]).env("V6GAP_DATA", home);
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}
