//! Filters as programs of classic BPF (kernel's `Documentation/networking/filter.rst`).
//!
//! Addresses are taken relative to the network header and the protocol from the kernel's note, so
//! that one program fits every kind of link, with and without VLAN tag.

use super::Filter;
use std::net::IpAddr;

/// One instruction: what it does, how many to pass over if a comparison holds or not, and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instruction {
    pub code: u16,
    pub yes: u8,
    pub no: u8,
    pub value: u32,
}

/// `BPF_LD | BPF_W | BPF_ABS` and its shorter forms: load from a fixed place.
pub(super) const LOAD_WORD: u16 = 0x20;
pub(super) const LOAD_HALF: u16 = 0x28;
pub(super) const LOAD_BYTE: u16 = 0x30;
/// `BPF_JMP | BPF_JEQ` and `BPF_JSET`: is equal, has one of these bits.
pub(super) const IF_EQUAL: u16 = 0x15;
pub(super) const IF_BITS: u16 = 0x45;
/// `BPF_RET | BPF_K`: keep so many bytes; 0 takes nothing.
pub(super) const RETURN: u16 = 0x06;
/// `SKF_AD_OFF + SKF_AD_PROTOCOL` and `SKF_NET_OFF` of linux/filter.h.
pub(super) const PROTOCOL: u32 = 0xffff_f000;
pub(super) const NETWORK: u32 = 0xfff0_0000;

/// The numbers of protocols inside IP.
const TCP: u32 = 6;
const UDP: u32 = 17;
/// A fragment of IPv6 (RFC 8200 section 4.5).
const FRAGMENT: u32 = 44;

/// Where in its IP header a family has what the filter looks at.
struct Offsets {
    ethertype: u32,
    source: u32,
    destination: u32,
    protocol: u32,
    icmp: u32,
    /// The ports behind a header without options.
    ports: u32,
}

/// A program in the making: jumps name places that are known only at its end.
#[derive(Default)]
struct Program {
    code: Vec<(u16, u32, To, To)>,
    marks: Vec<(&'static str, usize)>,
}

/// Where a comparison leads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Next,
    Mark(&'static str),
    Take,
    Leave,
}

/// The program that takes the first `snap_bytes` of each frame that `filter` means.
pub(super) fn program(filter: &Filter, snap_bytes: u32) -> Vec<Instruction> {
    let mut program = Vec::new();
    if let Filter::Between { pairs, port } = filter {
        for pair in pairs {
            program.extend(between(*pair, *port, snap_bytes));
        }
        program.push(Instruction { code: RETURN, yes: 0, no: 0, value: 0 });
    } else {
        program.push(Instruction { code: RETURN, yes: 0, no: 0, value: snap_bytes });
    }
    program
}

/// Takes the frames of one pair of addresses; other frames go on behind it.
fn between((here, there): (IpAddr, IpAddr), port: u16, snap_bytes: u32) -> Vec<Instruction> {
    let place = place(here);
    let mut p = Program::default();
    p.load(LOAD_WORD, PROTOCOL);
    p.compare(IF_EQUAL, place.ethertype, To::Next, To::Leave);
    p.load(LOAD_BYTE, NETWORK + place.protocol);
    p.compare(IF_EQUAL, place.icmp, To::Mark("icmp"), To::Next);
    // Both ways between the two.
    p.address(place.source, here, To::Mark("sent"), "source");
    p.address(place.source, there, To::Mark("received"), "other source");
    p.compare(IF_EQUAL, 0, To::Leave, To::Leave);
    p.mark("sent");
    p.address(place.destination, there, To::Mark("inside"), "to there");
    p.compare(IF_EQUAL, 0, To::Leave, To::Leave);
    p.mark("received");
    p.address(place.destination, here, To::Mark("inside"), "to here");
    p.compare(IF_EQUAL, 0, To::Leave, To::Leave);
    p.mark("inside");
    match here {
        IpAddr::V4(_) => {
            // A later fragment has no ports, and behind options they stand elsewhere.
            p.load(LOAD_HALF, NETWORK + 6);
            p.compare(IF_BITS, 0x1fff, To::Take, To::Next);
            p.load(LOAD_BYTE, NETWORK);
            p.compare(IF_EQUAL, 0x45, To::Next, To::Take);
        }
        IpAddr::V6(_) => {
            p.load(LOAD_BYTE, NETWORK + place.protocol);
            p.compare(IF_EQUAL, FRAGMENT, To::Take, To::Next);
        }
    }
    p.load(LOAD_BYTE, NETWORK + place.protocol);
    p.compare(IF_EQUAL, TCP, To::Mark("ports"), To::Next);
    p.compare(IF_EQUAL, UDP, To::Mark("ports"), To::Leave);
    p.mark("ports");
    p.load(LOAD_HALF, NETWORK + place.ports);
    p.compare(IF_EQUAL, port.into(), To::Take, To::Next);
    p.load(LOAD_HALF, NETWORK + place.ports + 2);
    p.compare(IF_EQUAL, port.into(), To::Take, To::Leave);
    // Routers answer in their own name.
    p.mark("icmp");
    p.address(place.source, here, To::Take, "icmp source");
    p.address(place.destination, here, To::Take, "icmp destination");
    p.compare(IF_EQUAL, 0, To::Leave, To::Leave);
    p.finish(snap_bytes)
}

fn place(address: IpAddr) -> Offsets {
    match address {
        IpAddr::V4(_) => Offsets {
            ethertype: 0x0800,
            source: 12,
            destination: 16,
            protocol: 9,
            icmp: 1,
            ports: 20,
        },
        IpAddr::V6(_) => Offsets {
            ethertype: 0x86dd,
            source: 8,
            destination: 24,
            protocol: 6,
            icmp: 58,
            ports: 40,
        },
    }
}

impl Program {
    fn load(&mut self, code: u16, place: u32) {
        self.code.push((code, place, To::Next, To::Next));
    }

