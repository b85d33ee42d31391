//! Files and folders from somebody else, and what never ends: whatever a run calls itself and
//! wherever a link leads, nothing outside of the data folder is written, changed or removed.

use crate::support::Sandbox;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// A sandbox with a stored run `7k2f9q`, and a folder `victim` beside its own that must stay as it
/// is.
struct Scene {
    sandbox: Sandbox,
    victim: PathBuf,
}

impl Scene {
    fn new(name: &str) -> Self {
        let victim = std::env::temp_dir().join(format!("v6gap-{name}-{}", std::process::id()));
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("keep"), "all of it").unwrap();
        Scene { sandbox: Sandbox::with_run(), victim }
    }

    /// The journal of the stored run, which calls itself `id`.
    fn journal(&self, id: &str) -> String {
        let text = self.sandbox.read("runs/7k2f9q/journal.jsonl");
        text.replace("\"id\":\"7k2f9q\"", &format!("\"id\":{id:?}"))
    }

    /// Names of the victim's folder, as a path from the runs and as one from the root.
    fn names(&self) -> [String; 2] {
        let name = self.victim.file_name().unwrap().to_str().unwrap();
        [format!("../../{name}"), self.victim.display().to_string()]
    }

    fn untouched(&self) {
        let names = fs::read_dir(&self.victim).unwrap().flatten().map(|entry| entry.file_name());
        assert_eq!(names.collect::<Vec<_>>(), ["keep"]);
        assert_eq!(fs::read_to_string(self.victim.join("keep")).unwrap(), "all of it");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.victim).unwrap();
    }
}

/// `web --demo` and `replay --keep` write a run again under the identifier that a file gives it.
#[test]
fn an_identifier_from_a_file_is_no_path() {
    let scene = Scene::new("ids");
    for name in scene.names() {
        scene.sandbox.write("foreign.jsonl", &scene.journal(&name));
        for line in [
            "import foreign.jsonl",
            "report foreign.jsonl",
            "show foreign.jsonl",
            "replay foreign.jsonl --keep --speed 10000",
            "web --demo foreign.jsonl --no-open -p 0",
        ] {
            let ran = scene.sandbox.run(line).ended(1);
            assert!(ran.err.contains("the identifier of a run has 1 to 32"), "{ran:?}");
            assert!(!ran.err.contains("v6gap-ids"), "{ran:?}");
        }
        scene.untouched();
    }
}

#[test]
fn a_folder_among_the_runs_is_the_run_that_it_is_called() {
    let scene = Scene::new("among");
    let [from_the_runs, _] = scene.names();
    for (folder, id) in [("evil11", from_the_runs.as_str()), ("evil22", "7k2f9q")] {
        let later = scene.journal(id).replace("1763560962", "1863560962");
        fs::create_dir(scene.sandbox.path("runs").join(folder)).unwrap();
        scene.sandbox.write(&format!("runs/{folder}/journal.jsonl"), &later);
    }
    symlink(&scene.victim, scene.sandbox.path("runs/linked")).unwrap();
    let listed = scene.sandbox.run("list").ended(0);
    assert_eq!(listed.out.lines().count(), 2, "{listed:?}");
    assert_eq!(listed.err.lines().filter(|line| line.contains("is left out: ")).count(), 3);
    assert!(scene.sandbox.run("note last checked").ended(0).out.starts_with("7k2f9q: "));
    for line in ["rm evil11", "rm linked", "note linked x", "note evil11 x"] {
        scene.sandbox.run(line).ended(2);
    }
    assert_eq!(scene.sandbox.run("rm last").ended(0).out, "removed 7k2f9q\n");
    scene.sandbox.run("rm last").ended(2);
    assert!(scene.sandbox.path("runs/evil22/journal.jsonl").exists());
    scene.untouched();
}

