//! Linux: the count of connection tracking, which anybody may read.

const COUNT: &str = "/proc/sys/net/netfilter/nf_conntrack_count";

pub(super) fn tracked() -> Result<Option<u64>, String> {
    match std::fs::read_to_string(COUNT) {
        Ok(text) => match text.trim().parse() {
            Ok(count) => Ok(Some(count)),
            Err(_) => Err(format!("{COUNT} holds no number")),
        },
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{COUNT} cannot be read: {error}")),
    }
}
