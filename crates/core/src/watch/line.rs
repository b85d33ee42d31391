//! What a visit is as a command line: the program itself measures, as a person would have it do.

use super::{Kind, SECOND_NS, WatchedPath, With};
use crate::record::RunId;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What a light visit between two hosts measures where nothing is said.
const LIGHT: &str = "rtt,connect";

/// Ranges that no day makes so narrow: a visit ends by its time, and what is settled does not rest,
/// or else a change would be looked for where nothing is measured any more.
const PRECISION: &str = "0.001%";

/// Pairs of a visit to a site: few, as it is a stranger's.
const SITE_PAIRS: u32 = 8;

impl WatchedPath {
    /// The words behind the program's name that make one visit; `continued` is the run of the day.
    pub fn line(&self, kind: Kind, continued: Option<&RunId>) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let verb = if self.with == With::Probe { "probe" } else { "run" };
        words.extend([verb.to_owned(), self.host.clone()]);
        // The watch itself waits, and has its other paths measured meanwhile.
        words.push("--no-wait".to_owned());
        match self.with {
            With::Run => self.between_hosts(kind, continued, &mut words),
            With::Probe => self.to_a_site(&mut words),
            With::Stamp | With::Iperf3 => self.against(&mut words),
        }
        self.reach(&mut words);
        words
    }

    fn between_hosts(&self, kind: Kind, continued: Option<&RunId>, words: &mut Vec<String>) {
        words.push(format!("--for={}", self.time()));
        if let Some(id) = continued {
            words.push(format!("--continue={id}"));
            return;
        }
        let measured = match kind {
            Kind::Throughput => "throughput".to_owned(),
            Kind::Light if self.measure.is_empty() => LIGHT.to_owned(),
            Kind::Light => self.measure.join(","),
        };
        words.push(format!("--measure={measured}"));
        words.push(format!("--precision={PRECISION}"));
        self.margins(words);
    }

    fn to_a_site(&self, words: &mut Vec<String>) {
        words.push(format!("--pairs={SITE_PAIRS}"));
        if !self.measure.is_empty() {
            words.push(format!("--measure={}", self.measure.join(",")));
        }
        if let Some(contact) = &self.reach.contact {
            words.push(format!("--contact={contact}"));
        }
        self.margins(words);
    }

    fn against(&self, words: &mut Vec<String>) {
        words.push(format!("--against={}", self.with.name()));
        words.push(format!("--for={}", self.time()));
        if !self.measure.is_empty() {
            words.push(format!("--measure={}", self.measure.join(",")));
        }
        self.margins(words);
    }

    fn margins(&self, words: &mut Vec<String>) {
        let margin = |(metric, share): (&crate::metric::Metric, &String)| {
            let share: String = share.split_whitespace().collect();
            format!("--margin={metric}={share}")
        };
        words.extend(self.margins.iter().map(margin));
    }

    fn reach(&self, words: &mut Vec<String>) {
        let of = &self.reach;
        let options = [
            ("v4", of.addresses.v4.clone()),
            ("v6", of.addresses.v6.clone()),
            ("port", of.port.map(|port| port.to_string())),
            ("key-file", of.key_file.clone()),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        words.extend(given.map(|(name, value)| format!("--{name}={value}")));
        // Between two hosts of one's own nobody has to say so.
        if of.mine && self.with != With::Run {
            words.push("--mine".to_owned());
        }
    }

    fn time(&self) -> String {
        match self.time_ns.is_multiple_of(SECOND_NS) {
            true => format!("{}s", self.time_ns / SECOND_NS),
            false => format!("{}ns", self.time_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use crate::watch::check::check;
    use crate::watch::draft::{Draft, PathDraft, VERSION};

    fn path(change: impl FnOnce(&mut PathDraft)) -> WatchedPath {
        let mut path = PathDraft { host: "lab-b".to_owned(), ..PathDraft::default() };
        change(&mut path);
        let draft = Draft { v6gap: VERSION, paths: [path].to_vec(), ..Draft::default() };
        check(&draft).unwrap().paths.remove(0)
    }

    #[test]
    fn the_first_visit_of_a_day_plans_and_the_others_continue() {
        let path = path(|path| {
            (path.port, path.v6) = (Some(5000), Some("2001:db8::7".to_owned()));
            path.margin.insert("rtt".to_owned(), "2\t% ".to_owned());
        });
        assert_eq!(path.margins.len(), 1);
        assert!(path.margins.contains_key(&Metric::Rtt));
        let first = path.line(Kind::Light, None).join(" ");
        let expected = "run lab-b --no-wait --for=20s --measure=rtt,connect --precision=0.001% \
                        --margin=rtt=2% --v6=2001:db8::7 --port=5000";
        assert_eq!(first, expected);
        let id: RunId = "7k2f9q".parse().unwrap();
        let later = path.line(Kind::Light, Some(&id)).join(" ");
        let expected =
            "run lab-b --no-wait --for=20s --continue=7k2f9q --v6=2001:db8::7 --port=5000";
        assert_eq!(later, expected);
        let loaded = path.line(Kind::Throughput, None).join(" ");
        assert!(loaded.contains("--measure=throughput "), "{loaded}");
    }

    #[test]
    fn other_far_ends_are_measured_by_their_own_words() {
        let site = path(|path| {
            (path.with, path.contact) = (Some("probe".to_owned()), Some("me at home".to_owned()));
        });
        let line = site.line(Kind::Light, None);
        assert_eq!(line, ["probe", "lab-b", "--no-wait", "--pairs=8", "--contact=me at home"]);
        let stamp = path(|path| path.with = Some("stamp".to_owned()));
        let line = stamp.line(Kind::Light, None).join(" ");
        assert_eq!(line, "run lab-b --no-wait --against=stamp --for=20s");
        let iperf = path(|path| {
            (path.with, path.mine) = (Some("iperf3".to_owned()), true);
            path.time = Some("1.5 s".to_owned());
        });
        let line = iperf.line(Kind::Throughput, None).join(" ");
        assert_eq!(line, "run lab-b --no-wait --against=iperf3 --for=1500000000ns --mine");
    }
}
