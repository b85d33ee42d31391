//! Why nothing was measured between hosts that are reached by ssh, for a person.

use super::texts::CODES;
use super::{Failure, Outcome};
use v6gap_perform::via::{CACHE, Complaint, Host, Left, NotCopied, RESULT, Side, Trouble, quoted};

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::NoSsh { program, why } => {
                let what = format!("cannot start {program}: {why}");
                Failure::new("E216", Outcome::Usage, what)
                    .run("apt-get install openssh-client", "on Debian, brings ssh")
                    .run("V6GAP_SSH=PROGRAM v6gap …", "names another program")
            }
            Trouble::Unreachable { host, said } => {
                let what = format!("{host} cannot be reached by ssh");
                try_ssh(Failure::new("E216", Outcome::Peer, what), &host, &said)
            }
            Trouble::NotLetIn { host, said } => {
                let what = format!("{host} cannot be logged in to by ssh");
                let failure = Failure::new("E217", Outcome::Permission, what);
                try_ssh(failure, &host, &said).run("ssh-add", "lends your key to ssh")
            }
            Trouble::Lost { host, said } => {
                let what = format!("the connection to {host} was lost");
                try_ssh(Failure::new("E220", Outcome::Peer, what), &host, &said)
            }
            Trouble::OtherSystem { host, system } => {
                let what = format!("this program does not fit {host}, which is {system}");
                Failure::new("E218", Outcome::Peer, what)
                    .run("v6gap run --via ssh … --remote-binary FILE", "with one that does")
                    .run("cargo xtask dist", "makes programs for other systems")
            }
            Trouble::NotCopied { host, why, said } => not_copied(&host, why, &said),
            Trouble::NotRun { host, said } => {
                let what = format!("the program does not run on {host}");
                saying(Failure::new("E218", Outcome::Peer, what), &said)
                    .likely(
                        "the host is older than the system that it was made on, or runs none \
                             from home folders.",
                    )
                    .run("v6gap run --via ssh … --remote-binary FILE", "a static one runs anywhere")
            }
            Trouble::NoAddress { said } => no_address(&said),
            Trouble::Complaint { side, host, said } => complained(side, host.as_ref(), *said),
            Trouble::Late { host } => late(host.as_ref()),
            Trouble::Here { why } => Failure::unexpected(why),
            Trouble::Stopped => Failure::uncoded(
                Outcome::Interrupted,
                "stopped before anything was measured; nothing is stored",
            ),
            Trouble::Kept { host, jobs } => {
                let what = format!("{host} holds {} that were never fetched", results(jobs.len()));
                let list = format!("ssh {host} ls {CACHE}/jobs");
                Failure::new("E221", Outcome::Usage, what)
                    .seen("Nothing was removed.")
                    .run(list, "the folders that they are in")
                    .run(format!("ssh {host} rm -r {CACHE}/jobs"), "gives them up")
                    .run(format!("v6gap run --via ssh --forget {host}"), "removes the rest then")
            }
        }
    }
}

/// "2 results".
pub fn results(count: usize) -> String {
    if count == 1 { "1 result".to_owned() } else { format!("{count} results") }
}

impl Failure {
    /// Adds where a result is that was not fetched, and how it is.
    pub fn left(self, left: &Left, host: Option<&Host>, export: Option<&str>) -> Self {
        let id = &left.run;
        let failure = self.seen(format!("What was measured until then is kept there as {id}."));
        match (host, export) {
            (Some(host), Some(export)) => {
                // From the line on, and without it, whatever a shell says before.
                let behind = format!("sed -n '/{RESULT}$/,$p' | sed 1d");
                let fetch = format!("ssh {host} {} | {behind} > {id}.jsonl", quoted(export));
                failure.run(fetch, "").run(format!("v6gap import {id}.jsonl"), "stores it here")
            }
            _ => failure,
        }
    }
}

fn saying(failure: Failure, said: &str) -> Failure {
    if said.is_empty() { failure } else { failure.seen(format!("It said: {said}")) }
}

fn try_ssh(failure: Failure, host: &Host, said: &str) -> Failure {
    saying(failure, said).run(format!("ssh {host} true"), "must work without v6gap")
}

fn late(host: Option<&Host>) -> Failure {
    let place = host.map_or("this host".to_owned(), Host::to_string);
    let what = format!("{place} took minutes longer than it was to measure, and was stopped");
    let failure = Failure::new("E222", Outcome::Peer, what)
        .likely("it is very busy, or something on the path holds the measurement up.");
    match host {
        Some(host) => failure.run(format!("ssh {host} uptime"), "how busy it is"),
        None => failure.run("uptime", "how busy it is"),
    }
}

