//! Names for what a server has to know to do a task.
//!
//! A server passes over fields that it does not know (docs/protocol.md section 2), so a knob that
//! only the client knows would be turned at one end alone and nobody would be told. Therefore each
//! kind of workload and each optional part of one has a name here. A server announces the names
//! that it knows, and a client does not begin what needs another.
//!
//! [`Kind::need`](super::Kind::need) takes every structure apart without leaving anything out, so
//! that a new field does not compile before it is decided whether a server must know it.

use super::{Marking, StreamSettings, Wait, Workload};
use alloc::collections::BTreeSet;

/// Makes the list of all features and their names from one table.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident = $name:literal,)*) => {
        /// Something that a server may know or not.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $($(#[$doc])* $feature,)*
        }

        impl Feature {
            /// Everything that this program knows.
            pub const ALL: &'static [Feature] = &[$(Feature::$feature,)*];

            /// Name of the feature in messages and errors.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Feature::$feature => $name,)*
                }
            }
        }
    };
}

features! {
    /// Bulk transfer over TCP.
    TcpBulk = "tcp-bulk",
    /// Several connections at the same time.
    TcpBulkStreams = "tcp-bulk.streams",
    /// A transfer of a number of bytes.
    TcpBulkBytes = "tcp-bulk.bytes",
    /// A pace.
    TcpBulkPacing = "tcp-bulk.pacing",
    /// Sending from a file without copying.
    TcpBulkFile = "tcp-bulk.zero-copy.file",
    /// Sending from memory without copying.
    TcpBulkMemory = "tcp-bulk.zero-copy.memory",
    /// Receiving without copying.
    TcpBulkTruncate = "tcp-bulk.truncate",
    /// Bulk transfer over UDP.
    UdpBulk = "udp-bulk",
    /// From the server.
    UdpBulkReceive = "udp-bulk.receive",
    /// A number of datagrams.
    UdpBulkPackets = "udp-bulk.packets",
    /// Several datagrams a call.
    UdpBulkBatch = "udp-bulk.batch",
    /// Segmentation and receive offload.
    UdpBulkOffload = "udp-bulk.offload",
    /// Laws of traffic other than the constant one.
    UdpBulkLaw = "udp-bulk.law",
    /// Sizes that vary.
    UdpBulkSizes = "udp-bulk.sizes",
    /// Packets of one length over both families.
    UdpBulkParity = "udp-bulk.parity",
    /// Request and answer.
    Echo = "echo",
    /// Over ICMP.
    EchoIcmp = "echo.icmp",
    /// Answers of another size.
    EchoResponse = "echo.response",
    /// Several requests on the way at a time.
    EchoOutstanding = "echo.outstanding",
    /// Turns that are timed as a whole.
    EchoBatch = "echo.timing.batch",
    /// Socket buffers of round trips, which servers before this passed over.
    EchoBuffer = "echo.buffer",
    /// Packets of one length over both families.
    EchoParity = "echo.parity",
    /// Both ends with the client.
    EchoStack = "echo.stack",
    /// Opening connections.
    Connect = "connect",
    /// Until the first byte of an answer.
    ConnectFirstByte = "connect.first-byte",
    /// As many as possible.
    ConnectRate = "connect.rate",
    /// Connections that stay open.
    ConnectHold = "connect.hold",
    /// Several in the making at a time.
    ConnectConcurrent = "connect.concurrent",
    /// Paced packets that come back.
    Probe = "probe",
    /// Clocks that were declared to be alike.
    ProbeClocks = "probe.clock-error",
    /// Times of the kernel.
    ProbeKernelTimes = "probe.kernel-times",
    /// A load beside them.
    ProbeLoad = "probe.load",
    /// A load of datagrams.
    ProbeLoadUdp = "probe.load.udp",
    /// Searching for the rate of the path, by load and by halving.
    Capacity = "capacity",
    /// Frames of a video.
    Frames = "frames",
    /// Waiting without sleeping or giving way.
    Spin = "wait.spin",
    /// A congestion control by name.
    Congestion = "socket.congestion",
    /// Socket buffers.
    Buffer = "socket.buffer",
    /// Socket buffers that must be granted.
    RequireBuffer = "socket.require-buffer",
    /// A largest segment.
    Mss = "socket.mss",
    /// Small segments at once.
    NoDelay = "socket.no-delay",
    /// A traffic class.
    TrafficClass = "marking.traffic-class",
    /// A hop limit.
    HopLimit = "marking.hop-limit",
    /// A flow label.
    FlowLabel = "marking.flow-label",
    /// No fragments.
    DontFragment = "marking.dont-fragment",
    /// A family that arrives as the other.
    Translated = "translated",
    /// Telling where else the server is.
    Whereabouts = "whereabouts",
}

/// Features, each once.
pub type Features = BTreeSet<Feature>;

