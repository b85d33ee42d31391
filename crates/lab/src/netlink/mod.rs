//! The lab's few words to the kernel (netlink(7)), each one function that names its object on
//! failure.
//!
//! A [`Netlink`] speaks to the network namespace of the thread that made it, because its sockets
//! open on first use.

mod features;
mod traffic;
mod tunnel;

pub(crate) use traffic::{Bucket, Delayed, Shape};

use crate::LabError;
use netlink_bindings::traits::{NetlinkRequest, Pusher};
use netlink_bindings::{rt_addr, rt_link, rt_neigh, rt_route, utils};
use netlink_socket2::{NetlinkSocket, ReplyError};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `IFF_UP` of netdevice(7).
const FLAG_UP: u32 = 1;
/// `IF_OPER_UP` and `IF_OPER_UNKNOWN` (RFC 2863 section 3.1.12).
const OPERATIONAL: u8 = 6;
const UNKNOWN: u8 = 0;
/// `IFA_F_NODAD` and `IFA_F_TENTATIVE` of rtnetlink(7).
const ADDRESS_NODAD: u8 = 0x02;
const ADDRESS_TENTATIVE: u8 = 0x40;
/// `IFA_F_NOPREFIXROUTE`, which needs the attribute for flags.
const ADDRESS_WITHOUT_ROUTE: u32 = 0x200;
/// `NUD_PERMANENT` of rtnetlink(7).
const NEIGHBOUR_PERMANENT: u16 = 0x80;
/// `RT_TABLE_MAIN`, `RTPROT_STATIC` and `RTN_UNICAST` of rtnetlink(7).
const TABLE_MAIN: u8 = 254;
const PROTOCOL_STATIC: u8 = 4;
const ROUTE_UNICAST: u8 = 1;
/// `RT_SCOPE_LINK`, without which no neighbour behind a route may be a gateway.
const SCOPE_LINK: u8 = 253;
/// `IFLA_INFO_DATA` and `VETH_INFO_PEER`, which the bindings have no type for.
const INFO_DATA: u16 = 2;
const VETH_PEER: u16 = 1;

/// A link to the kernel for one network namespace.
pub(crate) struct Netlink {
    socket: NetlinkSocket,
}

/// One interface as the kernel sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interface {
    pub index: u32,
    pub operational: bool,
    /// Whether the kernel does not know, as of a tap, which is as good as what reads it.
    pub unknown: bool,
    pub gso_max_segs: u32,
    pub tx_bytes: u64,
    pub tx_packets: u64,
}

/// One end of a cable to be made.
pub(crate) struct Plug<'a> {
    pub name: String,
    /// Number that the kernel is to know it by; no other interface in its namespace has it.
    pub index: u32,
    /// Ethernet address; `None` lets the kernel choose.
    pub mac: Option<[u8; 6]>,
    /// Where it goes; `None` is the namespace that makes it.
    pub namespace: Option<BorrowedFd<'a>>,
}

impl Netlink {
    pub fn new() -> Self {
        Self { socket: NetlinkSocket::new() }
    }

