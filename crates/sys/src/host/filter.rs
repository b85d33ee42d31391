//! What of a firewall can be seen without its owner's rights: rules and states that each packet is
//! compared with cost time, and not the same for both families.

use crate::Unavailable;

/// The count of connection tracking, which anybody may read.
const COUNT: &str = "/proc/sys/net/netfilter/nf_conntrack_count";

/// Connections that the kernel keeps track of in the calling thread's network namespace; `None` if
/// it keeps track of none because that part of it is not loaded.
///
/// # Errors
/// Off Linux, or if the kernel does not tell.
pub fn tracked() -> Result<Option<u64>, Unavailable> {
    const WHAT: &str = "connection tracking";
    Unavailable::off_linux(WHAT)?;
    let because = match std::fs::read_to_string(COUNT) {
        Ok(text) => match text.trim().parse() {
            Ok(count) => return Ok(Some(count)),
            Err(_) => format!("{COUNT} holds no number"),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => format!("{COUNT} cannot be read: {error}"),
    };
    Err(Unavailable::new(WHAT, because))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_or_why_not() {
        match tracked() {
            Ok(count) => assert!(count.is_none_or(|count| count < 1 << 40)),
            Err(missing) => assert!(!missing.because.is_empty()),
        }
    }
}
