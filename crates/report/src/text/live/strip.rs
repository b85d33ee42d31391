//! Strips of characters: the course of a family's trials, and where a difference lies.

use crate::text::{Glyphs, Style};
use crate::words;
use v6gap_core::metric::Metric;

/// Columns of a strip of a difference; odd, so that its middle is one.
pub(super) const COLUMNS: usize = 35;

/// Columns on each side of the middle; what lies beyond the axis stands in the last.
const HALF: f64 = (COLUMNS / 2) as f64;

/// Margins that an axis holds at most: more of them and none could be seen.
const MARGINS: f64 = 4.0;

/// Ends of an axis, as shares.
const STEPS: [f64; 12] = [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0];

/// Heights of a value: none, then in eighths.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const BARS_ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// Characters of a strip: outside, too small to matter, middle, both ends of a range, its line.
struct Set {
    outside: char,
    zone: char,
    middle: char,
    ends: [char; 2],
    line: char,
    worse: char,
    better: char,
}

const UNICODE: Set = Set {
    outside: '·',
    zone: '░',
    middle: '│',
    ends: ['╾', '╼'],
    line: '─',
    worse: '▼',
    better: '▲',
};
const ASCII: Set = Set {
    outside: '.',
    zone: ':',
    middle: '|',
    ends: ['<', '>'],
    line: '-',
    worse: 'v',
    better: '^',
};

/// A value by its height among others: 0 is none, 1 the largest.
pub(super) fn bar(share: f64, style: &Style) -> char {
    let bars = match style.glyphs {
        Glyphs::Unicode => BARS,
        Glyphs::Ascii => BARS_ASCII,
    };
    bars[(share.clamp(0.0, 1.0) * 7.0).round() as usize]
}

/// How much of a run is done.
pub(super) fn done(share: f64, columns: usize, style: &Style) -> String {
    let (full, tip, rest) = match style.glyphs {
        Glyphs::Unicode => ('━', '╸', '─'),
        Glyphs::Ascii => ('=', '>', '-'),
    };
    let at = (share.clamp(0.0, 1.0) * columns as f64) as usize;
    (0..columns)
        .map(|column| match column {
            c if c < at => full,
            c if c == at => tip,
            _ => rest,
        })
        .collect()
}

/// A difference that is not final: estimate, range and margin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub metric: Metric,
    pub margin: f64,
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

impl Difference {
    /// Where IPv6 is better to the right: low end, estimate, high end.
    fn advantages(&self) -> [f64; 3] {
        let [a, b] = [self.low, self.high].map(|x| words::advantage(self.metric, x));
        [a.min(b), words::advantage(self.metric, self.estimate), a.max(b)]
    }
}

/// The end of an axis on which the estimates can be seen, and the margins too: what lies beyond
/// [`MARGINS`] of them stands at the end.
pub(super) fn axis(all: &[Difference]) -> f64 {
    let need = |d: &Difference| {
        let usual = d.margin.max(d.estimate.abs());
        usual.max(d.low.abs().max(d.high.abs()).min(usual * 2.5))
    };
    let largest = |f: &dyn Fn(&Difference) -> f64| all.iter().map(f).fold(0.0, f64::max);
    let need = largest(&need).min(largest(&|d| d.margin) * MARGINS);
    STEPS.into_iter().find(|step| *step >= need).unwrap_or(2.0)
}

/// The strip of a difference on an axis that ends at `most`; without one, the margin alone.
pub(super) fn strip(
    (metric, margin): (Metric, f64),
    of: Option<Difference>,
    most: f64,
    style: &Style,
) -> String {
    let set = match style.glyphs {
        Glyphs::Unicode => &UNICODE,
        Glyphs::Ascii => &ASCII,
    };
    let column = |x: f64| (HALF + (x / most).clamp(-1.0, 1.0) * HALF).round() as usize;
    let [one, other] = metric.scale().within(margin).map(|end| words::advantage(metric, end));
    let (worst, best) = (one.min(other), one.max(other));
    let zone = column(worst)..=column(best);
    let ground = |c| if zone.contains(&c) { set.zone } else { set.outside };
    let mut columns: Vec<char> = (0..COLUMNS).map(ground).collect();
    columns[COLUMNS / 2] = set.middle;
    if let Some(of) = of {
        let [low, estimate, high] = of.advantages();
        let (from, to) = (column(low), column(high));
        columns[from..=to].fill(set.line);
        columns[from] = set.ends[0];
        columns[to] = set.ends[1];
        columns[column(estimate)] = if low >= worst && high <= best {
            '='
        } else if high < 0.0 {
            set.worse
        } else if low > 0.0 {
            set.better
        } else {
            '?'
        };
    }
    columns.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Difference =
        Difference { metric: Metric::Rtt, margin: 0.05, estimate: 0.1, low: 0.08, high: 0.12 };

    #[test]
    fn worse_is_on_the_left_whatever_the_sign() {
        let style = Style { glyphs: Glyphs::Ascii, ..Style::default() };
        let longer = strip((RTT.metric, RTT.margin), Some(RTT), 0.2, &style);
        assert!(longer.find('v') < longer.find('|'), "{longer}");
        let rate = Difference { metric: Metric::Throughput, ..RTT };
        let faster = strip((rate.metric, rate.margin), Some(rate), 0.2, &style);
        assert!(faster.find('^') > faster.find('|'), "{faster}");
        assert_eq!((longer.len(), faster.len()), (COLUMNS, COLUMNS));
    }

    #[test]
    fn a_mark_says_no_more_than_the_range() {
        let style = Style::default();
        let mark = |low, high| {
            let of = Difference { estimate: (low + high) / 2.0, low, high, ..RTT };
            strip((of.metric, of.margin), Some(of), axis(&[of]), &style)
        };
        assert!(mark(-0.01, 0.01).contains('='));
        assert!(mark(-0.01, 0.09).contains('?'));
        // A margin of 5 % ends at -4.8 %.
        assert!(!mark(-0.049, 0.01).contains('=') && mark(-0.047, 0.01).contains('='));
        assert!(mark(0.06, 9.0).contains('▼') && mark(-0.3, -0.06).contains('▲'));
        assert!(!mark(f64::NEG_INFINITY, f64::INFINITY).is_empty());
    }

    #[test]
    fn bars_and_what_is_done_stay_in_their_columns() {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let style = Style { glyphs, ..Style::default() };
            for share in [-1.0, 0.0, 0.5, 1.0, 7.0, f64::NAN] {
                assert_eq!(done(share, 30, &style).chars().count(), 30);
                let _ = bar(share, &style);
            }
            assert!(bar(0.0, &style) != bar(1.0, &style));
        }
    }
}
