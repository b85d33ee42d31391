//! Both halves of every workload over loopback, with real sockets; one program, since each takes
//! seconds to build.

mod capacity;
#[path = "../common/mod.rs"]
mod common;
mod echo;
mod frames;
mod limits;
mod marking;
mod probe;
mod probe_relay;
mod relay;
mod run;
mod strangers;
mod tcp_bulk;
mod validation;
