//! The words of an answer: every text that carries a verdict is made here, so that terminal, page
//! and JSON say the same, and a test can hold them to the rules: direction in words, a range beside
//! every verdict, "same" never for what could not be told.

mod ranges;

pub use ranges::{
    Sided, amount_within, is_open, outwards, range_in_words, signed_ends, span_in_words,
};
pub(super) use ranges::{last_digit, most};

use super::{Effect, Explained, Prediction, Qualifier, Question, Range, Unseen, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use v6gap_core::arm::{Arm, PerArm};
use v6gap_core::family::Family;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::unit;
use v6gap_core::wiremodel;
use v6gap_core::workload::{Cell, Marking, Transport, Workload};
use v6gap_stats::loss;

/// Words for more and less of a metric's value.
pub(super) struct Directions {
    pub(super) more: &'static str,
    pub(super) less: &'static str,
}

/// The words of a metric.
pub(super) const fn directions(metric: Metric) -> Directions {
    match metric {
        Metric::Throughput => Directions { more: "faster", less: "slower" },
        Metric::Rtt | Metric::RttP50 | Metric::RttP90 | Metric::RttP99 => {
            Directions { more: "longer", less: "shorter" }
        }
        Metric::Lookup
        | Metric::Connect
        | Metric::Tls
        | Metric::Quic
        | Metric::Response
        | Metric::FirstByte => Directions { more: "slower", less: "quicker" },
        Metric::Ipdv | Metric::Pdv | Metric::FrameLateness => {
            Directions { more: "larger", less: "smaller" }
        }
        Metric::PacketRate | Metric::ConnectRate | Metric::Capacity | Metric::RateAtLoss => {
            Directions { more: "higher", less: "lower" }
        }
        Metric::Loss
        | Metric::LossBack
        | Metric::FrameLoss
        | Metric::Reordering
        | Metric::Duplication
        | Metric::Cpu => Directions { more: "more", less: "less" },
    }
}

/// The name of a question, as in "Round trip 64 B, TCP".
/// `mtu` is the path MTU of each arm, as far as it is known.
pub fn label(
    cell: &Cell,
    metric: Metric,
    arms: PerArm<Family>,
    mtu: PerArm<Option<u32>>,
) -> String {
    let transport = cell.workload.transport();
    let size = cell.workload.level_bytes().map(u64::from).map(unit::format_bytes);
    let knobs = cell.workload.suffix_words(metric);
    let marked = marked(&cell.workload);
    let knobs = format!("{knobs}{marked}{}", in_fragments(&cell.workload, arms, mtu));
    let sized = |what: &str| match &size {
        Some(size) => format!("{what} {size}, {}{knobs}", transport.name()),
        None => format!("{what}, {}{knobs}", transport.name()),
    };
    match (metric, transport) {
        (Metric::Throughput, _) if cell.workload.is_of_strangers() => format!("Throughput{knobs}"),
        (Metric::Throughput, Transport::Udp) => sized("Goodput"),
        (Metric::Throughput, _) => sized("Throughput"),
        (Metric::Rtt, _) => sized("Round trip"),
        (Metric::RttP50, _) => sized("Round trip, 50 %,"),
        (Metric::RttP90, _) => sized("Round trip, 90 %,"),
        (Metric::RttP99, _) => sized("Round trip, 99 %,"),
        (Metric::Connect, _) => "Connecting".to_string(),
        (Metric::FirstByte, _) => format!("First byte{knobs}"),
        (Metric::Lookup, _) => "Looking up A and AAAA".to_string(),
        (Metric::Tls, _) => "TLS".to_string(),
        (Metric::Quic, _) => "QUIC".to_string(),
        (Metric::Response, _) => format!("Response{knobs}"),
        (Metric::ConnectRate, _) => "Connections per second".to_string(),
        (Metric::Ipdv, _) => sized("Delay variation, mean,"),
        (Metric::Pdv, _) => sized("Delay variation, 99.9 %,"),
        (Metric::FrameLateness, _) => sized("Lateness of frames, 95 %,"),
        (Metric::PacketRate, _) => sized("Packet rate"),
        (Metric::Capacity, _) => sized("Capacity"),
        (Metric::RateAtLoss, _) => sized("Highest rate"),
        (Metric::Loss, _) => sized("Lost"),
        (Metric::LossBack, _) => sized("Lost on the way back"),
        (Metric::FrameLoss, _) => sized("Frames lost"),
        (Metric::Reordering, _) => sized("Reordered"),
        (Metric::Duplication, _) => sized("Duplicated"),
        (Metric::Cpu, _) => sized("Processor time"),
    }
}

/// How its packets are marked, where they are.
fn marked(workload: &Workload) -> String {
    let Marking { traffic_class, hop_limit, flow_label, dont_fragment: _ } = workload.marking();
    let class = traffic_class.map(|octet| format!(", marked {octet:#04x}"));
    let hops = hop_limit.map(|hops| format!(", {hops} hops"));
    let label = flow_label.map(|label| format!(", flow {label:#07x}"));
    [class, hops, label].into_iter().flatten().collect()
}

/// Into how many packets the path cuts each datagram by the wire model, if not into one.
fn in_fragments(workload: &Workload, arms: PerArm<Family>, mtu: PerArm<Option<u32>>) -> String {
    let count = |arm: Arm| {
        let (family, mtu) = (*arms.get(arm), (*mtu.get(arm))?);
        wiremodel::fragments(workload.datagram_bytes_over(family)?, family, mtu)
    };
    match (count(Arm::A), count(Arm::B)) {
        (None | Some(..=1), None | Some(..=1)) => String::new(),
        (Some(a), Some(b)) if a == b => format!(", in {a} fragments"),
        (Some(a), Some(b)) => {
            let mut pieces = [(arms.a, a), (arms.b, b)];
            pieces.sort_unstable();
            let piece = |(family, count): (Family, usize)| match count {
                0 | 1 => format!(", whole over {family}"),
                many => format!(", in {many} fragments over {family}"),
            };
            pieces.into_iter().map(piece).collect()
        }
        (Some(one), None) | (None, Some(one)) => format!(", in {one} fragments"),
    }
}

/// Fills in the texts of a question that is otherwise complete.
pub(super) fn fill(question: &mut Question, names: &PerArm<String>) {
    let Some(effect) = question.effect.clone() else {
        question.text = "–".to_string();
        question.range_text = "–".to_string();
        question.sentence = unmeasured(question);
        return;
    };
    question.text = text(question, &effect);
    question.range_text = alike(&effect).unwrap_or_else(|| range(question, &effect));
    question.sentence = sentence(question, &effect, names);
}

fn unmeasured(question: &Question) -> String {
    let reason = question.why_none.as_deref().unwrap_or("nothing was measured");
    format!("{} has no verdict: {reason}.", question.label)
}

/// What is unknown of a share of which nothing was seen.
fn none_seen(question: &Question) -> Option<&Unseen> {
    question.unseen.as_ref().filter(|unseen| unseen.seen == 0 && unseen.of > 0)
}

/// The effect in words.
fn text(question: &Question, effect: &Effect) -> String {
    if let Some(unseen) = none_seen(question) {
        return match question.verdict {
            Verdict::CannotTell => format!("none seen, {}", at_most(unseen.in_bursts)),
            _ => "none seen".to_string(),
        };
    }
    let range = Sided { range: &effect.range95, margin: Some(question.margin) };
    match question.verdict {
        Verdict::CannotTell => span_in_words(question.metric, range),
        _ => amount_within(question.metric, effect.estimate, range),
    }
}

/// The bound on what bursts hide: "at most 4.0 % in bursts".
fn at_most(share: f64) -> String {
    format!("at most {} in bursts", rounded_up(share.clamp(0.0, 1.0)))
}

/// That a difference may be chance, of so many questions.
pub(super) fn chance(questions: usize) -> String {
    format!("among {questions} questions such a difference may be chance")
}

/// What a difference of shares that was found does not hold.
pub(super) fn rarer_bursts(missed: f64) -> String {
    let hidden = rounded_up(missed.clamp(0.0, 1.0));
    let most = loss::BURST_MAX;
    format!("bursts of up to {most} packets that are rarer than the trials may hide {hidden} more")
}

/// A share that is never told smaller than it is: "4.0 %", "90 in a million".
fn rounded_up(share: f64) -> String {
    let percent = share * 100.0;
    let places = match percent {
        p if p >= 9.95 => 0,
        p if p >= 0.995 => 1,
        p if p >= 0.0995 => 2,
        _ => return format!("{:.0} in a million", libm::ceil(share * 1e6 - 1e-9) + 0.0),
    };
    let unit = libm::pow(10.0, f64::from(places));
    format!("{:.*} %", places as usize, libm::ceil(percent * unit - 1e-9) / unit)
}

/// One difference with its direction word, as in "1.4 % slower".
pub fn amount(metric: Metric, x: f64) -> String {
    let words = directions(metric);
    let word = if x < 0.0 { words.less } else { words.more };
    format!("{} {word}", amount_of(metric, x))
}

/// A size in the unit of the metric, without a direction, as in "1.4 %".
pub fn amount_of(metric: Metric, x: f64) -> String {
    format!("{} {}", figure(x), metric.scale().unit())
}

/// A margin in the unit of the metric, exact as it was chosen: "2 %", "0.1 points".
pub fn margin_in_words(metric: Metric, margin: f64) -> String {
    format!("{} {}", unit::significant(margin * 100.0, 3), metric.scale().unit())
}

/// A share as a percentage without sign or unit: two significant digits below 10, whole above.
pub fn figure(share: f64) -> String {
    let percent = libm::fabs(share) * 100.0;
    match percent {
        p if !p.is_finite() => "∞".to_string(),
        p if p >= 9.95 => format!("{p:.0}"),
        p if p >= 0.995 => format!("{p:.1}"),
        p if p >= 0.0995 => format!("{p:.2}"),
        p if p >= 0.005 => format!("{p:.3}"),
        0.0 => "0".to_string(),
        _ => "< 0.01".to_string(),
    }
}

/// The range for the table.
fn range(question: &Question, effect: &Effect) -> String {
    if let Some(unseen) = none_seen(question) {
        let singly = rounded_up(unseen.singly);
        return format!("{}, {singly} singly", at_most(unseen.in_bursts));
    }
    table_range(question.metric, decided_by(question.verdict, question.margin, effect))
}

/// A range as [`decided_by`] gives it, for a table.
pub(super) fn table_range(metric: Metric, (range, usual): (Sided<'_>, bool)) -> String {
    let said = range_in_words(metric, range);
    if usual { said } else { format!("90 %: {said}") }
}

/// The range that goes with an answer, and whether it is that of 95 %: "the same" is decided by
/// that of 90 %, which is told where the other one reaches beyond the margin.
pub(super) fn decided_by(verdict: Verdict, margin: f64, effect: &Effect) -> (Sided<'_>, bool) {
    let least = if effect.scale == Scale::Ratio { -margin / (1.0 + margin) } else { -margin };
    let within = least <= effect.range95.low && effect.range95.high <= margin;
    let margin = Some(margin);
    match verdict {
        Verdict::Same if !within => (Sided { range: &effect.range90, margin }, false),
        _ => (Sided { range: &effect.range95, margin }, true),
    }
}

/// Standard deviation of values that are alike but for their last bits.
const SD_OF_ALIKE: f64 = 1e-12;

/// Said in place of a range that has no width: what another pair may give (95 %).
fn alike(effect: &Effect) -> Option<String> {
    // A range may have no width where most values, not all, are alike.
    let none = effect.range95.low == effect.range95.high && effect.sd <= SD_OF_ALIKE;
    let none = none && effect.blocks > 1;
    none.then(|| {
        let others = libm::ceil((1.0 - libm::pow(0.05, 1.0 / effect.blocks as f64)) * 100.0);
        format!(
            "alike in all {} pairs, another value in fewer than {others:.0} % of pairs",
            effect.blocks
        )
    })
}

/// The answer as a sentence, with its range.
fn sentence(question: &Question, effect: &Effect, names: &PerArm<String>) -> String {
    let subject = &question.label;
    let over = &names.b;
    let metric = question.metric;
    let (range, usual) = decided_by(question.verdict, question.margin, effect);
    let level = if usual { "" } else { ", 90 %" };
    let span = alike(effect).unwrap_or_else(|| span_in_words(metric, range) + level);
    let found = amount_within(metric, effect.estimate, range);
    if let Some(unseen) = none_seen(question).filter(|_| question.verdict != Verdict::None) {
        return none_seen_sentence(question, unseen);
    }
    let main = match question.verdict {
        Verdict::None => return unmeasured(question),
        Verdict::Same if question.qualifier == Qualifier::RealButTiny => {
            let found = format!("{found} over {over} ({span})");
            format!("{subject}: {}", tiny("a difference", &found, metric, question.margin))
        }
        Verdict::Same => {
            format!(
                "{subject}: no difference that matters. If there is one it is at most {}{level}; \
                 up to {} was chosen to be ignored.",
                most(metric, range),
                margin_in_words(metric, question.margin)
            )
        }
        Verdict::Better | Verdict::Worse if question.qualifier == Qualifier::Clear => {
            format!("{subject} is {found} over {over} ({span}).")
        }
        Verdict::Better | Verdict::Worse => format!(
            "{subject} is {found} over {over} ({span}). That may be too small to matter \
             ({} was chosen to be ignored).",
            margin_in_words(metric, question.margin)
        ),
        Verdict::CannotTell => {
            let settle = settling(question);
            let bursts = match &question.unseen {
                Some(unseen) => format!(
                    " In bursts of up to {} packets so much may have been missed.",
                    unseen.burst_max
                ),
                None => String::new(),
            };
            format!("{subject}: could not tell. Over {over} it may be {span}.{bursts}{settle}")
        }
    };
    match clause(question) {
        Some(clause) => format!("{main} {clause}"),
        None => main,
    }
}

/// What is there and does not matter, of a difference or a change.
pub(super) fn tiny(what: &str, found: &str, metric: Metric, margin: f64) -> String {
    let ignored = margin_in_words(metric, margin);
    format!(
        "there is {what}, and it does not matter: {found}; up to {ignored} was chosen to be \
         ignored."
    )
}

/// What is hopeless for runs of this kind, and what is not. Of a share that was hardly seen the
/// number of packets decides.
pub fn out_of_reach(question: &Question) -> String {
    let what = if question.unseen.is_some() { "more packets" } else { "less noise" };
    format!("no run of this kind would settle it soon, a larger margin or {what} would")
}

/// What would settle an open question, as a sentence behind another.
fn settling(question: &Question) -> String {
    match question.pairs_to_settle {
        Some(pairs) => format!(" About {} would probably settle it.", more_pairs(pairs)),
        None if question.out_of_reach => {
            format!(" N{}.", out_of_reach(question).trim_start_matches('n'))
        }
        None => String::new(),
    }
}

/// Nothing seen is no certainty that there is nothing.
fn none_seen_sentence(question: &Question, unseen: &Unseen) -> String {
    let Unseen { trials, of, singly, in_bursts, burst_max, .. } = unseen;
    let bursts = at_most(*in_bursts);
    let end = match question.verdict {
        Verdict::Same => {
            let ignored = margin_in_words(question.metric, question.margin);
            format!("; {ignored} was chosen to be ignored.")
        }
        _ => format!(".{}", settling(question)),
    };
    format!(
        "{}: none seen in {of} packets of {trials} trials over either. If they come singly it is \
         at most {}; bursts shorter than a trial may have been missed ({bursts} of up to \
         {burst_max} packets){end}",
        question.label,
        rounded_up(*singly),
    )
}

/// What the prediction adds to a sentence.
fn clause(question: &Question) -> Option<String> {
    let prediction = question.prediction.as_ref()?;
    let predicted = predicted(question.metric, prediction);
    let stands = prediction.verdict != Verdict::None;
    let share = prediction.share.as_ref().filter(|_| stands).and_then(share_in_words);
    let share = share.map(|share| format!(", {share} of it")).unwrap_or_default();
    let exact = if prediction.uncertainty.is_none() { ", taken for exact" } else { "" };
    let said = format!("predicted: {predicted}{share}{exact}");
    let Some(explained) = prediction.explained else {
        // Nothing needs to be explained, or the range is too wide.
        return prediction.share.is_some().then(|| {
            format!("How much of it the longer header explains cannot be told ({said}).")
        });
    };
    Some(match explained {
        Explained::All => format!("The longer header explains it ({said})."),
        Explained::NearlyAll => {
            let left = range_in_words(question.metric, &prediction.residual.range95);
            format!("The longer header explains all but {left} ({said}).")
        }
        Explained::Part => format!(
            "The longer header explains part of it ({said}); the rest is not explained by header \
             size."
        ),
        Explained::Little => format!("Header size explains little of it ({said})."),
        Explained::BetterThanPredicted => {
            let left = range_in_words(question.metric, &prediction.residual.range95);
            format!("That is better than header size allows, by {left} (predicted: {predicted}).")
        }
    })
}

fn predicted(metric: Metric, prediction: &Prediction) -> String {
    match prediction.effect {
        0.0 => "no difference".to_string(),
        effect => amount(metric, effect),
    }
}

/// The part of an effect that is predicted, as in "87 – 103 %"; nothing if that is no part.
fn share_in_words(share: &Range) -> Option<String> {
    let (low, high) = (libm::floor(share.low * 100.0), libm::ceil(share.high * 100.0));
    match (low > 0.0, high < 1000.0) {
        (true, true) => Some(format!("{low:.0} – {high:.0} %")),
        (true, false) => Some(format!("at least {low:.0} %")),
        (false, _) => None,
    }
}

/// "1 router", "3 routers".
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// How many pairs more, in words.
pub fn more_pairs(pairs: u32) -> String {
    counted(pairs as usize, "more pair")
}

/// A question as the subject of a longer sentence, as in "in round trips of 64 B over TCP".
pub fn topic_of(question: &Question) -> String {
    let metric = question.metric;
    let topic = topic(&question.label, metric, question.transport, question.level_bytes);
    match &question.place {
        Some(place) => format!("{topic} at {place}"),
        None => topic,
    }
}

/// The same from its parts. Of visits the version of HTTP is said, which says over what it goes.
pub fn topic(
    label: &str,
    metric: Metric,
    transport: Transport,
    level_bytes: Option<u32>,
) -> String {
    let by = label.split_once(BY_HTTP).and_then(|(_, rest)| rest.split(',').next());
    match by {
        Some(version) if metric == Metric::Throughput => format!("throughput by HTTP/{version}"),
        Some(version) => {
            format!("{} by HTTP/{version}", plain_topic(metric, transport, level_bytes))
        }
        None => plain_topic(metric, transport, level_bytes),
    }
}

/// In front of the version of HTTP in the label of a visit.
const BY_HTTP: &str = ", HTTP/";

fn plain_topic(metric: Metric, transport: Transport, level_bytes: Option<u32>) -> String {
    let size = level_bytes.map(u64::from).map(unit::format_bytes).unwrap_or_default();
    let transport = transport.name();
    match metric {
        Metric::Throughput => format!("{transport} throughput"),
        Metric::Rtt => format!("round trips of {size} over {transport}"),
        Metric::RttP50 => format!("the median of round trips of {size} over {transport}"),
        Metric::RttP90 => format!("the 90th percentile of round trips of {size} over {transport}"),
        Metric::RttP99 => format!("the 99th percentile of round trips of {size} over {transport}"),
        Metric::Connect => "connecting".to_string(),
        Metric::FirstByte => "the first byte".to_string(),
        Metric::Lookup => "looking up the name".to_string(),
        Metric::Tls => "the handshake of TLS".to_string(),
        Metric::Quic => "the handshake of QUIC".to_string(),
        Metric::Response => "the response".to_string(),
        Metric::ConnectRate => "connections per second".to_string(),
        Metric::Ipdv | Metric::Pdv => format!("delay variation over {transport}"),
        Metric::FrameLateness => format!("lateness of frames of {size}"),
        Metric::PacketRate => format!("packets per second of {size}"),
        Metric::Capacity => "capacity".to_string(),
        Metric::RateAtLoss => "the highest rate".to_string(),
        Metric::Loss => "loss".to_string(),
        Metric::LossBack => "loss on the way back".to_string(),
        Metric::FrameLoss => format!("loss of frames of {size}"),
        Metric::Reordering => "reordering".to_string(),
        Metric::Duplication => "duplication".to_string(),
        Metric::Cpu => format!("processor time of {transport}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::workload::Echo;

    /// HTTP/3 goes over UDP, and its throughput is not that of datagrams.
    #[test]
    fn a_visit_is_named_by_its_version_of_http() {
        use v6gap_core::workload::{Http, Visit};
        let of = |http, metric, body_bytes| {
            let visit = Visit { http: Some(http), body_bytes, ..Visit::default() };
            let cell = Cell::named(Workload::Visit(visit));
            let label = label(&cell, metric, PerArm::FAMILIES, PerArm { a: None, b: None });
            topic(&label, metric, cell.workload.transport(), None)
        };
        assert_eq!(of(Http::Three, Metric::Throughput, 20_000_000), "throughput by HTTP/3");
        assert_eq!(of(Http::Two, Metric::Throughput, 20_000_000), "throughput by HTTP/2");
        let usual = Visit::BODY_BYTES;
        assert_eq!(of(Http::One, Metric::FirstByte, usual), "the first byte by HTTP/1.1");
        assert_eq!(of(Http::One, Metric::Connect, usual), "connecting");
        let datagrams = topic("Goodput, UDP", Metric::Throughput, Transport::Udp, None);
        assert_eq!(datagrams, "UDP throughput");
    }

    #[test]
    fn ends_are_rounded_outwards_and_keep_a_width() {
        let told = |low, high| span_in_words(Metric::Rtt, &Range { low, high });
        assert_eq!(told(0.1072, 0.1131), "10.7 to 11.4 % longer");
        assert_eq!(told(0.109985, 0.110015), "10.99 to 11.01 % longer");
        assert_eq!(told(-0.084, -0.011), "1 to 9 % shorter");
        assert_eq!(told(0.0001, 0.0301), "0.01 to 3.01 % longer");
        assert_eq!(told(-0.04, 0.0851), "9 % longer to 4 % shorter");
        let range = range_in_words(Metric::Rtt, &Range { low: -0.0123, high: 0.0045 });
        assert_eq!(range, "−1.3 – +0.5 %");
        let within = Range { low: 0.1072, high: 0.1131 };
        assert_eq!(amount_within(Metric::Rtt, 0.11, &within), "11.0 % longer");
    }

    /// A range within its margin is not told as one beyond it, nor the reverse.
    #[test]
    fn ends_stay_on_their_side_of_the_margin() {
        let told = |low, high, margin| {
            let range = Range { low, high };
            let told = Sided { range: &range, margin: Some(margin) };
            (range_in_words(Metric::Rtt, told), most(Metric::Rtt, told))
        };
        let of = |range: &str, most: &str| (range.to_string(), most.to_string());
        assert_eq!(told(-0.005, 0.0544, 0.05), of("−1 – +6 %", "6 %"));
        assert_eq!(told(-0.005, 0.0544, 0.055), of("−0.5 – +5.5 %", "5.5 %"));
        assert_eq!(told(-0.0123, 0.0123, 0.0124), of("−1.23 – +1.23 %", "1.23 %"));
        assert_eq!(told(0.057, 0.12, 0.055), of("5.7 – 12.0 %", "12.0 %"));
        assert_eq!(margin_in_words(Metric::Rtt, 0.124), "12.4 %");
        assert_eq!(margin_in_words(Metric::Loss, 0.000_04), "0.004 points");
    }

    #[test]
    fn nothing_is_told_that_the_range_does_not_know() {
        let range = Range { low: -0.008, high: 0.008 };
        assert_eq!(amount_within(Metric::Rtt, 0.00009, &range), "< 0.1 % longer");
        assert_eq!(amount_within(Metric::Rtt, -0.0004, &range), "< 0.1 % shorter");
        assert_eq!(amount_within(Metric::Rtt, 0.0, &range), "0 % longer");
        // Of two pairs that are nothing alike.
        let open = Range { low: -1.0, high: 7.8e15 };
        assert_eq!(range_in_words(Metric::Ipdv, &open), "unbounded");
        assert_eq!(span_in_words(Metric::Ipdv, &open), "anything");
        let far = Range { low: 90.0, high: 110.0 };
        assert_eq!(range_in_words(Metric::Connect, &far), "9000 – 11000 %");
    }

    #[test]
    fn a_bound_is_never_told_smaller_than_it_is() {
        let told = [0.0399, 0.123_4, 0.001_519, 89.4e-6, 0.0, 1.0].map(rounded_up);
        let expected = ["4.0 %", "13 %", "0.16 %", "90 in a million", "0 in a million", "100 %"];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_label_says_into_how_many_packets_datagrams_are_cut() {
        let of = |transport, message_bytes, mtu: [Option<u32>; 2]| {
            let echo = Echo { transport, message_bytes, ..Echo::default() };
            let [a, b] = mtu;
            let cell = Cell::named(Workload::Echo(echo));
            label(&cell, Metric::Rtt, PerArm::FAMILIES, PerArm { a, b })
        };
        let ethernet = [Some(1500); 2];
        assert_eq!(of(Transport::Udp, 1452, ethernet), "Round trip 1452 B, UDP");
        // RFC 791 and RFC 8200: 1480 and 1448 bytes of a datagram in a fragment.
        let label = of(Transport::Udp, 1453, ethernet);
        assert_eq!(label, "Round trip 1453 B, UDP, whole over IPv4, in 2 fragments over IPv6");
        assert_eq!(of(Transport::Icmp, 4000, ethernet), "Round trip 4000 B, ICMP, in 3 fragments");
        assert!(of(Transport::Udp, 16_384, ethernet).ends_with(", in 12 fragments"));
        assert_eq!(of(Transport::Tcp, 4000, ethernet), "Round trip 4000 B, TCP");
        assert_eq!(of(Transport::Udp, 4000, [None; 2]), "Round trip 4000 B, UDP");
    }
}
