//! Queueing disciplines that give an interface the rate of a real Ethernet.
//!
//! A hierarchical token bucket (tc-htb(8)) counts bytes as a wire does, by an exact size table
//! (tc-stab(8)), and holds packets back in a plain queue (tc-pfifo(8)), which is what slows a
//! sender down as a network card would.

use super::Netlink;
use crate::LabError;
use netlink_bindings::tc;
use v6gap_core::family::{Family, PerFamily};

/// `TC_H_ROOT` of tc(8).
const ROOT: u32 = 0xffff_ffff;
/// Handle of the token bucket: 1:0.
const BUCKET_HANDLE: u32 = 1 << 16;
/// Class of each family, by its minor number, which is also the major number of its queue.
const CLASS: PerFamily<u32> = PerFamily { v4: 0x10, v6: 0x20 };
/// EtherType of each family (RFC 894, RFC 2464 section 3).
const ETHER_TYPE: PerFamily<u16> = PerFamily { v4: 0x0800, v6: 0x86dd };
/// Bytes on the wire beyond those that the queue sees: frame check sequence, preamble and gap.
const OVERHEAD_BYTES: u32 = 4 + 8 + 12;
/// Least bytes that a frame takes on the wire.
const WIRE_BYTES_MIN: u32 = 64 + 8 + 12;
/// Ethernet header, in bytes.
const HEADER_BYTES: u32 = 14;
/// Kernel clock ticks of the packet scheduler: 64 ns (`PSCHED_SHIFT`), the same since Linux 2.6.31.
const TICK_NS: u64 = 64;
/// Version of the token bucket's parameters (`TC_HTB_PROTOVER`).
const HTB_VERSION: u32 = 3;
/// `TC_LINKLAYER_ETHERNET`: with it the kernel computes times itself and needs no rate table.
const LINK_LAYER_ETHERNET: u8 = 1;

/// One token bucket with its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// Rate in bit/s, counted on the wire.
    pub rate_bps: u64,
    /// Depth in bytes.
    pub burst_bytes: u32,
}

/// What an interface is to do with what it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The bucket of each family; the same one twice is one bucket for both.
    pub buckets: PerFamily<Option<Bucket>>,
    /// Packets that may wait for each bucket.
    pub queue_packets: u32,
    /// MTU of the interface, in bytes.
    pub mtu: u32,
}

/// Whether a class is to be made or is there and gets other parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    New,
    There,
}

impl Netlink {
    /// Sets an interface's shape; without any bucket it stays as the kernel made it.
    pub fn shape(&mut self, index: u32, shape: &Shape) -> Result<(), LabError> {
        let PerFamily { v4, v6 } = shape.buckets;
        if v4.is_none() && v6.is_none() {
            return Ok(());
        }
        let shared = v4 == v6;
        // Without a default class, what no filter chose passes unshaped.
        self.add_buckets(index, shape.mtu, if shared { CLASS.v4 } else { 0 })?;
        for family in Family::BOTH {
            let Some(bucket) = shape.buckets.get(family) else { continue };
            if shared && family == Family::V6 {
                continue;
            }
            let class = *CLASS.get(family);
            self.put_class(index, class, bucket, shape.mtu, Class::New)?;
            self.add_queue(index, class, shape.queue_packets)?;
            if !shared {
                self.add_filter(index, class, *ETHER_TYPE.get(family))?;
            }
        }
        Ok(())
    }

    /// Gives the buckets of an interface that has a shape other rates; which families share one
    /// must stay as it was.
    pub fn reshape(&mut self, index: u32, shape: &Shape) -> Result<(), LabError> {
        let shared = shape.buckets.v4 == shape.buckets.v6;
        for family in Family::BOTH {
            let Some(bucket) = shape.buckets.get(family) else { continue };
            if !shared || family == Family::V4 {
                self.put_class(index, *CLASS.get(family), bucket, shape.mtu, Class::There)?;
            }
        }
        Ok(())
    }

    fn add_buckets(&mut self, index: u32, mtu: u32, default: u32) -> Result<(), LabError> {
        let header = header(index, BUCKET_HANDLE, ROOT);
        let mut request = tc::Request::new().set_create().set_excl().op_newqdisc_do(&header);
        let mut global = tc::TcHtbGlob::new();
        global.version = HTB_VERSION;
        global.rate2quantum = 10;
        global.defcls = default;
        let (spec, table) = size_table(mtu);
        request.encode().nested_stab().push_base(spec).push_data(&table);
        request.encode().nested_options_htb().push_init(global);
        self.tell(|| format!("add a token bucket to interface {index}"), &request)
    }

