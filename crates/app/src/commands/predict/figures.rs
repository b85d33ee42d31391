//! The figures behind `predict`, all from the wire model.

use crate::args::PredictArgs;
use serde_json::{Value, json};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::unit::format_bytes;
use v6gap_core::wiremodel::{
    Channel, Composition, Framing, LinkTiming, TcpOptions, header_composition, packet_payload_max,
    round_trip_ns, tcp_goodput_bps, tcp_layers, tcp_packets, udp_goodput_bps, udp_packets,
};
use v6gap_core::workload::Transport;

/// Sizes of messages and datagrams where none are asked for.
const SIZES_BYTES: [u32; 7] = [64, 512, 1024, 1400, 4096, 16_384, 65_536];

/// Payload on which headers weigh most, of those that the published comparisons used.
pub(super) const SMALL_BYTES: u32 = 64;

/// A line and what is asked of it.
#[derive(Debug)]
pub(super) struct Figures {
    pub(super) rate_bps: f64,
    pub(super) mtu: u32,
    pub(super) options: TcpOptions,
    pub(super) framing: Framing,
    pub(super) hops: u32,
    /// TCP flows that share the line evenly.
    pub(super) flows: Vec<u32>,
    pub(super) sizes: Vec<u32>,
}

/// A figure of each family; times in ns, rates in bit/s.
#[derive(Debug, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) transport: Transport,
    pub(super) size_bytes: Option<u32>,
    pub(super) values: PerFamily<f64>,
}

/// What a packet of a transport and family is made of.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) transport: Transport,
    pub(super) family: Family,
    pub(super) parts: Composition,
}

impl Figures {
    pub(super) fn new(args: &PredictArgs, rate_bps: f64) -> Self {
        Figures {
            rate_bps,
            mtu: args.mtu.unwrap_or(1500),
            options: if args.no_timestamps { TcpOptions::NONE } else { TcpOptions::TIMESTAMPS },
            framing: Framing { vlan_tags: args.vlan },
            hops: args.hops.unwrap_or(2),
            flows: if args.flows.is_empty() { vec![1] } else { args.flows.clone() },
            sizes: match args.messages.as_slice() {
                [] => SIZES_BYTES.to_vec(),
                sizes => sizes.to_vec(),
            },
        }
    }

    /// Goodput of full TCP segments and of datagrams of each size.
    pub(super) fn goodput(&self) -> Vec<Row> {
        let tcp = PerFamily::from_fn(|family| {
            tcp_goodput_bps(self.rate_bps, self.mtu, family, self.options, self.framing)
        });
        let mut rows = vec![Row {
            name: "TCP, full segments".to_owned(),
            transport: Transport::Tcp,
            size_bytes: None,
            values: tcp,
        }];
        rows.extend(self.sizes.iter().filter_map(|&size| {
            self.row(Transport::Udp, size, |family| {
                udp_goodput_bps(self.rate_bps, size, family, self.mtu, self.framing).ok()
            })
        }));
        rows
    }

    /// What is left of one flow's part of the line above each layer, from the line itself up to
    /// the goodput: Goyal's q_L (method.md section A.3), in one direction.
    pub(super) fn layers(&self, streams: u32) -> Vec<Row> {
        let channel = Channel { gross_bps: self.rate_bps, streams };
        let of = |family| tcp_layers(&channel, self.mtu, family, self.options, self.framing);
        let (layers, share) = (PerFamily::from_fn(of), channel.share_bps());
        let row = |name: &str, values| Row {
            name: name.to_owned(),
            transport: Transport::Tcp,
            size_bytes: None,
            values,
        };
        let mut rows = vec![row("the flow's part of the line", PerFamily { v4: share, v6: share })];
        rows.extend((0..layers.v4.len()).map(|at| {
            let left = PerFamily::from_fn(|family| layers.get(family)[at].throughput_bps);
            row(&format!("less {}", layers.v4[at].name), left)
        }));
        rows
    }

