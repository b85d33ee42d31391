//! The pages of `v6gap web` in a real browser, on a recording, on a watch of loopback, on the runs
//! of a fleet, on visits to a service there and on a live measurement in the lab.
//!
//! `V6GAP_PICTURES=FOLDER` keeps a picture of every screen; `V6GAP_CHROMIUM` names the browser.

mod chromium;
mod figures;
mod fleet;
mod golden;
mod links;
mod many_runs;
mod pages;
mod paths;
#[path = "../common/ports.rs"]
mod ports;
mod replay;
mod simulated;
mod visits;

use chromium::{Chromium, Tab};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

const PROGRAM: &str = env!("CARGO_BIN_EXE_v6gap");

/// What the pages ask the server with.
const OURS: &str = "import('/assets/dom.js')";

/// How many programs were started.
static HOSTS: AtomicU32 = AtomicU32::new(0);

/// Something that runs beside the browser and ends with the test.
struct Beside {
    child: Child,
    input: ChildStdin,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Beside {
    fn start(home: &Path, args: &[&str]) -> Beside {
        let mut command = Command::new(PROGRAM);
        command.args(args).env("V6GAP_DATA", home).env_remove("XDG_DATA_HOME");
        // Each stands for a host of its own.
        let host = HOSTS.fetch_add(1, Ordering::Relaxed).to_string();
        command.env("V6GAP_LOCKS", home.join("hosts-of-their-own").join(host));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Beside { input: child.stdin.take().unwrap(), child, lines }
    }

    /// The next line that begins so.
    fn line(&mut self, start: &str) -> String {
        self.lines.by_ref().map(Result::unwrap).find(|line| line.starts_with(start)).unwrap()
    }

    fn link(&mut self) -> String {
        let line = self.line("Open");
        line.split_whitespace().nth(1).unwrap().to_owned()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn main() -> ExitCode {
    let home = std::env::temp_dir().join(format!("v6gap-browser-{}", std::process::id()));
    std::fs::create_dir_all(&home).unwrap();
    let done = match Chromium::start(&home) {
        Some(browser) => {
            let mut browser = replay::steps(&home, browser);
            pages::steps(&mut browser);
            browser = paths::replayed(&home, browser);
            browser = paths::live(&home, browser);
            browser = fleet::replayed(&home, browser);
            // Thousands of runs more are made and looked at, which takes half a minute.
            if std::env::var_os("V6GAP_FULL").is_some() {
                browser = fleet::live(&home, browser);
            }
            let browser = visits::steps(&home, browser);
            // `cargo test --test browser -- replay`: what is quick, and needs no lab.
            let alone = std::env::args().any(|word| word == "replay");
            match v6gap_sys::netns::probe().map_err(|refusal| refusal.to_string()) {
                _ if alone => ExitCode::SUCCESS,
                Ok(()) => nine_steps(&home, browser),
                Err(refusal) => cannot(&refusal),
            }
        }
        None => cannot("there is no Chromium (apt-get install chromium, or V6GAP_CHROMIUM)"),
    };
    let _ = std::fs::remove_dir_all(&home);
    done
}

fn cannot(why: &str) -> ExitCode {
    println!("SKIPPED: {why}");
    let required = std::env::var_os("V6GAP_REQUIRE_NAMESPACES").is_some();
    if required { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// One element by its name for tests.
fn of(name: &str) -> String {
    format!("document.querySelector('[data-testid=\"{name}\"]')")
}

/// What the steps share.
struct Scene<'a> {
    home: &'a Path,
    browser: Chromium,
    tab: Tab,
    base: String,
}

impl Scene<'_> {
    #[track_caller]
    fn until(&mut self, expression: &str) -> u64 {
        self.browser.until(&self.tab, expression)
    }

    fn value(&mut self, expression: &str) -> Value {
        self.browser.value(&self.tab, expression)
    }

    fn screens(&mut self, name: &str) {
        screens(&mut self.browser, &self.tab, name);
    }

    /// Goes to another screen and waits until `ready` is there and says something.
    fn go(&mut self, path: &str, ready: &str) {
        self.value(&format!("location.href = '{path}'"));
        let there =
            format!("document.readyState === 'complete' && {0} && {0}.textContent", of(ready));
        self.until(&there);
    }

    /// Chooses what stands in a field of that name.
    fn pick(&mut self, value: &str, name: &str) {
        let field = format!("input[name={name}][value={value}]");
        self.value(&format!("document.querySelector('{field}').click()"));
    }
}

fn nine_steps(home: &Path, mut browser: Chromium) -> ExitCode {
    let listen = ["serve", "--listen", "127.0.0.1", "--listen", "::1", "-p", "24466"];
    let mut server = Beside::start(home, &listen);
    server.line("Serving");
    let mut web = Beside::start(home, &["web", "--no-open", "-p", "24467"]);
    let link = web.link();
    let base = link.split("/#").next().unwrap().to_owned();
    let tab = browser.open(&link, false);
    let mut scene = Scene { home, browser, tab, base };
    enters_once(&mut scene, &link);
    looks_at_a_host(&mut scene);
    measures(&mut scene);
    is_stopped(&mut scene);
    says_what_the_terminal_says(&mut scene);
    links::have_no_verdict(&mut scene);

    println!("8. no request left the page");
    let Scene { browser, base, .. } = &scene;
    let own = |url: &&String| ["data:", "about:", base].iter().any(|own| url.starts_with(own));
    let others: Vec<&String> = browser.asked.iter().filter(|url| !own(url)).collect();
    assert!(others.is_empty(), "{others:?}");
    web.input.write_all(b"\n").unwrap();
    assert_ne!(web.link(), link);
    ExitCode::SUCCESS
}

fn enters_once(scene: &mut Scene<'_>, link: &str) {
    println!("1. the link works once and its key leaves the address bar");
    scene.until(&of("new-run"));
    assert_eq!(scene.value("location.hash"), "");
    let stranger = scene.browser.open(link, true);
    scene.browser.until(&stranger, &of("closed"));
    let said = scene.browser.value(&stranger, "document.body.innerText");
    assert!(said.as_str().unwrap().contains("Press Enter"), "{said}");
}

fn looks_at_a_host(scene: &mut Scene<'_>) {
    println!("2. a host that is typed is looked at");
    scene.value("document.querySelector('details').open = true");
    scene.value("document.querySelector('#more-port').value = '24466'");
    scene.value("document.querySelector('#host').focus()");
    scene.browser.type_in(&scene.tab, "localhost");
    let took = scene.until(&format!("{}.querySelectorAll('.ok').length >= 3", of("probe")));
    println!("    looked at after {took} ms");
}

fn measures(scene: &mut Scene<'_>) {
    println!("3. Enter starts; both families on one scale");
    scene.pick("demo", "where");
    scene.pick("quick", "long");
    scene.value("document.querySelector('#more-port').value = ''");
    scene.value("document.querySelector('details').open = false");
    scene.value(&format!("{}.focus()", of("start")));
    scene.browser.enter(&scene.tab);
    scene.until(&of("live"));
    let live = of("live");
    scene.until(&format!("Number({live}.dataset.pairs) >= 1 && Number({live}.dataset.points) > 0"));
    let most = |family: &str| format!("{}.dataset.most", of(&format!("live-{family}")));
    scene.until(&format!("{0} && {0} === {1}", most("4"), most("6")));
    // What the kernels tell of the connections: a row at least for each family, with its window.
    scene.value(&format!("{}.open = true", of("connections")));
    let cells =
        format!("[...{}.querySelectorAll('tbody tr')].map((r) => r.cells)", of("connections"));
    scene.until(&format!(
        "{cells}.length >= 2 && {cells}.every((c) => c.length === 6 && Number(c[4].innerText) > 0)"
    ));
    scene.screens("live");
    println!("4. a page that is loaded again has lost nothing");
    let [pairs, points] = progress(&mut scene.browser, &scene.tab);
    scene.browser.reload(&scene.tab);
    scene.until(&live);
    scene.until(&format!("Number({live}.dataset.pairs) >= {pairs}"));
    scene.until(&format!("Number({live}.dataset.points) >= {points}"));
}

fn is_stopped(scene: &mut Scene<'_>) {
    println!("5. what is stopped is kept and says so");
    scene.until(&format!("!{}.hidden", of("stop")));
    scene.value(&format!("{}.click()", of("stop")));
    scene.until(&of("headline"));
    let said = scene.value(&format!("{}.textContent", of("progress")));
    assert!(said.as_str().unwrap().to_lowercase().contains("stopped"), "{said}");
    let stopped = shown(scene.home, "last");
    assert!(stopped["stopped"].is_string(), "{}", stopped["stopped"]);
}

fn says_what_the_terminal_says(scene: &mut Scene<'_>) {
    println!("6. a whole run says what the terminal says");
    scene.go("/", "new-run");
    scene.until(&format!("!{}.disabled", of("start")));
    scene.pick("demo", "where");
    scene.pick("quick", "long");
    scene.value(&format!("{}.click()", of("start")));
    scene.until(&of("live"));
    scene.until(&of("headline"));
    let headline = format!("{}.textContent", of("headline"));
    let said = scene.value(&headline);
    assert_eq!(said, shown(scene.home, "last")["headline"]);
    scene.value(&format!("{}.click()", of("open-result")));
    scene.until(&of("result"));
    assert_eq!(scene.value(&headline), said);
    println!("7. every figure has a title, and a table that is its JSON");
    let id = opened(scene);
    figures::steps(scene, &id);
}

/// The result that is open.
fn opened(scene: &mut Scene<'_>) -> String {
    let path = scene.value("location.pathname");
    path.as_str().unwrap().strip_prefix("/r/").unwrap().to_owned()
}

fn progress(browser: &mut Chromium, tab: &Tab) -> [i64; 2] {
    ["pairs", "points"].map(|what| {
        let value = browser.value(tab, &format!("Number({}.dataset.{what} ?? 0)", of("live")));
        value.as_i64().unwrap()
    })
}

/// What the terminal says of a result.
fn shown(home: &Path, reference: &str) -> Value {
    let mut command = Command::new(PROGRAM);
    command.args(["show", reference, "--format", "json"]).env("V6GAP_DATA", home);
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// The screen in both themes and at the width of a telephone: no barriers, and a picture of each.
fn screens(browser: &mut Chromium, tab: &Tab, name: &str) {
    for (theme, width) in [("light", 1280), ("dark", 1280), ("light", 500)] {
        browser.size(tab, width, 800);
        browser.value(tab, &format!("document.documentElement.dataset.theme = '{theme}'"));
        let found = browser.barriers(tab);
        assert!(found.is_empty(), "{name}, {theme}, {width}: {found:#?}");
        let wide = browser.value(tab, "document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(wide, true, "{name} is wider than {width}");
        keep(browser, tab, &format!("{name}-{theme}-{width}"), width);
    }
    browser.size(tab, 1280, 800);
    browser.value(tab, "document.documentElement.dataset.theme = 'light'");
}

fn keep(browser: &mut Chromium, tab: &Tab, name: &str, width: u32) {
    let Some(folder) = std::env::var_os("V6GAP_PICTURES").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let picture = browser.picture(tab, (width, 800));
    std::fs::write(folder.join(format!("{name}.png")), picture).unwrap();
}