    fn put_class(
        &mut self,
        index: u32,
        class: u32,
        bucket: &Bucket,
        mtu: u32,
        state: Class,
    ) -> Result<(), LabError> {
        let header = header(index, BUCKET_HANDLE | class, BUCKET_HANDLE);
        let request = tc::Request::new();
        let request = match state {
            Class::New => request.set_create().set_excl(),
            Class::There => request,
        };
        let mut request = request.op_newtclass_do(&header);
        let bytes_per_s = bucket.rate_bps / 8;
        let mut options = tc::TcHtbOpt::new();
        options.rate.linklayer = LINK_LAYER_ETHERNET;
        options.rate.rate = u32::try_from(bytes_per_s).unwrap_or(u32::MAX);
        options.ceil = options.rate.clone();
        options.buffer = burst_ticks(bucket);
        options.cbuffer = options.buffer;
        options.quantum = mtu + HEADER_BYTES + OVERHEAD_BYTES;
        let parameters = request.encode().nested_options_htb().push_parms(options);
        parameters.push_rate64(bytes_per_s).push_ceil64(bytes_per_s);
        self.tell(|| format!("set a class of interface {index}"), &request)
    }

    fn add_queue(&mut self, index: u32, class: u32, packets: u32) -> Result<(), LabError> {
        let header = header(index, class << 16, BUCKET_HANDLE | class);
        let mut request = tc::Request::new().set_create().set_excl().op_newqdisc_do(&header);
        request.encode().nested_options_pfifo(&tc::TcFifoQopt { limit: packets });
        self.tell(|| format!("add a queue to interface {index}"), &request)
    }

    /// Sends all packets of a protocol to a class. The u32 filter with a key that matches anything
    /// is in every kernel, matchall is not.
    fn add_filter(&mut self, index: u32, class: u32, ether_type: u16) -> Result<(), LabError> {
        const TERMINAL: u8 = 1;
        let mut header = header(index, 0, BUCKET_HANDLE);
        header.info = (class << 16) | u32::from(ether_type.to_be());
        let mut request = tc::Request::new().set_create().set_excl().op_newtfilter_do(&header);
        let mut select = tc::TcU32Sel::new();
        select.flags = TERMINAL;
        select.nkeys = 1;
        let class = BUCKET_HANDLE | class;
        request.encode().nested_options_u32().push_classid(class).push_sel(select);
        self.tell(|| format!("add a filter to interface {index}"), &request)
    }
}

fn header(index: u32, handle: u32, parent: u32) -> tc::Tcmsg {
    let mut header = tc::Tcmsg::new();
    header.ifindex = index.cast_signed();
    header.handle = handle;
    header.parent = parent;
    header
}

/// The size of each frame on the wire, one entry a byte so that nothing is rounded.
///
/// The kernel looks up entry `length + overhead - 1`; entry i therefore holds max(i + 1, least).
fn size_table(mtu: u32) -> (tc::TcSizespec, Vec<u8>) {
    let sizes = (mtu + HEADER_BYTES + OVERHEAD_BYTES + 1).next_power_of_two().max(2048);
    let mut spec = tc::TcSizespec::new();
    spec.cell_align = -1;
    spec.overhead = OVERHEAD_BYTES.cast_signed();
    spec.linklayer = u32::from(LINK_LAYER_ETHERNET);
    spec.mpu = WIRE_BYTES_MIN;
    spec.mtu = sizes - 1;
    spec.tsize = sizes;
    let size = |entry: u32| (entry + 1).max(WIRE_BYTES_MIN) as u16;
    (spec, (0..sizes).flat_map(|entry| size(entry).to_ne_bytes()).collect())
}

/// The bucket's depth as the time that it takes to fill, in scheduler ticks.
fn burst_ticks(bucket: &Bucket) -> u32 {
    let ns = u128::from(bucket.burst_bytes) * 8 * 1_000_000_000 / u128::from(bucket.rate_bps);
    u32::try_from(ns / u128::from(TICK_NS)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_table_is_exact_for_every_frame() {
        for mtu in [576, 1280, 1500, 9216] {
            let (spec, table) = size_table(mtu);
            for frame in 14..=mtu + HEADER_BYTES {
                let slot =
                    (frame.cast_signed() + spec.overhead + i32::from(spec.cell_align)) as usize;
                let size = u16::from_ne_bytes([table[2 * slot], table[2 * slot + 1]]);
                assert_eq!(u32::from(size), (frame.max(60) + 4 + 8 + 12), "frame of {frame}");
            }
            assert_eq!(table.len(), 2 * spec.tsize as usize);
            assert!(table.len() < usize::from(u16::MAX) - 4, "fits an attribute");
        }
    }

    #[test]
    fn the_depth_is_the_time_to_fill_the_bucket() {
        // 15400 bytes at 100 Mbit/s: 1232 us, in ticks of 64 ns.
        assert_eq!(burst_ticks(&Bucket { rate_bps: 100_000_000, burst_bytes: 15_400 }), 19_250);
    }
}
