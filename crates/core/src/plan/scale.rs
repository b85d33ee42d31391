//! Plans made smaller: the same design with less sent, or, as the plan says itself, with fewer
//! tries and levels too.

use super::PAIRS_TO_DECIDE;
use super::check::{check_null_blocks, wrong_pairs};
use super::defaults;
use super::draft::{Counts, Draft, Levels, Measure, Small};
use super::levels::expand_levels;
use crate::metric::Metric;
use crate::problem::Problems;
use crate::unit;
use crate::workload::{Capacity, Echo, Transport, Wait};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Fewest packets that a number of packets is made into.
const PACKETS_MIN: u64 = 2_000;

/// Fewest bytes that a number of bytes is made into: a full window at the beginning of a connection
/// and one more, so that what arrives has a rate.
const BYTES_MIN: u64 = 30_000;

/// Shortest time that a time is made into, in ns.
const TIME_NS_MIN: u64 = 200_000_000;

/// Fewest connections that a number of connections is made into.
const COUNT_MIN: u32 = 24;

/// How much of a plan is measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Scale {
    /// All of it, as the study that it repeats.
    #[default]
    Paper,
    /// What its own `[small]` makes of it.
    Small,
    /// That share of the bytes, packets, exchanges and times; tries and levels as in the plan.
    Share(f64),
}

impl Scale {
    /// The scale that `text` names: `small`, `paper`, or a share as `0.1` or `10 %`.
    ///
    /// # Errors
    /// If it is none of these, in words.
    pub fn parse(text: &str) -> Result<Scale, String> {
        match text {
            "paper" => return Ok(Scale::Paper),
            "small" => return Ok(Scale::Small),
            _ => {}
        }
        match unit::parse_share(text) {
            Ok(share) if share > 0.0 => Ok(Scale::Share(share)),
            _ => Err(format!("\"{text}\" is neither small, paper nor a share such as 0.1 or 10 %")),
        }
    }

    /// The draft at this scale, and what was changed in words; nothing if nothing was.
    ///
    /// # Errors
    /// If the draft does not say what small is.
    pub fn apply(self, draft: &Draft) -> Result<(Draft, Vec<String>), String> {
        match self {
            Scale::Paper => Ok((draft.clone(), Vec::new())),
            Scale::Share(share) => Ok(shared(draft.clone(), share)),
            Scale::Small => small(draft),
        }
    }
}

/// The share that `[small]` leaves, and all that is wrong with it, at whatever scale.
pub(super) fn check_small(small: &Small, problems: &mut Problems) -> f64 {
    let share = problems.read_optional("small.share", small.share.as_ref(), unit::parse_share);
    if share.is_some_and(|share| share <= 0.0) {
        problems.add("small.share", "must be above 0");
    }
    if small.levels == Some(0) {
        problems.add("small.levels", "must be at least 1");
    }
    // Fewer are made as many as decide.
    let pairs = small.pairs.map(|pairs| pairs.max(PAIRS_TO_DECIDE));
    if let Some(wrong) = pairs.and_then(|pairs| wrong_pairs(pairs, false)) {
        problems.add("small.pairs", wrong);
    }
    check_null_blocks("small.null_blocks", small.null_blocks.unwrap_or(0), problems);
    share.unwrap_or(1.0)
}