/// What a workload needs a server to know. What is left as it was before there was the knob, which
/// is what a server does that does not know it, needs no feature.
#[derive(Debug, Default)]
pub struct Needed(Features);

impl Needed {
    /// What a task of `workload` needs.
    pub fn of(workload: &Workload) -> Features {
        let mut needed = Needed::default();
        workload.need(&mut needed);
        needed.0
    }

    pub(super) fn add(&mut self, is_needed: bool, feature: Feature) {
        if is_needed {
            self.0.insert(feature);
        }
    }

    pub(super) fn wait(&mut self, wait: Wait) {
        match wait {
            Wait::Block | Wait::Yield => {}
            Wait::Spin => self.add(true, Feature::Spin),
        }
    }

    pub(super) fn settings(&mut self, settings: &StreamSettings) {
        let StreamSettings { congestion, buffer_bytes, require_buffer, mss_bytes, no_delay } =
            settings;
        self.add(congestion.is_some(), Feature::Congestion);
        self.add(buffer_bytes.is_some(), Feature::Buffer);
        self.add(*require_buffer, Feature::RequireBuffer);
        self.add(mss_bytes.is_some(), Feature::Mss);
        self.add(*no_delay, Feature::NoDelay);
    }

    pub(super) fn marking(&mut self, marking: &Marking) {
        let Marking { traffic_class, hop_limit, flow_label, dont_fragment } = marking;
        self.add(traffic_class.is_some(), Feature::TrafficClass);
        self.add(hop_limit.is_some(), Feature::HopLimit);
        self.add(flow_label.is_some(), Feature::FlowLabel);
        self.add(*dont_fragment, Feature::DontFragment);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Connect, Echo, Load, Probe, TcpBulk, UdpLoad};
    use super::*;
    use crate::wire::arbitrary::task;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn names_are_unique_and_short() {
        let names: BTreeSet<&str> = Feature::ALL.iter().map(|feature| feature.name()).collect();
        assert_eq!(names.len(), Feature::ALL.len());
        let plain = |c: char| c.is_ascii_lowercase() || c == '-' || c == '.';
        assert!(names.iter().all(|name| name.len() <= 32 && name.chars().all(plain)));
    }

    #[test]
    fn what_is_usual_needs_little() {
        let names = |workload: Workload| -> Vec<&str> {
            Needed::of(&workload).into_iter().map(Feature::name).collect()
        };
        assert_eq!(names(Workload::TcpBulk(TcpBulk::default())), ["tcp-bulk"]);
        assert_eq!(names(Workload::Connect(Connect::default())), ["connect"]);
        assert_eq!(names(Workload::Echo(Echo::default())), ["echo", "socket.no-delay"]);
        let load = Load { udp: Some(UdpLoad::default()), ..Load::default() };
        let probe = Probe { load: Some(load), ..Probe::default() };
        let expected = ["probe", "probe.kernel-times", "probe.load", "probe.load.udp"];
        assert_eq!(names(Workload::Probe(probe)), expected);
    }

    /// The workload as a server understands it that knows none of its optional fields: those that
    /// may be missing are missing.
    fn without_options(workload: &Workload) -> Option<Workload> {
        let mut value = serde_json::to_value(workload).ok()?;
        let object = value.as_object_mut()?;
        let names: Vec<_> = object.keys().cloned().collect();
        for name in names {
            let mut less = Value::Object(object.clone());
            less.as_object_mut()?.remove(&name);
            if serde_json::from_value::<Workload>(less).is_ok() {
                object.remove(&name);
            }
        }
        serde_json::from_value(value).ok()
    }

    /// Fields that are questions alone, which the server needs not know.
    fn without_questions(mut workload: Workload) -> Workload {
        match &mut workload {
            Workload::TcpBulk(bulk) => bulk.cpu = false,
            Workload::UdpBulk(bulk) => bulk.asked = Default::default(),
            Workload::Echo(_)
            | Workload::Connect(_)
            | Workload::Probe(_)
            | Workload::Capacity(_)
            | Workload::Frames(_)
            | Workload::Visit(_)
            | Workload::Lookup(_) => {}
        }
        workload
    }

    proptest! {
        /// A server that knows the kinds alone understands all of a task that needs no more, and
        /// takes another for something else.
        #[test]
        fn a_task_that_needs_its_kind_alone_is_understood_without_options(task in task()) {
            let workload = without_questions(task.workload);
            let needed = Needed::of(&workload);
            let understood = without_options(&workload).unwrap();
            if needed.len() == 1 {
                prop_assert_eq!(&understood, &workload);
            }
            if understood != workload {
                prop_assert!(needed.len() > 1, "{:?}", needed);
            }
            let name = serde_json::to_value(&workload).unwrap()["kind"].to_string();
            let kind = needed.iter().any(|feature| name.trim_matches('"') == feature.name());
            prop_assert!(kind, "{}", name);
        }
    }
}
