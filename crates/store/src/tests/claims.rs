//! Claims of this host: between processes that are killed, and in a folder in which others write.

use super::Scratch;
use crate::Claims;
use std::fs::{self, FileTimes, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};
use v6gap_core::turn::{Claim, Measurement, Uses};
use v6gap_sys::{entropy, lock};

/// The folder of claims, for a process that holds one until it is killed.
const CHILD: &str = "V6GAP_TEST_CLAIMS";

fn claim(measurement: u64) -> Claim {
    Claim::new(Measurement::from_bits(measurement), Uses::Host, "v6gap run lab-b")
}

/// What the child of another test does; otherwise nothing.
#[test]
fn held_by_a_child() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let claims = Claims::open(Some(folder.as_ref())).unwrap();
    let shown = claims.show(&claim(7)).unwrap();
    shown.hold().unwrap();
    println!("\nheld");
    let _ = std::io::stdin().read(&mut [0]);
}

fn child(scratch: &Scratch) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::claims::held_by_a_child", "--nocapture"]);
    command.env(CHILD, &scratch.0).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "held"), "the child holds nothing");
    child
}

#[test]
fn a_claim_ends_with_the_process_that_holds_it() {
    let scratch = Scratch::new("claims-killed");
    let claims = Claims::open(Some(&scratch.0)).unwrap();
    for _ in 0..5 {
        let mut child = child(&scratch);
        let found = claims.found().unwrap();
        let [found] = &found[..] else { panic!("{found:?}") };
        assert!(found.seen.holds && found.user.is_some(), "{found:?}");
        assert_eq!(found.seen.claim, Some(claim(7)));
        assert!(found.age_ns < 60_000_000_000, "{found:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(claims.found().unwrap().is_empty());
        // What it left is cleared away by who looks next.
        assert_eq!(fs::read_dir(&scratch.0).unwrap().count(), 0);
    }
}

#[test]
fn a_claim_is_asked_for_then_held_then_gone() {
    let scratch = Scratch::new("claims-course");
    let claims = Claims::open(Some(&scratch.0.join("made/as needed"))).unwrap();
    let shown = claims.show(&claim(1)).unwrap();
    let other = claims.show(&claim(2)).unwrap();
    let seen = || claims.found().unwrap().into_iter().map(|found| found.seen);
    assert_eq!(seen().count(), 2);
    assert!(seen().all(|seen| !seen.holds));
    shown.hold().unwrap();
    drop(other);
    let left: Vec<_> = seen().collect();
    assert!(left.len() == 1 && left[0].holds && left[0].name == shown.name(), "{left:?}");
    let mode = fs::read_dir(claims.folder()).unwrap().next().unwrap().unwrap();
    assert_eq!(mode.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    drop(shown);
    assert_eq!(seen().count(), 0);
}

#[test]
fn what_is_no_claim_stands_in_nobodys_way() {
    let scratch = Scratch::new("claims-squatters");
    let claims = Claims::open(Some(&scratch.0)).unwrap();
    let path = |name: &str| scratch.0.join(format!("v6gap-claim-{name}"));
    fs::write(scratch.0.join("victim"), claim(3).text()).unwrap();
    let victim = OpenOptions::new().read(true).write(true).open(scratch.0.join("victim")).unwrap();
    assert!(lock::take(&victim, 0).unwrap() && lock::take(&victim, 1).unwrap());
    symlink(scratch.0.join("victim"), path("0000000000000001")).unwrap();
    fs::create_dir(path("0000000000000002")).unwrap();
    fs::write(path("0000000000000003"), claim(3).text()).unwrap();
    fs::write(path("no number"), claim(3).text()).unwrap();
    assert!(claims.found().unwrap().is_empty());
    // The leftover is gone; what belongs to others is as it was.
    assert!(!path("0000000000000003").exists() && path("0000000000000002").exists());
    assert_eq!(fs::read_to_string(scratch.0.join("victim")).unwrap(), claim(3).text());
    assert!(path("no number").exists());
}

/// A later version of this program may write claims that this one does not understand.
#[test]
fn what_stands_and_is_not_understood_is_named() {
    let scratch = Scratch::new("claims-strange");
    let claims = Claims::open(Some(&scratch.0)).unwrap();
    let mut options = OpenOptions::new();
    let options = options.write(true).create_new(true);
    let mut file = options.open(scratch.0.join("v6gap-claim-00000000000000aa")).unwrap();
    file.write_all(b"v6gap claim 2\n\xff").unwrap();
    assert!(lock::take(&file, 0).unwrap());
    let found = claims.found().unwrap();
    let [found] = &found[..] else { panic!("{found:?}") };
    assert!(found.seen.claim.is_none() && !found.seen.holds && found.user.is_some());
}

/// Programs of one user that begin at once take each other's new files for leftovers; none is lost.
#[test]
fn a_claim_is_not_cleared_away_while_it_is_made() {
    let scratch = Scratch::new("claims-made");
    let claims = Claims::open(Some(&scratch.0)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let bits = entropy::bytes().unwrap();
                    let shown = claims.show(&claim(u64::from_ne_bytes(bits))).unwrap();
                    let found = claims.found().unwrap();
                    assert!(found.iter().any(|found| found.seen.name == shown.name()));
                }
            });
        }
    });
    assert!(claims.found().unwrap().is_empty());
}

/// Folders of all users are cleared of what nobody touched for days.
#[test]
fn a_claim_that_is_kept_was_touched_lately_and_is_as_old_as_before() {
    let scratch = Scratch::new("claims-kept");
    let claims = Claims::open(Some(&scratch.0)).unwrap();
    let shown = claims.show(&claim(1)).unwrap();
    let path = fs::read_dir(&scratch.0).unwrap().next().unwrap().unwrap().path();
    let old = UNIX_EPOCH + Duration::from_secs(1_000_000);
    let times = FileTimes::new().set_accessed(old).set_modified(old);
    OpenOptions::new().write(true).open(&path).unwrap().set_times(times).unwrap();
    assert!(shown.keep());
    let found = fs::metadata(&path).unwrap();
    assert!(found.accessed().unwrap() > old + Duration::from_secs(1_000_000));
    assert_eq!(found.modified().unwrap(), old);
    fs::remove_file(&path).unwrap();
    assert!(!shown.keep());
}
