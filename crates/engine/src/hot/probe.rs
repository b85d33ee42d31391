//! Paced packets that the server sends back: the client sends each at its time, whatever became of
//! those before, and takes note of what comes back meanwhile; the server notes and returns.
//!
//! One thread at each end serves both arms. It asks the kernel which of the two sockets has
//! something and reads only that one, so neither arm waits for the other to be asked first.

mod notes;

pub use notes::{Back, ClientNotes, Sent, ServerNotes, There};

use super::{Broken, Cause, SLEEP_LATE_NS, TICK_NS, Watch};
use notes::push;
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::session::validation::{Handling, Validation};
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_core::wire::probe::{Marks, PROBE_BYTES, Times};
use v6gap_core::workload::Wait;
use v6gap_sys::placed::Bytes;
use v6gap_sys::socket::{Arrived, Datagram, ErrorClass, wait_either};
use v6gap_sys::{clock, cpu};

/// Packets that may be sent without pause after the sender was held up; what is due beyond that is
/// left out and counted, because a longer burst would measure queues and not the path.
const CATCH_UP_MAX: u64 = 32;

/// Copies of the message that ends the trial; one may be lost.
const END_COPIES: u32 = 3;

/// Packets that are taken from one socket before the other is looked at again.
const ROW_MAX: u32 = 64;

/// Packets returned whose departure the kernel may still tell.
const DEPARTING: usize = 64;

/// Stands for no place in the notes.
const NO_PLACE: usize = usize::MAX;

pub(crate) const PROBING: &str = "probing";

/// When a packet is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// In ns since the start.
    pub at_ns: u64,
    /// For which arm.
    pub arm: Arm,
    /// In which turn.
    pub turn: u16,
}

/// The client's memory for packets.
#[derive(Debug)]
pub struct ClientBuffers {
    /// What is sent; header and times are written over its start.
    pub message: Bytes,
    /// What comes back, with room for a byte more than a packet has.
    pub back: Bytes,
    /// What must come back, but for header and times.
    pub expected: Bytes,
}

/// Which clock's times the packets carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The monotonic one: only differences mean anything to the other end.
    Monotonic,
    /// The wall clock, which was declared to be that of the other end.
    Wall,
}

impl Clock {
    #[inline]
    fn stamp_ns(self, now_ns: u64) -> u64 {
        match self {
            Clock::Monotonic => now_ns,
            Clock::Wall => clock::wall_ns(),
        }
    }
}

/// How to probe, alike for both ends.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// The task's tag.
    pub tag: [u8; 8],
    /// Which times the packets carry.
    pub clock: Clock,
    /// From one packet to the next, in ns.
    pub interval_ns: u64,
    /// Longest time that a packet may take, in ns.
    pub timeout_ns: u64,
}

/// Sends a packet for each slot of `course`, which ascends in time, and waits for what is still on
/// the way. The sockets do not block.
pub fn client(
    course: &[Slot],
    manner: &Manner,
    sockets: &PerArm<Option<Datagram>>,
    buffers: &mut ClientBuffers,
    notes: &mut PerArm<ClientNotes>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let ClientBuffers { message, back: buffer, expected } = buffers;
    let asked = course.first().map_or(Arm::A, |slot| slot.arm);
    let mut gathering =
        Gathering { manner, sockets, buffer, expected, notes, watch, asked, quiet: None };
    let start_ns = clock::now_ns() + SLEEP_LATE_NS;
    let mut last_ns = start_ns;
    for slot in course {
        let due_ns = start_ns + slot.at_ns;
        gathering.until(due_ns)?;
        let now_ns = clock::now_ns();
        if now_ns - due_ns > manner.interval_ns.saturating_mul(CATCH_UP_MAX) {
            gathering.notes.get_mut(slot.arm).skipped += 1;
            continue;
        }
        gathering.send(slot, due_ns, message)?;
        last_ns = now_ns;
    }
    let give_up_ns = last_ns.saturating_add(manner.timeout_ns);
    while gathering.is_awaiting() && clock::now_ns() < give_up_ns {
        let next_ns = clock::now_ns() + TICK_NS;
        gathering.until_all_or(next_ns.min(give_up_ns))?;
    }
    gathering.end(message);
    Ok(())
}

/// The client's ears and mouth.
struct Gathering<'a> {
    manner: &'a Manner,
    sockets: &'a PerArm<Option<Datagram>>,
    buffer: &'a mut [u8],
    expected: &'a [u8],
    notes: &'a mut PerArm<ClientNotes>,
    watch: &'a Watch<'a>,
    /// Of which arm the last packet was: silence is that one's.
    asked: Arm,
    quiet: Option<u64>,
}

