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
/// What is added to it for the class of packets with priority and for that of the others, where
/// there are two inside the family's.
const INNER: [u32; 2] = [1, 2];
/// Rate of its own of the class of packets without priority, in byte/s at most: so little that it
/// lives on what the other leaves of their common bucket. On slow lines it is an eighth.
const REST_BYTES_PER_S: u64 = 1_000;
/// EtherType of each family (RFC 894, RFC 2464 section 3).
const ETHER_TYPE: PerFamily<u16> = PerFamily { v4: 0x0800, v6: 0x86dd };
/// Bytes on the wire beyond those that the queue sees: frame check sequence, preamble and gap.
const OVERHEAD_BYTES: u32 = 4 + 8 + 12;
/// A tag of IEEE 802.1Q, in bytes.
const TAG_BYTES: u32 = 4;
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

/// What netem does to packets.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Delayed {
    /// Packets that have room, those that are delayed among them.
    pub limit_packets: u32,
    /// Time that each is held.
    pub delay_ns: u64,
    /// Shares that are lost and that come twice, 0 to 1.
    pub loss: f64,
    pub duplication: f64,
}

/// What an interface is to do with what it sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    /// The bucket of each family; the same one twice is one bucket for both, unless their queues
    /// differ or netem does other things to them.
    pub buckets: PerFamily<Option<Bucket>>,
    /// Packets that may wait for each bucket, of those with priority and of the others each.
    pub queue_packets: PerFamily<u32>,
    /// What netem does to the packets of each family in place of that queue; `None` for a plain
    /// one.
    pub delayed: Option<PerFamily<Delayed>>,
    /// MTU of the interface, in bytes.
    pub mtu: u32,
    /// IEEE 802.1Q tags that each frame is counted with.
    pub vlan_tags: u32,
    /// Bytes that a packet has on the line beyond its length here and the framing.
    pub more_bytes: u32,
    /// Differentiated services code points whose packets go first, one bit each.
    pub priority: u64,
}

impl Shape {
    /// Whether both families go through one bucket: their queues and what netem does to them are
    /// alike as well.
    fn is_shared(&self) -> bool {
        let alike = self.delayed.is_none_or(|delayed| delayed.v4 == delayed.v6);
        let queue = self.queue_packets;
        self.buckets.v4 == self.buckets.v6 && queue.v4 == queue.v6 && alike
    }
}

/// Whether a class is to be made or is there and gets other parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    New,
    There,
}

/// A class of the token bucket.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    /// Minor number, and that of the class that it is in; 0 is the bucket itself.
    class: u32,
    parent: u32,
    /// Guaranteed rate (`rate`) and rate with borrowing (`ceil`), in byte/s.
    own_bytes_per_s: u64,
    most_bytes_per_s: u64,
    /// Depth in bytes, and with borrowing.
    burst_bytes: u32,
    most_burst_bytes: u32,
    /// Lower ones borrow first.
    order: u32,
}

impl Netlink {
    /// Sets an interface's shape; without any bucket it stays as the kernel made it.
    pub fn shape(&mut self, index: u32, shape: &Shape) -> Result<(), LabError> {
        let PerFamily { v4, v6 } = shape.buckets;
        if v4.is_none() && v6.is_none() {
            return Ok(());
        }
        let shared = shape.is_shared();
        let [first, rest] = if shape.priority == 0 { [0; 2] } else { INNER };
        // Without a default class, what no filter chose passes unshaped.
        self.add_buckets(index, shape, if shared { CLASS.v4 + rest } else { 0 })?;
        self.put_classes(index, shape, Class::New)?;
        for family in Family::BOTH {
            if shape.buckets.get(family).is_none() {
                continue;
            }
            let class = *CLASS.get(if shared { Family::V4 } else { family });
            // The filters of a protocol are asked by number, those of marked packets first.
            for code_point in (0..64).filter(|bit| shape.priority >> bit & 1 == 1) {
                self.add_filter(index, (1, family), marked(family, code_point), class + first)?;
            }
            if !shared {
                self.add_filter(index, (2, family), tc::TcU32Key::new(), class + rest)?;
            }
        }
        Ok(())
    }

