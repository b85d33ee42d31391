//! Operating systems and `unsafe` stay in `sys`; each family's own names stay in one table.

use super::Finding;
use super::source::{Source, words};
use std::net::{IpAddr, SocketAddr};

/// The crate that owns operating systems and `unsafe`.
const SYS: &str = "crates/sys/";

/// The file that owns what differs between the families.
const FAMILY: &str = "crates/core/src/family.rs";

/// Files outside `sys` that may name an operating system: the gates that compile `lab` out.
const GATES: [&str; 2] = ["crates/lab/src/lib.rs", "crates/perform/src/world.rs"];

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.path.starts_with(SYS) {
        return findings;
    }
    findings.extend(operating_systems(source));
    findings.extend(unsafe_code(source));
    if source.path != FAMILY {
        findings.extend(loopback_literals(source));
        findings.extend(family_names(source));
    }
    findings
}

fn operating_systems(source: &Source) -> Vec<Finding> {
    if GATES.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let names = ["target_os", "target_family", "unix", "windows"];
    let names_one = |line: &str| {
        line.find("cfg").is_some_and(|at| words(&line[at..]).any(|w| names.contains(&w)))
    };
    source
        .code_lines()
        .filter(|(_, line)| names_one(line))
        .map(|(n, _)| {
            Finding::new(&source.path, n, "names an operating system; that belongs into crates/sys")
        })
        .collect()
}

fn unsafe_code(source: &Source) -> Vec<Finding> {
    source
        .words()
        .filter(|(_, word)| *word == "unsafe")
        .map(|(n, _)| Finding::new(&source.path, n, "unsafe code belongs into crates/sys"))
        .collect()
}

fn loopback_literals(source: &Source) -> Vec<Finding> {
    let is_address = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    source
        .strings
        .iter()
        .filter(|(n, _)| !source.is_test(*n))
        .filter(|(_, text)| text.split(|c| !is_address(c)).any(is_loopback))
        .map(|(n, _)| {
            let message = "literal loopback address; take it from core's Family";
            Finding::new(&source.path, *n, message)
        })
        .collect()
}

fn is_loopback(text: &str) -> bool {
    let text = text.trim_end_matches('.');
    let address = text.parse::<SocketAddr>().map(|a| a.ip()).or_else(|_| text.parse::<IpAddr>());
    address.is_ok_and(|a| a.is_loopback())
}

fn family_names(source: &Source) -> Vec<Finding> {
    source
        .functions()
        .iter()
        .filter(|f| !source.is_test(f.first) && names_family(&f.name))
        .map(|f| {
            let message = format!("function {} names a family; write one over both", f.name);
            Finding::new(&source.path, f.first, message)
        })
        .collect()
}

fn names_family(name: &str) -> bool {
    name.split('_').any(|part| matches!(part, "v4" | "v6"))
        || name.contains("ipv4")
        || name.contains("ipv6")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(path: &str, text: &str, expected: &[&str]) {
        let findings = check(&Source::new(path, text));
        let matches = findings.len() == expected.len()
            && findings.iter().zip(expected).all(|(f, part)| f.message.contains(part));
        assert!(matches, "{path}: {text}: {findings:?}");
    }

    const LIB: &str = "crates/x/src/lib.rs";

    #[test]
    fn operating_systems_stay_in_sys() {
        let snippets = [
            "#[cfg(target_os = \"linux\")]\nfn a() {}",
            "#[cfg(unix)]\nfn a() {}",
            "#[cfg(not(windows))]\nfn a() {}",
            "fn a() -> bool { cfg!(target_os = \"linux\") }",
            "#[cfg_attr(unix, path = \"x\")]\nmod a;",
        ];
        for text in snippets {
            found(LIB, text, &["operating system"]);
            found("crates/x/tests/a.rs", text, &["operating system"]);
            found("crates/sys/src/lib.rs", text, &[]);
            found("crates/lab/src/lib.rs", text, &[]);
        }
        found(LIB, "// cfg(unix)\nfn unix() { f(\"cfg(unix)\") }", &[]);
        found(LIB, "#[cfg(feature = \"lab\")]\nmod a;", &[]);
    }

    #[test]
    fn unsafe_code_stays_in_sys() {
        let text = "fn a() { unsafe { b() } }";
        found(LIB, text, &["unsafe"]);
        found("crates/sys/src/cpu/linux.rs", text, &[]);
        found(LIB, "#![deny(unsafe_code)] // unsafe\nfn a() { f(\"unsafe\") }", &[]);
    }

    #[test]
    fn loopback_addresses_are_not_spelled_out() {
        for address in ["127.0.0.1", "[::1]:4466", "at ::1.", "127.0.0.1:80", "x 127.1.2.3/8"] {
            let text = format!("fn a() {{ f(\"{address}\") }}");
            found(LIB, &text, &["loopback"]);
            found("crates/x/tests/a.rs", &text, &[]);
            found(FAMILY, &text, &[]);
        }
        found(LIB, "fn a() { f(\"2001:db8::1 0.0.0.0 1.2.3.4\") } // 127.0.0.1", &[]);
        found(LIB, "#[cfg(test)]\nmod tests {\n const A: &str = \"::1\";\n}", &[]);
    }

    #[test]
    fn functions_do_not_name_a_family() {
        for name in ["send_v4", "v6_header", "parse_ipv6_address", "v4"] {
            let text = format!("fn {name}() {{}}");
            found(LIB, &text, &["names a family"]);
            found(FAMILY, &text, &[]);
            found("crates/sys/src/socket/mod.rs", &text, &[]);
            found("crates/x/src/tests.rs", &text, &[]);
        }
        found(LIB, "fn v6gap() {}\nfn dev4() {}", &[]);
    }
}
