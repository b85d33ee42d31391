//! One program for all targets, so that it is linked once: the environment names the target.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("V6GAP_FUZZ_TARGET").unwrap_or_default();
    let target = v6gap_fuzz::find(&name);
    target.unwrap_or_else(|| panic!("V6GAP_FUZZ_TARGET names no target: {name:?}")).run
});

fuzz_target!(|data: &[u8]| RUN(data));
