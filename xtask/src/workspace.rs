//! The workspace as `cargo metadata` tells it: packages, their dependencies, tests and benchmarks.

use crate::command::cargo;
pub use crate::root::root;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where cargo puts what it builds.
pub fn target() -> Result<PathBuf, String> {
    let text = cargo("metadata --format-version 1 --offline --no-deps").output()?;
    let value: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    Ok(PathBuf::from(self::text(&value["target_directory"])))
}

/// A package of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Name as cargo knows it.
    pub name: String,
    /// The last part of its folder, by which the documents call it.
    pub folder: String,
    /// What it depends on, on any platform and with any feature, but not for its tests.
    pub dependencies: Vec<Dependency>,
    /// Names and files of its integration tests.
    pub tests: Vec<TestTarget>,
    /// Names of its benchmarks.
    pub benches: Vec<String>,
}

/// A dependency of a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// Name of the package depended on.
    pub name: String,
    /// Whether it belongs to this workspace.
    pub ours: bool,
}

/// An integration test of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestTarget {
    /// Name for `--test`.
    pub name: String,
    /// Its main file, relative to the package's folder, with `/`.
    pub path: String,
}

/// All packages, in order of their names. Works offline.
pub fn packages() -> Result<Vec<Package>, String> {
    let text = cargo("metadata --format-version 1 --offline --no-deps").output()?;
    let value: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let mut packages: Vec<Package> = list(&value["packages"]).map(package).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn package(value: &Value) -> Package {
    let manifest = Path::new(value["manifest_path"].as_str().unwrap_or_default());
    let folder = manifest.parent().unwrap_or(manifest);
    let mut dependencies: Vec<Dependency> =
        list(&value["dependencies"]).filter(|d| d["kind"] != "dev").map(dependency).collect();
    dependencies.sort();
    dependencies.dedup();
    Package {
        name: text(&value["name"]),
        folder: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        dependencies,
        tests: list(&value["targets"])
            .filter(|t| list(&t["kind"]).any(|kind| kind == "test"))
            .map(|t| test_target(t, folder))
            .collect(),
        benches: list(&value["targets"])
            .filter(|t| list(&t["kind"]).any(|kind| kind == "bench"))
            .map(|t| text(&t["name"]))
            .collect(),
    }
}

fn dependency(value: &Value) -> Dependency {
    Dependency { name: text(&value["name"]), ours: value["source"].is_null() }
}

fn test_target(value: &Value, folder: &Path) -> TestTarget {
    let path = PathBuf::from(text(&value["src_path"]));
    let path = path.strip_prefix(folder).unwrap_or(&path);
    TestTarget { name: text(&value["name"]), path: path.to_string_lossy().replace('\\', "/") }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_what_cargo_says_and_leaves_out_development_dependencies() {
        let value = json!({
            "name": "v6gap-x", "manifest_path": "/w/crates/x/Cargo.toml",
            "dependencies": [
                {"name": "serde", "kind": null, "source": "registry+…"},
                {"name": "serde", "kind": null, "source": "registry+…", "target": "cfg(unix)"},
                {"name": "cc", "kind": "build", "source": "registry+…"},
                {"name": "proptest", "kind": "dev", "source": "registry+…"},
                {"name": "v6gap-core", "kind": null, "source": null}
            ],
            "targets": [
                {"name": "v6gap_x", "kind": ["lib"], "src_path": "/w/crates/x/src/lib.rs"},
                {"name": "sim", "kind": ["test"], "src_path": "/w/crates/x/tests/sim/main.rs"},
                {"name": "speed", "kind": ["bench"], "src_path": "/w/crates/x/benches/speed.rs"}
            ]
        });
        let dependency = |name: &str, ours| Dependency { name: name.to_owned(), ours };
        let expected = Package {
            name: "v6gap-x".to_owned(),
            folder: "x".to_owned(),
            dependencies: vec![
                dependency("cc", false),
                dependency("serde", false),
                dependency("v6gap-core", true),
            ],
            tests: vec![TestTarget {
                name: "sim".to_owned(),
                path: "tests/sim/main.rs".to_owned(),
            }],
            benches: vec!["speed".to_owned()],
        };
        assert_eq!(package(&value), expected);
    }

    #[test]
    fn this_workspace_has_this_package() {
        let packages = packages().unwrap();
        let xtask = packages.iter().find(|p| p.name == "xtask").unwrap();
        assert_eq!(xtask.folder, "xtask");
        assert!(xtask.tests.iter().any(|t| t.path == "tests/tidy.rs"));
    }
}
