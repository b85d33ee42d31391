//! Exchanges of which several are on the way at a time on one connection.
//!
//! Each turn ends with one exchange for itself after all others were answered: its request leads
//! the server on to the other arm, and nothing of this arm may come after it. The sockets return at
//! once, because a loop that both sends and receives must not be held up by either.

use super::echo::{Buffers, EXCHANGE, Lap, PATIENCE_NS_MAX, PATIENCE_NS_MIN, ask, flags, say_end};
use super::turns::{Turn, Turns};
use super::{Broken, Cause, TICK_NS, Tally, Watch};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::wire::datagram::{End, Flags, Header};
use v6gap_sys::clock;
use v6gap_sys::socket::{Datagram, ErrorClass, Stream};

/// Memory for the requests on the way.
#[derive(Debug)]
pub struct Window {
    /// When they were sent, by their number modulo the size of the window.
    sent_ns: Vec<Option<u64>>,
    /// Times of what is not counted.
    uncounted: Tally,
}

impl Window {
    /// Room for so many requests at a time, at least one, in these turns.
    pub fn of(outstanding: u32, turns: &Turns) -> Self {
        Window {
            sent_ns: vec![None; outstanding.max(1) as usize],
            uncounted: Tally::with_room(1, turns.longest() as usize),
        }
    }
}

/// The place of a request in a window.
#[inline]
fn place(sent_ns: &mut [Option<u64>], number: u32) -> &mut Option<u64> {
    let size = sent_ns.len();
    &mut sent_ns[number as usize % size]
}

/// Takes all turns over TCP with requests outstanding.
pub fn stream_client(
    turns: &Turns,
    tag: [u8; 8],
    streams: &PerArm<Vec<Stream>>,
    (buffers, window): (&mut Buffers, &mut Window),
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let Window { sent_ns, uncounted } = window;
    take_turns(turns, tag, (tallies, uncounted), |batch, header, tally| {
        let turn = batch.turn;
        let stream = &streams.get(turn.arm)[usize::from(turn.connection)];
        buffers.shorten(turns.shorter(turn.arm));
        sent_ns.fill(None);
        stream_batch(stream, buffers, sent_ns, header, batch.exchanges, tally, watch)
    })
    .map(drop)
}

/// Takes all turns over UDP with requests outstanding.
pub fn datagram_client(
    turns: &Turns,
    tag: [u8; 8],
    sockets: &PerArm<Vec<Datagram>>,
    (buffers, window): (&mut Buffers, &mut Window),
    tallies: &mut PerArm<Tally>,
    watch: &Watch<'_>,
) -> Result<(), Broken> {
    let mut patience_ns = PATIENCE_NS_MIN;
    let Window { sent_ns, uncounted } = window;
    let last = take_turns(turns, tag, (tallies, uncounted), |batch, header, tally| {
        let turn = batch.turn;
        let socket = &sockets.get(turn.arm)[usize::from(turn.connection)];
        buffers.shorten(turns.shorter(turn.arm));
        if batch.exchanges == 1 {
            // Repeated until it is answered, for the server must hear of it.
            let mut lap = Lap::new(clock::now_ns());
            match ask(socket, buffers, header, &mut lap, &mut patience_ns, watch)? {
                Some(took) => tally.times_ns.push(took.ns),
                None => tally.lost += 1,
            }
            header.sequence = header.sequence.wrapping_add(1);
            return Ok(());
        }
        sent_ns.fill(None);
        let (exchanges, patience_ns) = (batch.exchanges, &mut patience_ns);
        datagram_batch(socket, buffers, sent_ns, header, exchanges, (tally, patience_ns), watch)
    })?;
    let (turn, header) = last;
    let end = Header { flags: Flags::END, next: 0, tag, ..header };
    end.encode(buffers.out());
    say_end(&sockets.get(turn.arm)[usize::from(turn.connection)], buffers.out());
    Ok(())
}

/// A part of a turn.
struct Batch {
    turn: Turn,
    exchanges: u32,
}

/// Goes through all turns, each in two parts: its exchanges, and the one that ends it, whose time
/// goes nowhere. Returns the last turn and the header of a message that would come after it.
fn take_turns(
    turns: &Turns,
    tag: [u8; 8],
    (tallies, uncounted): (&mut PerArm<Tally>, &mut Tally),
    mut perform: impl FnMut(&Batch, &mut Header, &mut Tally) -> Result<(), Cause>,
) -> Result<(Turn, Header), Broken> {
    let mut sequences = PerArm { a: 0_u32, b: 0_u32 };
    let none = Turn { arm: Arm::A, connection: 0, exchanges: 0, warmup: true };
    let header = Header { tag, sequence: 0, turn: 0, next: 0, arm: Arm::A, flags: Flags::NONE };
    let mut last = (none, header);
    for number in 0..turns.count {
        let Some(turn) = turns.at(number) else { break };
        let next = turns.at(number + 1).unwrap_or(turn).connection;
        let sequence = sequences.get_mut(turn.arm);
        let mut header =
            Header { sequence: *sequence, turn: number, next, arm: turn.arm, ..header };
        let broken = Broken::at(turn.arm, EXCHANGE);
        uncounted.times_ns.clear();
        let tally = if turn.warmup { &mut *uncounted } else { tallies.get_mut(turn.arm) };
        header.flags = flags(turn.warmup, false);
        let (start_ns, lost) = (clock::now_ns(), tally.lost);
        let batch = Batch { turn, exchanges: turn.exchanges };
        perform(&batch, &mut header, tally).map_err(&broken)?;
        if !turn.warmup {
            tally.end_turn(start_ns, clock::now_ns(), lost);
        }
        header.flags = flags(true, true);
        uncounted.times_ns.clear();
        let closing = Batch { turn, exchanges: 1 };
        perform(&closing, &mut header, uncounted).map_err(&broken)?;
        *sequence = header.sequence;
        last = (turn, header);
    }
    Ok(last)
}

