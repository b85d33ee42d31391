//! What is shown while measuring: a line that is redrawn in place, lines now and then where nobody
//! watches, and events for programs. Between trials only, so that it never shares a processor with
//! one.

use crate::args::{Live, ResultArgs};
use crate::output;
use crate::settings::Context;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use v6gap_core::arm::BlockKind;
use v6gap_core::metric::{Metric, Scale};
use v6gap_core::plan::Stop;
use v6gap_core::record::RunHeader;
use v6gap_core::stopping::SoFar;
use v6gap_core::unit;
use v6gap_engine::run::Event;
use v6gap_report::stream;
use v6gap_report::text::{Glyphs, Style};
use v6gap_sys::clock;

/// Lines come at most this often, in ns.
const LINE_EVERY_NS: u64 = 10_000_000_000;

/// The view of a run.
pub struct Progress {
    live: Live,
    /// Whether programs are told on standard output.
    streams: bool,
    style: Style,
    bar: ProgressBar,
    started_ns: u64,
    last_line_ns: u64,
    time_ns_max: Option<u64>,
    pairs_max: Option<u32>,
    so_far: String,
}

impl Progress {
    /// The view that the options and the terminal ask for.
    pub fn new(result: &ResultArgs, context: &Context) -> Self {
        let live =
            if result.quiet { Live::Off } else { result.live.unwrap_or(context.output.live) };
        let target = match live {
            Live::Inline => ProgressDrawTarget::stderr_with_hz(4),
            Live::Line | Live::Off => ProgressDrawTarget::hidden(),
        };
        let style = context.output.errors;
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        bar.set_style(bar_style(&style));
        Progress {
            live,
            streams: result.json_stream,
            style,
            bar,
            started_ns: clock::now_ns(),
            last_line_ns: 0,
            time_ns_max: None,
            pairs_max: None,
            so_far: String::new(),
        }
    }

    /// Says what is being done before the measurement.
    pub fn say(&mut self, text: &str) {
        self.tell(|| stream::state(text));
        self.bar.set_message(text.to_owned());
        self.line(text);
    }

    /// Tells programs that the server has to be waited for; people are told what they can do.
    pub fn wait(&self, text: &str) {
        self.tell(|| stream::state(text));
    }

    /// Tells programs, if any listen.
    fn tell(&self, line: impl FnOnce() -> String) {
        if self.streams {
            output::to_stdout(&line());
        }
    }

    /// The measurement begins.
    pub fn begin(&mut self, header: &RunHeader) {
        self.tell(|| stream::begin(header));
        let address = |a: Option<std::net::IpAddr>| a.map(|a| a.to_string()).unwrap_or_default();
        let (v4, v6) = (address(header.addresses.v4), address(header.addresses.v6));
        let end = match header.plan.design.stop {
            Stop::Adaptive { time_ns_max, .. } => {
                self.time_ns_max = Some(time_ns_max);
                format!("at most {}", unit::format_span(time_ns_max as f64))
            }
            Stop::Pairs { pairs } => {
                self.pairs_max = Some(pairs);
                format!("{pairs} pairs")
            }
        };
        let text = format!(
            "{} to {}   IPv4 {v4}   IPv6 {v6}   {end}, saved as {}",
            header.hosts.client.name, header.target, header.id
        );
        self.started_ns = clock::now_ns();
        self.print(&text);
    }

    /// Something happened in the run.
    pub fn event(&mut self, event: &Event<'_>) {
        self.tell(|| in_json(event));
        match event {
            Event::Block { round, cell, turn, block } => {
                let what = match block.kind {
                    BlockKind::Compare => format!("pair {round}"),
                    BlockKind::Null(family) => format!("{family} with itself"),
                };
                let place = format!("{}/{}", turn.0, turn.1);
                self.bar.set_position(self.permille(*round, *turn));
                self.bar.set_message(format!("{what} {place} {}  {}", cell.id, self.so_far));
            }
            Event::Done { cell, valid: false, a, b } => {
                let findings = a.findings.iter().chain(&b.findings);
                let why = findings.filter(|f| f.fatal).map(|f| f.seen.as_str()).next();
                let why = why.unwrap_or_default();
                self.bar.set_message(format!("{} again: {why}", cell.id));
            }
            Event::Done { .. } => {}
            Event::Round { rounds, elapsed_ns, so_far } => {
                self.so_far = summary(so_far);
                let left = self.time_ns_max.map(|max| max.saturating_sub(*elapsed_ns));
                let left = left.map(|ns| format!("   at most {} left", seconds(ns)));
                let left = left.unwrap_or_default();
                self.line(&format!("pair {rounds}   {} so far (not final){left}", self.so_far));
            }
        }
    }

