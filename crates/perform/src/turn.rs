//! The turn of this host: one measurement at a time, whichever user starts it. What conflicts with
//! what is core's `turn`; here one asks, waits, and holds it.

use crate::news::{News, Watcher};
use crate::occupant::Occupant;
use crate::trouble::Trouble;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use v6gap_core::host::names::UNAVAILABLE;
use v6gap_core::turn::{Claim, Measurement, Seen, Step, Uses, in_the_way, step};
use v6gap_core::wire::control::Queued;
use v6gap_engine::server::Door;
use v6gap_store::{Claims, Found, Shown, StoreError};
use v6gap_sys::{Unavailable, clock, cpu, entropy, lock};

/// How long one waits before the host is looked at again; up to twice that, so that two who wait do
/// not always meet.
const WAIT: Duration = Duration::from_millis(300);

/// How long another one has that asked at the same time and has to give way, and how often.
const LOOK: Duration = Duration::from_millis(2);
const LOOKS_MAX: u32 = 20;

/// How often a claim that is held is touched, in ns: it must not look forgotten for a day.
const KEEP_NS: u64 = 3_600_000_000_000;

/// What a client of a server is told of who else measures on its host: that is for the users of
/// that host.
const SOMEBODY: &str = "somebody on that host";

/// How the turn of this host is asked for.
#[derive(Debug, Clone, Default)]
pub struct Locks {
    /// The folder in which claims are made, if it is another than that of all users.
    pub folder: Option<PathBuf>,
    /// What measures, as a person is told: the command.
    pub what: String,
}

/// The turn of this host for one measurement: asked for, then held until this is dropped or the
/// process ends.
#[derive(Debug)]
pub struct Turn {
    claims: Result<Claims, Unavailable>,
    /// Whether their folder was named.
    is_named: bool,
    claim: Claim,
    wait: bool,
    shown: Option<Shown>,
    /// When that was seen to last, by the monotonic clock.
    kept_ns: u64,
}

impl Turn {
    /// For a measurement that leaves the host, or may disturb anything on it; with `wait` it may
    /// wait.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn of_host(locks: &Locks, wait: bool) -> Result<Self, Trouble> {
        Turn::new(locks, Uses::Host, wait)
    }

    /// For one in a lab that is made for it, which uses the processors that this process was given
    /// and no link of the host.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn of_lab(locks: &Locks, wait: bool) -> Result<Self, Trouble> {
        let given: Option<BTreeSet<usize>> = cpu::allowed().ok().map(BTreeSet::from_iter);
        // Where the system does not tell, it may be any.
        Turn::new(locks, given.map_or(Uses::Host, Uses::Processors), wait)
    }

    fn new(locks: &Locks, uses: Uses, wait: bool) -> Result<Self, Trouble> {
        let claim = Claim::new(drawn()?, uses, &locks.what);
        let claims = Claims::open(locks.folder.as_deref());
        let is_named = locks.folder.is_some();
        Ok(Turn { claims, is_named, claim, wait, shown: None, kept_ns: clock::now_ns() })
    }

    /// The measurement, for the far end to name it too.
    pub fn measurement(&self) -> String {
        self.claim.measurement.to_string()
    }

    /// Among whom it is seen to that nothing else is measured here, or why that cannot be.
    pub fn fact(&self) -> String {
        match &self.claims {
            Ok(_) if self.is_named => "among those of a folder that was named".to_owned(),
            Ok(_) => "among all users".to_owned(),
            Err(Unavailable { because, .. }) => format!("{UNAVAILABLE} {because}"),
        }
    }

    /// What is to be noted with the run if nobody sees to it.
    pub fn note(&self) -> Option<String> {
        let missing = self.claims.as_ref().err()?;
        Some(format!("whether others measured on this host meanwhile is not known: {missing}"))
    }

    /// Waits until it is this measurement's turn, and keeps it; `false` if it was stopped before.
    ///
    /// # Errors
    /// If somebody else measures, and that is not to be waited for.
    pub fn take(
        &mut self,
        watch: &mut dyn Watcher,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, Trouble> {
        loop {
            if !self.wait(watch, stop)? {
                return Ok(false);
            }
            if self.try_take() {
                return Ok(true);
            }
            rest()?;
        }
    }

    /// Waits until nobody else measures, and keeps nothing; `false` if it was stopped before.
    /// `watch` is told of each whom it waits for.
    pub(crate) fn wait(
        &mut self,
        watch: &mut dyn Watcher,
        stop: &dyn Fn() -> bool,
    ) -> Result<bool, Trouble> {
        let mut told = None;
        loop {
            if stop() {
                return Ok(false);
            }
            let Some((name, occupant)) = self.occupant() else { return Ok(true) };
            if !self.wait {
                return Err(Trouble::Occupied(occupant));
            }
            if told != Some(name) {
                watch.told(&News::Occupied(&occupant));
                told = Some(name);
            }
            rest()?;
        }
    }

    /// Takes the turn if nobody else has it. Without a folder for it everybody has his own.
    pub(crate) fn try_take(&mut self) -> bool {
        let Ok(claims) = &self.claims else { return true };
        if self.shown.is_some() {
            return true;
        }
        match asked(claims, &self.claim) {
            Ok(shown) => {
                self.shown = shown;
                self.shown.is_some()
            }
            Err(error) => {
                self.claims = Err(Unavailable::new(lock::WHAT, error));
                true
            }
        }
    }

    /// Lets others measure, until it is taken again.
    pub fn leave(&mut self) {
        self.shown = None;
    }

    /// Sees to it that others see the claim of a measurement that takes days; does so now and then,
    /// and is asked between trials.
    pub(crate) fn keep(&mut self) {
        let now_ns = clock::now_ns();
        if now_ns.saturating_sub(self.kept_ns) >= KEEP_NS {
            self.kept_ns = now_ns;
            self.keep_now();
        }
    }

    fn keep_now(&mut self) {
        let (Ok(claims), Some(shown)) = (&self.claims, &self.shown) else { return };
        if shown.keep() {
            return;
        }
        // It was cleared away while this host slept. Whoever came meanwhile saw nobody, and whoever
        // comes now sees both.
        let again = claims.show(&self.claim).and_then(|shown| shown.hold().map(|()| shown));
        if let Ok(again) = again {
            self.shown = Some(again);
        }
    }

    /// Who measures here, and the name of his claim; nobody is in one's own way.
    fn occupant(&mut self) -> Option<(u64, Occupant)> {
        let claims = self.claims.as_ref().ok().filter(|_| self.shown.is_none())?;
        match claims.found() {
            Ok(mut found) => {
                let seen: Vec<Seen> = found.iter().map(|found| found.seen.clone()).collect();
                let found = found.swap_remove(in_the_way(&self.claim, &seen)?);
                Some((found.seen.name, occupant_of(found, claims.folder())))
            }
            Err(error) => {
                self.claims = Err(Unavailable::new(lock::WHAT, error));
                None
            }
        }
    }
}

