//! What is shown while measuring: a view that is redrawn in place, lines now and then where nobody
//! watches, and events for programs.

use super::view::{LONG_NS, View};
use crate::args::{Live as How, ResultArgs};
use crate::output::{self, LINE_EVERY_NS};
use crate::settings::Context;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use v6gap_core::family::Family;
use v6gap_core::plan::Stop;
use v6gap_core::record::RunHeader;
use v6gap_core::run::{Attempt, Event};
use v6gap_core::unit;
use v6gap_core::wire::control::Queued;
use v6gap_judge::analysis::words;
use v6gap_perform::{News, Occupant, Watcher, stranger};
use v6gap_report::stream;
use v6gap_report::text::{Live, Style};
use v6gap_sys::clock::now_ns;

/// What is shown of a run.
pub struct Progress {
    how: How,
    /// Whether programs are told on standard output.
    streams: bool,
    /// Whether standard input is free for keys.
    keys: bool,
    style: Style,
    /// Set by the view too.
    stop: Arc<AtomicBool>,
    view: Option<View>,
    /// The run as lines tell it; the view has its own.
    live: Option<Live>,
    started_ns: u64,
    last_line_ns: u64,
    /// The shorter of the latest trials of each cell, in ns.
    took_ns: BTreeMap<String, u64>,
}

impl Progress {
    /// The view that the options and the terminal ask for; it may set `stop`.
    pub fn new(result: &ResultArgs, stop: &Arc<AtomicBool>, context: &Context) -> Self {
        let how = if result.quiet { How::Off } else { result.live.unwrap_or(context.output.live) };
        let style = context.output.errors;
        Progress {
            how,
            streams: result.json_stream,
            keys: !result.stop_at_eof,
            style,
            stop: Arc::clone(stop),
            view: matches!(how, How::Inline).then(|| View::new(style)),
            live: None,
            started_ns: now_ns(),
            last_line_ns: 0,
            took_ns: BTreeMap::new(),
        }
    }

    /// How the run is shown, as its result tells.
    pub fn name(&self) -> &'static str {
        match self.how {
            How::Inline => "inline",
            How::Line => "line",
            How::Off => "off",
        }
    }

    /// Says what is being done before the measurement.
    pub fn say(&mut self, text: &str) {
        self.tell(|| stream::state(text));
        if let Some(view) = &self.view {
            view.say(text);
        }
        self.line(|_, _| text.to_owned());
    }

    /// The server has to be waited for: programs are told, and people what they can do.
    fn wait(&self, target: &str, queued: &Queued) {
        let text = waits(target, queued);
        self.tell(|| stream::state(&text));
        say_waits(&text);
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
                format!("at most {}", unit::format_span(time_ns_max as f64))
            }
            Stop::Pairs { pairs } => format!("{pairs} pairs"),
        };
        let further = match header.address_pairs.len().saturating_sub(1) {
            0 => String::new(),
            many => format!(" and {}", words::counted(many, "further pair")),
        };
        self.print(&format!(
            "{} to {}   IPv4 {v4}   IPv6 {v6}{further}   {end}, saved as {}",
            header.hosts.client.name, header.target, header.id
        ));
        if let Some(bodies) = stranger::to_download(&header.plan) {
            self.print(&format!("to be asked of the host: {bodies}; what fails is asked again"));
        }
        self.started_ns = now_ns();
        let live = Live::new(header);
        if let Some(view) = &mut self.view {
            view.begin(live.clone(), self.keys, &self.stop);
        }
        self.live = Some(live);
    }

    /// A trial is about to begin.
    fn before(&mut self, attempt: &Attempt<'_>, family: Option<Family>) {
        let Some(view) = &self.view else { return };
        view.change(|live| live.turn(family));
        let took_ns = self.took_ns.get(&attempt.cell.id).copied().unwrap_or(0);
        // Where both take turns, each of them is short, however long all of them take.
        view.before(family.is_some() && took_ns >= LONG_NS);
    }

    /// Something happened in the run.
    pub fn event(&mut self, event: &Event<'_>) {
        self.tell(|| in_json(event));
        if let Event::Done { cell, a, b, .. } = event {
            self.took_ns.insert(cell.id.clone(), a.duration_ns.min(b.duration_ns));
        }
        if let Some(view) = &self.view {
            view.change(|live| note(live, event));
        }
        if let Some(live) = &mut self.live {
            note(live, event);
        }
        if let Event::Round { elapsed_ns, .. } = event {
            self.line(|live, style| live.map_or_else(String::new, |l| l.line(*elapsed_ns, style)));
        }
    }

    /// The measurement is over; the view goes.
    pub fn end(&mut self) {
        self.view = None;
    }

    /// A line where nobody watches, unless one came a moment ago.
    fn line(&mut self, text: impl FnOnce(Option<&Live>, &Style) -> String) {
        let now_ns = now_ns();
        let soon = self.last_line_ns > 0 && now_ns - self.last_line_ns < LINE_EVERY_NS;
        if matches!(self.how, How::Line) && !soon {
            self.last_line_ns = now_ns;
            self.print(&text(self.live.as_ref(), &self.style));
        }
    }

    fn print(&self, text: &str) {
        let text = output::fit(&self.style, text);
        match (&self.view, self.how) {
            (Some(view), _) => view.print(&text),
            (None, How::Line) => output::to_stderr(&text),
            (None, How::Inline | How::Off) => {}
        }
    }
}

