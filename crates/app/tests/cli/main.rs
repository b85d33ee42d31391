//! The program as a person or a script meets it: what it prints, where, and how it ends.

mod compare;
mod doctor;
mod foreign;
mod help;
mod index;
mod keys;
mod labs;
mod limits;
mod log;
mod metrics;
mod papers;
mod plans;
mod predict;
mod probe;
mod secrets;
mod ssh;
mod stored;
mod support;
mod trouble;
mod turns;
mod watch;
mod web;
mod web_errors;
mod web_limits;
mod whereabouts;
mod workers;
