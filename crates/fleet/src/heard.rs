//! What is heard of agents and said to them by way of the broker, taken apart: any bytes may come.
//! Parts of results are read by [`parts`](crate::parts), orders by [`orders`](crate::orders).

use serde::de::DeserializeOwned;
use v6gap_core::fleet::message::{Ack, Heartbeat, Reply};
use v6gap_core::fleet::subject;

/// Longest message of an agent, in bytes. A longer one is none: what is heard of all agents is kept
/// and told, and none of them may fill that.
pub const MESSAGE_BYTES_MAX: usize = 16 << 10;

/// What stands in a message, if it is of that kind and none that is too long.
pub(crate) fn read<T: DeserializeOwned>(message: &[u8]) -> Option<T> {
    if message.len() > MESSAGE_BYTES_MAX {
        return None;
    }
    serde_json::from_slice(message).ok()
}

/// The answer in a message, if its subject proves who gave it.
pub fn reply(of: &str, message: &[u8]) -> Option<Reply> {
    let reply: Reply = read(message)?;
    (subject::host(of).as_ref() == Some(&reply.from)).then_some(reply)
}

/// As [`reply`], of a heartbeat.
pub fn heartbeat(of: &str, message: &[u8]) -> Option<Heartbeat> {
    let heartbeat: Heartbeat = read(message)?;
    (subject::host(of).as_ref() == Some(&heartbeat.from)).then_some(heartbeat)
}

/// What the archive says that it has, in a message to an agent.
pub fn ack(message: &[u8]) -> Option<Ack> {
    serde_json::from_slice(message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_answers_in_the_name_of_another() {
        let said = serde_json::json!({
            "version": 1, "from": "rome/a", "number": 3, "token": 7, "answer": "started",
            "job": "000000000000",
        });
        let text = serde_json::to_vec(&said).unwrap();
        assert!(reply("v6gap.rep.rome.a.3", &text).is_some());
        assert!(reply("v6gap.rep.rome.b.3", &text).is_none());
        assert!(reply("v6gap.rep.rome.a.3", b"x").is_none());
        let long = [text, vec![b' '; MESSAGE_BYTES_MAX]].concat();
        assert!(reply("v6gap.rep.rome.a.3", &long).is_none());
    }
}