impl Gathering<'_> {
    /// Takes what comes until a time.
    fn until(&mut self, until_ns: u64) -> Result<(), Broken> {
        loop {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            self.once(left_ns)?;
        }
    }

    /// As [`Gathering::until`], or until all that was sent has come back.
    fn until_all_or(&mut self, until_ns: u64) -> Result<(), Broken> {
        while self.is_awaiting() {
            let left_ns = until_ns.saturating_sub(clock::now_ns());
            if left_ns == 0 {
                break;
            }
            self.once(left_ns)?;
        }
        Ok(())
    }

    fn is_awaiting(&self) -> bool {
        let awaiting = |notes: &ClientNotes| (notes.answered.count as usize) < notes.sent.len();
        awaiting(&self.notes.a) || awaiting(&self.notes.b)
    }

    /// Waits for at most `left_ns` and takes what came.
    fn once(&mut self, left_ns: u64) -> Result<(), Broken> {
        let sleep_ns = match self.watch.wait {
            Wait::Block => left_ns.saturating_sub(SLEEP_LATE_NS).min(TICK_NS),
            Wait::Yield | Wait::Spin => 0,
        };
        let (first, second) = match (&self.sockets.a, &self.sockets.b) {
            (Some(a), b) => ((Arm::A, a), b.as_ref().map(|b| (Arm::B, b))),
            (None, Some(b)) => ((Arm::B, b), None),
            (None, None) => return Ok(()),
        };
        let broken = Broken::at(first.0, PROBING);
        let ready = wait_either(first.1, second.map(|(_, socket)| socket), sleep_ns)
            .map_err(|error| broken(error.into()))?;
        let mut any = false;
        for ((arm, socket), ready) in [Some(first), second].into_iter().flatten().zip(ready) {
            if ready {
                any |= self.take(arm, socket).map_err(Broken::at(arm, PROBING))?;
            }
        }
        if any {
            self.quiet = None;
            return Ok(());
        }
        self.watch.idle(&mut self.quiet).map_err(Broken::at(self.asked, PROBING))?;
        if sleep_ns == 0 && self.watch.wait == Wait::Block {
            cpu::yield_now();
        }
        Ok(())
    }

    /// Takes what is there; whether there was anything of ours.
    fn take(&mut self, arm: Arm, socket: &Datagram) -> Result<bool, Cause> {
        let mut any = false;
        for _ in 0..ROW_MAX {
            match socket.receive(self.buffer) {
                Ok(arrived) => any |= self.note(arm, &arrived),
                Err(error) if ErrorClass::of(&error).is_timeout() => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.departures(arm, socket)?;
        Ok(any)
    }

    fn note(&mut self, arm: Arm, arrived: &Arrived) -> bool {
        let came_ns = clock::now_ns();
        let stamp_ns = self.manner.clock.stamp_ns(came_ns);
        let wall_ns = arrived.wall_ns.map_or(0, |_| clock::wall_ns());
        let bytes = &self.buffer[..arrived.bytes];
        let header = End::Client.heard(bytes, self.manner.tag);
        let (Some(header), Some(times)) = (header, Times::decode(bytes)) else {
            return false;
        };
        let ours = header.arm == arm && bytes[PROBE_BYTES..] == self.expected[PROBE_BYTES..];
        let notes = self.notes.get_mut(arm);
        // Answers to what was sent before the first packet, or to what never was sent.
        if !ours || header.flags != Flags::NONE || header.sequence as usize >= notes.sent.len() {
            return false;
        }
        notes.answered.add(header.sequence);
        let back = Back {
            sequence: header.sequence,
            turn: header.turn,
            came_ns,
            stamp_ns,
            wall_ns,
            kernel_wall_ns: arrived.wall_ns.unwrap_or(0),
            times,
            marks: marks(arrived),
        };
        notes.beyond += u64::from(!push(&mut notes.back, back));
        true
    }

    /// Takes note of when the kernel let packets go, where it tells.
    fn departures(&mut self, arm: Arm, socket: &Datagram) -> Result<(), Cause> {
        while let Some(departed) = socket.departed()? {
            if let Some(sent) = self.notes.get_mut(arm).sent.get_mut(departed.number as usize) {
                sent.departed_wall_ns = departed.wall_ns;
            }
        }
        Ok(())
    }

    fn send(&mut self, slot: &Slot, due_ns: u64, message: &mut [u8]) -> Result<(), Broken> {
        let Some(socket) = self.sockets.get(slot.arm) else { return Ok(()) };
        let broken = Broken::at(slot.arm, PROBING);
        self.asked = slot.arm;
        let notes = self.notes.get_mut(slot.arm);
        // The bound of packets of an arm is far below 2^32.
        let sequence = notes.sent.len() as u32;
        self.header(slot.arm, sequence, slot.turn, Flags::NONE).encode(message);
        let mut quiet = None;
        loop {
            let sent_ns = clock::now_ns();
            let times = Times { sent_ns: self.manner.clock.stamp_ns(sent_ns), ..Times::default() };
            times.encode(message);
            match socket.send(message) {
                Ok(_) => {
                    let sent = Sent { due_ns, sent_ns, departed_wall_ns: 0, turn: slot.turn };
                    push(&mut self.notes.get_mut(slot.arm).sent, sent);
                    return self.departures(slot.arm, socket).map_err(broken);
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {
                    if !socket.wait_writable(TICK_NS).map_err(|e| broken(e.into()))? {
                        self.watch.idle(&mut quiet).map_err(&broken)?;
                    }
                }
                Err(error) => return Err(broken(error.into())),
            }
        }
    }

    fn header(&self, arm: Arm, sequence: u32, turn: u16, flags: Flags) -> Header {
        Header { tag: self.manner.tag, sequence, turn, next: 0, arm, flags }
    }

    fn end(&mut self, message: &mut [u8]) {
        for arm in Arm::BOTH {
            let Some(socket) = self.sockets.get(arm) else { continue };
            self.header(arm, 0, 0, Flags::END).encode(message);
            Times::default().encode(message);
            for _ in 0..END_COPIES {
                // The server also ends when it is told over the control connection.
                let _ = socket.send(message);
            }
        }
    }
}

fn marks(arrived: &Arrived) -> Marks {
    Marks { hop_limit: arrived.hop_limit, traffic_class: arrived.traffic_class }
}

/// Answers until the message that ends the trial, or until told that nothing more will come. Only
/// sources that have proved themselves get answers, to packets of the right length, as many bytes
/// as they sent, and one for each number. `first` and `second` are the sockets of the arms, one if
/// both arms are of the same family; `buffer` is a byte longer than a packet, and `answer`, as long
/// as one, holds this end's payload.
pub fn server(
    manner: &Manner,
    validation: &mut Validation<'_>,
    (first, second): (&Datagram, Option<&Datagram>),
    (buffer, answer): (&mut [u8], &mut [u8]),
    notes: &mut PerArm<ServerNotes>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let broken = |place| Broken::at([Arm::A, Arm::B][place], PROBING);
    let (heard, quiet, knocks) = (Arm::A, None, KNOCKS_MAX);
    let mut returning =
        Returning { manner, validation, buffer, answer, notes, watch, heard, quiet, knocks };
    let mut departing = [[(Arm::A, 0); DEPARTING]; 2];
    let mut sends = [0; 2];
    let sleep_ns = match watch.wait {
        Wait::Block => TICK_NS,
        Wait::Yield | Wait::Spin => 0,
    };
    loop {
        let ready = wait_either(first, second, sleep_ns).map_err(|e| broken(0)(e.into()))?;
        let mut any = false;
        for (place, socket) in [Some(first), second].into_iter().enumerate() {
            let Some(socket) = socket.filter(|_| ready[place]) else { continue };
            let way = Way { socket, departing: &mut departing[place], sends: &mut sends[place] };
            match returning.take(way).map_err(broken(place))? {
                Taken::End => return Ok(()),
                Taken::Some => any = true,
                Taken::Nothing => {}
            }
        }
        if !any {
            match watch.idle(&mut returning.quiet) {
                Err(Cause::Finished) => return Ok(()),
                other => other.map_err(Broken::at(returning.heard, PROBING))?,
            }
        }
    }
}

/// One of the server's sockets, and the last packets that went back over it: the arm and place of
/// each in the notes, by their numbers in the kernel's count.
struct Way<'a> {
    socket: &'a Datagram,
    departing: &'a mut [(Arm, usize); DEPARTING],
    sends: &'a mut u32,
}

impl Way<'_> {
    /// Notes what was sent, so that its number in the kernel's count is known.
    fn went(&mut self, arm: Arm, place: usize) {
        self.departing[*self.sends as usize % DEPARTING] = (arm, place);
        *self.sends = self.sends.wrapping_add(1);
    }
}

