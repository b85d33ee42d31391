//! Attack: many connections that do little or nothing are to shut everybody else out.

use crate::attacked::{Serving, check, serve};
use crate::field::{Field, Origin, PORT};
use crate::talk::{self, PREAMBLE, Talk, hello};
use crate::tier::is_night;
use crate::verdict::Findings;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use v6gap_core::family::Family;

/// What an honest client may take longer, and how much memory the server may take.
const LONGER: Duration = Duration::from_secs(1);
const GROWN_KB: u64 = 5_000;

/// How far each connection goes.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Sort {
    /// Connects and says nothing.
    Idle,
    /// Says its preamble byte by byte.
    Loris,
    /// Says its preamble and nothing more.
    HalfGreeted,
    /// Does the handshake and says nothing more.
    Greeted,
    /// Says hello and waits for its turn for ever.
    Waiting,
}

const SORTS: [Sort; 5] = [Sort::Idle, Sort::Loris, Sort::HalfGreeted, Sort::Greeted, Sort::Waiting];

/// One connection as far as it has come.
enum Member {
    Plain(TcpStream, usize),
    Sealed(Box<Talk>),
}

pub fn shuts_out(field: &Field) -> Findings {
    let mut findings = Findings::default();
    let origins =
        [Origin::One(Family::V4), Origin::One(Family::V6), Origin::Range24, Origin::Range48];
    for sort in SORTS {
        for (i, origin) in origins.into_iter().enumerate() {
            for count in [25, 1000] {
                let quick = match sort {
                    Sort::Greeted => (count == 25) == (i == 0) && i != 1,
                    Sort::Waiting => count == 25 && i == 1,
                    Sort::Idle => count == 1000 && i == 3,
                    Sort::Loris | Sort::HalfGreeted => false,
                };
                if quick || is_night() {
                    one(field, (sort, origin, count), &mut findings);
                }
            }
        }
    }
    findings
}

fn one(field: &Field, (sort, origin, count): (Sort, Origin, usize), findings: &mut Findings) {
    let serving = serve(field, &[]);
    let served = || match sort {
        // Somebody has the turn, as may be: it is enough to be told one's place.
        Sort::Waiting => told_its_place(field, "client", (None, origin.family())),
        _ => {
            let checked = check(field, "client", &[]);
            if !checked.good {
                println!("    {:.2?}: {:?}", checked.took, checked.said);
            }
            checked.good.then_some(checked.took)
        }
    };
    let alone = served().expect("nobody attacks yet");
    let memory = serving.memory_kb();
    let server = field.at("server", origin.family(), PORT);
    let (over, open) = (AtomicBool::new(false), AtomicU64::new(0));
    let (from_client, from_attacker, most) = std::thread::scope(|scope| {
        let crowd = || keep(sort, origin, (count, server), &over, &open);
        let crowd = scope.spawn(move || field.node("attacker").run(crowd).unwrap());
        let give_up = Instant::now() + Duration::from_secs(8);
        while open.load(Ordering::Relaxed) < count as u64 && Instant::now() < give_up {
            std::thread::sleep(Duration::from_millis(10));
        }
        let among = (origin.source(number_among(count)), origin.family());
        // So many that wait are not borne from one place, whoever else is there.
        let of_theirs = (sort != Sort::Waiting).then(|| told_its_place(field, "attacker", among));
        let result = (served(), of_theirs, grown(&serving, memory));
        over.store(true, Ordering::Relaxed);
        crowd.join().unwrap();
        result
    });
    let what = format!("{count} {sort:?} from {origin:?}");
    let many = matches!(sort, Sort::Greeted | Sort::Waiting);
    let among = from_attacker.map(|took| ("one among them", took));
    for (who, took) in [("a client", from_client)].into_iter().chain(among) {
        let harmed = took.is_none_or(|took| took > alone + LONGER);
        let figure = format!("{took:.2?} in place of {alone:.2?}");
        match many {
            true => findings.case(&format!("{what}: {who}"), harmed, figure),
            false => findings.ever(&format!("{what}: {who}"), harmed, figure),
        }
    }
    findings.ever(&format!("{what}: memory"), most > GROWN_KB, format!("{most} kB more"));
}

/// How much memory a server has taken since it had that much, in kB.
fn grown(serving: &Serving, before_kb: u64) -> u64 {
    serving.memory_kb().saturating_sub(before_kb)
}

/// The connection whose address an honest client shares.
fn number_among(count: usize) -> usize {
    count / 3
}

/// How long it takes until a client that would wait is told its place or welcomed.
fn told_its_place(
    field: &Field,
    from: &str,
    (source, family): (Option<IpAddr>, Family),
) -> Option<Duration> {
    let start = Instant::now();
    let server = field.at("server", family, PORT);
    let mut talk = Talk::open(field.node(from), source, server, "").ok()?;
    talk.say(&hello("honest", true)).ok()?;
    let message = talk.hear(Duration::from_secs(3)).ok()??;
    let told = ["queued", "welcome"].iter().any(|kind| message["message"] == *kind);
    told.then(|| start.elapsed())
}

/// Keeps so many connections open until it is over: what the server closes is opened anew.
fn keep(
    sort: Sort,
    origin: Origin,
    (count, server): (usize, SocketAddr),
    over: &AtomicBool,
    open: &AtomicU64,
) {
    let mut members: Vec<Option<Member>> = (0..count).map(|_| None).collect();
    while !over.load(Ordering::Relaxed) {
        for (number, member) in members.iter_mut().enumerate() {
            if over.load(Ordering::Relaxed) {
                return;
            }
            if !member.as_mut().is_some_and(|member| goes_on(sort, member)) {
                *member = begin(sort, origin, number, server).ok();
                if open.fetch_add(1, Ordering::Relaxed).is_multiple_of(32) {
                    // No faster than a kernel on a busy machine takes them: what it drops itself
                    // no server can make good.
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn begin(sort: Sort, origin: Origin, number: usize, server: SocketAddr) -> std::io::Result<Member> {
    let mut stream = talk::connect_here(origin.source(number), server)?;
    match sort {
        Sort::Idle | Sort::Loris => Ok(Member::Plain(stream, 0)),
        Sort::HalfGreeted => {
            talk::greet(&mut stream)?;
            Ok(Member::Plain(stream, PREAMBLE.len()))
        }
        Sort::Greeted => Ok(Member::Sealed(Box::new(Talk::over(stream, "")?))),
        Sort::Waiting => {
            let mut talk = Talk::over(stream, "")?;
            talk.say(&hello("crowd", true))?;
            Ok(Member::Sealed(Box::new(talk)))
        }
    }
}

/// Whether the server still holds the connection; a loris says its next byte.
fn goes_on(sort: Sort, member: &mut Member) -> bool {
    let stream = match member {
        Member::Plain(stream, said) if sort == Sort::Loris => {
            let next = PREAMBLE.get(*said).copied();
            *said += 1;
            if next.is_some_and(|byte| stream.write_all(&[byte]).is_err()) {
                return false;
            }
            &*stream
        }
        Member::Plain(stream, _) => &*stream,
        Member::Sealed(talk) => &talk.stream,
    };
    stream.set_nonblocking(true).unwrap();
    let ended = match stream.peek(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).unwrap();
    !ended
}
