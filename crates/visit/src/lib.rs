//! Visits to services of strangers: one connection through its phases, each timed by this program's
//! own clock, and questions to name servers.
//!
//! The protocols are libraries' (TLS, HTTP/1.1, 2 and 3, QUIC, DNS); what is ours is when a phase
//! begins and ends. A phase begins before the write that begins it, and ends with the read that
//! completed its message, whatever was worked out between and after: the sockets are wrapped, and
//! each of their calls is stamped. So neither the runtime of the libraries nor their cryptography
//! is in a phase, and both families go the same way.
//!
//! A visit is a stranger's to answer: every length is bounded, every wait has an end, and what a
//! certificate says is written down and not believed.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_macros))]
#![forbid(unsafe_code)]

mod body;
mod failure;
mod far;
mod fill;
mod hop;
mod http;
mod iperf3;
mod lookup;
mod path_mtu;
mod post;
mod quic;
mod reflector;
mod site;
mod stamped;
mod tls;
mod turns;
mod visit;

pub use failure::{Failure, Phase, Why};
pub use far::{LookError, NOT_OURS, Place, SMALL_BYTES, Stranger, declines};
pub use hop::way;
pub use http::Told;
pub use iperf3::{Iperf3, Iperf3Error, Iperf3Place};
pub use lookup::{Answer, Lookup, LookupError, Question, Record, reverse_name};
pub use post::{PostError, post};
pub use reflector::{Stamp, StampPlace};
pub use site::{BadUrl, Scheme, Site};
pub use tls::{Chain, Roots, Secured, public_key};
pub use visit::{Limits, Manner, Visited, Visitor};
