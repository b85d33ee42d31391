//! Marks as one SVG element.

use super::{Align, Ink, WIDTH};
use crate::figure::Paint;
use crate::figure::font::FAMILY;
use crate::figure::picture::{At, Form, Mark, Picture, Shape, Step, Text};
use std::fmt::Write;

/// The picture with title and description, by which it is named to those who do not see it.
pub(super) fn element(
    picture: &Picture,
    id: &str,
    [title, desc]: [&str; 2],
    paint: Paint,
) -> String {
    let font = match paint {
        Paint::Page => String::new(),
        Paint::Paper => format!(" font-family=\"{FAMILY}, Arial, sans-serif\""),
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"figure\" role=\"img\" \
         viewBox=\"0 0 {WIDTH} {}\" aria-labelledby=\"{id}-title {id}-desc\" \
         fill=\"{}\"{font}>\
         <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>",
        number(picture.height),
        Ink::Faint.css(paint),
        escape(title),
        escape(desc),
    );
    for mark in &picture.marks {
        match mark {
            Mark::Shape(shape) => svg.push_str(&of_shape(shape, paint)),
            Mark::Text(text) => svg.push_str(&of_text(text, paint)),
        }
    }
    svg + "</svg>"
}

fn of_shape(shape: &Shape, paint: Paint) -> String {
    let mut out = match &shape.form {
        Form::Circle([x, y], r) => {
            format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"", number(*x), number(*y), number(*r))
        }
        Form::Path(steps) => format!("<path d=\"{}\"", data(steps)),
    };
    out.push_str(&format!(" fill=\"{}\"", shape.fill.map_or("none", |ink| ink.css(paint))));
    if let Some(line) = shape.line {
        let width = number(line.width);
        out.push_str(&format!(" stroke=\"{}\" stroke-width=\"{width}\"", line.ink.css(paint)));
        if let [first, rest @ ..] = line.stroke.dashes() {
            let rest: String = rest.iter().map(|length| format!(" {length}")).collect();
            out.push_str(&format!(" stroke-dasharray=\"{first}{rest}\""));
        }
    }
    out + "/>"
}

fn data(steps: &[Step]) -> String {
    let mut out = String::new();
    let mut write = |command: char, points: &[At]| {
        out.push(command);
        for (i, [x, y]) in points.iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(out, "{gap}{} {}", number(*x), number(*y));
        }
    };
    for step in steps {
        match step {
            Step::Move(to) => write('M', &[*to]),
            Step::Line(to) => write('L', &[*to]),
            Step::Curve(points) => write('C', points),
            Step::Close => write('Z', &[]),
        }
    }
    out
}

fn of_text(text: &Text, paint: Paint) -> String {
    let anchor = match text.align {
        Align::Start => "start",
        Align::Middle => "middle",
        Align::End => "end",
    };
    let bold = if text.bold { " font-weight=\"bold\"" } else { "" };
    let [x, y, size] = [text.at[0], text.at[1], text.size].map(number);
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{bold} \
         fill=\"{}\">{}</text>",
        text.ink.css(paint),
        escape(&text.content)
    )
}

/// Two decimals at most: a hundredth of a unit is less than a pixel of any print.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A text that stands between tags.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_more_digits_than_they_need() {
        let texts = [12.0, -0.001, 430.394, 0.1].map(number);
        assert_eq!(texts, ["12", "0", "430.39", "0.1"]);
    }
}
