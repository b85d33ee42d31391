//! Tunnels that the kernel makes itself: VXLAN interfaces, and routes with a segment list.

use super::{Netlink, static_route};
use crate::LabError;
use netlink_bindings::traits::Pusher;
use netlink_bindings::{rt_link, rt_route, utils};
use std::net::IpAddr;

/// `IFLA_INFO_DATA` and the attributes of `linux/if_link.h` that describe a VXLAN.
const INFO_DATA: u16 = 2;
const VXLAN_ID: u16 = 1;
const VXLAN_REMOTE: [u16; 2] = [2, 16];
const VXLAN_LOCAL: [u16; 2] = [4, 17];
const VXLAN_PORT: u16 = 15;
/// UDP port of VXLAN (RFC 7348 section 8).
const PORT: u16 = 4789;

/// `LWTUNNEL_ENCAP_SEG6` of `linux/lwtunnel.h`, `SEG6_IPTUNNEL_SRH` and `SEG6_IPTUN_MODE_ENCAP` of
/// `linux/seg6_iptunnel.h`.
const ENCAP_SEGMENTS: u16 = 5;
const SEGMENT_HEADER: u16 = 1;
const MODE_ENCAP: i32 = 1;
/// Routing type of a segment list (RFC 8754 section 2).
const ROUTING_TYPE: u8 = 4;

impl Netlink {
    /// Makes a VXLAN interface between two addresses, this end's and the other's.
    pub fn make_vxlan(
        &mut self,
        name: &str,
        id: u32,
        [local, remote]: [IpAddr; 2],
        mac: Option<[u8; 6]>,
        mtu: u32,
    ) -> Result<(), LabError> {
        let header = rt_link::Ifinfomsg::new();
        let mut request = rt_link::Request::new().set_create().set_excl().op_newlink_do(&header);
        let mut attributes = request.encode().push_ifname_bytes(name.as_bytes()).push_mtu(mtu);
        if let Some(mac) = mac {
            attributes = attributes.push_address(&mac);
        }
        let mut attributes = attributes.nested_linkinfo().push_kind(c"vxlan");
        let bytes = attributes.as_vec_mut();
        let data = utils::push_nested_header(bytes, INFO_DATA);
        push(bytes, VXLAN_ID, &id.to_ne_bytes());
        push_address(bytes, VXLAN_LOCAL, local);
        push_address(bytes, VXLAN_REMOTE, remote);
        push(bytes, VXLAN_PORT, &PORT.to_be_bytes());
        utils::finalize_nested_header(bytes, data);
        drop(attributes);
        self.tell(|| format!("make the VXLAN interface {name}"), &request)
    }

    /// Sends what goes to a subnet by interface `index` inside packets to `segment`, in an IPv6
    /// header with a list of that one segment; `source` is what this node itself sends from.
    pub fn add_segment_route(
        &mut self,
        index: u32,
        source: Option<IpAddr>,
        (subnet, prefix_bits): (IpAddr, u8),
        segment: IpAddr,
    ) -> Result<(), LabError> {
        let IpAddr::V6(segment) = segment else {
            return Err(LabError::World("segments are IPv6 addresses".to_owned()));
        };
        let header = static_route(subnet, prefix_bits);
        let mut request = rt_route::Request::new().set_create().set_excl().op_newroute_do(&header);
        // Next header (set by the kernel), length in 8 bytes beyond the first, type, segments left,
        // last entry, flags and tag, then the list (RFC 8754 section 2).
        let mut list = MODE_ENCAP.to_ne_bytes().to_vec();
        list.extend([0, 2, ROUTING_TYPE, 0, 0, 0, 0, 0]);
        list.extend(segment.octets());
        let mut encap = Vec::new();
        push(&mut encap, SEGMENT_HEADER, &list);
        let mut attributes = request.encode().push_dst(subnet).push_oif(index);
        if let Some(source) = source {
            attributes = attributes.push_prefsrc(source);
        }
        drop(attributes.push_encap_type(ENCAP_SEGMENTS).push_encap(&encap));
        self.tell(
            || format!("add the route to {subnet}/{prefix_bits} by segment {segment}"),
            &request,
        )
    }
}

impl Netlink {
    /// Sends what goes to a subnet out by interface `index`, which has no neighbours, in packets of
    /// at most `mtu` bytes, or as large as the interface takes.
    pub fn add_device_route(
        &mut self,
        index: u32,
        subnet: IpAddr,
        prefix_bits: u8,
        mtu: Option<u32>,
    ) -> Result<(), LabError> {
        let header = static_route(subnet, prefix_bits);
        let mut request = rt_route::Request::new().set_create().set_excl().op_newroute_do(&header);
        let attributes = request.encode().push_dst(subnet).push_oif(index);
        match mtu {
            Some(mtu) => drop(attributes.nested_metrics().push_mtu(mtu).end_nested()),
            None => drop(attributes),
        }
        self.tell(|| format!("add the route to {subnet}/{prefix_bits}"), &request)
    }
}

fn push(bytes: &mut Vec<u8>, attribute: u16, value: &[u8]) {
    utils::push_header(bytes, attribute, value.len() as u16);
    bytes.extend(value);
}

/// The attribute of an address depends on its family.
fn push_address(bytes: &mut Vec<u8>, [four, six]: [u16; 2], address: IpAddr) {
    match address {
        IpAddr::V4(address) => push(bytes, four, &address.octets()),
        IpAddr::V6(address) => push(bytes, six, &address.octets()),
    }
}