/// What is said of who is in the way.
fn occupant_of(found: Found, folder: &Path) -> Occupant {
    let Found { seen, user, age_ns } = found;
    let what = seen.claim.map(|claim| claim.what);
    Occupant { user, what, seconds: age_ns / 1_000_000_000, folder: folder.to_owned() }
}

/// A claim that is held; `None` if another one goes first.
fn asked(claims: &Claims, claim: &Claim) -> Result<Option<Shown>, StoreError> {
    let shown = claims.show(claim)?;
    for _ in 0..LOOKS_MAX {
        let seen: Vec<Seen> = claims.found()?.into_iter().map(|found| found.seen).collect();
        match step(shown.name(), claim, &seen) {
            Step::Hold => {
                shown.hold()?;
                return Ok(Some(shown));
            }
            Step::LookAgain(_) => clock::rest(LOOK),
            Step::GiveWay(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// A name for a measurement.
fn drawn() -> Result<Measurement, Unavailable> {
    Ok(Measurement::from_bits(random()?))
}

fn random() -> Result<u64, Unavailable> {
    Ok(u64::from_ne_bytes(entropy::bytes()?))
}

/// Lets others finish, for a time that is not always the same.
pub(crate) fn rest() -> Result<(), Unavailable> {
    let share = (random()? % 1000) as f64 / 1000.0;
    clock::rest(WAIT.mul_f64(1.0 + share));
    Ok(())
}

/// The door of a server to which others come: its host has its turn for the measurement of the
/// client that is served, and shares it with that client where it is on the same host.
pub struct HostDoor {
    locks: Locks,
    /// Held while somebody is served.
    turn: Option<Turn>,
}

impl HostDoor {
    /// The door of this host.
    pub fn new(locks: Locks) -> Self {
        HostDoor { locks, turn: None }
    }

    /// What the server says when it begins, if nobody sees to it that its host is not measured by
    /// others.
    pub fn note(&self) -> Option<String> {
        let missing = Claims::open(self.locks.folder.as_deref()).err()?;
        Some(format!("Whether others measure on this host is not known: {missing}."))
    }

    fn turn(&self, measurement: Option<&str>) -> Result<Turn, Trouble> {
        let mut turn = Turn::of_host(&self.locks, false)?;
        if let Some(named) = measurement.and_then(|name| name.parse().ok()) {
            turn.claim.measurement = named;
        }
        Ok(turn)
    }
}

impl Door for HostDoor {
    fn enter(&mut self, measurement: Option<&str>) -> Result<(), Queued> {
        // One that was served before and is so no more.
        self.turn = None;
        let busy = |seconds| Queued { place: 1, seconds, by: SOMEBODY.to_owned() };
        let mut turn = self.turn(measurement).map_err(|_| busy(0))?;
        if let Some((_, occupant)) = turn.occupant() {
            return Err(busy(occupant.seconds));
        }
        if !turn.try_take() {
            return Err(busy(0));
        }
        self.turn = Some(turn);
        Ok(())
    }

    fn leave(&mut self) {
        self.turn = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("v6gap-turn-{name}-{}", std::process::id());
            Folder(std::env::temp_dir().join(name))
        }

        fn locks(&self, what: &str) -> Locks {
            Locks { folder: Some(self.0.clone()), what: what.to_owned() }
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    fn never() -> bool {
        false
    }

    fn take(turn: &mut Turn) -> Result<bool, Trouble> {
        turn.take(&mut |_: &News<'_>| (), &never)
    }

    #[test]
    fn a_second_measurement_is_told_who_measures_or_waits() {
        let folder = Folder::new("second");
        let mut first = Turn::of_host(&folder.locks("v6gap run lab-b"), false).unwrap();
        assert!(take(&mut first).unwrap());
        assert!(take(&mut first).unwrap(), "it has its turn still");
        let mut second = Turn::of_host(&folder.locks("v6gap demo"), false).unwrap();
        let refused = take(&mut second).unwrap_err();
        let Trouble::Occupied(occupant) = refused else { panic!("{refused}") };
        assert_eq!(occupant.what.as_deref(), Some("v6gap run lab-b"));
        assert!(occupant.user.is_some() && occupant.seconds < 60, "{occupant}");
        // One who waits is told once, and gets it when the other is gone.
        let mut third = Turn::of_host(&folder.locks("v6gap demo"), true).unwrap();
        let (mut first, mut told) = (Some(first), 0);
        let mut watch = |news: &News<'_>| {
            assert!(matches!(news, News::Occupied(_)), "{news:?}");
            told += 1;
            drop(first.take());
        };
        assert!(third.take(&mut watch, &never).unwrap());
        assert_eq!(told, 1);
        let mut fourth = Turn::of_host(&folder.locks("v6gap demo"), true).unwrap();
        assert!(!fourth.take(&mut |_: &News<'_>| (), &|| true).unwrap(), "it was stopped");
    }

    #[test]
    fn a_server_shares_its_host_with_its_own_client_alone() {
        let folder = Folder::new("shared");
        let mut client = Turn::of_host(&folder.locks("v6gap run here"), false).unwrap();
        let mut door = HostDoor::new(folder.locks("v6gap serve"));
        // Whichever of the two comes first.
        door.enter(Some(&client.measurement())).unwrap();
        assert!(take(&mut client).unwrap());
        door.leave();
        door.enter(Some(&client.measurement())).unwrap();
        door.leave();
        for other in [None, Some("00000000000000ab"), Some("no name")] {
            let queued = door.enter(other).unwrap_err();
            assert_eq!((queued.place, queued.by.as_str()), (1, SOMEBODY));
        }
        drop(client);
        door.enter(None).unwrap();
        let mut client = Turn::of_host(&folder.locks("v6gap run lab-b"), false).unwrap();
        let refused = take(&mut client).unwrap_err();
        assert!(refused.to_string().contains("v6gap serve"), "{refused}");
    }

    #[test]
    fn a_claim_that_is_cleared_away_is_made_again() {
        let folder = Folder::new("cleared");
        let mut first = Turn::of_host(&folder.locks("v6gap run lab-b"), false).unwrap();
        assert!(take(&mut first).unwrap());
        for found in std::fs::read_dir(&folder.0).unwrap() {
            std::fs::remove_file(found.unwrap().path()).unwrap();
        }
        let mut second = Turn::of_host(&folder.locks("v6gap demo"), false).unwrap();
        assert!(second.occupant().is_none());
        first.keep_now();
        assert!(matches!(take(&mut second), Err(Trouble::Occupied(_))));
    }

    #[test]
    fn of_a_thousand_starts_never_two_measure_at_a_time() {
        let folder = Folder::new("thousand");
        let (inside, served) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..125 {
                        let mut turn = Turn::of_host(&folder.locks("one"), false).unwrap();
                        if turn.try_take() {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            std::thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            served.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        assert!(served.into_inner() > 0);
    }

    #[test]
    fn a_place_that_cannot_be_had_is_noted_and_stops_nobody() {
        let folder = Folder::new("none");
        std::fs::create_dir(&folder.0).unwrap();
        std::fs::write(folder.0.join("file"), "").unwrap();
        let locks = Locks { folder: Some(folder.0.join("file")), what: String::new() };
        let mut turn = Turn::of_lab(&locks, false).unwrap();
        assert!(take(&mut turn).unwrap());
        assert!(turn.note().unwrap().contains("not known: one measurement at a time"));
        assert!(turn.fact().starts_with(UNAVAILABLE), "{}", turn.fact());
        assert!(HostDoor::new(locks).note().is_some());
    }
}