    fn compare(&mut self, code: u16, value: u32, yes: To, no: To) {
        self.code.push((code, value, yes, no));
    }

    fn mark(&mut self, name: &'static str) {
        self.marks.push((name, self.code.len()));
    }

    /// Goes to `yes` if `address` stands at `place`; otherwise on behind, at a mark called `name`.
    fn address(&mut self, place: u32, address: IpAddr, yes: To, name: &'static str) {
        let bytes = match address {
            IpAddr::V4(four) => four.octets().to_vec(),
            IpAddr::V6(six) => six.octets().to_vec(),
        };
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        for (index, &word) in words.iter().enumerate() {
            self.load(LOAD_WORD, NETWORK + place + 4 * index as u32);
            let same = if index + 1 == words.len() { yes } else { To::Next };
            self.compare(IF_EQUAL, word, same, To::Mark(name));
        }
        self.mark(name);
    }

    /// The instructions with their jumps counted; what is left goes on behind the last.
    fn finish(mut self, snap_bytes: u32) -> Vec<Instruction> {
        let take = self.code.len();
        let leave = take + 1;
        self.code.push((RETURN, snap_bytes, To::Next, To::Next));
        let marks = self.marks;
        let at = |to: To, from: usize| {
            let target = match to {
                To::Next => from + 1,
                To::Take => take,
                To::Leave => leave,
                // Every mark that is jumped to is set above, behind the jump.
                To::Mark(name) => {
                    marks.iter().find(|(known, _)| *known == name).map_or(leave, |(_, at)| *at)
                }
            };
            // The longest program has fewer than 80 instructions.
            (target - from - 1) as u8
        };
        let instruction = |(from, &(code, value, yes, no)): (usize, &(u16, u32, To, To))| {
            Instruction { code, yes: at(yes, from), no: at(no, from), value }
        };
        self.code.iter().enumerate().map(instruction).collect()
    }
}