fn not_copied(host: &Host, why: NotCopied, said: &str) -> Failure {
    let what = format!("the program could not be copied to {host}");
    let failure = saying(Failure::new("E219", Outcome::Peer, what), said);
    match why {
        NotCopied::NoFolder => failure
            .likely(format!("~/{CACHE} cannot be made by this user."))
            .run(format!("ssh {host} mkdir -p {CACHE}/bin"), "shows why"),
        NotCopied::NotWhole => failure
            .likely("the disk there is full.")
            .run(format!("ssh {host} df -h ."), "how much room there is"),
        NotCopied::Differs => failure.seen("What arrived is not what was sent; it was removed."),
        NotCopied::Unchecked => failure
            .seen("What arrived cannot be checked; it was removed.")
            .likely("the host has neither sha256sum nor shasum nor sha256."),
    }
}

fn no_address(said: &str) -> Failure {
    let seen = match said {
        "" => "ssh does not tell an address of it.".to_owned(),
        address => format!("It was reached at {address}, which is of that host alone."),
    };
    Failure::usage("it is not known where the host of --to is reached from that of --from")
        .seen(seen)
        .run("v6gap run --via ssh … --v4 ADDR --v6 ADDR", "names its addresses")
}

/// What the program at an end said, with where it was.
fn complained(side: Side, host: Option<&Host>, said: Complaint) -> Failure {
    let part = match side {
        Side::From => "measures",
        Side::To => "serves",
    };
    let place = host.map_or("this host".to_owned(), Host::to_string);
    let title = match said.title.as_str() {
        "" => "the program ended before it began",
        title => title,
    };
    let outcome = outcome(said.exit);
    let what = format!("{place}, which {part}: {title}");
    let mut failure = Failure::uncoded(outcome, what);
    failure.code = CODES.iter().find(|topic| topic.name == said.code).map(|topic| topic.name);
    let failure = said.why.into_iter().fold(failure, Failure::seen);
    // A run goes on where its result is, which is fetched.
    let tries = said.tries.into_iter().filter(|(run, _)| !run.contains("--continue"));
    tries.fold(failure, |failure, (run, does)| failure.run(run, does))
}

/// How this program ends where the one at an end ended so.
fn outcome(exit: Option<i32>) -> Outcome {
    match exit {
        Some(2) => Outcome::Usage,
        Some(3) => Outcome::OneFamily,
        Some(4) => Outcome::Peer,
        Some(5) => Outcome::Permission,
        Some(6) => Outcome::NotValid,
        Some(7) => Outcome::Declined,
        Some(130) => Outcome::Interrupted,
        _ => Outcome::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        Host::parse("ops@rome1").unwrap()
    }

    #[test]
    fn what_an_end_says_is_told_with_its_place() {
        let said = Complaint {
            code: "E111".to_owned(),
            title: "cannot serve on port 4466".to_owned(),
            tries: vec![("v6gap run x --continue y".to_owned(), String::new())],
            exit: Some(2),
            ..Complaint::default()
        };
        let trouble = Trouble::Complaint { side: Side::To, host: Some(host()), said: said.into() };
        let failure = Failure::from(trouble);
        assert_eq!((failure.code, failure.outcome), (Some("E111"), Outcome::Usage));
        let text = failure.render(&Default::default());
        assert!(text.starts_with("error: ops@rome1, which serves: cannot serve on"), "{text}");
        assert!(!text.contains("--continue"), "{text}");
    }

    #[test]
    fn every_trouble_says_what_to_do_next() {
        let (host, said) = (host(), "no\u{1b}[2J".to_owned());
        let jobs = vec!["5f".to_owned()];
        let of = |why| Trouble::NotCopied { host: host.clone(), why, said: said.clone() };
        let troubles = [
            Trouble::NoSsh { program: "ssh".to_owned(), why: said.clone() },
            Trouble::Unreachable { host: host.clone(), said: said.clone() },
            Trouble::NotLetIn { host: host.clone(), said: said.clone() },
            Trouble::Lost { host: host.clone(), said: said.clone() },
            Trouble::OtherSystem { host: host.clone(), system: "Linux aarch64".to_owned() },
            of(NotCopied::NoFolder),
            of(NotCopied::NotWhole),
            Trouble::NotRun { host: host.clone(), said: said.clone() },
            Trouble::NoAddress { said: String::new() },
            Trouble::Late { host: Some(host.clone()) },
            Trouble::Kept { host: host.clone(), jobs },
        ];
        for trouble in troubles {
            let text = Failure::from(trouble.clone()).render(&Default::default());
            assert!(text.contains("  Try:    ") && !text.contains('\u{1b}'), "{trouble:?}: {text}");
        }
    }
}
