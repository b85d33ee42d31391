//! The steps on a recording, which is the same each time: so also what only that allows, pictures
//! that can be compared. Nothing is measured and no network is needed.
//!
//! Left to the live run: that a link works once (1), which has nothing to do with what is measured.

use super::golden;
use super::{Beside, Chromium, OURS, Scene, figures, of, progress, shown};
use miniz_oxide::inflate::decompress_to_vec;
use std::path::{Path, PathBuf};

/// The runs, made by `v6gap demo --for 18s --measure tcp --seed 46`, the second with `--rate 50M`.
pub const RECORDED: [(&str, &[u8]); 2] = [
    ("ygbv7b", include_bytes!("recorded/ygbv7b.jsonl.gz")),
    ("n1b7yg", include_bytes!("recorded/n1b7yg.jsonl.gz")),
];

/// Bytes of the head and of the tail of a gzip file without a name.
const GZIP: (usize, usize) = (10, 8);

/// Makes `name` ready for a picture: everything is drawn, and nothing moves.
const STILL: &str = "document.fonts.ready.then(() => new Promise((done) => { \
    document.activeElement?.blur(); setTimeout(() => requestAnimationFrame(() => \
    requestAnimationFrame(() => done(true))), 150); }))";

/// All steps.
pub fn steps(home: &Path, browser: Chromium) -> Chromium {
    golden::prove();
    let files = RECORDED.map(|(id, packed)| unpack(home, id, packed));
    let [first, second] = files.each_ref().map(|file| file.to_str().unwrap());
    let home = home.join("replayed");
    let line = ["web", "--no-open", "-p", "24567", "--speed", "4", "--demo", first];
    let mut web = Beside::start(&home, &[&line[..], &["--demo", second]].concat());
    let link = web.link();
    let mut browser = browser;
    let tab = browser.open(&link, false);
    let base = link.split("/#").next().unwrap().to_owned();
    let mut scene = Scene { home: &home, browser, tab, base };
    looks(&mut scene);
    let stopped = is_stopped(&mut scene);
    let whole = ends(&mut scene, first);
    println!("   the same events have the same numbers each time");
    let upto = stopped.iter().position(|line| line.contains("\"event\":\"check\"")).unwrap();
    assert!(upto > 20 && whole.len() > stopped.len(), "{upto}");
    // Between the name of an event and its text stands its number, behind that of its measurement.
    let alike = |line: &String| match line.strip_prefix("id: ") {
        Some(id) => format!("id: {}", id.split_once('-').unwrap().1),
        None => line.clone(),
    };
    let [stopped, whole] = [&stopped, &whole].map(|all| all.iter().map(alike));
    assert!(stopped.take(upto - 2).eq(whole.take(upto - 2)), "other events or numbers");
    keeps_notes(&mut scene);
    shows(&mut scene);
    let own = |url: &&String| ["data:", "about:", &scene.base].iter().any(|o| url.starts_with(o));
    let asked = scene.browser.asked.iter();
    assert_eq!(asked.filter(|url| !own(url)).collect::<Vec<_>>(), Vec::<&String>::new());
    // What follows has another server.
    scene.browser.asked.clear();
    scene.browser
}

/// The file of a recorded run, unpacked.
pub fn unpack(home: &Path, id: &str, packed: &[u8]) -> PathBuf {
    let text = decompress_to_vec(&packed[GZIP.0..packed.len() - GZIP.1]).unwrap();
    let path = home.join(format!("{id}.jsonl"));
    std::fs::write(&path, text).unwrap();
    path
}

fn looks(scene: &mut Scene<'_>) {
    println!("2. replayed: a host that is typed is looked at");
    scene.until(&of("new-run"));
    scene.until("!document.querySelector('#recording').hidden");
    scene.until("document.querySelector('.presets')");
    scene.value("document.querySelector('#host').focus()");
    scene.browser.type_in(&scene.tab, "server");
    let took = scene.until(&format!("{}.querySelectorAll('.ok').length >= 3", of("probe")));
    assert!(took < 2000, "{took} ms");
    scene.until(&format!("{}.textContent", of("takes")));
    scene.keep("measure", &[("light", 1280), ("light", 500)]);
}

/// Starts the recording and stops it; the lines of its events.
fn is_stopped(scene: &mut Scene<'_>) -> Vec<String> {
    println!("3. replayed: Enter starts; both families on one scale");
    scene.value(&format!("{}.focus()", of("start")));
    scene.browser.enter(&scene.tab);
    let live = of("live");
    scene.until(&live);
    scene.until(&format!("Number({live}.dataset.pairs) >= 2 && Number({live}.dataset.points) > 0"));
    let most = |family: &str| format!("{}.dataset.most", of(&format!("live-{family}")));
    scene.until(&format!("{0} && {0} === {1}", most("4"), most("6")));
    println!("4. replayed: a page that is loaded again has lost nothing");
    let [pairs, points] = progress(&mut scene.browser, &scene.tab);
    scene.browser.reload(&scene.tab);
    scene.until(&live);
    scene.until(&format!("Number({live}.dataset.pairs) >= {pairs}"));
    scene.until(&format!("Number({live}.dataset.points) >= {points}"));
    println!("5. replayed: what is stopped is kept and says so");
    scene.value(&format!("{}.click()", of("stop")));
    scene.until(&of("headline"));
    let said = scene.value(&format!("{}.textContent", of("progress")));
    assert!(said.as_str().unwrap().to_lowercase().contains("stopped"), "{said}");
    scene.until(&format!("{}.hidden", of("stop")));
    events(scene)
}