#[test]
fn what_a_person_put_beside_a_run_stays() {
    let scene = Scene::new("stays");
    let kept = scene.sandbox.write("runs/7k2f9q/thesis.tex", "years");
    symlink(scene.victim.join("keep"), scene.sandbox.path("runs/7k2f9q/report.html")).unwrap();
    let out = scene.sandbox.run("rm last").ended(0).out;
    assert!(out.contains("stays, with what is no part of a result: thesis.tex"), "{out}");
    assert_eq!(fs::read_to_string(kept).unwrap(), "years");
    scene.untouched();
}

/// Neither through a link that stands under a name that is foreseen nor through one in the store.
#[test]
fn nothing_is_written_through_a_link() {
    let scene = Scene::new("through");
    let keep = scene.victim.join("keep");
    scene.sandbox.write("foreign.jsonl", &scene.journal("abc123"));
    for name in [
        "page.html.partial",
        "foreign.report.html",
        "runs/7k2f9q/note.json",
        "runs/7k2f9q/report.html",
        "runs/7k2f9q/report.html.partial",
    ] {
        symlink(&keep, scene.sandbox.path(name)).unwrap();
    }
    let report = scene.sandbox.run("report foreign.jsonl").ended(0).out;
    assert_eq!(report.trim_end(), "foreign.report.html");
    scene.sandbox.run("report last -o page.html").ended(0);
    scene.sandbox.run("report last").ended(0);
    scene.sandbox.run("note last checked").ended(0);
    for name in ["page.html", "foreign.report.html", "runs/7k2f9q/report.html"] {
        assert!(scene.sandbox.read(name).starts_with("<!DOCTYPE html>"), "{name}");
    }
    assert!(!scene.sandbox.path("runs/abc123").exists());
    scene.untouched();
}

#[test]
fn results_are_their_owners_alone() {
    let sandbox = Sandbox::with_run();
    sandbox.run("note last checked").ended(0);
    sandbox.run("report last").ended(0);
    sandbox.run("export last -o moved.jsonl").ended(0);
    sandbox.run("rm last").ended(0);
    sandbox.run("import moved.jsonl").ended(0);
    sandbox.run("report last").ended(0);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&sandbox.path("runs")), 0o700);
    assert_eq!(mode(&sandbox.path("runs/7k2f9q")), 0o700);
    for file in fs::read_dir(sandbox.path("runs/7k2f9q")).unwrap().flatten() {
        assert_eq!(mode(&file.path()), 0o600, "{file:?}");
    }
}

/// Every command that reads a file of a kind that comes from elsewhere.
const READERS: [&str; 13] = [
    "import FILE",
    "show FILE",
    "report FILE -o page.html",
    "figures FILE -o drawn",
    "compare last FILE",
    "export FILE",
    "replay FILE --speed 1000",
    "web --demo FILE --no-open -p 0",
    "predict --from FILE",
    "plan estimate sizes --noise FILE",
    "plan check FILE",
    "plan run FILE --dry-run",
    "run --lab FILE --dry-run",
];

#[test]
fn what_never_ends_is_refused() {
    let sandbox = Sandbox::with_run();
    // Nothing is read of it, so that it need not be there.
    File::create(sandbox.path("long.toml")).unwrap().set_len(10 << 30).unwrap();
    for line in READERS {
        for file in ["/dev/zero", "/dev/urandom", "./long.toml"] {
            let ran = sandbox.run(&line.replace("FILE", file));
            let why = if file.starts_with('/') { "is a device" } else { "is longer than" };
            assert!(ran.code == 2 && ran.err.contains(why), "{line} {file}: {ran:?}");
        }
    }
}

/// A pipe that never ends is read as far as the longest line of a run.
#[test]
fn a_pipe_that_never_ends_is_given_up() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.start_heard("import /dev/stdin");
    let mut pipe = child.stdin.take().unwrap();
    while pipe.write_all(&[0; 65_536]).is_ok() {}
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(ended.status.code() == Some(1) && said.contains("longer than 16 MiB"), "{said}");
}
