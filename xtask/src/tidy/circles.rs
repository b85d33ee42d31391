//! Modules of a crate stand in an order: none uses, by whatever way round, what uses it. Looked at
//! are those below the root of a crate, tests left out.

use super::Finding;
use super::source::{Source, items};
use std::collections::{BTreeMap, BTreeSet};

/// What the modules of a crate use, by the folder of its sources.
type Uses = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Names each module that is in a circle.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (folder, uses) in uses(sources) {
        for module in uses.keys() {
            let mut way = vec![module.clone()];
            if back_to(module, &uses, &mut way, &mut BTreeSet::new()) {
                let message = format!("is in a circle: {}", way.join(" uses "));
                findings.push(Finding::new(&format!("{folder}{module}"), 0, message));
            }
        }
    }
    findings
}

/// Whether a way leads from its last module back to the first, which is `module`; it is then `way`.
fn back_to(
    module: &str,
    uses: &BTreeMap<String, BTreeSet<String>>,
    way: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    let used = way.last().and_then(|last| uses.get(last)).cloned().unwrap_or_default();
    for next in used.into_iter().filter(|next| uses.contains_key(next)) {
        way.push(next.clone());
        if next == module || (seen.insert(next) && back_to(module, uses, way, seen)) {
            return true;
        }
        way.pop();
    }
    false
}

fn uses(sources: &[Source]) -> Uses {
    let mut all = Uses::new();
    for source in sources {
        let Some((folder, module)) = place(&source.path) else { continue };
        let lines = source.code.lines().enumerate();
        let code: String = lines.filter(|(i, _)| !source.is_test(i + 1)).map(|(_, l)| l).collect();
        let used = used(&code).into_iter().filter(|used| *used != module).map(str::to_owned);
        let of_crate = all.entry(folder.to_owned()).or_default();
        of_crate.entry(module.to_owned()).or_default().extend(used);
    }
    all
}

/// The folder of the sources of a crate and the module below its root that a file belongs to; none
/// of files for tests and of the root itself.
fn place(path: &str) -> Option<(&str, &str)> {
    let at = path.find("/src/")? + "/src/".len();
    let (folder, rest) = path.split_at(at);
    let module = rest.split('/').next()?;
    let module = module.strip_suffix(".rs").unwrap_or(module);
    let for_tests = rest.split(['/', '.']).any(|p| ["tests", "arbitrary", "golden"].contains(&p));
    (!for_tests && !["lib", "main"].contains(&module)).then_some((folder, module))
}

/// The modules that code names from the root of its crate: `crate::a`, or `crate::{a::b, c}`.
fn used(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, root) in code.match_indices("crate::") {
        let rest = &code[at + root.len()..];
        if code[..at].ends_with(|c: char| c == '_' || c.is_alphanumeric()) {
            continue;
        }
        match rest.strip_prefix('{') {
            Some(list) => found.extend(items(list).into_iter().filter_map(name)),
            None => found.extend(name(rest)),
        }
    }
    found
}

fn name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    (end > 0).then_some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, text)).collect();
        check(&sources).into_iter().map(|f| format!("{} {}", f.path, f.message)).collect()
    }

    #[test]
    fn a_circle_is_named_with_its_way() {
        let circle = [
            ("crates/x/src/a.rs", "use crate::{b::B, other};\n"),
            ("crates/x/src/b/mod.rs", "fn f() { crate::c::g() }\n"),
            ("crates/x/src/c.rs", "use crate::a::A;\n"),
        ];
        let way = "crates/x/src/a is in a circle: a uses b uses c uses a";
        assert_eq!(found(&circle).first().map(String::as_str), Some(way));
        assert_eq!(found(&circle[..2]), Vec::<String>::new());
    }

    #[test]
    fn tests_and_other_crates_close_no_circle() {
        let files = [
            ("crates/x/src/a.rs", "use crate::b::B;\n"),
            ("crates/x/src/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"),
            ("crates/x/src/b/tests.rs", "use crate::a::A;\n"),
            ("crates/y/src/b.rs", "use crate::a::A;\n// crate::b\n"),
        ];
        assert_eq!(found(&files), Vec::<String>::new());
    }
}
