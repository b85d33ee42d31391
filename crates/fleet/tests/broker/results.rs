//! Whether what was measured is in the archive: byte for byte as it is at its host, and nothing
//! else.

use crate::roles;
use crate::taken::Interval;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use v6gap_core::fleet::names::HostName;
use v6gap_core::record::RunId;
use v6gap_fleet::archive::Archive;
use v6gap_store::Store;

/// How long results may take to the archive: what was not acknowledged is sent again after 30 s,
/// and then after twice that.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(3);

/// The number of a host, from its name.
fn number(host: &HostName) -> usize {
    let part = |text: &str| text[1..].parse::<usize>().unwrap();
    part(host.site()) * crate::mesh::OF_A_SITE + part(host.host())
}

/// Journals of a run, at its host and in the archive.
fn journals(folder: &Path, host: &HostName, run: &str) -> [PathBuf; 2] {
    let run: RunId = run.parse().unwrap();
    let own = Store::at(&roles::folder(folder, number(host)));
    [own, Archive::of(folder).store(host)].map(|store| store.journal_path(&run))
}

/// Runs that are at a host and not in the archive, or not whole. Those of measurements that were
/// killed between the journal and its line are at their hosts alone, and are looked for as well.
fn missing(folder: &Path, count: usize) -> Vec<String> {
    let mut missing = Vec::new();
    for at in 0..count {
        let host: HostName = crate::mesh::name(at).parse().unwrap();
        for run in runs(&roles::folder(folder, at)) {
            let [own, kept] = journals(folder, &host, &run);
            let own = Store::whole_bytes(&own).unwrap_or(0);
            let kept = std::fs::metadata(kept).map_or(0, |found| found.len());
            if kept != own {
                missing.push(format!("{host} {run}: {kept} of {own} bytes"));
            }
        }
    }
    missing
}

/// Names of the runs in a folder of the program's data.
fn runs(data: &Path) -> Vec<String> {
    let Ok(found) = std::fs::read_dir(data.join("runs")) else { return Vec::new() };
    let names = found.map(|run| run.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.parse::<RunId>().is_ok()).collect()
}

/// Waits until the archive has every run, and compares all of them; how many there are.
pub fn all_kept(folder: &Path, count: usize) -> usize {
    let start = Instant::now();
    loop {
        let missing = missing(folder, count);
        if missing.is_empty() {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{} are lost: {missing:?}", missing.len());
        std::thread::sleep(LOOK);
    }
    println!("the archive has every run {:.0} s after the end", start.elapsed().as_secs_f64());
    let mut compared = 0;
    for at in 0..count {
        let host: HostName = crate::mesh::name(at).parse().unwrap();
        // From the archive's side: whatever is there is at its host, too.
        let archive = folder.join("archive").join(host.site()).join(host.host());
        for run in runs(&archive) {
            let [own, kept] =
                journals(folder, &host, &run).map(|path| std::fs::read(path).unwrap());
            assert!(own.starts_with(&kept) && !kept.is_empty(), "{host} {run} is another");
            compared += 1;
        }
    }
    compared
}

/// Every measurement that came to its end is among those that the archive has.
pub fn each_is_kept(folder: &Path, all: &[Interval]) -> usize {
    let ended = all.iter().filter_map(|interval| Some((&interval.from, interval.run.as_ref()?)));
    let mut count = 0;
    for (host, run) in ended {
        let [own, kept] = journals(folder, host, run).map(|path| std::fs::read(path).unwrap());
        assert_eq!(own, kept, "{host} {run}");
        count += 1;
    }
    count
}
