//! Windows that were asked for and not granted.

use super::collect::Collected;
use super::{Check, CheckState};
use alloc::format;
use alloc::string::{String, ToString};
use v6gap_core::host::Host;
use v6gap_core::observation::EndReport;
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::{Direction, Workload};

/// A note if the kernel of an end that receives granted less than a plan asked for: the window is
/// the smaller one.
pub(super) fn check(found: &Collected<'_>) -> Option<Check> {
    let hosts = &found.run.hosts;
    let short = found.trials.iter().filter_map(|trial| {
        let (_, cell) = found.run.plan.cell(&trial.cell)?;
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        let asked = bulk.settings.buffer_bytes?;
        let here = Some((&trial.ends.client, &hosts.client, "here"));
        let here = here.filter(|_| bulk.direction != Direction::Send);
        let there = trial.ends.server.seen().map(|end| (end, &hosts.server, "there"));
        let there = there.filter(|_| bulk.direction != Direction::Receive);
        let less = |(end, host, place)| {
            let granted = granted(end, host).filter(|&granted| granted < asked)?;
            Some((asked, granted, place, host))
        };
        here.into_iter().chain(there).filter_map(less).min_by_key(|(_, granted, ..)| *granted)
    });
    let (asked, granted, place, host) = short.max_by_key(|(asked, ..)| *asked)?;
    let [wanted, given] = [asked, granted].map(|bytes| format_bytes(bytes.into()));
    let raises = match is_linux(host) {
        true => format!("sysctl -w net.core.rmem_max={asked} raises it, "),
        false => String::new(),
    };
    let text = format!(
        "asked for a window of {wanted}, the kernel {place} granted {given}: {raises}\
         require_window = true in a plan stops instead [N402]"
    );
    Some(Check { id: "window".to_string(), state: CheckState::Note, text })
}

/// The receive buffer that an end got, in bytes, of which Linux reports twice as much.
pub(super) fn granted(end: &EndReport, host: &Host) -> Option<u32> {
    let doubles = is_linux(host);
    end.granted.receive_buffer.map(|bytes| if doubles { bytes / 2 } else { bytes })
}

fn is_linux(host: &Host) -> bool {
    host.facts.get("system").is_some_and(|system| system == "Linux")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVEN, plan, run};
    use crate::analysis::analyse;
    use v6gap_core::arm::PerArm;
    use v6gap_core::record::Line;
    use v6gap_core::workload::{Cell, TcpBulk, Workload};

    #[test]
    fn what_was_not_granted_is_said() {
        let mut plan = plan(PerArm::FAMILIES, 5);
        let mut bulk = TcpBulk::default();
        bulk.settings.buffer_bytes = Some(1 << 20);
        plan.parts_mut().cells = alloc::vec![Cell::named(Workload::TcpBulk(bulk))];
        plan.parts_mut().design.null_cells.clear();
        let said_of = |client: bool, reported: u32| {
            let mut lines = run(&plan, 6, &EVEN);
            for line in &mut lines {
                match line {
                    Line::Run(header) => {
                        let system = ("system".into(), "Linux".into());
                        let hosts = &mut header.hosts;
                        let host = if client { &mut hosts.client } else { &mut hosts.server };
                        host.facts.extend([system]);
                    }
                    Line::Trial(trial) => {
                        let ends = &mut trial.ends;
                        let server = ends.server.seen_mut().unwrap();
                        let end = if client { &mut ends.client } else { server };
                        end.granted.receive_buffer = Some(reported);
                    }
                    _ => {}
                }
            }
            let checks = analyse(&lines).unwrap().checks;
            checks.into_iter().find(|check| check.id == "window").map(|check| check.text)
        };
        let said = |reported| said_of(false, reported);
        assert_eq!(said(2 << 20), None);
        assert_eq!(said_of(true, 425_984), None, "who sends has no window");
        let text = said(425_984).unwrap();
        let expected = "asked for a window of 1 MiB, the kernel there granted 208 KiB";
        assert!(text.starts_with(expected), "{text}");
    }
}
