//! The words of each kind of workload: the one place that tells a person what its trials do.

use v6gap_core::family::Family;
use v6gap_core::unit::{format_bytes, format_rate, format_share, format_span};
use v6gap_core::workload::{
    Capacity, Connect, Direction, Echo, Frames, Law, LoadFamily, Lookup, Marking, Method, Parity,
    Probe, Purpose, Search, Sizes, TcpBulk, Timing, UdpBulk, Visit, Wait, Workload, ZeroCopy,
};
use v6gap_judge::analysis::words::counted;

/// What a kind of workload says of itself.
pub(crate) trait Words {
    /// What its trials do, in a few words, as beside a result.
    fn short(&self) -> String;

    /// All that its trials do, as in a plan that is explained.
    fn long(&self) -> String;
}

/// The words of a workload are those of its kind.
pub(crate) fn of(workload: &Workload) -> &dyn Words {
    match workload {
        Workload::TcpBulk(kind) => kind,
        Workload::UdpBulk(kind) => kind,
        Workload::Echo(kind) => kind,
        Workload::Connect(kind) => kind,
        Workload::Probe(kind) => kind,
        Workload::Capacity(kind) => kind,
        Workload::Frames(kind) => kind,
        Workload::Visit(kind) => kind,
        Workload::Lookup(kind) => kind,
    }
}

/// Where a stream of datagrams comes from, if it is not the client.
fn from(direction: Direction) -> &'static str {
    match direction {
        Direction::Send => "",
        Direction::Receive | Direction::Both => " from the server",
    }
}

impl Words for TcpBulk {
    fn short(&self) -> String {
        let way = match self.direction {
            Direction::Send => "sending",
            Direction::Receive => "receiving",
            Direction::Both => "both ways at once",
        };
        let streams = match self.streams {
            1 => "one stream".to_owned(),
            n => format!("{n} streams"),
        };
        match self.bytes {
            Some(bytes) => format!("{streams}, {way}, {}", format_bytes(bytes)),
            None => format!("{streams}, {way} for {}", format_span(self.duration_ns as f64)),
        }
    }

    fn long(&self) -> String {
        let way = match self.direction {
            Direction::Send => "to the server",
            Direction::Receive => "from the server",
            Direction::Both => "both ways at the same time",
        };
        let over = match self.streams {
            1 => "TCP".to_owned(),
            streams => format!("{streams} TCP connections at a time"),
        };
        let (least, most) = self.writes_bytes().into_inner();
        let write = match self.write_drawn {
            false => format_bytes(most.into()),
            true => format!(
                "{} to {}, drawn anew for each block",
                format_bytes(least.into()),
                format_bytes(most.into())
            ),
        };
        let span = format_span(self.duration_ns as f64);
        let mut text = match self.bytes {
            Some(bytes) => {
                let bytes = format_bytes(bytes);
                format!("sends {bytes} {way} over {over} in writes of {write}, for at most {span}")
            }
            None => {
                let without = format_span(self.warmup_ns as f64);
                format!(
                    "sends {way} over {over} for {span} in writes of {write}, without the first \
                     {without}"
                )
            }
        };
        let settings = &self.settings;
        if let Some(name) = &settings.congestion {
            text.push_str(&format!(", congestion control {name}"));
        }
        if let Some(bytes) = settings.buffer_bytes {
            text.push_str(&format!(", window {}", format_bytes(bytes.into())));
            if settings.require_buffer {
                text.push_str(" or not at all");
            }
        }
        if let Some(bytes) = settings.mss_bytes {
            text.push_str(&format!(", segments of at most {}", format_bytes(bytes.into())));
        }
        if let Some(rate) = self.pacing_bps {
            text.push_str(&format!(", at most {}", format_rate(rate as f64)));
        }
        match self.zero_copy {
            Some(ZeroCopy::File) => text.push_str(", from a file without copying"),
            Some(ZeroCopy::Memory) => text.push_str(", from memory without copying"),
            None => {}
        }
        if self.truncate {
            text.push_str(", received without copying");
        }
        if settings.no_delay {
            text.push_str(", small segments at once");
        }
        if self.cpu {
            text.push_str("; also asks for the processor time");
        }
        text
    }
}

impl Words for UdpBulk {
    fn short(&self) -> String {
        let pace = self.rate_bps.map_or("no limit".to_owned(), |r| format_rate(r as f64));
        format!("datagrams at {pace}")
    }

