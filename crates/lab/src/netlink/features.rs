//! What only ethtool netlink can do: offloads, switched off where frames must be as on a real wire,
//! and the carrier.

use super::{Netlink, kernel};
use crate::LabError;
use netlink_bindings::ethtool;
use netlink_socket2::ReplyError;
use std::ffi::CStr;

/// Commands of `linux/ethtool_netlink.h`. netlink-bindings 0.3.5 counts notifications among the
/// commands and so sends wrong numbers from the third one on.
const LINK_STATE_GET: u8 = 6;
const FEATURES_GET: u8 = 11;
const FEATURES_SET: u8 = 12;

/// The features that merge, split or leave unfinished what a wire would see, by their kernel names.
const OFFLOADS: [&CStr; 10] = [
    c"rx-checksum",
    c"tx-checksum-ip-generic",
    c"tx-scatter-gather",
    c"tx-scatter-gather-fraglist",
    c"tx-tcp-segmentation",
    c"tx-tcp-ecn-segmentation",
    c"tx-tcp-mangleid-segmentation",
    c"tx-tcp6-segmentation",
    c"tx-generic-segmentation",
    c"rx-gro",
];

impl Netlink {
    /// Switches the offloads of an interface off.
    pub fn switch_offloads_off(&mut self, index: u32) -> Result<(), LabError> {
        let mut request = ethtool::Request::new().op_features_set_do();
        request.header_mut().cmd = FEATURES_SET;
        let header = request.encode().nested_header().push_dev_index(index);
        // A listed bit without a value is to be off; bits that are not listed stay as they are.
        let mut bits = header.end_nested().nested_wanted().nested_bits();
        for name in OFFLOADS {
            bits = bits.nested_bit().push_name(name).end_nested();
        }
        drop(bits);
        self.tell(|| format!("switch the offloads of interface {index} off"), &request)
    }

    /// Asks for the carrier of an interface. Linux 6.8 and later then finish pending changes of its
    /// state at once instead of up to a second later; others just answer.
    pub fn nudge(&mut self, index: u32) -> Result<(), LabError> {
        let mut request = ethtool::Request::new().op_linkstate_get_do();
        request.header_mut().cmd = LINK_STATE_GET;
        request.encode().nested_header().push_dev_index(index);
        self.tell(|| format!("ask for the carrier of interface {index}"), &request)
    }

    /// Names of the offloads that an interface has switched on, of those that matter here.
    pub fn offloads(&mut self, index: u32) -> Result<Vec<String>, LabError> {
        let mut request = ethtool::Request::new().op_features_get_do();
        request.header_mut().cmd = FEATURES_GET;
        request.encode().nested_header().push_dev_index(index);
        let mut look = || {
            let mut reply = self.socket.request(&request)?;
            let features = reply.recv_one()?;
            let active = features.get_active()?.get_bits()?;
            let names = active.get_bit().filter_map(|bit| bit.get_name().ok());
            let names = names.filter(|name| OFFLOADS.contains(name));
            Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
        };
        look().map_err(|error: ReplyError| {
            kernel(format!("read the offloads of interface {index}"), &error)
        })
    }
}
