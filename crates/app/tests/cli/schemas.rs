//! What `--json` writes of everything but runs, by the published schemas (docs/schema), which
//! refuse what they do not name.

use crate::ports::free;
use crate::support::Sandbox;
use crate::watch_changes::{begin_ns, write_changed};
use crate::web_errors::Server;
use serde_json::Value;

/// Fails unless a document fits the schema of that name, as the program has it.
#[track_caller]
pub fn fits(name: &str, document: &Value) {
    let schema = Sandbox::new().run(&format!("schema {name}")).ended(0).out;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    if let Some(named) = document.get("schema") {
        assert_eq!(*named, schema["$id"], "{name}");
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{name}: {}", errors.join("\n"));
}

/// What the program writes, which must fit the schema of that name.
#[track_caller]
fn written(sandbox: &Sandbox, name: &str, line: &str) -> Value {
    let document = serde_json::from_str(&sandbox.run(line).ended(0).out).unwrap();
    fits(name, &document);
    document
}

#[test]
fn what_is_said_of_stored_results_fits() {
    let sandbox = Sandbox::with_run();
    sandbox.store_sweep();
    sandbox.run("note 7k2f9q --title baseline").ended(0);
    for (name, line) in [
        ("index", "index rebuild --json"),
        ("list", "list --json"),
        ("list", "list --answers --json"),
        ("note", "note 7k2f9q --json"),
        ("archive", "index archive --json"),
        ("carried", "predict --from swept1 --rate 10M --message 64,8K --json"),
        ("estimate", "plan estimate first-look --noise 7k2f9q --json"),
    ] {
        written(&sandbox, name, line);
    }
}

#[test]
fn what_is_said_without_any_result_fits() {
    let sandbox = Sandbox::new();
    for (name, line) in [
        ("estimate", "demo --dry-run --json"),
        ("estimate", "plan estimate sizes --json"),
        ("plan-list", "plan list --json"),
        ("prediction", "predict --flows 1,8 --json"),
        ("lab-list", "lab list --worlds --json"),
        ("lab-list", "lab list --kinds --json"),
        ("list", "list --json"),
        ("watch-status", "watch status --json"),
    ] {
        written(&sandbox, name, line);
    }
}

#[test]
fn what_is_said_of_a_watch_fits() {
    let sandbox = Sandbox::new();
    write_changed(&sandbox, begin_ns());
    let status = written(&sandbox, "watch-status", "watch status --json");
    assert_eq!(status["paths"][0]["changes"].as_array().unwrap().len(), 1, "{status:#}");
    let history = written(&sandbox, "watch-history", "watch history lab-b --json");
    assert_eq!(history["spells"].as_array().unwrap().len(), 2, "{history:#}");
}

#[test]
fn what_a_check_finds_fits() {
    let (sandbox, port) = (Sandbox::new(), free());
    let _server =
        Server::start(&sandbox, &format!("serve --listen 127.0.0.1 --listen ::1 -p {port}"));
    let line = |port: u16| format!("check here --v4 127.0.0.1 --v6 ::1 -p {port} --json");
    let ready = written(&sandbox, "check", &line(port));
    assert!(ready["failure"].is_null(), "{ready:#}");
    // Nothing listens on the discard port of this computer.
    let ran = sandbox.run(&line(9));
    let refused: Value = serde_json::from_str(&ran.out).unwrap();
    fits("check", &refused);
    assert_eq!(refused["failure"]["exit"], ran.code, "{refused:#}");
}