fn small(draft: &Draft) -> Result<(Draft, Vec<String>), String> {
    let Some(small) = &draft.small else {
        return Err("the plan has no [small] that says what small is; a share as 0.1 works for \
                    every plan"
            .to_string());
    };
    let mut problems = Problems::default();
    let share = check_small(small, &mut problems);
    // The check of the plan tells these, each with its line.
    if !problems.is_empty() {
        return Ok((draft.clone(), Vec::new()));
    }
    let mut scaled = draft.clone();
    let mut said = Vec::new();
    scaled.overall.small = true;
    let all = draft.measure.len();
    let kept = draft.measure.iter().filter(|measure| measure.small != Some(false)).count();
    if kept < all {
        said.push(format!("{kept} of {all} tables"));
    }
    if let Some(pairs) = small.pairs {
        // Enough for a verdict, unless the plan itself has fewer.
        let least = draft.design.pairs.map_or(PAIRS_TO_DECIDE, |own| own.min(PAIRS_TO_DECIDE));
        let pairs = pairs.max(least);
        let otherwise = match draft.design.pairs {
            Some(pairs) => format!(" in place of {pairs}"),
            None if draft.design.precision.is_empty() => String::new(),
            None => " in place of a precision".to_string(),
        };
        said.push(format!("{pairs} pairs{otherwise}"));
        // There is one end. A plan that says both is left for its check to refuse.
        if draft.design.pairs.is_none() {
            scaled.design.precision.clear();
        }
        scaled.design.pairs = Some(pairs);
    }
    if let Some(blocks) = small.null_blocks {
        scaled.design.null_blocks = Some(blocks);
    }
    if let Some(most) = small.levels {
        let levels = if most == 1 { "level" } else { "levels" };
        said.push(format!("at most {most} {levels} of each factor"));
        for measure in &mut scaled.measure {
            thin(measure, most as usize);
        }
    }
    let (scaled, shared) = shared(scaled, share);
    said.extend(shared);
    Ok((scaled, said))
}

/// Every factor of a table with `most` levels at most.
fn thin(measure: &mut Measure, most: usize) {
    let Measure { message, payload, write, bytes, window, mss, streams, .. } = measure;
    for levels in [message, payload, write, bytes, window, mss].into_iter().flatten() {
        let Some(all) = expand_levels(levels).filter(|all| all.len() > most) else { continue };
        let places = spread(all.len(), most);
        *levels = Levels::Many(places.into_iter().map(|at| all[at].clone()).collect());
    }
    if let Some(Counts::Many(all)) = streams
        && all.len() > most
    {
        *all = spread(all.len(), most).into_iter().map(|at| all[at]).collect();
    }
}

/// The first, the last and `most` − 2 between of `count` places, at even distance.
fn spread(count: usize, most: usize) -> Vec<usize> {
    match most {
        1 => alloc::vec![0],
        _ => (0..most).map(|i| (i * (count - 1) + (most - 1) / 2) / (most - 1)).collect(),
    }
}

/// `share` of everything that is sent and of every time.
fn shared(mut draft: Draft, share: f64) -> (Draft, Vec<String>) {
    if share >= 1.0 {
        return (draft, Vec::new());
    }
    let before = draft.clone();
    scale_time(&mut draft.design.max_time, share, TIME_NS_MIN);
    for measure in &mut draft.measure {
        let bounded = measure.bytes.is_some() || measure.packets.is_some();
        let [time_ns_min, turns_min, bytes_min] =
            [time_ns_min(measure), turns_min(measure), bytes_min(measure)];
        // Then the time is only the longest that it may take.
        if !bounded {
            scale_time(&mut measure.time, share, time_ns_min);
            scale_time(&mut measure.warmup, share, TIME_NS_MIN / 4);
        }
        if let Some(packets) = &mut measure.packets {
            *packets = part(*packets, share, PACKETS_MIN);
            // They must not all be sent before it is over.
            scale_time(&mut measure.warmup, share, 0);
        }
        if let Some(turns) = &mut measure.turns {
            let few = u32::try_from(part((*turns).into(), share, turns_min)).unwrap_or(*turns);
            *turns = few.next_multiple_of(2).min(*turns);
        }
        if let Some(count) = &mut measure.count {
            let least = COUNT_MIN.min(*count).into();
            *count = u32::try_from(part((*count).into(), share, least)).unwrap_or(*count);
        }
        if let Some(levels) = &mut measure.bytes
            && let Some(all) = expand_levels(levels)
        {
            let each = |text: &String| match unit::parse_bytes(text) {
                Ok(bytes) => part(bytes, share, bytes_min).to_string(),
                // Left for the check of the plan to refuse.
                Err(_) => text.clone(),
            };
            let mut scaled: Vec<String> = all.iter().map(each).collect();
            scaled.dedup();
            *levels = match &scaled[..] {
                [one] => Levels::One(one.clone()),
                _ => Levels::Many(scaled),
            };
        }
    }
    let share = unit::format_share(share);
    let said = || format!("{share} of the bytes, packets, exchanges and times");
    let said = (draft != before).then(said).into_iter().collect();
    (draft, said)
}

