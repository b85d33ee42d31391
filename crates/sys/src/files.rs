//! How many files and sockets this process may have open, and whose they are.

use crate::Unavailable;

/// Makes sure that `more` sockets can be opened besides what a process has open anyway, raising the
/// limit of this process as far as it may.
///
/// # Errors
/// If the system allows fewer, with both numbers.
pub fn make_room(more: u64) -> Result<(), Unavailable> {
    /// For what is open besides: the program's own files and sockets.
    const OTHERS: u64 = 128;
    reserve(more.saturating_add(OTHERS))
}

#[cfg(unix)]
fn reserve(needed: u64) -> Result<(), Unavailable> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // None is without limit.
    let enough = |limit: Option<u64>| limit.is_none_or(|most| most >= needed);
    if enough(limit.current) {
        return Ok(());
    }
    if !enough(limit.maximum) {
        // Only a privileged process may.
        let raised = Rlimit { current: Some(needed), maximum: Some(needed) };
        return setrlimit(Resource::Nofile, raised).map_err(|_| {
            let most = limit.maximum.unwrap_or(u64::MAX);
            let because = format!("{needed} are needed and the hard limit (ulimit -Hn) is {most}");
            Unavailable::new("so many open sockets", because)
        });
    }
    let raise = |current| {
        let raised = Rlimit { current, maximum: limit.maximum };
        setrlimit(Resource::Nofile, raised)
    };
    // Some systems call the hard limit endless and still have one.
    raise(limit.maximum)
        .or_else(|_| raise(Some(needed)))
        .map_err(|error| Unavailable::new("so many open sockets", error))
}

/// Sockets are no files there and have no such limit.
#[cfg(not(unix))]
fn reserve(_needed: u64) -> Result<(), Unavailable> {
    Ok(())
}

/// Gives the calling thread a table of open files of its own, with all that is open now.
///
/// In a table that threads share, each system call on a socket counts its users with locked
/// instructions, which is felt in round trips of 10 µs. To be called by a thread that opens what
/// it uses and ends soon: what it opens from now on is not open in other threads, and
/// what they open or close is not so in this one. Where this cannot be, the table stays shared.
pub fn keep_apart() {
    #[cfg(target_os = "linux")]
    // SAFETY: unshare takes flags only and touches no memory of this process; file descriptors that
    // exist keep their numbers and meaning in both tables.
    let _ = unsafe { libc::unshare(libc::CLONE_FILES) };
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_apart_keeps_what_it_has_and_may_open_more() {
        use crate::socket::Datagram;
        let before = Datagram::bind(([127, 0, 0, 1], 0).into()).unwrap();
        std::thread::scope(|scope| {
            let apart = scope.spawn(|| {
                keep_apart();
                let after = Datagram::bind(([127, 0, 0, 1], 0).into()).unwrap();
                after.send_to(b"heard", before.local().unwrap()).unwrap();
                before.recv(&mut [0; 8]).unwrap()
            });
            assert_eq!(apart.join().unwrap(), 5);
        });
        // What the thread opened is not open here any more, what was open before is.
        before.local().unwrap();
    }

    #[test]
    fn the_limit_is_raised_or_both_numbers_are_told() {
        make_room(1).unwrap();
        let error = make_room(u64::MAX).err();
        // A process without any limit may have as many as it can count.
        assert!(error.is_none_or(|error| error.because.contains(&u64::MAX.to_string())));
    }
}
