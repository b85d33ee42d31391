//! The key `parity` of a `[[measure]]` table: what is of one length over both families.

use super::Problems;
use super::cells::Place;
use crate::capacity::PATH_MTU_USUAL;
use crate::family::Family;
use crate::plan::draft::Measure;
use crate::wiremodel::{TcpOptions, UDP_HEADER_BYTES, tcp_mss};
use crate::workload::{Cell, Parity, Transport, Workload};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Makes what is measured be of the length that the table says. Packets are taken to fit the path
/// MTU that the plan makes, or the usual one.
pub(super) fn apply(
    key: &str,
    measure: &Measure,
    place: Place,
    found: &mut Vec<Workload>,
    problems: &mut Problems,
) {
    let key = format!("{key}.parity");
    let fills = match measure.parity.as_deref() {
        None | Some("payload") => return,
        Some("packet") => false,
        Some("frame") => true,
        Some(other) => return problems.one_of(key, other, &["payload", "packet", "frame"]),
    };
    let sizes = measure.message.is_some() || measure.payload.is_some();
    if fills && (sizes || measure.bytes.is_some()) {
        return problems.add(key, "messages that fill frames have no other size, nor bytes in all");
    }
    let mtu = place.mtu.map_or(PATH_MTU_USUAL, |mtu| mtu.v4.min(mtu.v6));
    let most = |workload: &Workload| match workload.transport() {
        Transport::Tcp => tcp_mss(mtu, Family::V4, TcpOptions::TIMESTAMPS),
        Transport::Udp | Transport::Icmp => {
            mtu.saturating_sub(Family::V4.header_bytes() + UDP_HEADER_BYTES)
        }
    };
    if !fills && !sizes {
        // Of the usual sizes those that are one packet.
        found.retain(|workload| workload.level_bytes().is_none_or(|b| b <= most(workload)));
    }
    let counted = [measure.turn, measure.turns, measure.connections];
    let path = place.path.filter(|_| fills && counted.iter().all(Option::is_none));
    for workload in found.iter_mut() {
        let most = most(workload);
        if let Err(what) = alike(workload, fills, most) {
            return problems.add(key, what);
        }
        if let Some(path) = path {
            workload.fit(path);
        }
        if let Err(why) = workload.check_numbers(place.payload_max) {
            return problems.add(key, why.to_string());
        }
    }
    if fills {
        let mut ids = Vec::new();
        found.retain(|workload| {
            let id = Cell::named(workload.clone()).id;
            let is_new = !ids.contains(&id);
            ids.push(id);
            is_new
        });
    }
}

/// Makes the packets of a workload be of one length over both families, as long as there are where
/// they fill frames.
fn alike(workload: &mut Workload, fills: bool, most: u32) -> Result<(), String> {
    let bytes = if let Workload::Echo(echo) = workload {
        if let Some(answer) = echo.response_bytes.filter(|&answer| answer > most) {
            return Err(format!("an answer of {answer} B is more than one packet ({most} B)"));
        }
        echo.parity = Parity::Packet;
        &mut echo.message_bytes
    } else if let Workload::UdpBulk(bulk) = workload {
        bulk.parity = Parity::Packet;
        &mut bulk.payload_bytes
    } else if let Workload::TcpBulk(bulk) = workload {
        // Segments fill their packets, whatever the family.
        let sized = bulk.settings.mss_bytes.is_some();
        return if sized { Err("segments of a given size are the payload".into()) } else { Ok(()) };
    } else {
        return Err("only round trips and transfers have this".into());
    };
    if fills {
        *bytes = most;
    } else if *bytes > most {
        return Err(format!(
            "{bytes} B over IPv4 are more than one packet, which carries {most} B"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::family::Family;
    use crate::plan::check::check;
    use crate::plan::draft::{Draft, Levels, Measure};
    use crate::workload::{Cell, Workload};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn cells(measure: Measure) -> Result<Vec<Cell>, Vec<String>> {
        let draft = Draft { v6gap: 1, measure: [measure].into(), ..Draft::default() };
        let told = |problem: &super::super::Problem| problem.what.clone();
        let cells = check(&draft, 1).map(|plan| plan.cells.clone());
        cells.map_err(|found| found.iter().map(told).collect())
    }

    fn measure(metric: &str, parity: &str) -> Measure {
        let both = ["tcp", "udp"].map(ToString::to_string).to_vec();
        Measure {
            metric: metric.to_string(),
            protocol: (metric == "rtt").then_some(Levels::Many(both)),
            parity: Some(parity.to_string()),
            ..Measure::default()
        }
    }

    #[test]
    fn packets_are_of_one_length() {
        let sizes = |cells: &[Cell]| -> Vec<[(u32, u32); 2]> {
            let of = |cell: &Cell| match &cell.workload {
                Workload::Echo(echo) => Family::BOTH.map(|family| echo.bytes_over(family)),
                Workload::UdpBulk(bulk) => {
                    Family::BOTH.map(|family| (bulk.over(family).payload_bytes, 0))
                }
                other => panic!("{other:?}"),
            };
            cells.iter().map(of).collect()
        };
        let found = cells(measure("rtt", "packet")).unwrap();
        let both = |bytes| [(bytes, bytes), (bytes - 20, bytes - 20)];
        assert_eq!(sizes(&found), [both(64), both(1024), both(64), both(1024)]);
        assert_eq!(found[0].id, "rtt-tcp-64-packet");
        let found = cells(measure("rtt", "frame")).unwrap();
        assert_eq!(sizes(&found), [both(1448), both(1472)]);
        let found = cells(measure("loss", "packet")).unwrap();
        assert_eq!(sizes(&found), [[(1408, 0), (1388, 0)]]);
        assert_eq!(cells(measure("rtt", "payload")).unwrap().len(), 6);
    }

    #[test]
    fn what_has_no_packets_of_one_length_is_refused() {
        let refused = |measure: Measure| cells(measure).unwrap_err().join("\n");
        let one = |text: &str| Some(Levels::One(text.to_string()));
        let large = Measure { message: one("16 KiB"), ..measure("rtt", "packet") };
        assert!(refused(large).contains("more than one packet, which carries 1448 B"));
        let small = Measure { message: one("39 B"), ..measure("rtt", "packet") };
        assert!(refused(small).contains("bytes of a message"));
        let sized = Measure { message: one("64 B"), ..measure("rtt", "frame") };
        assert!(refused(sized).contains("have no other size"));
        assert!(refused(measure("connect", "packet")).contains("only round trips and transfers"));
        assert!(refused(measure("rtt", "bytes")).contains("payload"));
    }
}