    /// Gives the buckets of an interface that has a shape other rates; which families share one
    /// must stay as it was, and so must the priorities.
    pub fn reshape(&mut self, index: u32, shape: &Shape) -> Result<(), LabError> {
        self.put_classes(index, shape, Class::There)
    }

    fn put_classes(&mut self, index: u32, shape: &Shape, state: Class) -> Result<(), LabError> {
        let shared = shape.is_shared();
        for family in Family::BOTH {
            let Some(bucket) = shape.buckets.get(family) else { continue };
            if shared && family == Family::V6 {
                continue;
            }
            let outer = bucket_class(*CLASS.get(family), bucket);
            self.put_class(index, &outer, shape.mtu, state)?;
            let leaves = inner_classes(&outer, shape);
            for leaf in &leaves {
                self.put_class(index, leaf, shape.mtu, state)?;
            }
            let leaves = if leaves.is_empty() { vec![outer] } else { leaves };
            for leaf in leaves.iter().filter(|_| state == Class::New) {
                let queue = *shape.queue_packets.get(family);
                match shape.delayed.map(|delayed| *delayed.get(family)) {
                    Some(delayed) => self.add_netem(index, leaf.class, &delayed)?,
                    None => self.add_queue(index, leaf.class, queue)?,
                }
            }
        }
        Ok(())
    }

    fn add_buckets(&mut self, index: u32, shape: &Shape, default: u32) -> Result<(), LabError> {
        let header = header(index, BUCKET_HANDLE, ROOT);
        let mut request = tc::Request::new().set_create().set_excl().op_newqdisc_do(&header);
        let mut global = tc::TcHtbGlob::new();
        global.version = HTB_VERSION;
        global.rate2quantum = 10;
        global.defcls = default;
        let (spec, table) = size_table(shape.mtu, shape.vlan_tags, shape.more_bytes);
        request.encode().nested_stab().push_base(spec).push_data(&table);
        request.encode().nested_options_htb().push_init(global);
        self.tell(|| format!("add a token bucket to interface {index}"), &request)
    }

    fn put_class(
        &mut self,
        index: u32,
        class: &Parameters,
        mtu: u32,
        state: Class,
    ) -> Result<(), LabError> {
        let header = header(index, BUCKET_HANDLE | class.class, BUCKET_HANDLE | class.parent);
        let request = tc::Request::new();
        let request = match state {
            Class::New => request.set_create().set_excl(),
            Class::There => request,
        };
        let mut request = request.op_newtclass_do(&header);
        let rate = |bytes_per_s: u64| {
            let mut rate = tc::TcRatespec::new();
            rate.linklayer = LINK_LAYER_ETHERNET;
            rate.rate = u32::try_from(bytes_per_s).unwrap_or(u32::MAX);
            rate
        };
        let (own, most) = (class.own_bytes_per_s, class.most_bytes_per_s);
        let mut options = tc::TcHtbOpt::new();
        options.rate = rate(own);
        options.ceil = rate(most);
        options.buffer = burst_ticks(class.burst_bytes, own);
        options.cbuffer = burst_ticks(class.most_burst_bytes, most);
        options.quantum = mtu + HEADER_BYTES + OVERHEAD_BYTES;
        options.prio = class.order;
        let parameters = request.encode().nested_options_htb().push_parms(options);
        parameters.push_rate64(own).push_ceil64(most);
        self.tell(|| format!("set a class of interface {index}"), &request)
    }

    fn add_queue(&mut self, index: u32, class: u32, packets: u32) -> Result<(), LabError> {
        let header = header(index, class << 16, BUCKET_HANDLE | class);
        let mut request = tc::Request::new().set_create().set_excl().op_newqdisc_do(&header);
        request.encode().nested_options_pfifo(&tc::TcFifoQopt { limit: packets });
        self.tell(|| format!("add a queue to interface {index}"), &request)
    }

    fn add_netem(&mut self, index: u32, class: u32, delayed: &Delayed) -> Result<(), LabError> {
        self.put_netem(&header(index, class << 16, BUCKET_HANDLE | class), delayed)
    }

