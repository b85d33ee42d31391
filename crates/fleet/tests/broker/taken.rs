//! When hosts and links were measured, as those that measured wrote it down themselves: a line when
//! one begins and a line when it ends, by a clock that all processes of a host share.
//!
//! Nobody who takes part judges: overlaps are reckoned from these lines afterwards.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use v6gap_core::fleet::names::HostName;
use v6gap_sys::clock;

/// Folder of the lines below that of a hub.
const FOLDER: &str = "taken";

/// Where a process writes its lines.
pub struct Taken(Mutex<File>);

/// A measurement as it was written down.
#[derive(Debug, Clone)]
pub struct Interval {
    pub from: HostName,
    pub to: HostName,
    pub exclusive: bool,
    pub begin_ns: u64,
    pub end_ns: u64,
    /// The run, if it came to its end.
    pub run: Option<String>,
}

impl Taken {
    /// The lines of this process.
    pub fn open(folder: &Path) -> Self {
        let folder = folder.join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(std::process::id().to_string());
        Taken(Mutex::new(File::options().create(true).append(true).open(path).unwrap()))
    }

    /// A measurement begins.
    pub fn begins(&self, job: &str, between: [&HostName; 2], exclusive: bool) {
        let [from, to] = between;
        self.write(&format!("begin {job} {} {from} {to} {exclusive}\n", clock::boot_ns()));
    }

    /// One ended, with its run if it came to its end.
    pub fn ends(&self, job: &str, run: Option<&str>) {
        self.write(&format!("end {job} {} {}\n", clock::boot_ns(), run.unwrap_or("-")));
    }

    fn write(&self, line: &str) {
        self.0.lock().unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// All measurements that were written down below the folder of a hub. One whose end is not there
/// ended with its process, whose death is in `died`; one of a process that lives goes on until
/// `now_ns`.
pub fn read(folder: &Path, died: &BTreeMap<u32, u64>, now_ns: u64) -> Vec<Interval> {
    let mut found = Vec::new();
    let Ok(files) = std::fs::read_dir(folder.join(FOLDER)) else { return found };
    for file in files {
        let path = file.unwrap().path();
        let id = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let mut open: BTreeMap<String, Interval> = BTreeMap::new();
        let text = std::fs::read_to_string(&path).unwrap();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["begin", job, at, from, to, exclusive] => {
                    let interval = Interval {
                        from: from.parse().unwrap(),
                        to: to.parse().unwrap(),
                        exclusive: exclusive == "true",
                        begin_ns: at.parse().unwrap(),
                        end_ns: died.get(&id).copied().unwrap_or(now_ns),
                        run: None,
                    };
                    let twice = open.insert(job.to_owned(), interval);
                    assert!(twice.is_none(), "a job was begun twice: {line}");
                }
                ["end", job, at, run] => {
                    let mut interval = open.remove(job).unwrap();
                    interval.end_ns = at.parse().unwrap();
                    interval.run = (run != "-").then(|| run.to_owned());
                    found.push(interval);
                }
                _ => panic!("{line}"),
            }
        }
        found.extend(open.into_values());
    }
    found.sort_by_key(|interval| interval.begin_ns);
    found
}

/// Pairs of measurements that were at the same host at once, and of exclusive ones on the same
/// link; `linked` says the links of a path.
pub fn overlaps(
    all: &[Interval],
    linked: &dyn Fn(&HostName, &HostName) -> Vec<String>,
) -> [usize; 2] {
    let mut hosts: BTreeMap<String, u64> = BTreeMap::new();
    let mut links: BTreeMap<String, u64> = BTreeMap::new();
    let mut found = [0, 0];
    // They are in the order of their beginnings: it is enough to know how long the last one lasts.
    for interval in all {
        let Interval { from, to, exclusive, begin_ns, end_ns, .. } = interval;
        let take = |of: &mut BTreeMap<String, u64>, key: String, count: &mut usize| {
            let until_ns = of.entry(key).or_insert(0);
            if *begin_ns < *until_ns {
                *count += 1;
                println!("OVERLAP by {} ns: {interval:?}", *until_ns - *begin_ns);
            }
            *until_ns = (*until_ns).max(*end_ns);
        };
        for host in [from, to] {
            take(&mut hosts, host.to_string(), &mut found[0]);
        }
        let on = if *exclusive { linked(from, to) } else { Vec::new() };
        for link in on {
            take(&mut links, link, &mut found[1]);
        }
    }
    found
}

/// The longest time within a span in which no measurement began, in ns.
pub fn longest_gap_ns(all: &[Interval], from_ns: u64, to_ns: u64) -> u64 {
    let within = all.iter().map(|interval| interval.begin_ns);
    let within = within.filter(|begin| (from_ns..to_ns).contains(begin));
    let mut last = from_ns;
    let mut longest = 0;
    for begin in within.chain([to_ns]) {
        longest = longest.max(begin - last);
        last = begin;
    }
    longest
}

/// That what is reckoned finds what is there.
pub fn finds_what_is_there() {
    let name = |text: &str| text.parse::<HostName>().unwrap();
    let interval = |from: &str, to: &str, exclusive: bool, begin_ns: u64, end_ns: u64| Interval {
        from: name(from),
        to: name(to),
        exclusive,
        begin_ns,
        end_ns,
        run: None,
    };
    let linked = |from: &HostName, to: &HostName| vec![from.site().min(to.site()).to_owned()];
    let apart = [interval("a/1", "b/1", true, 0, 5), interval("a/1", "b/2", true, 5, 9)];
    assert_eq!(overlaps(&apart, &linked), [0, 0]);
    println!("two overlaps that are made up:");
    let light = [interval("a/1", "b/1", false, 0, 5), interval("a/2", "b/1", false, 4, 9)];
    assert_eq!(overlaps(&light, &linked), [1, 0]);
    let link = [interval("a/1", "b/1", true, 0, 5), interval("a/2", "b/2", true, 4, 9)];
    assert_eq!(overlaps(&link, &linked), [0, 1]);
    assert_eq!(longest_gap_ns(&apart, 0, 20), 15);
}
