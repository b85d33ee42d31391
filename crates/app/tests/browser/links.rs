//! A run whose families took different links, which has no verdict: its page and the terminal say
//! the same, and under which code more is told.

use super::{Beside, PROGRAM, Scene, of, shown};
use std::path::Path;
use std::process::{Command, Output};

const WORLD: &str = "v6gap = 1\nmodel = \"bare\"\nhosts = [\"client\", \"server\"]\n\
                     [[links]]\nbetween = [\"client\", \"server\"]\n\
                     [[links]]\nbetween = [\"client\", \"server\"]\n";

pub fn have_no_verdict(scene: &mut Scene<'_>) {
    println!("   without a verdict the page says what the terminal says, and the code");
    let home = scene.home;
    measured(home);
    let result = shown(home, "last");
    let (id, headline) = (result["id"].as_str().unwrap(), result["headline"].as_str().unwrap());
    let different = "No verdict: IPv4 and IPv6 took different interfaces (link1, link2)";
    assert!(headline.starts_with(different), "{headline}");
    assert_eq!(result["code"], "V601");
    let terminal = v6gap(home, &["show", id]);
    let said = words(&String::from_utf8_lossy(&terminal.stdout));
    assert!(said.starts_with(&words(headline)) && said.ends_with("[V601]"), "{said}");
    scene.go(&format!("/r/{id}"), "result");
    assert_eq!(scene.value(&format!("{}.textContent", of("headline"))), headline);
    assert_eq!(scene.value(&format!("{}.textContent", of("code"))), "[V601]");
    scene.until("document.querySelector('iframe').dataset.loaded");
    let report = scene.browser.frame(&scene.tab, &format!("/{id}/report.html"));
    let top = "[...document.querySelectorAll('h1, .lede')].slice(0, 2).map((e) => e.textContent)";
    let top = scene.browser.value(&report, top);
    assert_eq!(top, serde_json::json!([headline, "[V601]"]));
    scene.screens("no-verdict");
}

/// Reaches a server over one cable by IPv4 and over another by IPv6.
fn measured(home: &Path) {
    let file = home.join("two-links.toml");
    std::fs::write(&file, WORLD).unwrap();
    let lab = format!("browser{}", std::process::id());
    let up = v6gap(home, &["lab", "up", "--name", &lab, file.to_str().unwrap()]);
    assert!(up.status.success(), "{up:?}");
    let mut server =
        Beside::start(home, &["lab", "exec", "--name", &lab, "server", "--", PROGRAM, "serve"]);
    server.line("Serving");
    let line = ["lab", "exec", "--name", &lab, "client", "--", PROGRAM, "run", "10.46.1.2"];
    let rest = ["--v6", "fd46:2::2", "--measure", "connect", "--pairs", "6", "-q"];
    let ran = v6gap(home, &[&line[..], &rest].concat());
    drop(server);
    let down = v6gap(home, &["lab", "down", "--name", &lab]);
    assert!(down.status.success(), "{down:?}");
    assert_eq!(ran.status.code(), Some(6), "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).contains("[V601, exit 6]"), "{ran:?}");
}

fn v6gap(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).env("V6GAP_DATA", home).env("V6GAP_LOCKS", home.join("locks"));
    command.output().unwrap()
}

/// The text whatever its lines are.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