/// Everything that the server said of the last measurement.
fn events(scene: &mut Scene<'_>) -> Vec<String> {
    let all = "ask('/runs/live/events', { text: true })";
    let text = scene.value(&format!("{OURS}.then(({{ ask }}) => {all})"));
    text.as_str().unwrap().lines().map(str::to_owned).collect()
}

fn ends(scene: &mut Scene<'_>, file: &str) -> Vec<String> {
    println!("6. replayed: the whole says what the terminal says of the recording");
    scene.go("/", "new-run");
    scene.until(&format!("!{}.disabled", of("start")));
    scene.pick("demo", "where");
    scene.value(&format!("{}.click()", of("start")));
    scene.until(&of("headline"));
    scene.until(&format!("{}.hidden", of("stop")));
    let headline = scene.value(&format!("{}.textContent", of("headline")));
    assert_eq!(headline, shown(scene.home, file)["headline"]);
    let title = scene.value("document.title");
    assert_eq!(title, "▼ IPv6 worse, server – v6gap");
    // What a run finds is known by now, by the noise of the one that ended.
    scene.until(
        "[...document.querySelectorAll('.picks small')].some((e) => /^finds/.test(e.innerText))",
    );
    scene.keep("ended", &[("light", 1280), ("dark", 1280), ("light", 500)]);
    events(scene)
}

fn keeps_notes(scene: &mut Scene<'_>) {
    println!("   a title and a note are kept as they were typed");
    scene.go("/r/ygbv7b", "result");
    scene.value("document.querySelector('.write').open = true");
    let note = "before the <b>new</b> router";
    scene.value("document.querySelector('#title').value = 'baseline'");
    scene.value(&format!("document.querySelector('#note').value = '{note}'"));
    scene.barrier_free("a note being written");
    scene.value(&format!("{}.click()", of("save-note")));
    scene.until(&format!("{}.textContent.includes('{note}')", of("note")));
    let listed = "ask('/runs').then((all) => all.find((run) => run.id === 'ygbv7b').note)";
    assert_eq!(scene.value(&format!("{OURS}.then(({{ ask }}) => {listed})")), note);
}

fn shows(scene: &mut Scene<'_>) {
    println!("7. and 9. replayed: every screen keeps nobody out and looks as it did");
    scene.until("document.querySelector('iframe').dataset.loaded");
    scene.keep("result", &[("light", 1280), ("dark", 1280), ("light", 500)]);
    scene.go("/history", "history");
    scene.keep("history", &[("light", 1280), ("dark", 1280), ("light", 500)]);
    let boxes = format!("{}.querySelectorAll('input[type=checkbox]')", of("history"));
    scene.value(&format!("{boxes}.forEach((box) => box.click())"));
    scene.value(&format!("{}.click()", of("compare-chosen")));
    scene.until(&of("compare"));
    scene.until("document.querySelector('iframe').dataset.loaded");
    scene.keep("compare", &[("light", 1280), ("dark", 1280), ("light", 500)]);
    scene.go("/plans", "estimate");
    scene.keep("plans", &[("light", 1280), ("dark", 1280)]);
    figures::prove(&mut scene.browser, &scene.tab);
    scene.go("/r/ygbv7b", "result");
    figures::steps(scene, "ygbv7b");
}

impl Scene<'_> {
    /// The screen in each theme and width: no barriers, and like the picture that was kept.
    pub fn keep(&mut self, name: &str, forms: &[(&str, u32)]) {
        for (theme, width) in forms {
            let what = format!("{name}-{theme}-{width}");
            self.browser.size(&self.tab, *width, 800);
            self.value(&format!("document.documentElement.dataset.theme = '{theme}'"));
            self.value(STILL);
            self.barrier_free(&what);
            let wide = self.value("document.documentElement.scrollWidth <= innerWidth");
            assert_eq!(wide, true, "{name} is wider than {width}");
            let whole = "Math.min(1000, document.documentElement.scrollHeight)";
            let height = self.value(whole).as_u64().unwrap();
            self.browser.size(&self.tab, *width, height as u32);
            self.value(STILL);
            let picture = self.browser.picture(&self.tab, (*width, height as u32));
            golden::compare(&what, &picture);
        }
        self.browser.size(&self.tab, 1280, 800);
        self.value("document.documentElement.dataset.theme = 'light'");
    }

    #[track_caller]
    fn barrier_free(&mut self, what: &str) {
        let found = self.browser.barriers(&self.tab);
        assert!(found.is_empty(), "{what}: {found:#?}");
    }
}
