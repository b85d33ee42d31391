//! Another system beside this one: a server whose kernel is emulated, measured, and compared with
//! the same on this kernel.

use super::support::{Home, figure, text};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Where `cargo xtask truth --setup` unpacks the kernel.
const KERNEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/kernel");

const PLAN: &str = r#"
v6gap = 1
name = "Two systems"
[design]
pairs = 8
null_blocks = 2
seed = 6146
[[measure]]
metric = "rtt"
protocol = "udp"
message = "64 B"
turns = 2
wait = "block"
[[measure]]
metric = "rtt"
protocol = "tcp"
message = "64 B"
turns = 2
wait = "block"
"#;

/// Both systems measure the same plan on a cable of the same kind; the results name their kernels
/// and can be compared.
pub fn are_compared() {
    let home = Home::new("two-systems");
    let listed = text(&home.v6gap(&["lab", "list", "--kinds"]).stdout);
    let missing = listed.lines().find(|line| line.contains("`qemu-system-x86_64` is not"));
    if let Some(line) = missing.or((!Path::new(KERNEL).exists()).then_some("no kernel is unpacked"))
    {
        println!("SKIPPED: {line}: cargo xtask truth --setup");
        return;
    }
    let here = text(&home.v6gap(&["lab", "show", "two-systems"]).stdout);
    let here: String = here
        .lines()
        .filter(|line| !line.starts_with("emulated"))
        .fold(String::new(), |all, line| all + line + "\n");
    std::fs::write(home.path().join("here.toml"), here).unwrap();
    std::fs::write(home.path().join("plan.toml"), PLAN).unwrap();
    let measure = |world: &str| -> Value {
        let plan = home.path().join("plan.toml");
        let given = ["plan", "run", plan.to_str().unwrap(), "--lab", world, "--kernel", KERNEL];
        let output = home.v6gap(&[&given[..], &["--json", "-q"]].concat());
        assert!(output.status.success(), "{}{}", text(&output.stderr), text(&output.stdout));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let one = measure(home.path().join("here.toml").to_str().unwrap());
    let other = measure("two-systems");
    let [own, emulated] = [&one, &other].map(|run| kernel(run, "server"));
    figure("kernels", format!("{own} and {emulated}"));
    assert_eq!(own, kernel(&one, "client"));
    assert_eq!(own, kernel(&other, "client"));
    assert_ne!(own, emulated);
    let emulation = &other["hosts"]["server"]["facts"]["emulation"];
    assert_eq!(emulation, "QEMU (TCG): times include the emulation");
    let checks = other["checks"].as_array().unwrap();
    let said = checks.iter().find(|check| check["id"] == "emulation").unwrap();
    assert!(said["text"].as_str().unwrap().contains(&emulated), "{said}");
    let ids = [&one, &other].map(|run| run["id"].as_str().unwrap().to_owned());
    let compared = home.v6gap(&["compare", &ids[0], &ids[1]]);
    assert!(compared.status.success(), "{}", text(&compared.stderr));
    let compared = text(&compared.stdout);
    assert!(compared.contains(&own) && compared.contains(&emulated), "{compared}");
    assert!(compared.contains("kernel of the server"), "{compared}");
}

/// What keeps a system from coming up is said before anything is measured, with what to do.
pub fn that_cannot_be_are_named() {
    let home = Home::new("no-system");
    let folder = |name: &str| home.path().join(name);
    let run = |kernel: &Path| {
        let kernel = kernel.to_str().unwrap().to_owned();
        home.v6gap(&["run", "--lab", "two-systems", "--kernel", &kernel, "-q", "--pairs", "6"])
    };
    let without = home
        .command()
        .args(["run", "--lab", "two-systems", "-q"])
        .env("PATH", folder("nowhere"))
        .output()
        .unwrap();
    refused(&without, "E304", 5, "sudo apt install qemu-system-x86");
    let listed = text(&home.v6gap(&["lab", "list", "--kinds"]).stdout);
    if listed.contains("`qemu-system-x86_64` is not") {
        println!("SKIPPED: qemu-system-x86_64 is not installed: cargo xtask test --setup");
        return;
    }
    refused(&run(&folder("nowhere")), "E304", 5, "--kernel FOLDER");
    std::fs::create_dir_all(folder("broken")).unwrap();
    refused(&run(&folder("broken")), "E304", 5, "has no `vmlinuz`");
    std::fs::write(folder("broken").join("vmlinuz"), "no kernel").unwrap();
    refused(&run(&folder("broken")), "E305", 4, "v6gap explain E305");
}

fn refused(output: &Output, code: &str, exit: i32, help: &str) {
    let said = text(&output.stderr);
    assert!(said.contains(&format!("[{code}, exit {exit}]")), "expected {code}: {said}");
    // As it was before lines were folded.
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(help), "{said}");
}

fn kernel(run: &Value, end: &str) -> String {
    run["hosts"][end]["facts"]["kernel"].as_str().unwrap().to_owned()
}
