//! Other platforms: the width stays unknown.

use super::Output;

pub(super) fn width(_output: Output) -> Option<u16> {
    None
}
