//! Linux: `execveat` of an open file, and a Unix socket pair with descriptors (unix(7)).

use super::{FRAME_BYTES_MAX, Passed, SOCKETS_MAX};
use crate::child::bound;
use crate::network::Network;
use crate::socket::{Datagram, Listener, Stream};
use crate::{Unavailable, clock};
use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketType, recvmsg, sendmsg, sockopt,
};
use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Length of the body, and how many sockets go along.
const HEADER_BYTES: usize = 5;

/// What a terminal or a service manager sends to all processes of a program: what a worker does
/// then is for its parent to say.
const FOR_THE_PARENT: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// The file that the first word of a command line leads to. A word without a slash was looked for
/// in folders, of which any other may have it too.
pub(super) fn named(name: Option<&OsStr>) -> Option<io::Result<File>> {
    let path = name.map(Path::new).filter(|path| path.components().count() > 1);
    path.map(File::open)
}

/// The file that this program is.
#[derive(Debug)]
pub struct Program {
    file: File,
    environment: Vec<CString>,
}

impl Program {
    /// Opens it: what the kernel says that runs, or where there is no `/proc` what `name`, the
    /// first word of its command line, leads to. What is started has nothing but `environment`.
    ///
    /// # Errors
    /// If neither can be opened.
    pub fn this(
        name: Option<&OsStr>,
        environment: &[(&str, OsString)],
    ) -> Result<Self, Unavailable> {
        let file = File::open("/proc/self/exe")
            .or_else(|error| named(name).unwrap_or(Err(error)))
            .map_err(|error| Unavailable::new("processes of its own for trials", error))?;
        let entry = |(name, value): &(&str, OsString)| {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            // What came from an environment holds no zero byte.
            CString::new(OsString::from_vec(entry).into_vec()).ok()
        };
        Ok(Program { file, environment: environment.iter().filter_map(entry).collect() })
    }

    /// Starts it with `word` as its only argument, in the calling thread's network namespace and on
    /// its processors, and returns it with this end of the conduit, the other end of which is its
    /// standard input; what it prints is thrown away.
    ///
    /// The kernel kills it when the calling thread ends, and it does not hear of what is sent to
    /// all processes of a terminal or a service.
    ///
    /// # Errors
    /// If processes, memory or descriptors are short, or the system starts no program so.
    pub fn start(&self, word: &CStr) -> io::Result<(Process, Conduit)> {
        let (here, there) = UnixStream::pair()?;
        let arguments = [c"v6gap".as_ptr(), word.as_ptr(), std::ptr::null()];
        let ends = [std::ptr::null()];
        let environment: Vec<*const c_char> =
            self.environment.iter().map(|entry| entry.as_ptr()).chain(ends).collect();
        let image = Image {
            file: self.file.as_raw_fd(),
            arguments: arguments.as_ptr(),
            environment: environment.as_ptr(),
        };
        #[expect(clippy::disallowed_methods, reason = "the one place where a worker is started")]
        let mut command = Command::new("v6gap");
        command.stdin(OwnedFd::from(there)).stdout(Stdio::null()).stderr(Stdio::null());
        let command = bound(&mut command, None);
        // SAFETY: the closure allocates nothing, takes no lock and calls only what is safe there.
        // What the image points to lives on in this call, in which the command is used last.
        let command = unsafe { command.pre_exec(move || image.become_it()) };
        let child = command.spawn()?;
        Ok((Process { child }, Conduit::of(here)))
    }
}

/// What a process becomes, in plain numbers, because nothing may be allocated after fork.
struct Image {
    file: libc::c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
}

// SAFETY: the pointers are only read, after fork in the child's own copy of the memory.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

impl Image {
    /// Returns only if the system refuses.
    fn become_it(&self) -> io::Result<()> {
        for signal in FOR_THE_PARENT {
            // SAFETY: no handler is installed, so that no code of this process can run.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
        // SAFETY: the file is open; path, arguments and environment are strings and lists that end
        // with zero and outlive the call.
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                self.file,
                c"".as_ptr(),
                self.arguments,
                self.environment,
                libc::AT_EMPTY_PATH,
            )
        };
        Err(io::Error::last_os_error())
    }
}

/// A worker as its parent sees it. Dropped, it is killed and waited for.
#[derive(Debug)]
pub struct Process {
    child: Child,
}