    /// Makes a virtual cable (veth(4)) with both ends down.
    pub fn make_cable(&mut self, ends: [&Plug<'_>; 2], mtu: u32) -> Result<(), LabError> {
        let [near, far] = ends;
        let (header, far_header) = (link_header(near.index), link_header(far.index));
        let mut request = rt_link::Request::new().set_create().set_excl().op_newlink_do(&header);
        let mut attributes =
            describe_plug(request.encode(), near, mtu).nested_linkinfo().push_kind(c"veth");
        let data = utils::push_nested_header(attributes.as_vec_mut(), INFO_DATA);
        let peer = utils::push_nested_header(attributes.as_vec_mut(), VETH_PEER);
        // The far end is described by a whole message of its own: header and attributes.
        attributes.as_vec_mut().extend(far_header.as_slice());
        describe_plug(rt_link::PushLinkAttrs::new(attributes.as_vec_mut()), far, mtu).end_nested();
        utils::finalize_nested_header(attributes.as_vec_mut(), peer);
        utils::finalize_nested_header(attributes.as_vec_mut(), data);
        drop(attributes);
        self.tell(|| format!("make the cable {} to {}", near.name, far.name), &request)
    }

    /// Makes a learning bridge without spanning tree, which is down, and returns its index.
    pub fn make_bridge(&mut self, name: &str) -> Result<u32, LabError> {
        let header = rt_link::Ifinfomsg::new();
        let mut request = rt_link::Request::new().set_create().set_excl().op_newlink_do(&header);
        let attributes = request.encode().push_ifname_bytes(name.as_bytes());
        drop(attributes.nested_linkinfo().push_kind(c"bridge").end_nested());
        self.tell(|| format!("make the bridge {name}"), &request)?;
        Ok(self.interface(name)?.index)
    }

    /// Makes an interface a port of a bridge.
    pub fn plug_in(&mut self, index: u32, bridge: u32) -> Result<(), LabError> {
        let mut request = rt_link::Request::new().op_setlink_do(&link_header(index));
        request.encode().push_master(bridge);
        self.tell(|| format!("make interface {index} a port of bridge {bridge}"), &request)
    }

    /// Looks an interface up by its name.
    pub fn interface(&mut self, name: &str) -> Result<Interface, LabError> {
        let mut request = rt_link::Request::new().op_getlink_do(&rt_link::Ifinfomsg::new());
        request.encode().push_ifname_bytes(name.as_bytes());
        let mut look = || {
            let mut reply = self.socket.request(&request)?;
            let (header, attributes) = reply.recv_one()?;
            let counts = attributes.get_stats64()?;
            let state = attributes.get_operstate()?;
            Ok(Interface {
                index: header.ifi_index.unsigned_abs(),
                operational: state == OPERATIONAL,
                unknown: state == UNKNOWN,
                gso_max_segs: attributes.get_gso_max_segs()?,
                tx_bytes: counts.tx_bytes,
                tx_packets: counts.tx_packets,
            })
        };
        look().map_err(|error: ReplyError| kernel(format!("find interface {name}"), &error))
    }

    /// Sets an interface up.
    pub fn set_up(&mut self, index: u32) -> Result<(), LabError> {
        let mut header = link_header(index);
        header.ifi_flags = FLAG_UP;
        header.ifi_change = FLAG_UP;
        let request = rt_link::Request::new().op_setlink_do(&header);
        self.tell(|| format!("set interface {index} up"), &request)
    }

    /// Gives an interface, which is down, another name.
    pub fn rename(&mut self, index: u32, name: &str) -> Result<(), LabError> {
        let mut request = rt_link::Request::new().op_setlink_do(&link_header(index));
        request.encode().push_ifname_bytes(name.as_bytes());
        self.tell(|| format!("name interface {index} {name}"), &request)
    }

    /// Gives an interface another Ethernet address.
    pub fn set_mac(&mut self, index: u32, mac: [u8; 6]) -> Result<(), LabError> {
        let mut request = rt_link::Request::new().op_setlink_do(&link_header(index));
        request.encode().push_address(&mac);
        self.tell(|| format!("set the Ethernet address of interface {index}"), &request)
    }

    /// Sets the MTU of an interface, in bytes.
    pub fn set_mtu(&mut self, index: u32, mtu: u32) -> Result<(), LabError> {
        let mut request = rt_link::Request::new().op_setlink_do(&link_header(index));
        request.encode().push_mtu(mtu);
        self.tell(|| format!("set the MTU of interface {index}"), &request)
    }

    /// Lets no more than one segment into a packet that the interface is given: with more, hosts
    /// hand packets of up to 64 KiB to the queue, and the rate of a link comes out too high.
    pub fn forbid_super_packets(&mut self, index: u32) -> Result<(), LabError> {
        let mut request = rt_link::Request::new().op_setlink_do(&link_header(index));
        request.encode().push_gso_max_segs(1);
        self.tell(|| format!("set gso_max_segs of interface {index}"), &request)
    }

    /// Gives an interface an address that is usable at once, without duplicate address detection.
    pub fn add_address(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_bits: u8,
    ) -> Result<(), LabError> {
        self.put_address(index, (address, prefix_bits), ADDRESS_NODAD.into())
    }

    /// Gives an interface an address without a route to its subnet.
    pub fn add_address_alone(
        &mut self,
        index: u32,
        address: IpAddr,
        prefix_bits: u8,
    ) -> Result<(), LabError> {
        let flags = u32::from(ADDRESS_NODAD) | ADDRESS_WITHOUT_ROUTE;
        self.put_address(index, (address, prefix_bits), flags)
    }

    fn put_address(
        &mut self,
        index: u32,
        (address, prefix_bits): (IpAddr, u8),
        flags: u32,
    ) -> Result<(), LabError> {
        let mut header = rt_addr::Ifaddrmsg::new();
        header.ifa_family = family_number(address);
        header.ifa_index = index;
        header.ifa_prefixlen = prefix_bits;
        let mut request = rt_addr::Request::new().set_create().set_excl().op_newaddr_do(&header);
        request.encode().push_local(address).push_address(address).push_flags(flags);
        self.tell(|| format!("add address {address}/{prefix_bits}"), &request)
    }

    /// Whether an interface has `address` and may use it already.
    pub fn has_address(&mut self, index: u32, address: IpAddr) -> Result<bool, LabError> {
        let mut header = rt_addr::Ifaddrmsg::new();
        header.ifa_family = family_number(address);
        let request = rt_addr::Request::new().op_getaddr_dump(&header);
        let mut found = false;
        let mut look = || {
            let mut reply = self.socket.request(&request)?;
            while let Some(entry) = reply.recv() {
                let (header, attributes) = entry?;
                found |= header.ifa_index == index
                    && header.ifa_flags & ADDRESS_TENTATIVE == 0
                    && attributes.get_address().is_ok_and(|has| has == address);
            }
            Ok(())
        };
        look().map_err(|error: ReplyError| kernel("list addresses".to_owned(), &error))?;
        Ok(found)
    }

    /// Sends what goes to a subnet to a neighbour, in packets of at most `mtu` bytes, or as large
    /// as the interface takes.
    pub fn add_route(
        &mut self,
        subnet: IpAddr,
        prefix_bits: u8,
        via: IpAddr,
        mtu: Option<u32>,
    ) -> Result<(), LabError> {
        let header = static_route(subnet, prefix_bits);
        let mut request = rt_route::Request::new().set_create().set_excl().op_newroute_do(&header);
        let attributes = request.encode().push_dst(subnet).push_gateway(via);
        match mtu {
            Some(mtu) => drop(attributes.nested_metrics().push_mtu(mtu).end_nested()),
            None => drop(attributes),
        }
        self.tell(|| format!("add the route to {subnet}/{prefix_bits} by {via}"), &request)
    }

    /// Sends what goes to the subnet of an interface's own address out there, in packets of at most
    /// `mtu` bytes, in place of the route that [`add_address`](Self::add_address) brings.
    pub fn add_narrow_subnet(
        &mut self,
        index: u32,
        (subnet, prefix_bits): (IpAddr, u8),
        own: IpAddr,
        mtu: u32,
    ) -> Result<(), LabError> {
        let mut header = static_route(subnet, prefix_bits);
        header.rtm_scope = SCOPE_LINK;
        let mut request = rt_route::Request::new().set_create().set_excl().op_newroute_do(&header);
        let attributes = request.encode().push_dst(subnet).push_oif(index).push_prefsrc(own);
        drop(attributes.nested_metrics().push_mtu(mtu).end_nested());
        self.tell(|| format!("add the route to {subnet}/{prefix_bits}"), &request)
    }

    /// Tells an interface a neighbour's Ethernet address for good, so that no measurement is
    /// disturbed by asking for it.
    pub fn add_neighbour(
        &mut self,
        index: u32,
        address: IpAddr,
        mac: [u8; 6],
    ) -> Result<(), LabError> {
        let mut header = rt_neigh::Ndmsg::new();
        header.ndm_family = family_number(address);
        header.ndm_ifindex = index.cast_signed();
        header.ndm_state = NEIGHBOUR_PERMANENT;
        let mut request = rt_neigh::Request::new().set_change().op_newneigh_do(&header);
        request.encode().push_dst(address).push_lladdr(&mac);
        self.tell(|| format!("add neighbour {address}"), &request)
    }

    /// Sends a request and reads its answers, which do not matter, up to the acknowledgement.
    fn tell<R: NetlinkRequest>(
        &mut self,
        operation: impl FnOnce() -> String,
        request: &R,
    ) -> Result<(), LabError> {
        let mut send = || {
            let mut reply = self.socket.request(request)?;
            while let Some(answer) = reply.recv() {
                answer?;
            }
            Ok(())
        };
        send().map_err(|error: ReplyError| kernel(operation(), &error))
    }
}

/// A refused request in words: the error number's and, where the kernel gave one, its explanation.
fn kernel(operation: String, error: &ReplyError) -> LabError {
    let message = error.ext_ack().and_then(|details| details.get_msg().ok());
    let reason = match message.map(|text| text.to_string_lossy()) {
        Some(text) => format!("{} ({text})", error.as_io_error()),
        None => error.as_io_error().to_string(),
    };
    LabError::Kernel { operation, reason }
}

fn describe_plug<P: Pusher>(
    attributes: rt_link::PushLinkAttrs<P>,
    plug: &Plug<'_>,
    mtu: u32,
) -> rt_link::PushLinkAttrs<P> {
    let mut attributes = attributes.push_ifname_bytes(plug.name.as_bytes()).push_mtu(mtu);
    if let Some(mac) = plug.mac {
        attributes = attributes.push_address(&mac);
    }
    match plug.namespace {
        Some(namespace) => attributes.push_net_ns_fd(namespace.as_raw_fd().unsigned_abs()),
        None => attributes,
    }
}

fn link_header(index: u32) -> rt_link::Ifinfomsg {
    let mut header = rt_link::Ifinfomsg::new();
    header.ifi_index = index.cast_signed();
    header
}

/// What every route of the lab to a subnet begins with.
fn static_route(subnet: IpAddr, prefix_bits: u8) -> rt_route::Rtmsg {
    let mut header = rt_route::Rtmsg::new();
    header.rtm_family = family_number(subnet);
    header.rtm_dst_len = prefix_bits;
    header.rtm_table = TABLE_MAIN;
    header.rtm_protocol = PROTOCOL_STATIC;
    header.rtm_type = ROUTE_UNICAST;
    header
}

/// `AF_INET` or `AF_INET6`.
fn family_number(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 2,
        IpAddr::V6(_) => 10,
    }
}
