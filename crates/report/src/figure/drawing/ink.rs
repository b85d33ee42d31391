//! What marks are drawn in: the colours of both paints, and the dashes of lines.

use crate::figure::Paint;
use crate::figure::picture::Rgb;
use v6gap_core::arm::Arm;
use v6gap_judge::analysis::Verdict;

/// What something is drawn in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
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
    /// One colour in every theme, as on a scale of magnitudes; written as `#RRGGBB`.
    Fixed(&'static str),
}

impl Ink {
    /// The colour as SVG writes it.
    pub(super) fn css(self, paint: Paint) -> &'static str {
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

    /// The colour on white paper.
    pub(crate) fn rgb(self) -> Rgb {
        let hex = self.css(Paint::Paper).trim_start_matches('#');
        let [_, r, g, b] = u32::from_str_radix(hex, 16).unwrap_or_default().to_be_bytes();
        [r, g, b]
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

impl Stroke {
    /// The first arm is solid, the second dashed, so that they differ without colour.
    pub(in crate::figure) fn of(arm: Arm) -> Self {
        match arm {
            Arm::A => Stroke::Solid,
            Arm::B => Stroke::Dashed,
        }
    }

    /// Lengths drawn and left out in turns, in units of the figure; none for a whole line.
    pub(crate) fn dashes(self) -> &'static [f32] {
        match self {
            Stroke::Solid => &[],
            Stroke::Dashed => &[7.0, 4.0],
            Stroke::Dotted => &[2.0, 4.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inks_on_paper_are_those_of_the_svg() {
        assert_eq!(Ink::Arm(Arm::B).rgb(), [0xD5, 0x5E, 0x00]);
        assert_eq!(Ink::Fixed("#010203").rgb(), [1, 2, 3]);
    }
}