enum Taken {
    Nothing,
    Some,
    End,
}

/// Packets of the warm-up that a server sends back in a task, of which a client needs one for each
/// arm that is not lost.
const KNOCKS_MAX: u32 = 256;

struct Returning<'a, 'v> {
    manner: &'a Manner,
    validation: &'a mut Validation<'v>,
    buffer: &'a mut [u8],
    answer: &'a mut [u8],
    notes: &'a mut PerArm<ServerNotes>,
    watch: &'a Watch<'a>,
    /// Of which arm the last packet was: silence is that one's.
    heard: Arm,
    quiet: Option<u64>,
    /// Packets of the warm-up that are still sent back.
    knocks: u32,
}

impl Returning<'_, '_> {
    /// Answers what is there.
    fn take(&mut self, mut way: Way<'_>) -> Result<Taken, Cause> {
        let mut taken = Taken::Nothing;
        for _ in 0..ROW_MAX {
            let arrived = match way.socket.receive(self.buffer) {
                Ok(arrived) => arrived,
                Err(error) if ErrorClass::of(&error).is_timeout() => break,
                // Windows reports a datagram longer than the buffer as an error: a stranger's.
                Err(error) if ErrorClass::of(&error) == ErrorClass::TooBig => continue,
                Err(error) => return Err(error.into()),
            };
            let came_ns = clock::now_ns();
            // One byte of the buffer is left if the packet is as long as those of the task.
            let whole = arrived.bytes + 1 == self.buffer.len();
            let header = match self.validation.judge(arrived.source, &self.buffer[..arrived.bytes])
            {
                Handling::Valid { header, .. } if whole => header,
                Handling::Answer(told) | Handling::Proved { answer: told, .. } => {
                    // As good as lost on the way if it cannot be sent.
                    if way.socket.answer(&told, &arrived).is_ok() {
                        way.went(Arm::A, NO_PLACE);
                    }
                    continue;
                }
                // Datagrams of others are as good as none: they must not keep the task going.
                Handling::Valid { .. } | Handling::Ignore => continue,
            };
            (self.heard, self.quiet) = (header.arm, None);
            self.watch.busy(came_ns)?;
            if header.flags.contains(Flags::END) {
                return Ok(Taken::End);
            }
            self.answer(&header, &arrived, came_ns, &mut way);
            taken = Taken::Some;
        }
        while let Some(departed) = way.socket.departed()? {
            // Only the last few can be told from others.
            if way.sends.wrapping_sub(departed.number) as usize <= DEPARTING {
                let (arm, place) = way.departing[departed.number as usize % DEPARTING];
                if let Some(there) = self.notes.get_mut(arm).there.get_mut(place) {
                    there.departed_wall_ns = departed.wall_ns;
                }
            }
        }
        Ok(taken)
    }