    fn long(&self) -> String {
        let rate = match self.rate_bps {
            Some(rate) => format!("at {}", format_rate(rate as f64)),
            None => "as fast as the socket takes them".to_owned(),
        };
        let span = |ns: u64| format_span(ns as f64);
        let bytes = |bytes: u32| format_bytes(bytes.into());
        let law = match self.law {
            Law::Constant => rate,
            Law::Periodic => format!("{rate} from a random moment on"),
            Law::Poisson => format!("{rate} at random moments (Poisson)"),
            Law::OnOff { on_ns, off_ns } => {
                format!(
                    "{rate} for {} of every {}",
                    span(on_ns),
                    span(on_ns.saturating_add(off_ns))
                )
            }
            Law::Frames { frame_bytes, every_ns } => {
                format!("as frames of {} every {}", bytes(frame_bytes), span(every_ns))
            }
        };
        let most = bytes(self.payload_bytes);
        let sizes = match self.sizes {
            Sizes::Fixed => most,
            Sizes::Random { least_bytes } => format!("{} to {most} at random", bytes(least_bytes)),
            Sizes::Stepped { least_bytes, step_bytes } => {
                format!("{} to {most} in steps of {}", bytes(least_bytes), bytes(step_bytes))
            }
        };
        let parity = parity(self.parity, self.payload_bytes);
        let mut text = format!(
            "sends datagrams of {sizes}{parity}{} {law} for {}, without the first {}",
            from(self.direction),
            span(self.duration_ns),
            span(self.warmup_ns),
        );
        if let Some(packets) = self.packets {
            text.push_str(&format!(", {packets} at most"));
        }
        text.push_str(&match self.batch {
            1 => ", one a call".to_owned(),
            batch => format!(", up to {batch} a call"),
        });
        if self.offload {
            text.push_str(" with segmentation and receive offload");
        }
        text
    }
}

/// What is of one length over both families, where it is not the payload.
fn parity(parity: Parity, bytes: u32) -> String {
    if parity.is_usual() {
        return String::new();
    }
    let over_v6 = format_bytes(parity.bytes(bytes, Family::V6).into());
    format!(" (over IPv6 {over_v6}, in packets of the same length)")
}

impl Words for Echo {
    fn short(&self) -> String {
        let (size, over) = (format_bytes(self.message_bytes.into()), self.transport.name());
        format!("{size} there and back, {over}")
    }

    fn long(&self) -> String {
        let wait = match self.wait {
            _ if self.method == Method::Stack => "",
            Wait::Block => "",
            Wait::Yield => ", without sleeping",
            Wait::Spin => ", without sleeping or giving way",
        };
        let held = match self.method {
            Method::Ends => "",
            Method::Stack => ", both ends in one thread",
        };
        let timed = match self.timing {
            Timing::Each => "",
            Timing::Batch => ", timed by the turn",
        };
        let outstanding = match self.outstanding {
            1 => String::new(),
            many => format!(", {many} requests on the way at a time"),
        };
        let buffers = self.settings.buffer_bytes.map_or(String::new(), |bytes| {
            format!(", socket buffers of {}", format_bytes(bytes.into()))
        });
        let back = match self.response_bytes {
            None => "there and back".to_owned(),
            Some(bytes) => format!("there and {} back", format_bytes(bytes.into())),
        };
        format!(
            "{} {back}{} over {}, {} turns of {} exchanges over {}{buffers}{outstanding}{timed}\
             {held}{wait}",
            format_bytes(self.message_bytes.into()),
            parity(self.parity, self.message_bytes),
            self.transport.name(),
            self.turns,
            self.turn_exchanges,
            counted(self.connections as usize, "connection"),
        )
    }
}

impl Words for Connect {
    fn short(&self) -> String {
        format!("TCP handshake, {} in a trial", self.count)
    }

    fn long(&self) -> String {
        let some = counted(self.count as usize, "TCP connection");
        let way = match self.concurrent {
            1 => "one after the other".to_owned(),
            many => format!("{many} at a time"),
        };
        match self.purpose {
            Purpose::Open => format!("opens {some} {way}"),
            Purpose::FirstByte => format!("opens {some} {way}, each for a request and its answer"),
            Purpose::Rate => {
                format!("opens {some} {way}, as fast as it can, each for a request and its answer")
            }
            Purpose::Hold => format!("opens {some} {way} and keeps all of them open"),
        }
    }
}

impl Words for Probe {
    fn short(&self) -> String {
        let size = format_bytes(self.payload_bytes.into());
        let load = if self.load.is_some() { " under load" } else { "" };
        format!("probes of {size} every {}{load}", format_span(self.interval_ns as f64))
    }

