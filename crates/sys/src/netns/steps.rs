//! The system calls behind the namespaces.
//!
//! [`enter`] and [`make_veth`] also run in a forked child of a process that may have other threads,
//! so they allocate nothing, take no lock and use only async-signal-safe calls (signal-safety(7)).

use super::Step;
use std::ffi::CStr;
use std::io;
use std::io::Write;
use std::os::fd::RawFd;

/// A step that failed, and the error number.
type Failure = (Step, i32);

/// The lines of the two identity maps, written before entering, because inside the user namespace
/// the process can no longer learn who it is outside.
pub(super) struct Identity {
    user: [u8; 24],
    group: [u8; 24],
}

impl Identity {
    /// Maps root inside to the present effective user and group outside.
    pub(super) fn current() -> Self {
        // SAFETY: these two calls only read the caller's identity and cannot fail.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        Self { user: map_line(user), group: map_line(group) }
    }
}

/// `0 ID 1` and a newline, with blanks behind: 24 bytes always hold it.
fn map_line(id: u32) -> [u8; 24] {
    let mut line = [b' '; 24];
    // Cannot fail: "0 4294967295 1\n" is shorter than the line.
    let _ = writeln!(&mut line[..], "0 {id} 1");
    line
}

/// Enters the namespaces, maps the user to root and proves the rights by setting the loopback up.
pub(super) fn enter(identity: &Identity) -> Result<(), Failure> {
    // SAFETY: unshare takes flags only and touches no memory of this process.
    done(unsafe { libc::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNET) })
        .map_err(|errno| (Step::Unshare, errno))?;
    // Without this refusal of setgroups an ordinary user may not write the group map.
    put(c"/proc/self/setgroups", b"deny")
        .and_then(|()| put(c"/proc/self/uid_map", trimmed(&identity.user)))
        .and_then(|()| put(c"/proc/self/gid_map", trimmed(&identity.group)))
        .map_err(|errno| (Step::MapUser, errno))?;
    loopback_up().map_err(|errno| (Step::LoopbackUp, errno))
}

/// Does [`enter`] and [`make_veth`] in a child process and reports where it failed.
pub(super) fn in_child(identity: &Identity) -> Result<(), Failure> {
    let (mut reader, writer) = io::pipe().map_err(|error| fork_failure(&error))?;
    let writer = std::os::fd::OwnedFd::from(writer);
    // SAFETY: the child makes only async-signal-safe calls and ends by _exit.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(fork_failure(&io::Error::last_os_error()));
    }
    if child == 0 {
        let outcome = enter(identity).and_then(|()| make_veth());
        let report = match outcome {
            Ok(()) => [0, 0],
            Err((step, errno)) => [step as u8 + 1, u8::try_from(errno).unwrap_or(0)],
        };
        // SAFETY: two bytes are read from a live array; _exit runs no destructor of the parent.
        unsafe {
            libc::write(std::os::fd::AsRawFd::as_raw_fd(&writer), report.as_ptr().cast(), 2);
            libc::_exit(0)
        }
    }
    drop(writer);
    let mut report = [0_u8; 2];
    let read = io::Read::read_exact(&mut reader, &mut report);
    let mut status = 0;
    // SAFETY: waits for the child that was just made; status is a live integer.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    // A child that a filter killed has written nothing.
    read.map_err(|_| (Step::Unshare, libc::EPERM))?;
    let steps = [Step::Fork, Step::Unshare, Step::MapUser, Step::LoopbackUp, Step::MakeVeth];
    match report {
        [0, _] => Ok(()),
        [step, errno] => Err((steps[usize::from(step - 1) % steps.len()], i32::from(errno))),
    }
}

/// Gives the calling thread an empty network namespace.
pub(super) fn unshare_network() -> io::Result<()> {
    // SAFETY: unshare takes flags only and touches no memory of this process.
    done(unsafe { libc::unshare(libc::CLONE_NEWNET) }).map_err(io::Error::from_raw_os_error)
}

/// Moves the calling thread into the namespace of the given kind.
pub(super) fn join(namespace: RawFd, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: setns takes a descriptor and flags and touches no memory of this process.
    done(unsafe { libc::setns(namespace, kind) }).map_err(io::Error::from_raw_os_error)
}