/// Shortest time that a time of the table is made into, in ns.
fn time_ns_min(measure: &Measure) -> u64 {
    match measure.metric == Metric::Capacity.name() {
        true => Capacity::LOAD_NS_MIN,
        false => TIME_NS_MIN,
    }
}

/// Exchanges of which no fewer are left to a trial of the table, where percentiles need them.
fn exchanges_min(measure: &Measure) -> Option<u64> {
    let has_tails = measure.also.iter().any(|also| also == "tails");
    has_tails.then_some(Echo::TAILS_EXCHANGES_MIN.into())
}

/// Fewest turns that the turns of the table are made into: one of either order, or more.
fn turns_min(measure: &Measure) -> u64 {
    let shortest = || defaults::echo(Transport::Tcp, u32::MAX, Wait::Block).turn_exchanges;
    let turn = measure.turn.unwrap_or_else(shortest).max(1);
    exchanges_min(measure).map_or(2, |exchanges| exchanges.div_ceil(turn.into()).max(2))
}

/// Fewest bytes that the bytes of the table are made into.
fn bytes_min(measure: &Measure) -> u64 {
    let bytes = |text: String| unit::parse_bytes(&text).ok();
    let longest = match &measure.message {
        Some(levels) => expand_levels(levels).into_iter().flatten().filter_map(bytes).max(),
        None => defaults::MESSAGE_BYTES.into_iter().map(u64::from).max(),
    };
    let needed = exchanges_min(measure).map(|count| count.saturating_mul(longest.unwrap_or(1)));
    needed.unwrap_or(0).max(BYTES_MIN)
}

fn part(of: u64, share: f64, least: u64) -> u64 {
    // Far below 2^53, where a float has every whole number.
    ((of as f64 * share) as u64).max(least.min(of)).max(1)
}

