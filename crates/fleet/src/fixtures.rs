//! What several tests need.

use std::sync::Arc;
use v6gap_core::fleet::work::{Class, SentPlan, Work};

/// Work between two hosts by the plan `light.toml`.
pub fn work(from: &str, to: &str) -> Work {
    let (name, text, hash) = ("light.toml".to_owned(), String::new(), String::new());
    Work {
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        to_is_agent: true,
        class: Class::Light,
        links: Vec::new(),
        plan: Arc::new(SentPlan { name, text, hash, needs: Vec::new() }),
        longest_ns: 1,
        every_ns: 1,
        port: None,
        failed: 0,
        continued: None,
    }
}
