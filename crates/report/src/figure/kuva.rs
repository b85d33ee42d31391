//! The only module that knows the plotting library: panels with axes, lines and our own marks.
//!
//! The library scales axes, chooses ticks, draws lines and writes SVG; this module adds the marks
//! it lacks, takes all colours from the page's variables, and puts title and description on top. A
//! `$` is escaped because the library would read formulas between two of them.

mod canvas;
mod scene;

pub(super) use canvas::{Align, Canvas, width_of};

use super::font::FAMILY;
use super::{Paint, Picture};
use kuva::backend::svg::SvgBackend;
use kuva::plot::line::{LinePlot, LineStyle};
use kuva::render::color::Color;
use kuva::render::layout::{ComputedLayout, Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor, render_multiple};
use kuva::render::render_utils::{generate_ticks, generate_ticks_log};
use kuva::render::theme::Theme;
use std::sync::Arc;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// What something is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Arm(Arm),
    ArmText(Arm),
    Verdict(Verdict),
    Text,
    Faint,
    Axis,
    Grid,
    Zone,
    Card,
    /// Behind a verdict of better or worse.
    Soft(Verdict),
    /// The same in every theme, as on a scale of magnitudes.
    Fixed(&'static str),
}

impl Ink {
    fn css(self, paint: Paint) -> &'static str {
        let (page, paper) = match self {
            Ink::Arm(Arm::A) => ("var(--a)", "#0072B2"),
            Ink::Arm(Arm::B) => ("var(--b)", "#D55E00"),
            Ink::ArmText(Arm::A) => ("var(--a-text)", "#005A8C"),
            Ink::ArmText(Arm::B) => ("var(--b-text)", "#A84800"),
            Ink::Verdict(Verdict::Better) => ("var(--better)", "#08753A"),
            Ink::Verdict(Verdict::Worse) => ("var(--worse)", "#7A22A8"),
            Ink::Verdict(_) => ("var(--same)", "#4A5362"),
            Ink::Text => ("var(--ink2)", "#454E5C"),
            Ink::Faint => ("var(--ink3)", "#5F6978"),
            Ink::Axis => ("var(--axis)", "#9AA4B2"),
            Ink::Grid => ("var(--grid)", "#E9ECF1"),
            Ink::Zone => ("var(--zone)", "#E6E9EE"),
            Ink::Card => ("var(--card)", "#FFFFFF"),
            Ink::Soft(Verdict::Better) => ("var(--better-soft)", "#E4F4EA"),
            Ink::Soft(Verdict::Worse) => ("var(--worse-soft)", "#F3E8FA"),
            Ink::Soft(Verdict::Same) => ("var(--zone)", "#E6E9EE"),
            Ink::Soft(_) => ("var(--card)", "#FFFFFF"),
            Ink::Fixed(colour) => (colour, colour),
        };
        match paint {
            Paint::Page => page,
            Paint::Paper => paper,
        }
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The first arm is solid, the second dashed, so that they differ without colour.
    pub(super) fn of(arm: Arm) -> Self {
        match arm {
            Arm::A => Stroke::Solid,
            Arm::B => Stroke::Dashed,
        }
    }

    fn dashes(self) -> &'static str {
        match self {
            Stroke::Solid => "none",
            Stroke::Dashed => "7 4",
            Stroke::Dotted => "2 4",
        }
    }
}

/// Where a panel stands and what its axes span.
pub(super) struct Frame<'a> {
    pub top: f64,
    pub height: f64,
    pub x: (f64, f64),
    pub y: (f64, f64),
    pub log_y: bool,
    /// Positions and texts of the marks on the x axis; texts may be empty.
    pub x_ticks: &'a [(f64, String)],
    /// Text of a mark on the y axis.
    pub y_tick: Arc<dyn Fn(f64) -> String + Send + Sync>,
    /// What the y axis shows, above its upper end.
    pub y_title: String,
}

/// Width of every figure, in its own units.
pub(super) const WIDTH: f64 = 520.0;
/// Where the axes begin.
pub(super) const LEFT: f64 = 100.0;
const RIGHT: f64 = 68.0;
const ABOVE: f64 = 26.0;
const BELOW: f64 = 26.0;
/// Height of all text.
pub(super) const TICK: u32 = 12;

