//! Linux: `/proc/thread-self/net/dev` and the ethtool commands that anybody may give.

use rustix::net::{AddressFamily, SocketType, socket};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

/// Commands and string set of linux/ethtool.h, and the ioctl of linux/sockios.h.
const GET_STRINGS: u32 = 0x1b;
const GET_SET_INFO: u32 = 0x37;
const GET_FEATURES: u32 = 0x3a;
const SET_FEATURES_NAMES: u32 = 4;
const SIOCETHTOOL: libc::Ioctl = 0x8946;
/// `ETH_GSTRING_LEN`: bytes of one name.
const NAME_BYTES: usize = 32;
/// More features than any kernel has.
const FEATURES_MAX: u32 = 1024;

pub(super) fn up() -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let named = text.lines().skip(2).filter_map(|line| Some(line.split_once(':')?.0.trim()));
    let socket = control_socket()?;
    let mut names: Vec<String> = named
        .filter(|name| {
            const WANTED: libc::c_int = libc::IFF_UP;
            flags(&socket, name).is_ok_and(|flags| flags & (WANTED | libc::IFF_LOOPBACK) == WANTED)
        })
        .map(str::to_owned)
        .collect();
    names.sort();
    Ok(names)
}

pub(super) fn features(name: &str) -> io::Result<BTreeMap<String, bool>> {
    let socket = control_socket()?;
    // struct ethtool_sset_info: command, reserved, a mask of 64 bits, one count.
    let mut info = [GET_SET_INFO, 0, 0, 0, 0];
    let mask = (1_u64 << SET_FEATURES_NAMES).to_ne_bytes();
    info[2] = u32::from_ne_bytes([mask[0], mask[1], mask[2], mask[3]]);
    info[3] = u32::from_ne_bytes([mask[4], mask[5], mask[6], mask[7]]);
    ask(&socket, name, &mut info)?;
    let count = info[4].min(FEATURES_MAX) as usize;

    // struct ethtool_gstrings: command, set, count, then names of 32 bytes.
    let mut strings = vec![0_u32; 3 + count * NAME_BYTES / 4];
    strings[..3].copy_from_slice(&[GET_STRINGS, SET_FEATURES_NAMES, count as u32]);
    ask(&socket, name, &mut strings)?;

    // struct ethtool_gfeatures: command, count of blocks, then blocks of four words for 32 bits.
    let blocks = count.div_ceil(32);
    let mut states = vec![0_u32; 2 + blocks * 4];
    states[..2].copy_from_slice(&[GET_FEATURES, blocks as u32]);
    ask(&socket, name, &mut states)?;

    let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let named = bytes.chunks_exact(NAME_BYTES).enumerate().filter_map(|(index, name)| {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let name = std::str::from_utf8(&name[..end]).ok().filter(|name| !name.is_empty())?;
        // The third word of a block tells what is on.
        let on = states[2 + index / 32 * 4 + 2] & (1 << (index % 32)) != 0;
        Some((name.to_owned(), on))
    });
    Ok(named.collect())
}

pub(super) fn with_address(wanted: IpAddr) -> io::Result<String> {
    let mut found = None;
    each_address(|entry, address| {
        if address == wanted && found.is_none() {
            found = name_of(entry).to_str().ok().map(str::to_owned);
        }
    })?;
    found.ok_or_else(|| io::Error::other(format!("no interface has {wanted}")))
}

pub(super) fn of_index(index: u32) -> io::Result<String> {
    let socket = control_socket()?;
    Ok(rustix::net::netdevice::index_to_name(&socket, index)?)
}

pub(super) fn addresses() -> io::Result<Vec<IpAddr>> {
    let mut all = Vec::new();
    each_address(|_, address| all.push(address))?;
    Ok(all)
}

pub(super) fn addresses_beside(known: IpAddr) -> io::Result<Vec<IpAddr>> {
    let mut all: Vec<(CString, IpAddr)> = Vec::new();
    each_address(|entry, address| all.push((name_of(entry).to_owned(), address)))?;
    let beside = all.iter().find(|(_, address)| *address == known).map(|(name, _)| name.clone());
    // The order is otherwise the system's.
    all.sort_by_key(|(name, _)| Some(name) != beside.as_ref());
    Ok(all.into_iter().map(|(_, address)| address).collect())
}

