//! The program as a person or a script meets it: what it prints, where, and how it ends.

mod compare;
mod config;
mod doctor;
mod fleet;
mod foreign;
mod help;
mod index;
mod keys;
mod labs;
mod limits;
mod log;
mod metrics;
mod papers;
mod pinned;
mod plans;
#[path = "../common/ports.rs"]
mod ports;
mod predict;
mod probe;
mod schemas;
mod secrets;
mod ssh;
mod stored;
mod support;
mod trouble;
mod turns;
mod watch;
mod watch_changes;
mod web;
mod web_errors;
mod web_fleet;
mod web_limits;
mod web_paths;
mod whereabouts;
mod workers;
