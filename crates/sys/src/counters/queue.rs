//! The queues that packets wait in before an interface takes them: a request to the kernel's
//! traffic control and its answer (rtnetlink(7), linux/pkt_sched.h), as bytes.

/// `RTM_GETQDISC` and `RTM_NEWQDISC`.
const GET: u16 = 38;
const NEW: u16 = 36;
/// `NLMSG_ERROR` and `NLMSG_DONE`.
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_REQUEST` and `NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x1 | 0x300;
/// `TC_H_ROOT`: the queue that stands for all of an interface.
const ROOT: u32 = 0xffff_ffff;
/// `TCA_STATS2`, and in it `TCA_STATS_QUEUE`.
const STATS: u16 = 7;
const STATS_QUEUE: u16 = 3;
/// Bytes of `nlmsghdr`, of `tcmsg` and of `nlattr`.
const HEADER: usize = 16;
const TRAFFIC: usize = 20;
const ATTRIBUTE: usize = 4;
/// The bits of an attribute's type that are its number.
const TYPE_MASK: u16 = 0x3fff;

/// Counters of the queue of an interface, that of its children included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Queue {
    /// Number of the interface.
    pub interface: u32,
    /// Packets waiting now.
    pub packets: u32,
    /// Bytes waiting now.
    pub backlog: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Packets put back because the interface was busy.
    pub requeues: u32,
    /// Times that a packet had to wait for the rate.
    pub overlimits: u32,
}

/// Asks for the queues of all interfaces.
pub(super) fn request() -> [u8; HEADER + TRAFFIC] {
    let mut bytes = [0; HEADER + TRAFFIC];
    bytes[..4].copy_from_slice(&((HEADER + TRAFFIC) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&GET.to_ne_bytes());
    bytes[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    bytes
}

/// Reads one answer and gives each interface's own queue to `each`; whether it was the last one.
/// What has another form is an error.
pub(super) fn answer(mut bytes: &[u8], mut each: impl FnMut(Queue)) -> Result<bool, String> {
    while !bytes.is_empty() {
        let length = number(bytes, 0).ok_or("a message without a length")? as usize;
        let message = bytes.get(HEADER..length).ok_or("a message that is cut off")?;
        match short(bytes, 4) {
            Some(DONE) => return Ok(true),
            Some(ERROR) => {
                let code = number(message, 0).map_or(0, u32::cast_signed);
                return Err(std::io::Error::from_raw_os_error(code.wrapping_neg()).to_string());
            }
            Some(NEW) => {
                if let Some(queue) = queue(message) {
                    each(queue);
                }
            }
            _ => {}
        }
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
    }
    Ok(false)
}

/// The queue of an interface from a message about one; `None` for a part of it, for what filters
/// incoming packets, and without counters.
fn queue(message: &[u8]) -> Option<Queue> {
    // `tcmsg`: family, padding, interface, handle, parent, info.
    let interface = number(message, 4)?;
    if number(message, 12)? != ROOT {
        return None;
    }
    let stats = attribute(message.get(TRAFFIC..)?, STATS)?;
    // `gnet_stats_queue`.
    let stats = attribute(stats, STATS_QUEUE)?;
    let field = |index: usize| number(stats, 4 * index);
    Some(Queue {
        interface,
        packets: field(0)?,
        backlog: field(1)?,
        drops: field(2)?,
        requeues: field(3)?,
        overlimits: field(4)?,
    })
}

/// The value of the attribute of that number.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(short(bytes, 0)?);
        let value = bytes.get(ATTRIBUTE..length)?;
        if short(bytes, 2)? & TYPE_MASK == wanted {
            return Some(value);
        }
        bytes = bytes.get(aligned(length)..)?;
    }
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn attribute_of(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = ((ATTRIBUTE + value.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(body);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    /// As the kernel tells of a queue: kind, and statistics after those of the bytes sent.
    fn about(interface: u32, parent: u32, queue: &[u32]) -> Vec<u8> {
        let mut body = words(&[0, interface, 1 << 16, parent, 2]);
        body.extend(attribute_of(1, b"htb\0"));
        let mut stats = attribute_of(1, &[9; 16]);
        stats.extend(attribute_of(STATS_QUEUE, &words(queue)));
        body.extend(attribute_of(STATS | 0x8000, &stats));
        message(NEW, &body)
    }

    fn read(bytes: &[u8]) -> (Result<bool, String>, Vec<Queue>) {
        let mut found = Vec::new();
        let last = answer(bytes, |queue| found.push(queue));
        (last, found)
    }

    #[test]
    fn the_queue_of_each_interface_is_found_and_its_parts_are_not_counted_twice() {
        let mut bytes = about(3, ROOT, &[2, 3028, 7, 1, 40]);
        bytes.extend(about(3, 0x1_0010, &[2, 3028, 7, 1, 40]));
        bytes.extend(about(4, ROOT, &[0; 5]));
        let first = Queue {
            interface: 3,
            packets: 2,
            backlog: 3028,
            drops: 7,
            requeues: 1,
            overlimits: 40,
        };
        let (last, found) = read(&bytes);
        assert_eq!((last, found.len(), found[0]), (Ok(false), 2, first));
        assert_eq!(found[1].interface, 4);
        bytes.extend(message(DONE, &words(&[0])));
        assert_eq!(read(&bytes).0, Ok(true));
    }

    #[test]
    fn a_refusal_is_told_and_damage_is_no_panic() {
        let refused = message(ERROR, &words(&[(-1_i32).cast_unsigned()]));
        assert!(read(&refused).0.is_err_and(|why| why.contains("not permitted")));
        // A number that has no opposite.
        assert!(read(&message(ERROR, &words(&[1 << 31]))).0.is_err());
        let whole = about(3, ROOT, &[2, 3028, 7, 1, 40]);
        for end in 1..whole.len() {
            let (last, found) = read(&whole[..end]);
            assert!(last.is_err() && found.is_empty(), "{end}");
        }
        // Lengths that lead nowhere.
        for at in 0..whole.len() {
            for value in [0, 1, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = value;
                let _ = read(&damaged);
            }
        }
    }
}
