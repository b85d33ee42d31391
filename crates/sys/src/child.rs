//! Programs beside this one that must not outlive it.

use std::fs::File;
use std::io::{self, PipeReader, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts `program` with nothing of this process's environment but `environment`; what it reads
/// from standard input, which is a file of its own in memory, is `input`; what it writes is thrown
/// away. It is in the calling thread's network namespace.
///
/// The kernel kills it when the calling thread ends, however that happens (prctl(2),
/// `PR_SET_PDEATHSIG`).
///
/// # Errors
/// If there is no such program, or memory or processes are short.
pub fn spawn(
    program: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
    input: &[u8],
) -> io::Result<Child> {
    let mut command = prepare(program, input)?;
    command.args(arguments).env_clear().envs(environment.iter().copied());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    bound(&mut command, None).spawn()
}

/// [`spawn`] with this process's environment, for a program that is listened to: both its outputs
/// can be read. It has `descriptor` open as well, under the number that it has here.
///
/// # Errors
/// As [`spawn`].
pub fn spawn_heard(
    program: &str,
    arguments: &[&str],
    input: &[u8],
    descriptor: BorrowedFd<'_>,
) -> io::Result<(Child, PipeReader)> {
    let (heard, says) = io::pipe()?;
    let mut command = prepare(program, input)?;
    command.args(arguments).stdout(says.try_clone()?).stderr(says);
    let child = bound(&mut command, Some(descriptor.as_raw_fd())).spawn()?;
    Ok((child, heard))
}

#[expect(clippy::disallowed_methods, reason = "the one place where a program is started so")]
fn prepare(program: &str, input: &[u8]) -> io::Result<Command> {
    let memory = rustix::fs::memfd_create("v6gap", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut memory = File::from(memory);
    memory.write_all(input)?;
    memory.seek(SeekFrom::Start(0))?;
    let mut command = Command::new(program);
    command.stdin(memory);
    Ok(command)
}

/// Binds the life of what is started to that of the calling thread, and leaves one descriptor open
/// for it.
pub(crate) fn bound(command: &mut Command, descriptor: Option<RawFd>) -> &mut Command {
    // SAFETY: getpid cannot fail and touches no memory.
    let parent = unsafe { libc::getpid() };
    let bind = move || {
        // SAFETY: all calls take numbers only and are safe between fork and exec.
        unsafe {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // What is inherited is this process's copy, which exec would close.
            if descriptor.is_some_and(|number| libc::fcntl(number, libc::F_SETFD, 0) != 0) {
                return Err(io::Error::last_os_error());
            }
            // The parent may have ended before.
            if libc::getppid() != parent { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
        }
    };
    // SAFETY: the closure allocates nothing, takes no lock and calls only what is safe there.
    unsafe { command.pre_exec(bind) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::time::{Duration, Instant};

    #[test]
    fn a_child_reads_its_input_and_has_no_other_environment() {
        let script = "read line; test \"$line\" = hello && test \"$A\" = b && test -z \"$HOME\"";
        let mut child = spawn("/bin/sh", &["-c", script], &[("A", "b")], b"hello\n").unwrap();
        assert!(child.wait().unwrap().success());
        assert!(spawn("/no/such/program", &[], &[], b"").is_err());
    }

    #[test]
    fn a_child_that_is_heard_has_the_descriptor_it_was_given() {
        let (mut reader, writer) = io::pipe().unwrap();
        let script = format!("cat; echo told >&2; echo passed >&{}", writer.as_raw_fd());
        let given = ["-c", script.as_str()];
        let spawned = spawn_heard("/bin/bash", &given, b"read ", writer.as_fd());
        let (mut child, mut heard) = spawned.unwrap();
        drop(writer);
        let (mut said, mut passed) = (String::new(), String::new());
        heard.read_to_string(&mut said).unwrap();
        reader.read_to_string(&mut passed).unwrap();
        assert!(child.wait().unwrap().success());
        assert_eq!((said.as_str(), passed.as_str()), ("read told\n", "passed\n"));
    }

    #[test]
    fn a_child_ends_with_the_thread_that_started_it() {
        let started = std::thread::spawn(|| spawn("/bin/sleep", &["1000"], &[], b"").unwrap());
        let mut child = started.join().unwrap();
        // The thread has ended; the kernel takes a moment.
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "it lives on");
            std::thread::yield_now();
        };
        assert!(!status.success());
    }
}
