//! Files of options: `./v6gap.toml` in the folder where the program is called.

use crate::support::Sandbox;
use std::os::unix::fs::PermissionsExt;

const PLAN: &str = "v6gap = 1\n[design]\npairs = 20\nnull_blocks = 0\n[[measure]]\n\
                    metric = \"throughput\"\ntime = \"1 s\"\n";

#[test]
fn options_of_a_file_hold_and_are_shown_with_their_origin() {
    let sandbox = Sandbox::new();
    sandbox.write("bulk.toml", PLAN);
    sandbox.write("v6gap.toml", "[run]\nfor = \"9s\"\n[plan.estimate]\nrate = \"80M\"\n");
    let shown = sandbox.run("run --show-config").ended(0).out;
    let line = shown.lines().find(|line| line.contains("--for 9s")).unwrap();
    assert!(line.ends_with("./v6gap.toml"), "{shown}");
    let estimate = |line: &str| sandbox.run(&format!("plan estimate bulk.toml{line}")).ended(0).out;
    assert!(estimate("").contains("80 Mbit/s"), "{}", estimate(""));
    assert!(estimate(" --rate 1G").contains("1 Gbit/s"));
    assert!(!estimate(" --json-errors").contains("80 Mbit/s"), "programs say all themselves");
}

#[test]
fn a_file_that_is_wrong_is_refused_and_one_of_anybody_passed_over() {
    let sandbox = Sandbox::new();
    sandbox.write("v6gap.toml", "[list]\nlst = 3\n");
    let ran = sandbox.run("list").ended(2);
    assert!(ran.err.contains("./v6gap.toml: lst of [list] is no option"), "{ran:?}");
    sandbox.run("predict").ended(0);
    let path = sandbox.write("v6gap.toml", "[list]\nlast = 3\n");
    sandbox.run("list").ended(0);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o646)).unwrap();
    let ran = sandbox.run("list").ended(0);
    assert!(ran.err.contains("note: ./v6gap.toml is a file of options that others"), "{ran:?}");
}
