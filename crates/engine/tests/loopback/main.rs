//! Both halves of every workload over loopback, with real sockets; one program, since each takes
//! seconds to build.

mod addresses;
mod capacity;
#[path = "../common/mod.rs"]
mod common;
mod echo;
mod frames;
mod limits;
mod marking;
mod nulls;
mod parity;
mod probe;
mod probe_relay;
mod relay;
mod run;
mod strangers;
mod tcp_bulk;
mod unread;
mod validation;