/// One pair of axes and what is drawn on it.
pub(super) struct Panel {
    top: f64,
    layout: Layout,
    area: ComputedLayout,
    lines: Vec<Plot>,
    below: Vec<Primitive>,
    marks: Vec<Primitive>,
    paint: Paint,
}

impl Panel {
    pub(super) fn new(frame: &Frame<'_>, paint: Paint) -> Self {
        let mut layout = Layout::new(frame.x, frame.y)
            .with_width(WIDTH)
            .with_height(frame.height)
            .with_force_margins(LEFT, RIGHT)
            .with_force_margins_y(ABOVE, BELOW)
            .with_x_axis_min(frame.x.0)
            .with_x_axis_max(frame.x.1)
            .with_y_axis_min(frame.y.0)
            .with_y_axis_max(frame.y.1)
            .with_show_grid(false)
            .with_tick_size(TICK)
            .with_tick_length(0.0)
            .with_ticks(5)
            .with_theme(theme(paint));
        layout.suppress_x_ticks = true;
        layout.y_tick_format = TickFormat::Custom(frame.y_tick.clone());
        layout.log_y = frame.log_y;
        let ticks = if frame.log_y {
            generate_ticks_log(frame.y.0, frame.y.1)
        } else {
            generate_ticks(frame.y.0, frame.y.1, 5)
        };
        let area = ComputedLayout::from_layout(&layout);
        let (lines, below, marks) = (Vec::new(), Vec::new(), Vec::new());
        let mut panel = Panel { top: frame.top, layout, area, lines, below, marks, paint };
        for y in ticks.into_iter().filter(|y| (frame.y.0..=frame.y.1).contains(y)) {
            panel.grid_line(y);
        }
        let foot = frame.height - BELOW;
        for (x, text) in frame.x_ticks {
            let at = panel.area.map_x(*x);
            panel.stroke((at, foot), (at, foot + 4.0), Ink::Axis, 1.0, Stroke::Solid);
            panel.label((at, foot + 18.0), text, TextAnchor::Middle, Ink::Faint, false);
        }
        panel.label((12.0, 14.0), &frame.y_title, TextAnchor::Start, Ink::Text, true);
        panel
    }

    /// A band between two values: differences in it are too small to matter.
    pub(super) fn zone(&mut self, low: f64, high: f64) {
        let (bottom, top) = self.layout.y_range;
        let (high, low) = (self.area.map_y(high.min(top)), self.area.map_y(low.max(bottom)));
        let zone = Primitive::Rect {
            x: LEFT,
            y: high,
            width: WIDTH - RIGHT - LEFT,
            height: low - high,
            fill: Color::from(Ink::Zone.css(self.paint)),
            stroke: None,
            stroke_width: None,
            opacity: None,
        };
        self.below.insert(0, zone);
    }

    fn grid_line(&mut self, y: f64) {
        let y = self.area.map_y(y);
        self.below.push(Primitive::Line {
            x1: LEFT,
            y1: y,
            x2: WIDTH - RIGHT,
            y2: y,
            stroke: Color::from(Ink::Grid.css(self.paint)),
            stroke_width: 1.0,
            stroke_dasharray: None,
        });
    }

    /// A line through points.
    pub(super) fn line(&mut self, points: &[(f64, f64)], ink: Ink, stroke: Stroke, width: f64) {
        let drawable = |(x, y): &&(f64, f64)| {
            x.is_finite() && y.is_finite() && (*y > 0.0 || !self.layout.log_y)
        };
        let line = LinePlot::new()
            .with_data(points.iter().filter(drawable).copied())
            .with_color(ink.css(self.paint))
            .with_stroke_width(width)
            .with_line_style(LineStyle::Custom(stroke.dashes().to_owned()));
        self.lines.push(line.into());
    }

    /// A straight line between two points of the data.
    pub(super) fn link(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, width: f64) {
        if let (Some(from), Some(to)) = (self.at(from), self.at(to)) {
            self.stroke(from, to, ink, width, Stroke::Solid);
        }
    }

