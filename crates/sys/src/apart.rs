//! A program that is started apart: what stops the one that started it, as Ctrl-C at its terminal,
//! does not reach it, and it is asked to stop by closing its input, which the system also does when
//! that one ends.

use crate::clock;
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::Builder;
use std::time::Duration;

/// How soon the end of a program is noticed that was given something to read.
const LOOK: Duration = Duration::from_millis(20);

/// A program that was started.
#[derive(Debug)]
pub struct Apart {
    child: Child,
    input: Option<ChildStdin>,
    /// Whether it leads a group of its own, in which is what it starts itself.
    leads: bool,
    /// Whether the system told that it has ended: its number may be another's since.
    is_over: bool,
}

/// What a program said that has ended.
#[derive(Debug)]
pub struct Answered {
    /// Exit code; `None` if it was killed.
    pub exit: Option<i32>,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

/// Starts `program`, whose standard output can be read; what it writes to standard error is thrown
/// away.
///
/// # Errors
/// If there is no such program, or processes are short.
pub fn start(program: &Path, arguments: &[String]) -> io::Result<(Apart, ChildStdout)> {
    let mut command = prepared(program, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    Ok((Apart { child, input, leads: true, is_over: false }, output))
}

/// A program that is given its input and heard on both its outputs.
#[derive(Debug)]
pub struct Heard {
    /// The program; closing its input is up to who has it.
    pub apart: Apart,
    /// Its standard input.
    pub input: ChildStdin,
    /// What it writes to standard output.
    pub output: ChildStdout,
    /// What it writes to standard error.
    pub errors: ChildStderr,
}

/// Starts `program`, all of whose streams are pipes. One that `asks` stays where Ctrl-C at the
/// terminal reaches it: others may not read a password there.
///
/// # Errors
/// As [`start`].
pub fn start_heard(program: &Path, arguments: &[String], asks: bool) -> io::Result<Heard> {
    let mut command = if asks { plain(program, arguments) } else { prepared(program, arguments) };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
        return Err(io::ErrorKind::BrokenPipe.into());
    };
    let apart = Apart { child, input: None, leads: !asks, is_over: false };
    Ok(Heard { apart, input, output, errors })
}

/// Runs `program` to its end, without anything to read.
///
/// # Errors
/// As [`start`].
pub fn ask(program: &Path, arguments: &[String]) -> io::Result<Answered> {
    let done = prepared(program, arguments).stdin(Stdio::null()).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Answered { exit: done.status.code(), out: text(&done.stdout), err: text(&done.stderr) })
}

/// Runs `program` with `text` to read, to its end, but for no longer than `limit`: it is killed
/// then, and with it what it started itself. What it writes is thrown away. Its exit code, or
/// `None` if it was killed.
///
/// # Errors
/// As [`start`].
pub fn feed(
    program: &Path,
    arguments: &[String],
    text: &str,
    limit: Duration,
) -> io::Result<Option<i32>> {
    let mut command = prepared(program, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        let text = text.to_owned();
        // Apart, as a program that reads nothing would have the writer wait. It need not read.
        let write = move || drop(input.write_all(text.as_bytes()));
        if let Err(error) = Builder::new().spawn(write) {
            end(&mut child);
            return Err(error);
        }
    }
    let begun_ns = clock::now_ns();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if u128::from(clock::now_ns().saturating_sub(begun_ns)) >= limit.as_nanos() {
            return Ok(end(&mut child));
        }
        clock::rest(LOOK);
    }
}

/// Binds the life of what `command` will start to that of the calling thread, where the system can:
/// on Linux the kernel kills it when that thread ends, however that happens. Elsewhere what is
/// started has to look whether its input has ended. Ctrl-C at the terminal does not reach it.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there is nothing to bind it by"))]
pub fn bind(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(target_os = "linux")]
    crate::child::bound(command, None);
}

/// What a program is asked for that this process has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// To end in good order.
    End,
    /// To read its configuration again.
    Reload,
}

