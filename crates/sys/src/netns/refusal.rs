//! Why a host refuses namespaces, told from the failed step, its error number and the host's
//! switches.

use std::fmt;
use std::io;

/// The steps to a usable user namespace, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Starting the child process that tries the others.
    Fork,
    /// `unshare` of user and network namespace.
    Unshare,
    /// Writing `setgroups`, `uid_map` and `gid_map`.
    MapUser,
    /// Setting an interface up, which takes real rights inside.
    LoopbackUp,
    /// Making a pair of virtual Ethernet interfaces.
    MakeVeth,
}

/// Why this host does not give this process namespaces of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The process has more than one thread; a user namespace can be entered only before.
    Threads,
    /// A kernel switch is off: its name, and the value that turns it on.
    SwitchedOff {
        /// Name as `sysctl` knows it.
        switch: &'static str,
        /// Value that turns the switch on.
        wanted: &'static str,
    },
    /// No more user or network namespaces are allowed to this user at the moment.
    Exhausted,
    /// The kernel says "not permitted" and no switch explains it: a container's filter or a chroot.
    NotPermitted,
    /// This kernel was built without user or network namespaces.
    NoSupport,
    /// This kernel has no virtual Ethernet pairs (veth).
    NoVeth,
    /// Anything else: the step and the error number.
    Other {
        /// What was tried.
        step: Step,
        /// The kernel's error number.
        errno: i32,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads => f.write_str("the process already has more than one thread"),
            Self::SwitchedOff { switch, wanted } => write!(
                f,
                "this host does not let ordinary users make namespaces ({switch} would have to be \
                 {wanted})"
            ),
            Self::Exhausted => {
                f.write_str("this user has as many user or network namespaces as this host allows")
            }
            Self::NotPermitted => f.write_str(
                "namespaces are not permitted here, as in most containers and in a chroot",
            ),
            Self::NoSupport => f.write_str("this kernel has no user or network namespaces"),
            Self::NoVeth => f.write_str("this kernel has no virtual Ethernet pairs (veth)"),
            Self::Other { step, errno } => {
                write!(f, "{step:?} failed: {}", io::Error::from_raw_os_error(*errno))
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// The switches that forbid user namespaces: file below `/proc/sys`, name, forbidding and wanted
/// value.
const SWITCHES: [(&str, &str, &str, &str); 4] = [
    ("kernel/unprivileged_userns_clone", "kernel.unprivileged_userns_clone", "0", "1"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        "0",
    ),
    ("user/max_user_namespaces", "user.max_user_namespaces", "0", "1000"),
    ("user/max_net_namespaces", "user.max_net_namespaces", "0", "1000"),
];

/// Explains a failed step with this host's switches.
pub(super) fn classify(failure: (Step, i32)) -> Refusal {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/sys/{file}")).ok();
    let threads = std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    explain(failure, threads, read)
}

fn explain(
    (step, errno): (Step, i32),
    threads: usize,
    read: impl Fn(&str) -> Option<String>,
) -> Refusal {
    let forbidding = SWITCHES
        .iter()
        .find(|(file, _, forbids, _)| read(file).is_some_and(|value| value.trim() == *forbids));
    match (step, errno, forbidding) {
        (Step::Unshare, libc::EINVAL, _) if threads > 1 => Refusal::Threads,
        (Step::MakeVeth, libc::EOPNOTSUPP, _) => Refusal::NoVeth,
        (_, libc::EPERM | libc::EACCES | libc::ENOSPC, Some((_, switch, _, wanted))) => {
            Refusal::SwitchedOff { switch, wanted }
        }
        (Step::Unshare, libc::ENOSPC | libc::EUSERS, None) => Refusal::Exhausted,
        (Step::Unshare, libc::EINVAL | libc::ENOSYS, _) => Refusal::NoSupport,
        (_, libc::EPERM | libc::EACCES, None) => Refusal::NotPermitted,
        _ => Refusal::Other { step, errno },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(failure: (Step, i32), threads: usize, switch: (&str, &str), expected: Refusal) {
        let read = |file: &str| (file == switch.0).then(|| format!("{}\n", switch.1));
        assert_eq!(explain(failure, threads, read), expected);
    }

    #[test]
    fn a_refusal_names_its_cause() {
        let off = |switch, wanted| Refusal::SwitchedOff { switch, wanted };
        let debian = ("kernel/unprivileged_userns_clone", "0");
        let ubuntu = ("kernel/apparmor_restrict_unprivileged_userns", "1");
        let none = ("user/max_user_namespaces", "0");
        let open = ("user/max_user_namespaces", "31000");
        check(
            (Step::Unshare, libc::EPERM),
            1,
            debian,
            off("kernel.unprivileged_userns_clone", "1"),
        );
        let apparmor = off("kernel.apparmor_restrict_unprivileged_userns", "0");
        check((Step::MapUser, libc::EACCES), 1, ubuntu, apparmor.clone());
        check((Step::LoopbackUp, libc::EPERM), 1, ubuntu, apparmor);
        check((Step::Unshare, libc::ENOSPC), 1, none, off("user.max_user_namespaces", "1000"));
        check((Step::Unshare, libc::ENOSPC), 1, open, Refusal::Exhausted);
        check((Step::Unshare, libc::EPERM), 1, open, Refusal::NotPermitted);
        check((Step::Unshare, libc::EINVAL), 3, open, Refusal::Threads);
        check((Step::Unshare, libc::EINVAL), 1, open, Refusal::NoSupport);
        check((Step::MakeVeth, libc::EOPNOTSUPP), 1, open, Refusal::NoVeth);
        let other = Refusal::Other { step: Step::Fork, errno: libc::EAGAIN };
        check((Step::Fork, libc::EAGAIN), 1, open, other);
    }

    #[test]
    fn the_probe_gives_a_verdict_and_leaves_this_process_alone() {
        let before = std::fs::read_link("/proc/self/ns/user").expect("/proc is mounted");
        let first = super::super::probe();
        assert_eq!(super::super::probe().is_ok(), first.is_ok());
        assert_eq!(std::fs::read_link("/proc/self/ns/user").expect("as before"), before);
    }
}