    /// Round trips of a message and an echo of equal size.
    pub(super) fn round_trips(&self) -> Vec<Row> {
        let link = LinkTiming::plain(self.rate_bps, 0.0);
        let links = vec![link; self.hops as usize];
        let time = |packets: &[u32]| round_trip_ns(packets, &links, self.framing);
        let tcp = |size| move |family| Some(tcp_packets(size, family, self.mtu, self.options));
        let udp = |size| move |family| udp_packets(size, family, self.mtu).ok();
        let mut rows = Vec::new();
        for &size in &self.sizes {
            let packets = tcp(size);
            rows.extend(self.row(Transport::Tcp, size, |f| packets(f).map(|p| time(&p))));
        }
        for &size in &self.sizes {
            let packets = udp(size);
            rows.extend(self.row(Transport::Udp, size, |f| packets(f).map(|p| time(&p))));
        }
        rows
    }

    /// A row, if both families have the figure: the largest datagrams do not exist.
    fn row(
        &self,
        transport: Transport,
        size: u32,
        value: impl Fn(Family) -> Option<f64>,
    ) -> Option<Row> {
        let values = PerFamily { v4: value(Family::V4)?, v6: value(Family::V6)? };
        let name = format!("{}, {}", transport.name(), format_bytes(size.into()));
        Some(Row { name, transport, size_bytes: Some(size), values })
    }

    /// What full packets are made of.
    pub(super) fn composition(&self) -> Vec<Column> {
        self.columns(|transport, family| {
            packet_payload_max(transport, family, self.mtu, self.options)
        })
    }

    /// What packets of that payload are made of.
    pub(super) fn composition_of(&self, payload: u32) -> Vec<Column> {
        self.columns(|_, _| payload)
    }

    fn columns(&self, payload: impl Fn(Transport, Family) -> u32) -> Vec<Column> {
        let mut columns = Vec::new();
        for transport in [Transport::Tcp, Transport::Udp] {
            for family in Family::BOTH {
                let payload = payload(transport, family);
                columns.push(Column {
                    name: format!("{family} {}", transport.name()),
                    transport,
                    family,
                    parts: header_composition(
                        transport,
                        family,
                        payload,
                        self.options,
                        self.framing,
                    ),
                });
            }
        }
        columns
    }

    /// Everything as JSON, in SI units.
    pub(super) fn json(&self) -> Value {
        let row = |row: &Row, scale: f64| {
            json!({
                "transport": row.transport,
                "size_bytes": row.size_bytes,
                "v4": row.values.v4 * scale,
                "v6": row.values.v6 * scale,
                "ratio": row.values.v6 / row.values.v4,
            })
        };
        let rows = |rows: Vec<Row>, scale: f64| -> Vec<Value> {
            rows.iter().map(|r| row(r, scale)).collect()
        };
        let layer =
            |row: &Row| json!({ "layer": row.name, "v4": row.values.v4, "v6": row.values.v6 });
        let column = |column: &Column| {
            let parts = &column.parts;
            json!({
                "transport": column.transport,
                "family": column.family,
                "payload_bytes": parts.payload_bytes,
                "link_header_bytes": parts.link_header_bytes,
                "ip_header_bytes": parts.ip_header_bytes,
                "transport_header_bytes": parts.transport_header_bytes,
                "wire_bytes": parts.wire_bytes,
                "headers_per_payload": parts.headers_per_payload(),
                "headers_share_of_frame": parts.headers_share_of_frame(),
                "line_overhead_per_payload": parts.line_overhead_per_payload(),
                "line_overhead_share": parts.line_overhead_share(),
            })
        };
        json!({
            "schema": "v6gap.prediction/1",
            "line": {
                "rate_bps": self.rate_bps,
                "mtu_bytes": self.mtu,
                "tcp_option_bytes": self.options.bytes,
                "vlan_tags": self.framing.vlan_tags,
                "links": self.hops,
            },
            "goodput_bps": rows(self.goodput(), 1.0),
            "layers": self.flows.iter().map(|&flows| json!({
                "flows": flows,
                "left_bps": self.layers(flows).iter().map(layer).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "round_trip_s": rows(self.round_trips(), 1e-9),
            "packets": self.composition().iter().map(column).collect::<Vec<_>>(),
        })
    }
}