    /// A line across the panel.
    pub(super) fn level(&mut self, y: f64, ink: Ink, stroke: Stroke) {
        if let Some((_, y)) = self.at((self.layout.x_range.0, y)) {
            self.stroke((LEFT, y), (WIDTH - RIGHT, y), ink, 1.5, stroke);
        }
    }

    /// A dotted line from the top of the panel to its foot.
    pub(super) fn upright(&mut self, x: f64, ink: Ink) {
        let (bottom, top) = self.layout.y_range;
        if let (Some(from), Some(to)) = (self.at((x, bottom)), self.at((x, top))) {
            self.stroke(from, to, ink, 1.2, Stroke::Dotted);
        }
    }

    /// A value of an arm: a hollow circle for the first, a filled diamond for the second.
    pub(super) fn value(&mut self, at: (f64, f64), arm: Arm, size: f64) {
        let Some(place) = self.at(at) else { return };
        self.marks.push(mark_of(arm, place, size, self.paint));
    }

    /// A small dot.
    pub(super) fn dot(&mut self, at: (f64, f64), ink: Ink) {
        let Some((x, y)) = self.at(at) else { return };
        let d = format!("M{:.1} {:.1}h5v5h-5z", x - 2.5, y - 2.5);
        self.marks.push(path(d, ink, Ink::Card, 0.8, self.paint));
    }

    /// The shape of a verdict.
    pub(super) fn verdict(&mut self, at: (f64, f64), verdict: Verdict) {
        let Some((x, y)) = self.at(at) else { return };
        let ink = Ink::Verdict(verdict);
        let solid = |d: String| path(d, ink, Ink::Card, 0.8, self.paint);
        let mark = match verdict {
            Verdict::Worse => solid(format!("M{:.1} {:.1}h13l-6.5 11.5z", x - 6.5, y - 5.0)),
            Verdict::Better => solid(format!("M{:.1} {:.1}h13l-6.5 -11.5z", x - 6.5, y + 5.0)),
            Verdict::Same => solid(format!("M{:.1} {:.1}h10v10h-10z", x - 5.0, y - 5.0)),
            Verdict::CannotTell | Verdict::None => circle((x, y), 5.0, Ink::Card, ink, self.paint),
        };
        self.marks.push(mark);
    }

    /// A range: a thick bar between two values, cut at the ends of the axis.
    pub(super) fn range(&mut self, x: f64, low: f64, high: f64, ink: Ink) {
        let (bottom, top) = self.layout.y_range;
        let within = |y: f64| if y.is_nan() { bottom } else { y.clamp(bottom, top) };
        self.link((x, within(low)), (x, within(high)), ink, 3.2);
    }

    /// What somebody else published: short strokes at both ends of what was said, and a thin line
    /// between them.
    pub(super) fn published(&mut self, x: f64, low: f64, high: f64, ink: Ink) {
        const HALF: f64 = 7.0;
        let (bottom, top) = self.layout.y_range;
        let within = |y: f64| y.clamp(bottom, top);
        let ends = (self.at((x, within(low))), self.at((x, within(high))));
        let (Some((x, low)), Some((_, high))) = ends else { return };
        for y in [low, high] {
            self.stroke((x - HALF, y), (x + HALF, y), ink, 2.0, Stroke::Solid);
        }
        self.stroke((x, low), (x, high), ink, 1.0, Stroke::Solid);
    }

    /// A bar from nothing up to a value, between two places of the x axis.
    pub(super) fn bar(&mut self, (left, right): (f64, f64), y: f64, arm: Arm) {
        let Some((left, top)) = self.at((left, y)) else { return };
        let (right, foot) = (self.area.map_x(right), self.area.map_y(0.0));
        let d = format!("M{left:.1} {foot:.1}V{top:.1}H{right:.1}V{foot:.1}z");
        self.marks.push(path(d, Ink::Arm(arm), Ink::Card, 1.0, self.paint));
    }

