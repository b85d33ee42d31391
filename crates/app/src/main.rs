//! v6gap.
fn main() {}