impl Watcher for Progress {
    fn told(&mut self, news: &News<'_>) {
        match news {
            News::Waits { target, queued } => self.wait(target, queued),
            News::Occupied(occupant) => say_occupied(occupant, self.streams),
            News::Located(note) => self.say(note),
            News::Fitted(note) => {
                output::to_stderr(&output::wrap(&format!("note: {note}"), 80, "  "));
            }
            News::Tests => self.say("testing the lab's links"),
            News::Plays => self.say("a recording: nothing is measured"),
            News::Begins(header) => self.begin(header),
            News::Before(attempt, family) => self.before(attempt, *family),
            News::Run(event) => self.event(event),
            News::Device(trouble) => output::to_stderr(trouble),
            News::Over => self.end(),
            News::Asked { connections, queries, bytes } => {
                let asked = stranger::asked(*connections, *queries, *bytes);
                self.print(&format!("asked of the host in all: {asked}"));
            }
            // Not of a run.
            News::Placements | News::Noise { .. } => {}
        }
    }
}

/// That a server has to be waited for.
fn waits(target: &str, queued: &Queued) -> String {
    format!(
        "waiting: {target} is measuring for {} (since {} s); place {} in the queue",
        queued.by, queued.seconds, queued.place
    )
}

fn say_waits(text: &str) {
    output::to_stderr(&format!("{text}\n  Ctrl-C gives up; --no-wait fails at once."));
}

/// That somebody else measures on this host and is waited for: for people, and for programs where
/// these listen.
pub fn say_occupied(occupant: &Occupant, streams: bool) {
    let text = format!("waiting: this host is being measured {occupant}");
    let text = output::fit(&Style::default(), &text);
    if streams {
        output::to_stdout(&stream::state(&text));
    }
    say_waits(&text);
}

/// Tells people alone, and of nothing but that they have to wait.
pub fn only_waits(news: &News<'_>) {
    match news {
        News::Waits { target, queued } => say_waits(&waits(target, queued)),
        News::Occupied(occupant) => say_occupied(occupant, false),
        _ => {}
    }
}

/// What a run that is being measured has learnt.
fn note(live: &mut Live, event: &Event<'_>) {
    match event {
        Event::Block { cell, turn, block } => {
            live.block(block.round, &cell.id, block.kind, *turn);
        }
        Event::Done { a, b, valid, .. } => live.trials(a, b, *valid),
        Event::Round { rounds, so_far, .. } => live.round(*rounds, so_far),
    }
}

fn in_json(event: &Event<'_>) -> String {
    match event {
        Event::Block { cell, turn, block } => {
            stream::block(block.round, &cell.id, block.kind, *turn)
        }
        Event::Done { a, b, valid, .. } => stream::trial(a, *valid) + &stream::trial(b, *valid),
        Event::Round { rounds, elapsed_ns, so_far } => stream::pair(*rounds, *elapsed_ns, so_far),
    }
}
