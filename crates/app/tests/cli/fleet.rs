//! Mesh plans, and what a fleet found, as a person or a script meets them.

use crate::support::Sandbox;
use serde_json::Value;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const MESH: &str = "\
v6gap = 1
name = \"backbone\"

[hosts.\"rome/lab-a\"]
[hosts.\"rome/lab-b\"]
[hosts.\"oslo/lab-a\"]
[hosts.\"ext/nas\"]
agent = false

[[links]]
name = \"rome-uplink\"
site = \"rome\"
budget = \"200 GB/day\"

[[groups]]
name = \"all\"
kind = \"mesh\"
hosts = [\"*\"]

[[measure]]
group = \"all\"
plan = \"first-look\"
every = \"6 h\"
class = \"exclusive\"
";

const SECOND_NS: u64 = 1_000_000_000;

fn now_ns() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// Two runs of one path, one of another, and one of no fleet.
fn fleet() -> Sandbox {
    let sandbox = Sandbox::new();
    let ago = |seconds: u64| now_ns() - seconds * SECOND_NS;
    sandbox.store_between("aaa111", ["rome/lab-a", "oslo/lab-a"], ago(7200));
    sandbox.store_between("bbb222", ["oslo/lab-a", "rome/lab-a"], ago(600));
    sandbox.store_between("ccc333", ["rome/lab-a", "rome/lab-b"], ago(300));
    sandbox.store("ddd444", "lab-b", ago(200));
    sandbox
}

#[test]
fn a_mesh_plan_is_said_back_and_estimated() {
    let sandbox = Sandbox::new();
    sandbox.write("mesh.toml", MESH);
    let said = sandbox.run("fleet check mesh.toml").ended(0).out;
    assert!(said.starts_with("backbone: 4 hosts at 3 sites, 3 with an agent\n"), "{said}");
    assert!(said.contains("link rome-uplink: every path that leaves rome"), "{said}");
    let document = json(&sandbox.run("fleet check mesh.toml --json").ended(0).out);
    assert_eq!(document["measures"][0]["paths"], 6);
    let said = sandbox.run("fleet estimate mesh.toml").ended(0).out;
    assert!(said.starts_with("4 hosts, 3 sites.\n"), "{said}");
    assert!(said.contains("link rome-uplink holds it up"), "{said}");
    let document = json(&sandbox.run("fleet estimate mesh.toml --json").ended(0).out);
    let measure = &document["measures"][0];
    assert_eq!((&measure["fits"], &measure["longest"]["paths"]), (&true.into(), &6.into()));
    // Four paths leave rome, each for 75 s and 1 s to set up.
    assert_eq!(measure["longest"]["bound_ns"], 4 * 76 * SECOND_NS);
}

/// The first mesh plan in a document.
fn mesh_of(document: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```toml\n").skip(1);
    let mut plans = blocks.map(|block| block.split("```").next().unwrap_or_default());
    plans.find(|plan| plan.contains("[[groups]]")).unwrap().to_owned()
}

#[test]
fn mesh_plans_of_the_documents_are_such() {
    for (document, hosts) in [("mesh.md", 4), ("fleet.md", 2)] {
        let sandbox = Sandbox::new();
        sandbox.write("mesh.toml", &mesh_of(document));
        let ran = sandbox.run("fleet check mesh.toml").ended(0);
        let is_it = ran.out.starts_with(&format!("backbone: {hosts} hosts "));
        assert!(is_it && ran.err.is_empty(), "{document}: {ran:?}");
    }
}

#[test]
fn all_that_is_wrong_with_a_mesh_plan_is_said_with_its_lines() {
    let sandbox = Sandbox::new();
    let text = MESH.replace("200 GB/day", "200 GB").replace("\"mesh\"\nhosts", "\"ring\"\nhosts");
    sandbox.write("mesh.toml", &text);
    let ran = sandbox.run("fleet check mesh.toml").ended(2);
    assert!(ran.err.contains("E501") && ran.err.contains("links[0].budget"), "{ran:?}");
    assert!(ran.err.contains("groups[0].kind"), "{ran:?}");
    sandbox.write("mesh.toml", &MESH.replace("first-look", "first-lok"));
    let ran = sandbox.run("fleet estimate mesh.toml").ended(2);
    assert!(ran.err.contains("\"first-look\" was meant"), "{ran:?}");
    let ran = sandbox.run("fleet check none.toml").ended(2);
    assert!(ran.err.contains("none.toml"), "{ran:?}");
    // A link that may carry less on a day than one visit moves carries none.
    sandbox.write("mesh.toml", &MESH.replace("200 GB/day", "1 MB/day"));
    let ran = sandbox.run("fleet check mesh.toml").ended(2);
    assert!(ran.err.contains("may carry 1 MB a day: it would never be made"), "{ran:?}");
}

#[test]
fn a_measurement_that_loads_links_and_is_light_is_noted() {
    let sandbox = Sandbox::new();
    sandbox.write("mesh.toml", &MESH.replace("class = \"exclusive\"", "class = \"light\""));
    let ran = sandbox.run("fleet check mesh.toml").ended(0);
    assert!(ran.err.contains("plan first-look loads the path"), "{ran:?}");
}

#[test]
fn the_matrix_has_the_newest_answer_of_each_path() {
    let sandbox = fleet();
    let document = json(&sandbox.run("fleet matrix --measure rtt --json").ended(0).out);
    assert_eq!(document["schema"], "v6gap.fleet.matrix/1");
    assert_eq!(document["hosts"], json(r#"["oslo/lab-a", "rome/lab-a", "rome/lab-b"]"#));
    let cells = document["cells"].as_array().unwrap();
    let runs: Vec<&str> = cells.iter().map(|cell| cell["run"].as_str().unwrap()).collect();
    // Both directions of a path have an answer each.
    assert_eq!(runs, ["bbb222", "aaa111", "ccc333"]);
    // The verdict is that of the run itself.
    let list = json(&sandbox.run("list --answers --json").ended(0).out);
    let newest = list.as_array().unwrap().iter().find(|run| run["id"] == "bbb222").unwrap();
    let questions = newest["summary"]["questions"].as_array().unwrap();
    let answer = questions.iter().find(|question| question["metric"] == "rtt").unwrap();
    assert_eq!(
        (&cells[0]["verdict"], &cells[0]["effect"]),
        (&answer["verdict"], &answer["effect"][0])
    );
    let text = sandbox.run("fleet matrix --measure rtt --within 1h").ended(0).out;
    assert!(text.contains("rtt: measured 2 of 3 within 1 h; oldest 2 h."), "{text}");
    sandbox.write("mesh.toml", MESH);
    let text = sandbox.run("fleet matrix --measure rtt --mesh mesh.toml").ended(0).out;
    // One path was measured both ways.
    assert!(text.contains("measured 2 of 6 within 12 h"), "{text}");
    sandbox.run("fleet matrix --measure rtt --format html -o fleet.html").ended(0);
    assert!(sandbox.read("fleet.html").contains("rome/lab-a to rome/lab-b: "));
    let nothing = Sandbox::new().run("fleet matrix").ended(0).out;
    assert!(nothing.starts_with("No run between hosts of a fleet"), "{nothing}");
}

#[test]
fn runs_are_read_from_wherever_somebody_put_them() {
    let sandbox = fleet();
    let day = sandbox.path("archive/runs/2026/11/21/rome");
    std::fs::create_dir_all(&day).unwrap();
    for id in ["aaa111", "ccc333"] {
        std::fs::rename(sandbox.path(&format!("runs/{id}")), day.join(id)).unwrap();
    }
    let line = "fleet matrix --measure rtt --runs archive --since 100000d --json";
    let document = json(&sandbox.run(line).ended(0).out);
    assert_eq!(document["cells"].as_array().unwrap().len(), 2);
    let line = "fleet history rome/lab-b rome/lab-a --runs archive --since 100000d --json";
    let document = json(&sandbox.run(line).ended(0).out);
    assert_eq!(document["runs"][0]["run"], "ccc333");
    // A folder by day that was over before is passed over, whatever is in it.
    let line = "fleet matrix --measure rtt --runs archive --since 1s --json";
    let document = json(&sandbox.run(line).ended(0).out);
    assert_eq!(document["cells"].as_array().unwrap().len(), 0);
}

#[test]
fn a_path_has_a_history_a_report_and_files() {
    let sandbox = fleet();
    let text = sandbox.run("fleet history rome/lab-a oslo/lab-a --measure rtt").ended(0).out;
    let results: Vec<&str> =
        text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(results, ["bbb222", "aaa111"], "{text}");
    let page = sandbox.run("fleet report rome/lab-a oslo/lab-a").ended(0).out;
    assert!(page.contains("<title>rome/lab-a to oslo/lab-a</title>"), "{page}");
    assert!(page.contains("Run bbb222"), "the newest of both directions");
    let ran = sandbox.run("fleet history rome/lab-a bern/x").ended(2);
    assert!(ran.err.contains("E502") && ran.err.contains("bern/x"), "{ran:?}");
    sandbox.run("fleet history rome oslo/lab-a").ended(2);
    let said = sandbox.run("fleet export --since 1h -o out").ended(0).out;
    assert!(said.starts_with("2 runs are in out"), "{said}");
    let elsewhere = Sandbox::new();
    for id in ["bbb222", "ccc333"] {
        let file = sandbox.path(&format!("out/{id}.jsonl"));
        elsewhere.run(&format!("import {}", file.display())).ended(0);
    }
    let document = json(&elsewhere.run("fleet matrix --json").ended(0).out);
    assert_eq!(document["cells"].as_array().unwrap().len(), 2);
}

/// Scripts read the documents by their published schemas (docs/schema).
#[test]
fn documents_of_a_fleet_fit_their_published_schemas() {
    let sandbox = fleet();
    sandbox.write("mesh.toml", MESH);
    for (name, line) in [
        ("fleet-check", "fleet check mesh.toml --json"),
        ("fleet-estimate", "fleet estimate mesh.toml --json"),
        ("fleet-matrix", "fleet matrix --json --mesh mesh.toml"),
        ("fleet-history", "fleet history rome/lab-a oslo/lab-a --json"),
    ] {
        let schema = json(&sandbox.run(&format!("schema {name}")).ended(0).out);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let document = json(&sandbox.run(line).ended(0).out);
        assert_eq!(document["schema"], schema["$id"], "{line}");
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{line}: {}", errors.join("\n"));
    }
    let history = json(&sandbox.run("fleet history rome/lab-a oslo/lab-a --json").ended(0).out);
    assert!(!history["runs"][0]["answers"].as_array().unwrap().is_empty(), "{history:#}");
}
