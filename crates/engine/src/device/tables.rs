//! What is asked for: names and places of the objects (docs/method.md section E.4).

use v6gap_core::family::Family;

/// Objects by name, with their places below `mib-2` (1.3.6.1.2.1).
pub(super) type Table<const N: usize> = [(&'static str, &'static [u64]); N];

const MIB_2: [u64; 6] = [1, 3, 6, 1, 2, 1];

/// RFC 3418.
pub(super) const SYSTEM: Table<2> = [("sysName", &[1, 5, 0]), ("sysUpTime", &[1, 3, 0])];

/// Interfaces: `ifTable` and `ifXTable` (RFC 2863), `dot3StatsTable` (RFC 3635).
pub(super) const PORT_COLUMNS: Table<20> = [
    ("ifDescr", &[2, 2, 1, 2]),
    ("ifName", &[31, 1, 1, 1, 1]),
    ("ifCounterDiscontinuityTime", &[31, 1, 1, 1, 19]),
    ("ifInDiscards", &[2, 2, 1, 13]),
    ("ifInErrors", &[2, 2, 1, 14]),
    ("ifOutDiscards", &[2, 2, 1, 19]),
    ("ifOutErrors", &[2, 2, 1, 20]),
    ("dot3StatsAlignmentErrors", &[10, 7, 2, 1, 2]),
    ("dot3StatsFCSErrors", &[10, 7, 2, 1, 3]),
    ("dot3StatsLateCollisions", &[10, 7, 2, 1, 8]),
    ("dot3StatsFrameTooLongs", &[10, 7, 2, 1, 13]),
    ("ifInUcastPkts", &[2, 2, 1, 11]),
    ("ifOutUcastPkts", &[2, 2, 1, 17]),
    ("ifInUnknownProtos", &[2, 2, 1, 15]),
    ("ifHCInMulticastPkts", &[31, 1, 1, 1, 8]),
    ("ifHCInBroadcastPkts", &[31, 1, 1, 1, 9]),
    ("ifHCOutMulticastPkts", &[31, 1, 1, 1, 12]),
    ("ifHCOutBroadcastPkts", &[31, 1, 1, 1, 13]),
    ("ifHCInUcastPkts", &[31, 1, 1, 1, 7]),
    ("ifHCOutUcastPkts", &[31, 1, 1, 1, 11]),
];

/// Octets of the ports, which are read nearest to a trial.
pub(super) const OCTET_COLUMNS: Table<4> = [
    ("ifInOctets", &[2, 2, 1, 10]),
    ("ifOutOctets", &[2, 2, 1, 16]),
    ("ifHCInOctets", &[31, 1, 1, 1, 6]),
    ("ifHCOutOctets", &[31, 1, 1, 1, 10]),
];

/// `ipSystemStatsTable` (RFC 4293), one row for each version.
pub(super) const IP_COLUMNS: Table<19> = [
    ("ipSystemStatsHCInReceives", &[4, 31, 1, 1, 4]),
    ("ipSystemStatsHCInOctets", &[4, 31, 1, 1, 6]),
    ("ipSystemStatsInHdrErrors", &[4, 31, 1, 1, 7]),
    ("ipSystemStatsInNoRoutes", &[4, 31, 1, 1, 8]),
    ("ipSystemStatsInAddrErrors", &[4, 31, 1, 1, 9]),
    ("ipSystemStatsInTruncatedPkts", &[4, 31, 1, 1, 11]),
    ("ipSystemStatsHCInForwDatagrams", &[4, 31, 1, 1, 13]),
    ("ipSystemStatsReasmReqds", &[4, 31, 1, 1, 14]),
    ("ipSystemStatsReasmFails", &[4, 31, 1, 1, 16]),
    ("ipSystemStatsInDiscards", &[4, 31, 1, 1, 17]),
    ("ipSystemStatsHCInDelivers", &[4, 31, 1, 1, 19]),
    ("ipSystemStatsHCOutRequests", &[4, 31, 1, 1, 21]),
    ("ipSystemStatsOutNoRoutes", &[4, 31, 1, 1, 22]),
    ("ipSystemStatsHCOutForwDatagrams", &[4, 31, 1, 1, 24]),
    ("ipSystemStatsOutDiscards", &[4, 31, 1, 1, 25]),
    ("ipSystemStatsOutFragFails", &[4, 31, 1, 1, 28]),
    ("ipSystemStatsOutFragCreates", &[4, 31, 1, 1, 29]),
    ("ipSystemStatsHCOutTransmits", &[4, 31, 1, 1, 31]),
    ("ipSystemStatsHCOutOctets", &[4, 31, 1, 1, 33]),
];

/// `ipIfStatsTable` (RFC 4293), one row for each version and interface.
pub(super) const IP_PORT_COLUMNS: Table<6> = [
    ("ipIfStatsHCInReceives", &[4, 31, 3, 1, 4]),
    ("ipIfStatsHCInOctets", &[4, 31, 3, 1, 6]),
    ("ipIfStatsInDiscards", &[4, 31, 3, 1, 17]),
    ("ipIfStatsOutDiscards", &[4, 31, 3, 1, 25]),
    ("ipIfStatsHCOutTransmits", &[4, 31, 3, 1, 31]),
    ("ipIfStatsHCOutOctets", &[4, 31, 3, 1, 33]),
];

/// The names under which these are kept for each family.
const OF_FAMILY: [[&str; 2]; 6] = [
    ["ipIfStatsHCInReceives.ipv4", "ipIfStatsHCInReceives.ipv6"],
    ["ipIfStatsHCInOctets.ipv4", "ipIfStatsHCInOctets.ipv6"],
    ["ipIfStatsInDiscards.ipv4", "ipIfStatsInDiscards.ipv6"],
    ["ipIfStatsOutDiscards.ipv4", "ipIfStatsOutDiscards.ipv6"],
    ["ipIfStatsHCOutTransmits.ipv4", "ipIfStatsHCOutTransmits.ipv6"],
    ["ipIfStatsHCOutOctets.ipv4", "ipIfStatsHCOutOctets.ipv6"],
];

/// TCP (RFC 4022) and UDP (RFC 4113), both versions of IP together.
pub(super) const TRANSPORT: Table<11> = [
    ("tcpRetransSegs", &[6, 12, 0]),
    ("tcpInErrs", &[6, 14, 0]),
    ("tcpOutRsts", &[6, 15, 0]),
    ("tcpHCInSegs", &[6, 17, 0]),
    ("tcpHCOutSegs", &[6, 18, 0]),
    ("udpNoPorts", &[7, 2, 0]),
    ("udpInErrors", &[7, 3, 0]),
    ("udpInDatagrams", &[7, 1, 0]),
    ("udpOutDatagrams", &[7, 4, 0]),
    ("udpHCInDatagrams", &[7, 8, 0]),
    ("udpHCOutDatagrams", &[7, 9, 0]),
];

/// The full places of a table's objects.
pub(super) fn objects<const N: usize>(table: &Table<N>) -> Vec<Vec<u64>> {
    table.iter().map(|(_, place)| MIB_2.iter().chain(*place).copied().collect()).collect()
}

/// The family of a version as these tables number them (`InetVersion`, RFC 4001).
pub(super) fn family(version: u64) -> Option<Family> {
    match version {
        1 => Some(Family::V4),
        2 => Some(Family::V6),
        _ => None,
    }
}

/// The name of column `index` of [`IP_PORT_COLUMNS`] for a family.
pub(super) fn of_family(index: usize, family: Family) -> &'static str {
    match family {
        Family::V4 => OF_FAMILY[index][0],
        Family::V6 => OF_FAMILY[index][1],
    }
}