    /// Marks of a second scale at the right edge: heights on the panel's own axis, and their texts.
    pub(super) fn right_axis(&mut self, ticks: &[(f64, String)]) {
        for (y, text) in ticks {
            self.end_label(*y, text, Ink::Text, 0.0);
        }
    }

    /// What is drawn in which ink, above the right end of the panel.
    pub(super) fn key(&mut self, entries: &[(Ink, &str)]) {
        // A letter is about as wide as 0.6 of its height.
        let width = |text: &str| f64::from(TICK) * (0.6 * text.chars().count() as f64 + 1.2);
        let mut x = WIDTH - 4.0 - entries.iter().map(|(_, text)| width(text)).sum::<f64>();
        for (ink, text) in entries {
            self.label((x, 14.0), text, TextAnchor::Start, *ink, true);
            x += width(text);
        }
    }

    /// Words to the right of the last point of a line.
    pub(super) fn end_label(&mut self, y: f64, text: &str, ink: Ink, shift: f64) {
        if let Some((_, y)) = self.at((self.layout.x_range.1, y)) {
            let at = (WIDTH - RIGHT + 8.0, y + 4.0 + shift);
            self.label(at, text, TextAnchor::Start, ink, true);
        }
    }

    /// Words beside a point, moved down by `shift`; with `inside` not beyond the axes.
    pub(super) fn end_mark(
        &mut self,
        point: (f64, f64),
        text: &str,
        ink: Ink,
        shift: f64,
        inside: bool,
    ) {
        if let Some((x, y)) = self.at(point) {
            let end = WIDTH - RIGHT - f64::from(TICK);
            let x = if inside { (x + 8.0).min(end) } else { x + 8.0 };
            self.label((x, y + 4.0 + shift), text, TextAnchor::Start, ink, true);
        }
    }

    /// Words at a place of the panel, in its own units.
    pub(super) fn note(&mut self, at: (f64, f64), text: &str, bold: bool) {
        self.label(at, text, TextAnchor::Start, Ink::Text, bold);
    }

    /// Where a value stands from the top of the panel.
    pub(super) fn height_of(&self, y: f64) -> f64 {
        self.area.map_y(y)
    }

    /// Where a point of the data is drawn; nowhere if it is not finite or beyond the axis.
    fn at(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let (bottom, top) = self.layout.y_range;
        let at = (self.area.map_x(x), self.area.map_y(y));
        (y >= bottom && y <= top && at.0.is_finite() && at.1.is_finite()).then_some(at)
    }

    fn label(&mut self, (x, y): (f64, f64), text: &str, anchor: TextAnchor, ink: Ink, bold: bool) {
        self.marks.push(Primitive::Text {
            x,
            y,
            content: text.replace('$', "\\$"),
            size: TICK,
            anchor,
            rotate: None,
            bold,
            color: Some(Color::from(ink.css(self.paint))),
        });
    }

    fn stroke(&mut self, a: (f64, f64), b: (f64, f64), ink: Ink, width: f64, stroke: Stroke) {
        self.marks.push(Primitive::Line {
            x1: a.0,
            y1: a.1,
            x2: b.0,
            y2: b.1,
            stroke: Color::from(ink.css(self.paint)),
            stroke_width: width,
            stroke_dasharray: (stroke != Stroke::Solid).then(|| stroke.dashes().to_owned()),
        });
    }

    fn part(self) -> Part {
        let (top, paint) = (self.top, self.paint);
        Part { top, paint, elements: self.elements() }
    }

    fn elements(self) -> Vec<Primitive> {
        let mut lines = self.lines;
        if lines.is_empty() {
            // The library draws axes only around a plot.
            lines.push(LinePlot::new().into());
        }
        // Clips are named by a counter of the whole process, so the same figure would not give the
        // same bytes twice; nothing here is drawn beyond its axes, so they are not needed.
        let clips = |e: &Primitive| matches!(e, Primitive::ClipStart { .. } | Primitive::ClipEnd);
        let drawn = render_multiple(lines, self.layout).elements;
        let drawn = drawn.into_iter().filter(|e| !clips(e));
        self.below.into_iter().chain(drawn).chain(self.marks).collect()
    }
}