impl Process {
    /// Its number in the system.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it if it still runs, waits for its end, and says how it ended, as in "signal: 9
    /// (SIGKILL)".
    pub fn end(&mut self) -> String {
        // One that has ended by itself cannot be killed; its end is told all the same.
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// One end of the conversation of two processes: frames of bytes with sockets.
#[derive(Debug)]
pub struct Conduit {
    socket: UnixStream,
    /// Frames of several threads must not mix.
    sending: Mutex<()>,
}

/// A socket that came with a frame.
#[derive(Debug)]
pub struct Came(OwnedFd);

impl Came {
    /// A connection that the peer asked for.
    pub fn stream(self) -> Stream {
        Stream::accepted(self.0.into())
    }

    /// A UDP socket.
    pub fn datagram(self) -> Datagram {
        Datagram::of(self.0.into())
    }

    /// What accepts connections.
    pub fn listener(self) -> Listener {
        Listener::of(self.0.into())
    }

    /// The network of another host.
    pub fn network(self) -> Network {
        Network::of(self.0)
    }
}

impl Conduit {
    /// The end that a worker was started with, its standard input; `None` if that is something
    /// else. To be called once, before anything reads there.
    pub fn inherited() -> Option<Self> {
        let input = io::stdin().as_fd().try_clone_to_owned().ok()?;
        let is_one = sockopt::socket_domain(&input).is_ok_and(|of| of == AddressFamily::UNIX)
            && sockopt::socket_type(&input).is_ok_and(|kind| kind == SocketType::STREAM);
        // What lists processes shows a program that was started by descriptor under its number.
        let _ = rustix::thread::set_name(c"v6gap");
        is_one.then(|| Conduit::of(input.into()))
    }

    /// The socket itself.
    #[cfg(test)]
    pub(super) fn end(&self) -> &UnixStream {
        &self.socket
    }

    /// Two ends in one process.
    ///
    /// # Errors
    /// If descriptors are short.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) = UnixStream::pair()?;
        Ok((Conduit::of(one), Conduit::of(other)))
    }

    fn of(socket: UnixStream) -> Self {
        Conduit { socket, sending: Mutex::default() }
    }

    /// Longest time that the other end may take nothing of what is sent, in ns.
    ///
    /// # Errors
    /// The system's answer.
    pub fn set_send_timeout(&self, timeout_ns: u64) -> io::Result<()> {
        self.socket.set_write_timeout(Some(Duration::from_nanos(timeout_ns.max(1))))
    }

    /// Sends `frame`, of at most [`FRAME_BYTES_MAX`], and with it at most [`SOCKETS_MAX`] sockets.
    ///
    /// # Errors
    /// If the frame is too long, the other end is gone or takes nothing; nothing more can be sent
    /// then.
    pub fn send(&self, frame: &[u8], sockets: &[Passed<'_>]) -> io::Result<()> {
        if frame.len() > FRAME_BYTES_MAX || sockets.len() > SOCKETS_MAX {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut header = [0; HEADER_BYTES];
        // Both are bounded above.
        header[..4].copy_from_slice(&(frame.len() as u32).to_be_bytes());
        header[4] = sockets.len() as u8;
        let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(descriptor).collect();
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(SOCKETS_MAX))];
        let mut along = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !along.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A thread that panicked here has ended its conversation with half a frame.
        let _alone = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let sent =
            sendmsg(&self.socket, &[IoSlice::new(&header)], &mut along, SendFlags::NOSIGNAL)?;
        (&self.socket).write_all(&header[sent..])?;
        (&self.socket).write_all(frame)
    }

    /// The next frame and the sockets that came with it; `None` if the other end has ended. Waits
    /// until `deadline_ns` by the monotonic clock.
    ///
    /// # Errors
    /// If nothing whole comes in time, or what came is no frame: the conversation is over then.
    pub fn receive(&self, deadline_ns: u64) -> io::Result<Option<(Vec<u8>, Vec<Came>)>> {
        let mut header = [0; HEADER_BYTES];
        let mut sockets = Vec::new();
        let mut done = self.begin(&mut header, &mut sockets, deadline_ns)?;
        if done == 0 {
            return Ok(None);
        }
        while done < header.len() {
            done += self.more(&mut header[done..], deadline_ns)?;
        }
        let [a, b, c, d, count] = header;
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > FRAME_BYTES_MAX || usize::from(count) != sockets.len() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let (mut frame, mut done) = (vec![0; length], 0);
        while done < length {
            done += self.more(&mut frame[done..], deadline_ns)?;
        }
        Ok(Some((frame, sockets)))
    }

    /// Reads the first bytes of a frame and takes the sockets with them.
    fn begin(
        &self,
        bytes: &mut [u8],
        sockets: &mut Vec<Came>,
        deadline_ns: u64,
    ) -> io::Result<usize> {
        self.patient(deadline_ns)?;
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(SOCKETS_MAX))];
        let mut along = RecvAncillaryBuffer::new(&mut space);
        let mut into = [IoSliceMut::new(bytes)];
        let received = rustix::io::retry_on_intr(|| {
            recvmsg(&self.socket, &mut into, &mut along, RecvFlags::CMSG_CLOEXEC)
        })?;
        for message in along.drain() {
            if let RecvAncillaryMessage::ScmRights(came) = message {
                sockets.extend(came.map(Came));
            }
        }
        Ok(received.bytes)
    }

    /// Reads on, at least one byte.
    fn more(&self, bytes: &mut [u8], deadline_ns: u64) -> io::Result<usize> {
        self.patient(deadline_ns)?;
        loop {
            match (&self.socket).read(bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => return outcome,
            }
        }
    }

    /// Lets the next read wait until then.
    fn patient(&self, deadline_ns: u64) -> io::Result<()> {
        let left_ns =
            (deadline_ns != u64::MAX).then(|| deadline_ns.saturating_sub(clock::now_ns()));
        // The system takes none for ever.
        let left_ns = left_ns.map(|left_ns| Duration::from_nanos(left_ns.max(1_000)));
        self.socket.set_read_timeout(left_ns)
    }
}

fn descriptor<'a>(socket: &Passed<'a>) -> BorrowedFd<'a> {
    match *socket {
        Passed::Stream(stream) => stream.inner.as_fd(),
        Passed::Datagram(datagram) => datagram.inner.as_fd(),
        Passed::Listener(listener) => listener.inner.as_fd(),
        Passed::Network(network) => network.as_fd(),
    }
}