/// Name of the interface that an entry is of.
fn name_of(entry: &libc::ifaddrs) -> &CStr {
    // SAFETY: entries come from `each_address`; the name ends with a zero and lives as long as the
    // list that the entry is of.
    unsafe { CStr::from_ptr(entry.ifa_name) }
}

/// Calls `look` for each address of this host.
fn each_address(mut look: impl FnMut(&libc::ifaddrs, IpAddr)) -> io::Result<()> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: the call fills the pointer with a list that is freed below, or fails.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut next = first;
    while !next.is_null() {
        // SAFETY: the list and all that it points to live until it is freed below.
        let entry = unsafe { &*next };
        if let Some(address) =
            (!entry.ifa_addr.is_null()).then(|| address(entry.ifa_addr)).flatten()
        {
            look(entry, address);
        }
        next = entry.ifa_next;
    }
    // SAFETY: the list came from getifaddrs, is freed once, and is not looked at any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(())
}

/// The address that a socket address holds, if it is of one of the two families.
fn address(of: *const libc::sockaddr) -> Option<IpAddr> {
    // SAFETY: the callers pass an address of the kernel's, whose family says how much of it there
    // is; nothing beyond that family's structure is read.
    unsafe {
        match libc::c_int::from((*of).sa_family) {
            libc::AF_INET => {
                let four = of.cast::<libc::sockaddr_in>().read_unaligned();
                Some(Ipv4Addr::from(u32::from_be(four.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let six = of.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(Ipv6Addr::from(six.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

pub(super) fn speed_bps(name: &str) -> Result<u64, String> {
    let silent = || format!("the driver of {name} does not tell");
    // A name with a slash would lead elsewhere.
    let path = Some(name).filter(|name| !name.contains('/')).ok_or_else(silent)?;
    let text = std::fs::read_to_string(format!("/sys/class/net/{path}/speed"));
    let mbits: i64 = text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(-1);
    u64::try_from(mbits).ok().filter(|&mbits| mbits > 0).map(|m| m * 1_000_000).ok_or_else(silent)
}

fn control_socket() -> io::Result<OwnedFd> {
    Ok(socket(AddressFamily::INET, SocketType::DGRAM, None)?)
}

/// A request about the interface `name`, with no data yet.
fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: the structure has numbers, arrays of numbers and a pointer, all valid as zeros.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // One byte less, so that a zero ends the name.
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

fn flags(socket: &OwnedFd, name: &str) -> io::Result<libc::c_int> {
    let mut request = request(name)?;
    // SAFETY: the descriptor is open, and the kernel writes into the structure only.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS as _, &mut request) };
    if outcome < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: after this request the kernel has filled this member of the union.
    Ok(unsafe { request.ifr_ifru.ifru_flags }.into())
}

/// Number of an interface and the kind of its link (`ARPHRD_…`).
pub(crate) fn kind(name: &str) -> io::Result<(u32, u16)> {
    let socket = control_socket()?;
    let mut request = request(name)?;
    let (fd, asked) = (socket.as_raw_fd(), libc::SIOCGIFHWADDR as _);
    // SAFETY: the descriptor is open, and the kernel writes into the structure only.
    if unsafe { libc::ioctl(fd, asked, &mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: after this request the kernel has filled this member of the union.
    let kind = unsafe { request.ifr_ifru.ifru_hwaddr }.sa_family;
    Ok((rustix::net::netdevice::name_to_index(&socket, name)?, kind))
}

/// Gives an ethtool command in `words`, into which the kernel writes its answer.
fn ask(socket: &OwnedFd, name: &str, words: &mut [u32]) -> io::Result<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_data = words.as_mut_ptr().cast();
    // SAFETY: the descriptor is open; the counts inside `words`, set by the callers, tell the
    // kernel how much room there is behind the pointer, which lives through the call.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &mut request) };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
