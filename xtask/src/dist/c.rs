//! A C compiler for every target, for programs that have C in them: `zig cc`, which comes with the
//! headers of musl for all processors. It is installed only where something is C, since it is
//! large and nearly everything here is Rust.

use super::Arch;
use crate::command::{Line, cargo};
use crate::setup;
use std::path::Path;

/// The compiler as Python's registry has it.
const ZIG: &str = "ziglang==0.17.1";

/// The line, told which C compiler to use if the program has C in it: what is compiled by the crate
/// `cc`, as all C in Rust packages is.
pub fn with_compiler(line: Line, arch: &Arch, target: &Path) -> Result<Line, String> {
    let tree = cargo("tree --locked -p v6gap -e normal,build --prefix none --target")
        .args([arch.target.to_owned()])
        .output()?;
    if !tree.lines().any(|line| line.starts_with("cc v")) {
        return Ok(line);
    }
    let python = setup::python(&target.join("zig"), &[ZIG])?;
    let mut line = line;
    for (key, verb) in [("TARGET_CC", "cc"), ("TARGET_AR", "ar")] {
        let text = target.join(format!("zig/{verb}-{}.sh", arch.name));
        super::write(&text, &wrapper(&python, verb, arch.name))?;
        let script = text.with_extension("");
        super::package::install("755", &text, &script)?;
        line = line.env(key, script.display().to_string());
    }
    Ok(line)
}

/// A script that passes its arguments on, except for Rust's name of the target, which zig spells
/// otherwise.
fn wrapper(python: &str, verb: &str, arch: &str) -> String {
    let target = if verb == "cc" { format!(" -target {arch}-linux-musl") } else { String::new() };
    format!(
        "#!/bin/sh\n\
         for word; do\n    shift\n    case $word in\n        --target=*) ;;\n        \
         *) set -- \"$@\" \"$word\" ;;\n    esac\ndone\n\
         exec '{python}' -m ziglang {verb}{target} \"$@\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wrapper_names_the_target_as_zig_does() {
        let script = wrapper("echo", "cc", "aarch64");
        let words = ["-c", &script, "cc", "--target=aarch64-unknown-linux-musl", "-O3", "a b.c"];
        let said = Line::new("sh", "").args(words.map(str::to_owned)).output().unwrap();
        assert_eq!(said, "-m ziglang cc -target aarch64-linux-musl -O3 a b.c\n");
    }
}