    /// Makes netem (tc-netem(8)) the only queue of an interface.
    pub fn add_netem_root(&mut self, index: u32, delayed: &Delayed) -> Result<(), LabError> {
        self.put_netem(&header(index, BUCKET_HANDLE, ROOT), delayed)
    }

    fn put_netem(&mut self, header: &tc::Tcmsg, delayed: &Delayed) -> Result<(), LabError> {
        // Shares are parts of the largest number of 32 bits.
        let share = |share: f64| (share * f64::from(u32::MAX)).round() as u32;
        let mut options = tc::TcNetemQopt::new();
        options.limit = delayed.limit_packets;
        options.loss = share(delayed.loss);
        options.duplicate = share(delayed.duplication);
        let mut request = tc::Request::new().set_create().set_excl().op_newqdisc_do(header);
        let delay_ns = i64::try_from(delayed.delay_ns).unwrap_or(i64::MAX);
        drop(request.encode().nested_options_netem(&options).push_latency64(delay_ns));
        self.tell(|| format!("add netem to interface {}", header.ifindex), &request)
    }

    /// Sends the packets of a family with this key to a class. `order` decides among the filters
    /// of a family. The u32 filter is in every kernel, matchall and flower are not; a key of
    /// nothing matches anything.
    fn add_filter(
        &mut self,
        index: u32,
        (order, family): (u32, Family),
        key: tc::TcU32Key,
        class: u32,
    ) -> Result<(), LabError> {
        const TERMINAL: u8 = 1;
        let mut header = header(index, 0, BUCKET_HANDLE);
        // One number must not serve two protocols.
        let order = 2 * order + u32::from(family == Family::V6);
        header.info = (order << 16) | u32::from(ETHER_TYPE.get(family).to_be());
        let mut request = tc::Request::new().set_create().set_excl().op_newtfilter_do(&header);
        let mut select = tc::TcU32Sel::new();
        select.flags = TERMINAL;
        select.nkeys = 1;
        select.keys = key;
        let class = BUCKET_HANDLE | class;
        request.encode().nested_options_u32().push_classid(class).push_sel(select);
        self.tell(|| format!("add a filter to interface {index}"), &request)
    }
}

/// The key of a differentiated services code point: six bits of the first word of the IP header,
/// behind version and length in IPv4, behind the version in IPv6 (RFC 2474 section 3).
fn marked(family: Family, code_point: u8) -> tc::TcU32Key {
    let place = match family {
        Family::V4 => 18,
        Family::V6 => 22,
    };
    let mut key = tc::TcU32Key::new();
    key._mask_be = (0x3f_u32 << place).to_be();
    key._val_be = (u32::from(code_point) << place).to_be();
    key
}

fn bucket_class(class: u32, bucket: &Bucket) -> Parameters {
    let bytes_per_s = bucket.rate_bps / 8;
    Parameters {
        class,
        parent: 0,
        own_bytes_per_s: bytes_per_s,
        most_bytes_per_s: bytes_per_s,
        burst_bytes: bucket.burst_bytes,
        most_burst_bytes: bucket.burst_bytes,
        order: 0,
    }
}