/// The user that `SO_PEERCRED` of unix(7) names.
pub(super) fn peer_user(socket: RawFd) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure is live and its length is passed; any bytes are valid numbers.
    let returned = unsafe {
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        libc::getsockopt(socket, level, option, (&raw mut peer).cast(), &raw mut length)
    };
    done(returned).map_err(io::Error::from_raw_os_error)?;
    Ok(peer.uid)
}

fn fork_failure(error: &io::Error) -> Failure {
    (Step::Fork, error.raw_os_error().unwrap_or(0))
}

/// The error number of a call that returned -1.
fn done(returned: libc::c_int) -> Result<(), i32> {
    if returned < 0 { Err(errno()) } else { Ok(()) }
}

fn errno() -> i32 {
    // SAFETY: the location is valid for the calling thread.
    unsafe { *libc::__errno_location() }
}

/// The map line without the blanks behind its newline: the kernel reads one write as one whole map.
fn trimmed(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |at| at + 1);
    &line[..end]
}

/// Writes `text` to the file in one call.
fn put(path: &CStr, text: &[u8]) -> Result<(), i32> {
    // SAFETY: path is a C string; the descriptor is used and closed here only; text is a live
    // slice.
    unsafe {
        let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        done(file)?;
        let written = libc::write(file, text.as_ptr().cast(), text.len());
        let outcome = if written < 0 { Err(errno()) } else { Ok(()) };
        libc::close(file);
        outcome
    }
}

/// Sets the loopback interface of the present network namespace up.
fn loopback_up() -> Result<(), i32> {
    // SAFETY: ifreq is plain data, for which zero is valid; the kernel reads and writes only within
    // it; the descriptor is used and closed here only.
    unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        done(socket)?;
        let mut outcome = done(libc::ioctl(socket, libc::SIOCGIFFLAGS as _, &raw mut request));
        if outcome.is_ok() {
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            outcome = done(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request));
        }
        libc::close(socket);
        outcome
    }
}

/// Asks the kernel for a veth pair with names of its choice (`RTM_NEWLINK`, rtnetlink(7)).
fn make_veth() -> Result<(), Failure> {
    const KIND: &[u8; 8] = b"veth\0\0\0\0";
    let mut message = [0_u8; 48];
    message[0..4].copy_from_slice(&48_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&libc::RTM_NEWLINK.to_ne_bytes());
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    message[6..8].copy_from_slice(&(flags as u16).to_ne_bytes());
    // Header of 16 bytes and a zero ifinfomsg of 16, then IFLA_LINKINFO { IFLA_INFO_KIND "veth" }.
    message[32..34].copy_from_slice(&16_u16.to_ne_bytes());
    message[34..36].copy_from_slice(&libc::IFLA_LINKINFO.to_ne_bytes());
    message[36..38].copy_from_slice(&9_u16.to_ne_bytes());
    message[38..40].copy_from_slice(&libc::IFLA_INFO_KIND.to_ne_bytes());
    message[40..48].copy_from_slice(KIND);
    ask(&message).map_err(|errno| (Step::MakeVeth, errno))
}

/// Sends one route netlink request and returns the error of its acknowledgement.
fn ask(message: &[u8]) -> Result<(), i32> {
    let mut reply = [0_u8; 256];
    // SAFETY: both buffers are live and their lengths are passed; the descriptor is used and closed
    // here only.
    let received = unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        let socket = libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE);
        done(socket)?;
        let mut received = libc::send(socket, message.as_ptr().cast(), message.len(), 0);
        if received >= 0 {
            received = libc::recv(socket, reply.as_mut_ptr().cast(), reply.len(), 0);
        }
        let outcome = if received < 0 { Err(errno()) } else { Ok(()) };
        libc::close(socket);
        outcome
    };
    received?;
    // An nlmsghdr of 16 bytes, then the negated error number, 0 for success (netlink(7)).
    match i32::from_ne_bytes([reply[16], reply[17], reply[18], reply[19]]) {
        0 => Ok(()),
        error => Err(-error),
    }
}
