//! The simulator: nodes on a ring, each handing what it sends to the next, and a true time that
//! jumps to the next moment at which a node has something to do.

use crate::client::ClientHost;
use crate::link::Link;
use crate::server::ServerHost;

/// Something on its way.
#[derive(Debug, Clone, PartialEq)]
pub enum Parcel {
    /// Bytes of the control connection.
    Stream(Vec<u8>),
    /// The end of the control connection.
    End,
    /// A datagram.
    Datagram(Vec<u8>),
}

/// What a node has to say when it is looked at.
pub enum Output {
    /// This goes to the next node; look again.
    Parcel(Parcel),
    /// Nothing before that true time, unless something comes in.
    CallAt(u64),
    /// Nothing, unless something comes in.
    Nothing,
}

/// A node of the ring.
pub trait Node {
    /// Takes something that comes in, if so, and says what it has to say.
    fn process(&mut self, input: Option<Parcel>, now: u64) -> Output;
}

/// Client, link, server, link, and round again.
pub struct Ring {
    pub client: ClientHost,
    out: Link,
    pub server: ServerHost,
    back: Link,
}

impl Ring {
    /// Four nodes at true time 0.
    pub fn new(client: ClientHost, out: Link, server: ServerHost, back: Link) -> Self {
        Ring { client, out, server, back }
    }

    /// Runs until both ends are closed, or else until `longest`; returns the true time then.
    pub fn run(&mut self, longest: u64) -> u64 {
        let mut now = 0;
        loop {
            let next = self.settle(now);
            if self.is_over() || next > longest {
                return now;
            }
            assert!(next > now, "time must go on");
            now = next;
        }
    }

    fn is_over(&self) -> bool {
        self.client.ending().is_some() && self.server.ending().is_some()
    }

    /// Lets every node say all that it has to say now; returns when to look again.
    fn settle(&mut self, now: u64) -> u64 {
        let mut next = u64::MAX;
        let mut inputs: [Vec<Parcel>; 4] = Default::default();
        let mut busy = true;
        while busy {
            busy = false;
            next = u64::MAX;
            for i in 0..inputs.len() {
                let mut arrived = std::mem::take(&mut inputs[i]).into_iter();
                loop {
                    let input = arrived.next();
                    let more = input.is_some();
                    match self.node(i).process(input, now) {
                        Output::Parcel(parcel) => {
                            inputs[(i + 1) % 4].push(parcel);
                            busy = true;
                        }
                        Output::CallAt(at) if !more => {
                            next = next.min(at);
                            break;
                        }
                        Output::Nothing if !more => break,
                        Output::CallAt(_) | Output::Nothing => {}
                    }
                }
            }
        }
        next
    }

    fn node(&mut self, i: usize) -> &mut dyn Node {
        match i {
            0 => &mut self.client,
            1 => &mut self.out,
            2 => &mut self.server,
            _ => &mut self.back,
        }
    }
}