/// Asks the program with that number, which must be a child of this process that was not waited
/// for.
///
/// # Errors
/// If there is no such process, or this system has no such signals.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no signals"))]
pub fn tell(child: u32, ask: Ask) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let child = i32::try_from(child).ok().and_then(Pid::from_raw);
        let signal = match ask {
            Ask::End => Signal::TERM,
            Ask::Reload => Signal::HUP,
        };
        Ok(kill_process(child.ok_or(io::ErrorKind::NotFound)?, signal)?)
    }
    #[cfg(not(unix))]
    {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Ends a program at once with all that it started. Its exit code, or `None` if it was killed.
fn end(child: &mut Child) -> Option<i32> {
    end_group(child);
    // It can only have ended before.
    let _ = child.kill();
    child.wait().ok()?.code()
}

/// Ends the group of a program, as a shell does others. It has not been waited for, so that its
/// number is still its own.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no such groups"))]
fn end_group(child: &Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
}

fn prepared(program: &Path, arguments: &[String]) -> Command {
    let mut command = plain(program, arguments);
    #[cfg(unix)]
    command.process_group(0);
    command
}

#[expect(
    clippy::disallowed_methods,
    reason = "this program itself, ssh, or the one that a person wants to be told: none measures"
)]
fn plain(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

impl Apart {
    /// Asks it to stop, by closing its input; asking again changes nothing.
    pub fn stop(&mut self) {
        self.input = None;
    }

    /// Ends it at once, if it has not ended, and with it what it started itself, which could hold
    /// its pipes for as long as it likes; of one that [`start_heard`] had ask, it alone.
    pub fn kill(&mut self) {
        // What it started may live on when it has ended itself.
        if self.leads && !self.is_over {
            end_group(&self.child);
        }
        // It can only have ended before.
        let _ = self.child.kill();
    }

    /// Whether it has ended.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn is_over(&mut self) -> io::Result<bool> {
        self.is_over = self.child.try_wait()?.is_some();
        Ok(self.is_over)
    }

    /// Waits for its end: its exit code, or `None` if it was killed.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn wait(mut self) -> io::Result<Option<i32>> {
        self.input = None;
        Ok(self.child.wait()?.code())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    fn script(text: &str) -> [String; 2] {
        ["-c".to_owned(), text.to_owned()]
    }

    #[test]
    fn it_goes_on_until_its_input_is_closed() {
        let shell = Path::new("/bin/sh");
        let (mut apart, out) =
            start(shell, &script("echo begun; cat; echo stopped; exit 130")).unwrap();
        let mut lines = BufReader::new(out).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "begun");
        apart.stop();
        assert_eq!(lines.next().unwrap().unwrap(), "stopped");
        assert!(lines.next().is_none());
        assert_eq!(apart.wait().unwrap(), Some(130));
    }

    #[test]
    fn it_can_be_killed_and_stands_in_a_group_of_its_own() {
        let shell = Path::new("/bin/sh");
        let (mut apart, _) = start(shell, &script("cat; cat")).unwrap();
        let number = apart.child.id().cast_signed();
        // SAFETY: the call takes a number.
        assert_eq!(unsafe { libc::getpgid(number) }, number);
        apart.kill();
        assert_eq!(apart.wait().unwrap(), None);
        assert!(start(Path::new("/no/such/program"), &[]).is_err());
    }

    /// A wrapper is a shell that waits for another program, which has its pipes, too.
    #[test]
    fn what_it_started_has_no_pipe_of_it_any_more_when_it_is_killed() {
        use std::io::Read;
        for (lines, exit) in
            [("echo begun; sleep 600; true", None), ("sleep 600 & echo begun", Some(0))]
        {
            let heard = start_heard(Path::new("/bin/sh"), &script(lines), false).unwrap();
            let Heard { mut apart, mut output, mut errors, .. } = heard;
            let mut begun = [0; 6];
            output.read_exact(&mut begun).unwrap();
            apart.kill();
            let (mut out, mut err) = (String::new(), String::new());
            output.read_to_string(&mut out).unwrap();
            errors.read_to_string(&mut err).unwrap();
            assert_eq!((&begun, out.as_str(), err.as_str()), (b"begun\n", "", ""));
            let ended = apart.wait().unwrap();
            assert!(ended.is_none() || ended == exit, "{lines}: {ended:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_bound_ends_with_the_thread_that_started_it() {
        let start = || {
            let mut command = plain(Path::new("/bin/sh"), &script("exec sleep 600"));
            bind(&mut command);
            command.spawn().unwrap()
        };
        let mut child = std::thread::spawn(start).join().unwrap();
        // It waits for as long as the kernel takes.
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn a_child_is_asked_to_end_and_to_read_again() {
        use std::io::Read;
        let lines = "trap 'echo again' HUP; trap 'echo ended; exit 3' TERM; echo begun\n\
                     while :; do sleep 0.01; done";
        // Under nohup it is ignored, which no shell undoes that inherits it.
        // SAFETY: no handler is installed, so that no code of this process can run.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        let mut command = prepared(Path::new("/bin/sh"), &script(lines));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut said = String::new();
        out.read_line(&mut said).unwrap();
        tell(child.id(), Ask::Reload).unwrap();
        out.read_line(&mut said).unwrap();
        tell(child.id(), Ask::End).unwrap();
        out.read_to_string(&mut said).unwrap();
        assert_eq!(said, "begun\nagain\nended\n");
        assert_eq!(child.wait().unwrap().code(), Some(3));
    }

    #[test]
    fn what_it_is_given_and_says_goes_by_pipes() {
        use std::io::Read;
        let lines = "read word; echo \"$word\"; cat >&2; exit 7";
        for asks in [false, true] {
            let heard = start_heard(Path::new("/bin/sh"), &script(lines), asks).unwrap();
            let Heard { apart, mut input, mut output, mut errors } = heard;
            input.write_all(b"key\nrest").unwrap();
            drop(input);
            let (mut out, mut err) = (String::new(), String::new());
            output.read_to_string(&mut out).unwrap();
            errors.read_to_string(&mut err).unwrap();
            assert_eq!((out.as_str(), err.as_str()), ("key\n", "rest"));
            assert_eq!(apart.wait().unwrap(), Some(7));
        }
    }

    #[test]
    fn what_it_is_fed_it_may_read_in_time() {
        let shell = Path::new("/bin/sh");
        let fed = |text: &str, limit| feed(shell, &script(text), "one\ntwo\n", limit).unwrap();
        let long = Duration::from_secs(600);
        assert_eq!(fed("read a; read b; test $a$b = onetwo", long), Some(0));
        assert_eq!(fed("exit 3", long), Some(3));
        assert_eq!(fed("exec sleep 600", Duration::from_millis(1)), None);
        assert!(feed(Path::new("/no/such/program"), &[], "", long).is_err());
    }

    /// A pipe is over when nobody has its other end any more.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_it_started_ends_with_it_when_its_time_is_over() {
        use std::io::Read;
        use std::os::fd::AsRawFd;
        let (mut read, write) = std::io::pipe().unwrap();
        let place = format!("/proc/{}/fd/{}", std::process::id(), write.as_raw_fd());
        let lines = format!("exec 3>{place}; echo begun >&3; sleep 600 & wait");
        let limit = Duration::from_secs(1);
        assert_eq!(feed(Path::new("/bin/sh"), &script(&lines), "", limit).unwrap(), None);
        drop(write);
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        // A shell that is slow to begin is killed before it says anything.
        assert!(said.is_empty() || said == "begun\n", "{said}");
    }

    #[test]
    fn what_it_said_is_told_by_stream() {
        let shell = Path::new("/bin/sh");
        let said = ask(shell, &script("echo out; echo err >&2; cat; exit 3")).unwrap();
        assert_eq!((said.exit, said.out.as_str(), said.err.as_str()), (Some(3), "out\n", "err\n"));
    }
}