fn scale_time(text: &mut Option<String>, share: f64, least_ns: u64) {
    let Some(Ok(ns)) = text.as_deref().map(unit::parse_span) else { return };
    *text = Some(format!("{} ns", part(ns, share, least_ns)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::check::check;
    use crate::plan::draft::{Design, Range, VERSION};
    use crate::workload::Workload;

    fn measure(text: &str) -> Measure {
        serde_json::from_str(text).unwrap()
    }

    fn draft() -> Draft {
        let mut windows =
            measure(r#"{"metric":"throughput","window":["8 KiB","16 KiB","64 KiB"]}"#);
        windows.bytes = Some(Levels::Range(Range {
            from: "100 MB".to_string(),
            to: "1000 MB".to_string(),
            factor: None,
            step: Some("100 MB".to_string()),
        }));
        let more = measure(r#"{"metric":"throughput","bytes":"61 MB","small":false}"#);
        Draft {
            v6gap: VERSION,
            design: Design { pairs: Some(10), ..Design::default() },
            small: Some(Small {
                pairs: Some(5),
                null_blocks: Some(0),
                levels: Some(2),
                share: Some("0.1 %".to_string()),
            }),
            measure: alloc::vec![windows, more],
            ..Draft::default()
        }
    }

    fn bytes(draft: &Draft) -> Vec<u64> {
        let plan = check(draft, 1).unwrap();
        let of = |workload: &Workload| match workload {
            Workload::TcpBulk(bulk) => bulk.bytes.unwrap(),
            other => panic!("{other:?}"),
        };
        plan.cells.iter().map(|cell| of(&cell.workload)).collect()
    }

    #[test]
    fn small_keeps_the_ends_of_every_factor() {
        let (small, said) = Scale::Small.apply(&draft()).unwrap();
        assert_eq!(bytes(&small), [100_000, 100_000, 1_000_000, 1_000_000]);
        assert_eq!(check(&small, 1).unwrap().design.null_blocks, 0);
        assert_eq!(
            said,
            [
                "1 of 2 tables",
                "6 pairs in place of 10",
                "at most 2 levels of each factor",
                "0.1 % of the bytes, packets, exchanges and times"
            ]
        );
    }

    #[test]
    fn small_has_so_many_pairs_in_place_of_a_precision() {
        let mut draft = draft();
        draft.design.pairs = None;
        draft.design.precision.insert("throughput".to_string(), "1 %".to_string());
        let (small, said) = Scale::Small.apply(&draft).unwrap();
        let plan = check(&small, 1).unwrap();
        assert!(plan.design.precision.is_empty(), "{plan:?}");
        assert_eq!(said[1], "6 pairs in place of a precision");
        draft.design.pairs = Some(10);
        let (both, _) = Scale::Small.apply(&draft).unwrap();
        assert_eq!(check(&both, 1).unwrap_err()[0].key, "design.precision");
    }

    #[test]
    fn small_has_fewer_numbers_of_streams() {
        let mut draft = draft();
        draft.measure[0].streams = Some(Counts::Many(alloc::vec![1, 2, 4, 8]));
        let (small, _) = Scale::Small.apply(&draft).unwrap();
        assert_eq!(small.measure[0].streams, Some(Counts::Many(alloc::vec![1, 8])));
        assert_eq!(bytes(&small).len(), 8);
    }

    /// Its place in the file is what tells a person where to look.
    #[test]
    fn a_table_is_named_by_its_place_in_the_plan() {
        let mut draft = draft();
        draft.measure.reverse();
        draft.measure[1].write = Some(Levels::One("0 B".to_string()));
        let (small, said) = Scale::Small.apply(&draft).unwrap();
        let problems = check(&small, 1).unwrap_err();
        assert_eq!(problems[0].key, "measure[1].write", "{problems:?}");
        assert_eq!(said[0], "1 of 2 tables");
        draft.measure.pop();
        let (none, _) = Scale::Small.apply(&draft).unwrap();
        assert_eq!(check(&none, 1).unwrap_err()[0].key, "measure");
    }

    /// Of the plan's five pairs that small would have, unless the plan has fewer by itself.
    #[test]
    fn small_can_decide_wherever_the_plan_can() {
        for (own, small) in [(Some(10), 6), (None, 6), (Some(3), 5), (Some(6), 6)] {
            let mut draft = draft();
            draft.design.pairs = own;
            let (scaled, _) = Scale::Small.apply(&draft).unwrap();
            assert_eq!(scaled.design.pairs, Some(small), "{own:?}");
        }
    }

    #[test]
    fn a_share_keeps_tries_and_levels() {
        let (scaled, _) = Scale::Share(0.1).apply(&draft()).unwrap();
        let found = bytes(&scaled);
        assert_eq!((found.len(), found[0], found[30]), (31, 10_000_000, 6_100_000));
        assert_eq!(scaled.design.pairs, Some(10));
        let (whole, said) = Scale::Paper.apply(&draft()).unwrap();
        assert_eq!((whole, said), (draft(), Vec::new()));
    }

    #[test]
    fn levels_between_the_ends_lie_at_even_distance() {
        assert_eq!(spread(11, 3), [0, 5, 10]);
        assert_eq!(spread(8, 3), [0, 4, 7]);
        assert_eq!(spread(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(spread(9, 1), [0]);
    }

    #[test]
    fn a_number_of_packets_or_a_time_is_never_made_too_small() {
        let text = r#"{"metric":"throughput","protocol":"udp","packets":1000000,"time":"5 min"}"#;
        let timed = measure(r#"{"metric":"throughput","time":"10 s","warmup":"1 s"}"#);
        let draft = Draft {
            v6gap: VERSION,
            measure: alloc::vec![measure(text), timed],
            ..Draft::default()
        };
        let (scaled, _) = Scale::Share(1e-5).apply(&draft).unwrap();
        assert_eq!(scaled.measure[0].packets, Some(PACKETS_MIN));
        assert_eq!(scaled.measure[0].time.as_deref(), Some("5 min"), "that is only a limit");
        assert_eq!(scaled.measure[1].time.as_deref(), Some("200000000 ns"));
    }

    /// A search by load lasts 2 s or more, and percentiles are of 100 exchanges or more.
    #[test]
    fn what_needs_more_is_not_made_smaller_than_that() {
        let rtt = |rest: &str| format!(r#"{{"metric":"rtt","also":["tails"],{rest}}}"#);
        let tables = [
            r#"{"metric":"capacity","time":"10 s"}"#.to_string(),
            rtt(r#""message":"64 B","turn":8,"turns":1000"#),
            rtt(r#""message":"16 KiB","turns":200"#),
            rtt(r#""message":["128 B","1 KiB"],"bytes":"100 MB""#),
        ];
        let draft = Draft {
            v6gap: VERSION,
            measure: tables.iter().map(|text| measure(text)).collect(),
            ..Draft::default()
        };
        let (scaled, _) = Scale::Share(1e-4).apply(&draft).unwrap();
        assert_eq!(check(&scaled, 1).map(|plan| plan.cells.len()), Ok(5));
        let [search, eights, usual, counted] = &scaled.measure[..] else { panic!("{scaled:?}") };
        assert_eq!(search.time.as_deref(), Some("2000000000 ns"));
        assert_eq!((eights.turns, usual.turns), (Some(14), Some(20)));
        assert_eq!(counted.bytes, Some(Levels::One("102400".to_string())));
    }

    #[test]
    fn what_small_is_has_to_be_right_at_every_scale() {
        let of = |small: Small| {
            let draft = Draft { small: Some(small), ..draft() };
            let (scaled, _) = Scale::Small.apply(&draft).unwrap();
            [draft, scaled].map(|draft| check(&draft, 1).err().unwrap_or_default())
        };
        let wrong = [
            (Small { share: Some("lots".to_string()), ..Small::default() }, "small.share"),
            (Small { share: Some("0".to_string()), ..Small::default() }, "small.share"),
            (Small { levels: Some(0), ..Small::default() }, "small.levels"),
            (Small { pairs: Some(10_001), ..Small::default() }, "small.pairs"),
            (Small { null_blocks: Some(101), ..Small::default() }, "small.null_blocks"),
        ];
        for (small, key) in wrong {
            for problems in of(small) {
                let keys: Vec<&str> = problems.iter().map(|p| p.key.as_str()).collect();
                assert_eq!(keys, [key]);
            }
        }
        assert_eq!(of(Small::default()), [Vec::new(), Vec::new()]);
    }

    #[test]
    fn scales_are_read() {
        assert_eq!(Scale::parse("small"), Ok(Scale::Small));
        assert_eq!(Scale::parse("0.25"), Ok(Scale::Share(0.25)));
        assert_eq!(Scale::parse("5 %"), Ok(Scale::Share(0.05)));
        for wrong in ["tiny", "0", "2", "-1"] {
            assert!(Scale::parse(wrong).is_err(), "{wrong}");
        }
        let bare = Draft { small: None, ..draft() };
        assert!(Scale::Small.apply(&bare).unwrap_err().contains("[small]"));
    }
}