    fn answer(&mut self, header: &Header, arrived: &Arrived, came_ns: u64, way: &mut Way<'_>) {
        let stamp_ns = self.manner.clock.stamp_ns(came_ns);
        let wall_ns = arrived.wall_ns.map_or(0, |_| clock::wall_ns());
        let Some(times) = Times::decode(&self.buffer[..arrived.bytes]) else { return };
        let notes = self.notes.get_mut(header.arm);
        let counted = !header.flags.contains(Flags::WARMUP);
        let new = if counted {
            notes.seen.add(header.sequence)
        } else {
            self.knocks.checked_sub(1).map(|left| {
                self.knocks = left;
                true
            })
        };
        let Some(new) = new else { return };
        notes.peer.get_or_insert(arrived.source);
        if new {
            let queued_ns = arrived.wall_ns.and_then(|kernel| wall_ns.checked_sub(kernel));
            let flags = End::Server.says(header.flags);
            Header { flags, ..*header }.encode(self.answer);
            let mut answer = Times {
                sent_ns: times.sent_ns,
                received_ns: stamp_ns,
                returned_ns: 0,
                number: notes.returned,
                queued_ns: queued_ns.and_then(|ns| u32::try_from(ns).ok()),
                marks: marks(arrived),
            };
            answer.returned_ns = self.manner.clock.stamp_ns(clock::now_ns());
            answer.encode(self.answer);
            match way.socket.answer(self.answer, arrived) {
                Ok(_) => {
                    notes.returned += u32::from(counted);
                    way.went(header.arm, if counted { notes.there.len() } else { NO_PLACE });
                }
                Err(_) => notes.refused += 1,
            }
        }
        if counted {
            let there = There {
                sequence: header.sequence,
                turn: header.turn,
                sent_ns: times.sent_ns,
                stamp_ns,
                wall_ns,
                kernel_wall_ns: arrived.wall_ns.unwrap_or(0),
                departed_wall_ns: 0,
                marks: marks(arrived),
            };
            notes.beyond += u64::from(!push(&mut notes.there, there));
        }
    }
}