fn theme(paint: Paint) -> Theme {
    Theme {
        background: "none".to_owned(),
        axis_color: Ink::Axis.css(paint).to_owned(),
        tick_color: Ink::Axis.css(paint).to_owned(),
        text_color: Ink::Faint.css(paint).to_owned(),
        grid_color: Ink::Grid.css(paint).to_owned(),
        ..Theme::light()
    }
}

/// The mark of an arm's value: a hollow circle for the first, a filled diamond for the second.
fn mark_of(arm: Arm, (x, y): (f64, f64), size: f64, paint: Paint) -> Primitive {
    match arm {
        Arm::A => circle((x, y), size, Ink::Card, Ink::Arm(arm), paint),
        Arm::B => {
            let s = size * 1.25;
            let d = format!("M{x:.1} {:.1}l{s} {s}l-{s} {s}l-{s} -{s}z", y - s);
            path(d, Ink::Arm(arm), Ink::Card, 0.8, paint)
        }
    }
}

fn circle((cx, cy): (f64, f64), r: f64, fill: Ink, stroke: Ink, paint: Paint) -> Primitive {
    Primitive::Circle {
        cx,
        cy,
        r,
        fill: Color::from(fill.css(paint)),
        fill_opacity: None,
        stroke: Some(Color::from(stroke.css(paint))),
        stroke_width: Some(2.0),
    }
}

fn path(d: String, fill: Ink, stroke: Ink, stroke_width: f64, paint: Paint) -> Primitive {
    Primitive::Path(Box::new(PathData {
        d,
        fill: Some(Color::from(fill.css(paint))),
        stroke: Color::from(stroke.css(paint)),
        stroke_width,
        opacity: None,
        stroke_dasharray: None,
    }))
}

/// About five round values within a span, for an axis.
pub(super) fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    generate_ticks(low, high, 5).into_iter().filter(|v| (low..=high).contains(v)).collect()
}

/// A part of a figure: what is drawn, and where its upper edge stands.
pub(super) struct Part {
    top: f64,
    paint: Paint,
    elements: Vec<Primitive>,
}

impl From<Panel> for Part {
    fn from(panel: Panel) -> Part {
        panel.part()
    }
}

/// A figure drawn: as an SVG element and, on paper, as plain marks.
pub(super) struct Drawn {
    pub svg: String,
    pub picture: Option<Picture>,
}

/// The parts as one picture, with title and description.
pub(super) fn draw<P: Into<Part>>(
    id: &str,
    title: &str,
    desc: &str,
    height: f64,
    parts: Vec<P>,
) -> Drawn {
    let parts: Vec<Part> = parts.into_iter().map(P::into).collect();
    let paint = parts.first().map_or(Paint::Page, |part| part.paint);
    let mut scene = Scene::new(WIDTH, height).with_background(None);
    let mut paper = match paint {
        Paint::Page => None,
        Paint::Paper => Some(scene::Paper::new(WIDTH, height, Ink::Faint.css(paint))),
    };
    for Part { top, elements, .. } in parts {
        scene.add(Primitive::GroupStart {
            transform: Some(format!("translate(0,{top})")),
            title: None,
            extra_attrs: None,
        });
        if let Some(paper) = &mut paper {
            elements.iter().for_each(|element| paper.draw(element, top));
        }
        scene.elements.extend(elements);
        scene.add(Primitive::GroupEnd);
    }
    let drawn = SvgBackend::new().render_scene(&scene);
    let inner = drawn.split_once('>').map_or("", |(_, rest)| rest);
    let font = match paint {
        Paint::Page => String::new(),
        Paint::Paper => format!(" font-family=\"{FAMILY}, Arial, sans-serif\""),
    };
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" \
         viewBox=\"0 0 {WIDTH} {height}\" aria-labelledby=\"{id}-title {id}-desc\" \
         fill=\"{}\"{font}>\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>{inner}",
        Ink::Faint.css(paint),
        escape(title),
        escape(desc),
    );
    Drawn { svg, picture: paper.map(scene::Paper::finish) }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
