//! Mesh plans: TOML text to a mesh, with every problem placed at its line.

use crate::planfile::{PlanFileError, PlanProblem, place, written};
use crate::source;
use std::path::Path;
use v6gap_core::fleet::mesh::Mesh;
use v6gap_core::fleet::mesh::check::check;
use v6gap_core::fleet::mesh::draft::Draft;

/// Keys of the language of mesh plans, to suggest the nearest one for an unknown key.
const KEYS: &[&str] = &[
    "v6gap",
    "name",
    "hosts",
    "links",
    "groups",
    "measure",
    "agent",
    "v4",
    "v6",
    "port",
    "site",
    "paths",
    "budget",
    "kind",
    "centre",
    "from",
    "to",
    "both_directions",
    "sample",
    "group",
    "plan",
    "every",
    "class",
    "quiet",
];

/// Reads and checks the mesh plan in the file `path`.
///
/// # Errors
/// If the file cannot be read, is not TOML, or does not describe a mesh; all problems at once.
pub fn read_mesh_file(path: &Path) -> Result<Mesh, PlanFileError> {
    let text = source::text(path)?;
    parse_mesh(&text).map_err(|problems| PlanFileError::Wrong {
        path: path.display().to_string(),
        text,
        problems,
    })
}

/// The mesh that a text describes, as [`read_mesh_file`].
///
/// # Errors
/// Every problem, with its line.
pub fn parse_mesh(text: &str) -> Result<Mesh, Vec<PlanProblem>> {
    let draft: Draft = written(text, KEYS)?;
    check(&draft).map_err(|problems| problems.into_iter().map(|p| place(text, p)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::fleet::mesh::Class;

    /// Every key that there is.
    const TEXT: &str = "\
v6gap = 1
name = \"backbone\"

[hosts.\"rome/lab-a\"]
[hosts.\"rome/lab-b\"]
[hosts.\"oslo/lab-a\"]
v4 = \"192.0.2.7\"
v6 = \"2001:db8::7\"
[hosts.\"ext/nas\"]
agent = false
port = 5000

[[links]]
name = \"rome-uplink\"
site = \"rome\"
budget = \"200 GB/day\"

[[links]]
name = \"sea\"
paths = [[\"rome/*\", \"oslo/*\"]]

[[groups]]
name = \"all\"
kind = \"mesh\"
hosts = [\"*\"]
both_directions = false
sample = 2

[[groups]]
name = \"middle\"
kind = \"star\"
centre = \"rome/lab-a\"
hosts = [\"*\"]

[[groups]]
name = \"across\"
kind = \"disjoint\"
from = [\"rome/*\"]
to = [\"oslo/*\"]

[[measure]]
group = \"all\"
plan = \"first-look\"
every = \"30 min\"

[[measure]]
group = \"across\"
plan = \"first-look\"
every = \"6 h\"
class = \"exclusive\"
quiet = [\"Mon-Fri 08:00-18:00 +01:00\"]
";

    fn refused(text: &str) -> Vec<(usize, String)> {
        let problems = parse_mesh(text).unwrap_err();
        problems.into_iter().map(|problem| (problem.line, problem.what)).collect()
    }

    #[test]
    fn a_file_becomes_the_mesh_that_it_describes() {
        let mesh = parse_mesh(TEXT).unwrap_or_else(|problems| panic!("{problems:?}"));
        assert_eq!((mesh.name.as_str(), mesh.hosts.len()), ("backbone", 4));
        assert_eq!(mesh.measures[1].class, Class::Exclusive);
        assert_eq!(mesh.paths(1, 0).len(), 2);
    }

    #[test]
    fn problems_stand_at_their_lines() {
        let text = TEXT.replace("200 GB/day", "200 GB").replace("2001:db8::7", "2001:db8:7");
        let text = text.replace("kind = \"star\"", "kind = \"stars\"");
        let found = refused(&text);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [8, 16, 31]);
        assert!(found[0].1.starts_with("hosts.oslo/lab-a.v6: "), "{found:?}");
        assert!(found[1].1.starts_with("links[0].budget: "), "{found:?}");
        assert!(found[2].1.starts_with("groups[1].kind: "), "{found:?}");
    }

    #[test]
    fn an_unknown_key_brings_the_nearest_and_all_keys_are_known() {
        let problem = parse_mesh(&TEXT.replace("centre =", "center =")).unwrap_err().remove(0);
        assert_eq!((problem.line, problem.what.as_str()), (32, "unknown key \"center\""));
        assert_eq!(problem.help.as_deref(), Some("did you mean \"centre\"?"));
        for key in KEYS {
            let is_there = [format!("\n{key} = "), format!("[{key}."), format!("[[{key}]]")];
            assert!(is_there.iter().any(|form| format!("\n{TEXT}").contains(form)), "{key}");
        }
    }
}
