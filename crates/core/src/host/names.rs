//! Names of the facts that hosts tell of themselves and that are judged here. Values are text; what
//! a host cannot tell holds the words of [`UNAVAILABLE`] and the reason.

use crate::family::Family;
use alloc::format;
use alloc::string::String;

/// Part of every value that could not be had.
pub const UNAVAILABLE: &str = "unavailable, because";

/// Program and version of a server, as in `v6gap 0.1.0`.
pub const PROGRAM: &str = "program";
/// How the client showed the run while it measured: "inline", "line" or "off".
pub const VIEW: &str = "view";
/// Among whom it was seen to that nothing else was measured on the host meanwhile.
pub const TURN: &str = "turn";
/// In a greeting: the measurement that the client's host has its turn for, so that a server there
/// shares it.
pub const CLAIM: &str = "claim";
/// Processors that the program may use.
pub const PROCESSORS: &str = "processors";
/// Rules by which frequencies are chosen, as in "performance" or "performance powersave".
pub const GOVERNOR: &str = "governor";
/// Lowest and highest frequency that the rule may choose, and the present one of the fastest
/// processor, in kHz.
pub const FREQUENCY_MIN: &str = "frequency-min-khz";
/// See [`FREQUENCY_MIN`].
pub const FREQUENCY_MAX: &str = "frequency-max-khz";
/// See [`FREQUENCY_MIN`].
pub const FREQUENCY_NOW: &str = "frequency-now-khz";
/// "on" or "off".
pub const TURBO: &str = "turbo";
/// Longest time to wake up from any state of sleep, in µs.
pub const SLEEP_WAKE: &str = "sleep-wake-us";
/// Longest time that programs allow for it at present, in µs, or "none".
pub const SLEEP_LIMIT: &str = "sleep-limit-us";
/// The hypervisor, or "no".
pub const HYPERVISOR: &str = "hypervisor";
/// Interface that packets of a family leave by.
pub const fn way_out(family: Family) -> &'static str {
    match family {
        Family::V4 => "way-out-v4",
        Family::V6 => "way-out-v6",
    }
}
/// What emulates the host, where it is a system of a lab.
pub const EMULATION: &str = "emulation";
/// Whether a program moves interrupts: "yes" or "no".
pub const INTERRUPTS_MOVED: &str = "interrupts-moved";
/// Connections that the kernel keeps track of, or "none".
pub const TRACKED: &str = "connections-tracked";
/// TCP congestion control of new connections.
pub const CONGESTION: &str = "congestion-default";
/// By what packets of a family are translated on the way to the host, as in [`NAT64`], where the
/// network has told so and the address alone may not.
pub const fn translated(family: Family) -> &'static str {
    match family {
        Family::V4 => "translated-v4",
        Family::V6 => "translated-v6",
    }
}
/// Of what a site answered over a family: a short name of its certificate, which is another one
/// whenever it is renewed, and by which the site could be found.
pub const CERTIFICATE: &str = "certificate";
/// What a site answered over one family: `tls`, `status`, `server`, [`CERTIFICATE`].
pub fn of_family(family: Family, name: &str) -> String {
    match family {
        Family::V4 => format!("v4.{name}"),
        Family::V6 => format!("v6.{name}"),
    }
}
/// A router of the network makes IPv4 of IPv6 (RFC 6146).
pub const NAT64: &str = "NAT64";
/// The record of the host's address of a family, as in "AAAA", if its name server does not answer
/// for it but does for the other.
pub const fn unanswered(family: Family) -> &'static str {
    match family {
        Family::V4 => "unanswered-v4",
        Family::V6 => "unanswered-v6",
    }
}