    fn long(&self) -> String {
        let wait = match self.wait {
            Wait::Block => "",
            Wait::Yield | Wait::Spin => ", without sleeping",
        };
        let clocks = match self.clock_error_ns {
            Some(ns) => format!(", by clocks alike to {}", format_span(ns as f64)),
            None => String::new(),
        };
        let load = self.load.as_ref().map_or(String::new(), |load| {
            let way = match load.direction {
                Direction::Send => "to the server",
                Direction::Receive => "from the server",
                Direction::Both => "each way",
            };
            let family = match load.family {
                LoadFamily::Same => "the same family",
                LoadFamily::Other => "the other family",
            };
            let streams = match load.udp {
                None => counted(load.streams as usize, "TCP stream"),
                Some(udp) => {
                    let streams = counted(load.streams as usize, "UDP stream");
                    let payload = format_bytes(udp.payload_bytes.into());
                    match udp.rate_bps {
                        Some(rate_bps) => {
                            format!("{streams} of {payload} at {}", format_rate(rate_bps as f64))
                        }
                        None => format!("{streams} of {payload} at full speed"),
                    }
                }
            };
            format!(", while {streams} of {family} {way} fill the path")
        });
        format!(
            "sends UDP probes of {} every {} for {} in {} turns, lost after {}{load}{clocks}{wait}",
            format_bytes(self.payload_bytes.into()),
            format_span(self.interval_ns as f64),
            format_span(self.sending_ns() as f64),
            self.turns,
            format_span(self.timeout_ns as f64),
        )
    }
}

impl Words for Capacity {
    fn short(&self) -> String {
        let most = format_rate(self.rate_bps_max as f64);
        match self.search {
            Search::Load { duration_ns } => {
                let span = format_span(duration_ns as f64);
                format!("RFC 9097 search for {span}, up to {most}")
            }
            Search::Halving { trial_ns, .. } => {
                let span = format_span(trial_ns as f64);
                format!("RFC 2544-style search, trials of {span}, up to {most}")
            }
        }
    }

    fn long(&self) -> String {
        let most = format_rate(self.rate_bps_max as f64);
        let what = format!(
            "datagrams of {}{}, at most {most} of the IP layer",
            format_bytes(self.payload_bytes.into()),
            from(self.direction)
        );
        match self.search {
            Search::Load { duration_ns } => format!(
                "searches the rate that the path carries (RFC 9097) for {} with {what}",
                format_span(duration_ns as f64)
            ),
            Search::Halving { trial_ns, lost_ppm_max, forced } => {
                let lost = match lost_ppm_max {
                    0 => "nothing".to_owned(),
                    ppm => format!("at most {}", format_share(f64::from(ppm) / 1e6)),
                };
                let forced = if forced { ", also outside a lab" } else { "" };
                format!(
                    "searches the highest rate at which {lost} is lost (as RFC 2544 does) by up to \
                     {} trials of {} with {what}{forced}",
                    self.trials_max(),
                    format_span(trial_ns as f64)
                )
            }
        }
    }
}

impl Words for Frames {
    fn short(&self) -> String {
        let (size, every) = (self.frame_bytes.into(), format_span(self.every_ns as f64));
        format!("frames of {} every {every}", format_bytes(size))
    }

    fn long(&self) -> String {
        format!(
            "sends {}{} for {}, each in {} of at most {}",
            self.short(),
            from(self.direction),
            format_span(self.duration_ns as f64),
            counted(self.datagrams_each() as usize, "datagram"),
            format_bytes(self.payload_bytes.into()),
        )
    }
}

impl Words for Visit {
    fn short(&self) -> String {
        match self.http {
            Some(http) if self.downloads() => {
                format!("one visit by {http} that reads {}", format_bytes(self.body_bytes))
            }
            Some(http) => format!("one visit by {http}"),
            None => "one connection".to_owned(),
        }
    }

    fn long(&self) -> String {
        let over = if self.secure { "over TLS" } else { "without encryption" };
        match self.http {
            Some(http) => format!(
                "opens a connection, asks once by {http} {over}, reads at most {} and resets it",
                format_bytes(self.body_bytes)
            ),
            None => "opens a connection and resets it".to_owned(),
        }
    }
}

impl Words for Lookup {
    fn short(&self) -> String {
        "one question to a name server".to_owned()
    }

    fn long(&self) -> String {
        "asks a name server for the A record over IPv4's turn and the AAAA record over IPv6's"
            .to_owned()
    }
}

/// How its packets are marked, each with a comma before it; nothing where they are not.
pub(crate) fn marking(marking: Marking) -> String {
    let mut text = String::new();
    if let Some(octet) = marking.traffic_class {
        text.push_str(&format!(", traffic class {octet:#04x} (DSCP {})", octet >> 2));
    }
    if let Some(hops) = marking.hop_limit {
        text.push_str(&format!(", hop limit {hops}"));
    }
    if let Some(label) = marking.flow_label {
        text.push_str(&format!(", flow label {label:#07x} from the client"));
    }
    if marking.dont_fragment {
        text.push_str(", never in fragments");
    }
    text
}
