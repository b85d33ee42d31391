//! Every command of README.md runs: the measuring ones between two hosts whose server goes by the
//! name that the text uses, each for a few seconds instead of its usual time, by day for as
//! little as gives a result at all: whatever its number of pairs, and of plans one level.

use super::support::{Home, PROGRAM, figure, host_of_its_own, text};
use super::tier::is_night;
use super::two_hosts::Lab;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Pairs of a run instead of its own: the fewest that allow a verdict.
const PAIRS: &str = "6";

/// How long `doctor` looks, likewise.
const LOOK: [&str; 2] = ["1s", "3s"];

/// Longest time of a run without a number of pairs, likewise.
const SPAN: [&str; 2] = ["2s", "12s"];

/// Answers of a measurement that are no failure of the command: no verdict, because a busy host
/// spoiled it, and a condition that is not met or cannot be told.
const ANSWERS: [i32; 3] = [6, 10, 11];

pub fn runs() {
    let home = Home::new("readme");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    prepare(&home, &root);
    let lab = Lab::up("readme", &[]);
    let commands = commands(&readme);
    figure("commands", commands.len());
    let server = lab.serve(&home, &[]);
    for typed in &commands {
        let words: Vec<&str> = typed.split_whitespace().collect();
        match words.as_slice() {
            // The server is what the others talk to; the demo has a scenario of its own.
            ["serve"] | ["demo"] => {}
            ["watch", "status" | "history", ..] => run(&lab, &home, typed, &shortened(&words)),
            ["watch", ..] => watch(&lab, &home, typed, &words),
            ["lab", ..] => run_lab(&home, &words),
            _ => run(&lab, &home, typed, &shortened(&words)),
        }
    }
    drop(server);
}

/// A folder to stand in, with the plans that the text names and the name of the server.
fn prepare(home: &Home, root: &Path) {
    std::fs::create_dir_all(home.path().join("plans")).unwrap();
    let plan = std::fs::read_to_string(root.join("plans/sizes.toml")).unwrap();
    let short = plan.replace("pairs = 10", &format!("pairs = {PAIRS}\nnull_blocks = 1"));
    assert_ne!(short, plan, "the plan names its pairs");
    let fewer = short.replace("factor = 2", "factor = 1024").replace("256 B\" }", "1280 B\" }");
    assert_ne!(fewer, short, "the plan names its steps");
    let two = fewer.replace("\"64 B\", \"128 B\", \"256 B\", \"512 B\", \"1 KiB\",", "\"64 B\",");
    assert_ne!(two, fewer, "the plan names its sizes");
    // The last of its measures, whose transfers have no other time.
    let time = if is_night() { "" } else { "time = \"200 ms\"\n" };
    std::fs::write(home.path().join("plans/sizes.toml"), two + time).unwrap();
    let mesh = "v6gap = 1\n[hosts.\"rome/a\"]\n[hosts.\"oslo/a\"]\n[[groups]]\nname = \"all\"\n\
                kind = \"mesh\"\nhosts = [\"*\"]\n[[measure]]\ngroup = \"all\"\nplan = \"sizes\"\n";
    std::fs::write(home.path().join("mesh.toml"), mesh).unwrap();
    let names = "127.0.0.1 localhost\n10.46.2.2 lab-b\nfd46:2::2 lab-b\n";
    std::fs::write(home.path().join("hosts"), names).unwrap();
}

/// The `v6gap` lines of the console blocks, without comments.
fn commands(readme: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        } else if let Some(command) = line.strip_prefix("$ v6gap ").filter(|_| inside) {
            let end = command.find(" #").unwrap_or(command.len());
            found.push(command[..end].trim().to_owned());
        }
    }
    assert!(found.len() > 20, "README.md shows its commands as \"$ v6gap …\": {found:?}");
    found
}

/// The same command with fewer pairs of fewer things, so that it takes seconds.
fn shortened(words: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let after = |words: &[String], flag: &str| words.iter().position(|word| word == flag);
    let form = usize::from(is_night());
    if words[0] == "doctor" {
        words.extend(["--for".to_owned(), LOOK[form].to_owned()]);
    }
    if words.starts_with(&["plan".to_owned(), "run".to_owned()]) && !is_night() {
        words.extend(["--scale", "small"].map(str::to_owned));
    }
    if words[0] != "lab-b" {
        return words;
    }
    words.retain(|word| word != "--quick");
    if let Some(index) = after(&words, "--pairs") {
        let by = if is_night() { ["--pairs", PAIRS] } else { ["--for", SPAN[form]] };
        words.splice(index..=index + 1, by.map(str::to_owned));
    } else if let Some(index) = after(&words, "--for") {
        words[index + 1] = SPAN[form].to_owned();
    } else {
        words.extend(["--for".to_owned(), SPAN[form].to_owned()]);
    }
    if !words.contains(&"--continue".to_owned()) && after(&words, "--measure").is_none() {
        let asked = if words.iter().any(|w| w.ends_with(":throughput")) { "tcp" } else { "rtt" };
        words.extend(["--measure".to_owned(), asked.to_owned()]);
    }
    words
}

/// Runs a command on the client, where the server has its name.
fn run(lab: &Lab, home: &Home, typed: &str, words: &[String]) {
    let mut command = lab.exec(home, "client");
    let named = "mount --bind \"$1\" /etc/hosts && cd \"$2\" && shift 2 && exec \"$@\"";
    command.args(["unshare", "--mount", "sh", "-c", named, "sh"]);
    command.arg(home.path().join("hosts")).arg(home.path()).arg(PROGRAM).args(words);
    check(typed, &mut command);
}

/// Runs a watch until it is stopped a second later, which is no failure of it.
fn watch(lab: &Lab, home: &Home, typed: &str, words: &[&str]) {
    let mut command = lab.exec(home, "client");
    // In the foreground, or it would be told twice, which ends it at once.
    let stopped = ["timeout", "--foreground", "--preserve-status", "--signal=INT", "1", PROGRAM];
    command.args(stopped).args(words);
    check(typed, &mut command);
}

/// Runs a command about a lab as it stands; the lab is the default one. A server in it is started
/// and stopped.
fn run_lab(home: &Home, words: &[&str]) {
    let folder = PathBuf::from(PROGRAM).parent().unwrap().to_owned();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = match words {
        ["lab", "exec", _, "--", rest @ ..] => {
            let mut command = Command::new("timeout");
            command.args(["--preserve-status", "--signal=INT", "1", PROGRAM]);
            command.args(&words[..words.len() - rest.len()]).args(rest);
            command.env("V6GAP_DATA", home.path());
            command.env("V6GAP_LOCKS", host_of_its_own(home.path()));
            command
        }
        _ => {
            let mut command = home.command();
            command.args(words);
            command
        }
    };
    check(&words.join(" "), command.env("PATH", path));
}

fn check(typed: &str, command: &mut Command) {
    let start = Instant::now();
    let output = command.output().unwrap();
    let code = output.status.code();
    let judges = ["lab-b", "plan run", "doctor", "compare", "figures", "replay"];
    let measures = judges.iter().any(|verb| typed.starts_with(verb));
    let good = code == Some(0) || measures && code.is_some_and(|c| ANSWERS.contains(&c));
    figure(typed, format!("exit {code:?}, {:.1} s", start.elapsed().as_secs_f64()));
    assert!(good, "v6gap {typed}: {code:?}\n{}{}", text(&output.stdout), text(&output.stderr));
}