/// `exchanges` over one connection; `header` has the number of the first and then of the next one.
fn stream_batch(
    stream: &Stream,
    buffers: &mut Buffers,
    sent_ns: &mut [Option<u64>],
    header: &mut Header,
    exchanges: u32,
    tally: &mut Tally,
    watch: &Watch<'_>,
) -> Result<(), Cause> {
    let first = header.sequence;
    let room = sent_ns.len() as u32;
    let (mut sent, mut written, mut answered, mut read) = (0, 0, 0, 0);
    let mut quiet = None;
    while answered < exchanges {
        if sent < exchanges && sent - answered < room {
            if written == 0 {
                header.sequence = first.wrapping_add(sent);
                header.encode(buffers.out());
                *place(sent_ns, sent) = Some(clock::now_ns());
            }
            match stream.write(&buffers.out()[written..]) {
                Ok(count) => {
                    written += count;
                    if written == buffers.out().len() {
                        (sent, written) = (sent + 1, 0);
                    }
                    quiet = None;
                    continue;
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                Err(error) => return Err(error.into()),
            }
        }
        match stream.read(&mut buffers.back()[read..]) {
            Ok(0) => return Err(Cause::Closed),
            Ok(count) => read += count,
            Err(error) if ErrorClass::of(&error).is_timeout() => {
                watch.idle(&mut quiet)?;
                if watch.asks && written > 0 {
                    stream.wait_either(TICK_NS)?;
                } else if watch.asks {
                    stream.wait_readable(TICK_NS)?;
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        quiet = None;
        if read == buffers.back().len() {
            let now_ns = clock::now_ns();
            let expected = Header { sequence: first.wrapping_add(answered), ..*header };
            let start_ns = place(sent_ns, answered).take();
            match (answered_by(buffers, header), start_ns) {
                (Some(found), Some(start_ns)) if found == expected => {
                    tally.times_ns.push(now_ns - start_ns);
                }
                _ => return Err(Cause::Foreign),
            }
            (answered, read) = (answered + 1, 0);
        }
    }
    header.sequence = first.wrapping_add(exchanges);
    Ok(())
}

/// Exchanges of datagrams in flight together: a request that is not answered in time is lost.
fn datagram_batch(
    socket: &Datagram,
    buffers: &mut Buffers,
    sent_ns: &mut [Option<u64>],
    header: &mut Header,
    exchanges: u32,
    (tally, patience_ns): (&mut Tally, &mut u64),
    watch: &Watch<'_>,
) -> Result<(), Cause> {
    let first = header.sequence;
    let room = sent_ns.len() as u32;
    let (mut sent, mut done) = (0, 0);
    let mut quiet = None;
    while done < exchanges {
        if sent < exchanges && place(sent_ns, sent).is_none() {
            header.sequence = first.wrapping_add(sent);
            header.encode(buffers.out());
            let start_ns = clock::now_ns();
            match socket.send(buffers.out()) {
                Ok(_) => {
                    *place(sent_ns, sent) = Some(start_ns);
                    sent += 1;
                    continue;
                }
                Err(error) if ErrorClass::of(&error).is_timeout() => {}
                Err(error) => return Err(error.into()),
            }
        }
        let nothing = match socket.recv(buffers.back()) {
            Ok(count) if count == buffers.back().len() => {
                let now_ns = clock::now_ns();
                let number = answered_by(buffers, header)
                    .filter(|found| Header { sequence: found.sequence, ..*header } == *found)
                    .map(|found| found.sequence.wrapping_sub(first))
                    // On the way are the last ones that were sent, as many as there are places.
                    .filter(|&number| number < sent && sent - number <= room);
                // Of copies the first counts.
                if let Some(start_ns) = number.and_then(|number| place(sent_ns, number).take()) {
                    tally.times_ns.push(now_ns - start_ns);
                    let longest_ns = (*patience_ns).max(PATIENCE_NS_MIN);
                    *patience_ns = (4 * (now_ns - start_ns)).clamp(longest_ns, PATIENCE_NS_MAX);
                    done += 1;
                    quiet = None;
                    continue;
                }
                false
            }
            Ok(_) => false,
            Err(error) if ErrorClass::of(&error).is_timeout() => true,
            Err(error) => return Err(error.into()),
        };
        // No answer came, whatever else did.
        let lost = expire(sent_ns, clock::now_ns().saturating_sub(*patience_ns));
        if lost == 0 {
            watch.idle(&mut quiet)?;
            if watch.asks && nothing {
                socket.wait_readable(TICK_NS)?;
            }
        }
        tally.lost += u64::from(lost);
        done += lost;
    }
    header.sequence = first.wrapping_add(exchanges);
    Ok(())
}

/// The header of what came back, if it is from the server and carries its payload.
#[inline]
fn answered_by(buffers: &mut Buffers, header: &Header) -> Option<Header> {
    End::Client.heard(buffers.back(), header.tag).filter(|_| buffers.has_payload())
}

/// Gives up requests that were sent before `before_ns`; how many.
fn expire(sent_ns: &mut [Option<u64>], before_ns: u64) -> u32 {
    let mut lost = 0;
    for place in sent_ns {
        if place.is_some_and(|sent| sent < before_ns) {
            *place = None;
            lost += 1;
        }
    }
    lost
}