    /// The measurement is over; the view goes.
    pub fn end(&mut self) {
        self.bar.finish_and_clear();
    }

    /// How far the run is at most, in thousandths: by time or by pairs.
    fn permille(&self, round: u32, turn: (usize, usize)) -> u64 {
        let within = turn.0 as f64 / turn.1.max(1) as f64;
        let share = match (self.time_ns_max, self.pairs_max) {
            (Some(max), _) => (clock::now_ns() - self.started_ns) as f64 / max.max(1) as f64,
            (None, Some(pairs)) => (f64::from(round) - 1.0 + within) / f64::from(pairs.max(1)),
            (None, None) => 0.0,
        };
        (share.clamp(0.0, 1.0) * 1000.0) as u64
    }

    /// A line where nobody watches, unless one came a moment ago.
    fn line(&mut self, text: &str) {
        let now_ns = clock::now_ns();
        let soon = self.last_line_ns > 0 && now_ns - self.last_line_ns < LINE_EVERY_NS;
        if matches!(self.live, Live::Line) && !soon {
            self.last_line_ns = now_ns;
            self.print(text);
        }
    }

    fn print(&self, text: &str) {
        let text = output::fit(&self.style, text);
        match self.live {
            Live::Inline => self.bar.println(text),
            Live::Line => output::to_stderr(&text),
            Live::Off => {}
        }
    }
}

fn in_json(event: &Event<'_>) -> String {
    match event {
        Event::Block { round, cell, turn, block } => {
            stream::block(*round, &cell.id, block.kind, *turn)
        }
        Event::Done { a, b, valid, .. } => stream::trial(a, *valid) + &stream::trial(b, *valid),
        Event::Round { rounds, elapsed_ns, so_far } => stream::pair(*rounds, *elapsed_ns, so_far),
    }
}

fn bar_style(style: &Style) -> ProgressStyle {
    let (template, chars) = match style.glyphs {
        Glyphs::Unicode => ("{bar:24} {elapsed:>4}  {wide_msg}", "━╸─"),
        Glyphs::Ascii => ("[{bar:24}] {elapsed:>4}  {wide_msg}", "=>-"),
    };
    // The template is a constant that a test reads, so the plain style is never needed.
    let plain = ProgressStyle::default_bar();
    ProgressStyle::with_template(template).unwrap_or(plain).progress_chars(chars)
}

fn seconds(ns: u64) -> String {
    format!("{} s", ns.div_ceil(1_000_000_000))
}

/// The first question of each metric that has a range.
fn summary(so_far: &[SoFar]) -> String {
    let mut parts = Vec::new();
    for metric in Metric::ALL.into_iter().filter(|m| m.scale() == Scale::Ratio) {
        let found = so_far.iter().find(|s| s.metric == metric && !s.text.is_empty());
        parts.extend(found.map(|s| format!("{metric} {}", s.text)));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_ones() {
        for template in ["{bar:24} {elapsed:>4}  {wide_msg}", "[{bar:24}] {elapsed:>4}  {wide_msg}"]
        {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn a_summary_names_each_metric_once() {
        let question = |cell: &str, metric, text: &str| SoFar {
            cell: cell.into(),
            metric,
            blocks: 8,
            text: text.into(),
            range: None,
        };
        let so_far = [
            question("a", Metric::Throughput, "1.4 % slower"),
            question("b", Metric::Rtt, ""),
            question("c", Metric::Rtt, "5.4 % longer"),
        ];
        assert_eq!(summary(&so_far), "throughput 1.4 % slower, rtt 5.4 % longer");
    }
}
