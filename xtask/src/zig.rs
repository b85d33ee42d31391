//! Zig as a C compiler for other targets, a library of Python's registry.

/// What it is there.
pub const PACKAGE: &str = "ziglang==0.17.1";

/// Folder of the Python that has it, below that of what is built.
pub const FOLDER: &str = "zig";

/// A script that passes its arguments on, except for Rust's name of the target, which zig spells
/// otherwise.
pub fn wrapper(python: &str, verb: &str, zig: &str) -> String {
    let target = if verb == "cc" { format!(" -target {zig}") } else { String::new() };
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
    use crate::command::Line;

    #[test]
    fn the_wrapper_names_the_target_as_zig_does() {
        let script = wrapper("echo", "cc", "aarch64-linux-musl");
        let words = ["-c", &script, "cc", "--target=aarch64-unknown-linux-musl", "-O3", "a b.c"];
        let said = Line::new("sh", "").args(words.map(str::to_owned)).output().unwrap();
        assert_eq!(said, "-m ziglang cc -target aarch64-linux-musl -O3 a b.c\n");
    }
}