/// The classes for packets with priority and for the others inside a bucket; none without
/// priorities. A class within its own rate is always served before one that borrows, and whatever
/// the bucket holds, so both own what it has together, the first nearly all of it.
fn inner_classes(outer: &Parameters, shape: &Shape) -> Vec<Parameters> {
    if shape.priority == 0 {
        return Vec::new();
    }
    let inner = |order: usize, own_bytes_per_s| Parameters {
        class: outer.class + INNER[order],
        parent: outer.class,
        own_bytes_per_s,
        order: order as u32,
        ..*outer
    };
    let own = outer.own_bytes_per_s;
    let rest = inner(1, REST_BYTES_PER_S.min(own / 8));
    // Of its own rate it holds a frame; of what it borrows as much as the whole bucket.
    let frame_bytes = shape.mtu + HEADER_BYTES + OVERHEAD_BYTES;
    let first = inner(0, own - rest.own_bytes_per_s);
    vec![first, Parameters { burst_bytes: frame_bytes, ..rest }]
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
fn size_table(mtu: u32, vlan_tags: u32, more_bytes: u32) -> (tc::TcSizespec, Vec<u8>) {
    let overhead = OVERHEAD_BYTES + TAG_BYTES * vlan_tags + more_bytes;
    let sizes = (mtu + HEADER_BYTES + overhead + 1).next_power_of_two().max(2048);
    let mut spec = tc::TcSizespec::new();
    spec.cell_align = -1;
    spec.overhead = overhead.cast_signed();
    spec.linklayer = u32::from(LINK_LAYER_ETHERNET);
    spec.mpu = WIRE_BYTES_MIN;
    spec.mtu = sizes - 1;
    spec.tsize = sizes;
    let size = |entry: u32| (entry + 1).max(WIRE_BYTES_MIN) as u16;
    (spec, (0..sizes).flat_map(|entry| size(entry).to_ne_bytes()).collect())
}

/// The bucket's depth as the time that it takes to fill, in scheduler ticks.
fn burst_ticks(burst_bytes: u32, bytes_per_s: u64) -> u32 {
    let ns = u128::from(burst_bytes) * 1_000_000_000 / u128::from(bytes_per_s.max(1));
    u32::try_from(ns / u128::from(TICK_NS)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_table_is_exact_for_every_frame() {
        for (mtu, tags) in [(576, 0), (1280, 0), (1500, 0), (1500, 1), (9216, 2)] {
            let (spec, table) = size_table(mtu, tags, 0);
            for frame in 14..=mtu + HEADER_BYTES {
                let slot =
                    (frame.cast_signed() + spec.overhead + i32::from(spec.cell_align)) as usize;
                let size = u16::from_ne_bytes([table[2 * slot], table[2 * slot + 1]]);
                let wire = (frame + 4 * tags).max(60) + 4 + 8 + 12;
                assert_eq!(u32::from(size), wire, "frame of {frame}");
            }
            assert_eq!(table.len(), 2 * spec.tsize as usize);
            assert!(table.len() < usize::from(u16::MAX) - 4, "fits an attribute");
        }
    }

    /// One netem or queue for both families would give one of them what the other has.
    #[test]
    fn families_share_a_bucket_only_where_all_is_alike() {
        let bucket = Some(Bucket { rate_bps: 1_000_000, burst_bytes: 1 });
        let shape = Shape {
            buckets: PerFamily { v4: bucket, v6: bucket },
            queue_packets: PerFamily { v4: 1, v6: 1 },
            delayed: None,
            mtu: 1500,
            vlan_tags: 0,
            more_bytes: 0,
            priority: 0,
        };
        assert!(shape.is_shared());
        let delayed = |v6_ns| {
            let v6 = Delayed { delay_ns: v6_ns, ..Delayed::default() };
            Shape { delayed: Some(PerFamily { v4: Delayed::default(), v6 }), ..shape }
        };
        assert!(delayed(0).is_shared());
        assert!(!delayed(1).is_shared());
        assert!(!Shape { buckets: PerFamily { v4: bucket, v6: None }, ..shape }.is_shared());
        let queue_packets = PerFamily { v4: 1, v6: 2 };
        assert!(!Shape { queue_packets, ..shape }.is_shared());
        // Classes for priorities own what the bucket does, however slow it is.
        for rate_bps in [8_000, 64_000, 10_000_000] {
            let outer = bucket_class(1, &Bucket { rate_bps, burst_bytes: 1 });
            let inner = inner_classes(&outer, &Shape { priority: 1, ..shape });
            let own: Vec<u64> = inner.iter().map(|class| class.own_bytes_per_s).collect();
            assert_eq!(own.iter().sum::<u64>(), outer.own_bytes_per_s, "{own:?}");
            assert!(own[0] >= 7 * own[1] && own[1] > 0, "{own:?}");
        }
    }

    #[test]
    fn the_depth_is_the_time_to_fill_the_bucket() {
        // 15400 bytes at 100 Mbit/s: 1232 us, in ticks of 64 ns.
        assert_eq!(burst_ticks(15_400, 12_500_000), 19_250);
    }
}
