//! Running other programs: each command is printed before it runs, and a failure names it.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What runs a command behind others.
const LAST: [&str; 3] = ["nice", "-n", "19"];

/// A command line to run in the workspace's root.
#[derive(Debug, Clone)]
pub struct Line {
    program: String,
    args: Vec<String>,
    env: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    folder: PathBuf,
}

/// `cargo` with `args`, separated by blanks.
pub fn cargo(args: &str) -> Line {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    Line::new(&program, args)
}

impl Line {
    /// `program` with `args`, separated by blanks.
    pub fn new(program: &str, args: &str) -> Self {
        let args = args.split_whitespace().map(str::to_owned).collect();
        Line { program: program.to_owned(), args, env: Vec::new(), folder: PathBuf::new() }
    }

    /// With more arguments, taken as they are.
    pub fn args(mut self, more: impl IntoIterator<Item = String>) -> Self {
        self.args.extend(more);
        self
    }

    /// With a variable of the environment set.
    pub fn env(
        mut self,
        key: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.env.push((key.into(), value.into()));
        self
    }

    /// In this folder, from the root of the workspace.
    pub fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Behind everything else that wants a processor, where there is a program that does so.
    pub fn behind(mut self) -> Self {
        if Line::new(LAST[0], &format!("{} true", LAST[1..].join(" "))).output().is_ok() {
            let program = std::mem::replace(&mut self.program, LAST[0].to_owned());
            self.args.splice(0..0, LAST[1..].iter().map(|&word| word.to_owned()).chain([program]));
        }
        self
    }

    /// Runs it with the terminal attached. Fails if it cannot start or exits with anything but 0.
    pub fn run(&self) -> Result<(), String> {
        println!("$ {self}");
        let status = self.command().status().map_err(|e| format!("{self}: {e}"))?;
        if status.success() { Ok(()) } else { Err(format!("{self}: {status}")) }
    }

    /// Runs it, prints its standard output as it comes, and puts it into `kept`, also that of a
    /// failure.
    pub fn run_and_keep(&self, kept: &mut String) -> Result<(), String> {
        println!("$ {self}");
        let fail = |e: std::io::Error| format!("{self}: {e}");
        let mut child = self.command().stdout(Stdio::piped()).spawn().map_err(fail)?;
        if let Some(out) = child.stdout.take() {
            for line in BufReader::new(out).lines() {
                let line = line.map_err(fail)?;
                println!("{line}");
                kept.push_str(&line);
                kept.push('\n');
            }
        }
        let status = child.wait().map_err(fail)?;
        if status.success() { Ok(()) } else { Err(format!("{self}: {status}")) }
    }

    /// Runs it in silence and returns its standard output; fails with its standard error.
    pub fn output(&self) -> Result<String, String> {
        let out = self.command().output().map_err(|e| format!("{self}: {e}"))?;
        if out.status.success() {
            return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
        }
        Err(format!("{self}: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr).trim_end()))
    }

    /// Runs it in silence; whether it exited with 0, and its standard error. Fails only if it
    /// cannot start.
    pub fn outcome(&self) -> Result<(bool, String), String> {
        let out = self.command().output().map_err(|e| format!("{self}: {e}"))?;
        Ok((out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned()))
    }

    fn command(&self) -> Command {
        // What was printed so far must stand before what the child prints.
        let _ = std::io::stdout().flush();
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(key, value)| (&**key, &**value)));
        command.current_dir(crate::root::root().join(&self.folder));
        command
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (key, value) in &self.env {
            write!(f, "{key}={value} ")?;
        }
        let name = Path::new(&self.program).file_stem().unwrap_or_default();
        write!(f, "{}", name.to_string_lossy())?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_a_person_would_type() {
        let line = cargo("test  --locked").env("A", "1").args(["--test".to_owned()]);
        assert_eq!(line.to_string(), "A=1 cargo test --locked --test");
    }

    #[test]
    fn failure_names_the_command() {
        let error = Line::new("no-such-program", "x").run().unwrap_err();
        assert!(error.starts_with("no-such-program x: "), "{error}");
        let error = cargo("no-such-verb").output().unwrap_err();
        assert!(error.starts_with("cargo no-such-verb: "), "{error}");
    }
}
