//! Windows that were asked for and not granted.

use super::collect::Collected;
use super::{Check, CheckState};
use alloc::format;
use alloc::string::ToString;
use v6gap_core::host::Host;
use v6gap_core::observation::EndReport;
use v6gap_core::unit::format_bytes;
use v6gap_core::workload::Workload;

/// A note if a kernel granted less than a plan asked for: the window is the smaller one.
pub(super) fn check(found: &Collected<'_>) -> Option<Check> {
    let hosts = &found.run.hosts;
    let short = found.trials.iter().filter_map(|trial| {
        let (_, cell) = found.run.plan.cell(&trial.cell)?;
        let Workload::TcpBulk(bulk) = &cell.workload else { return None };
        let asked = bulk.settings.buffer_bytes?;
        let less = |end, host| granted(end, host).filter(|&granted| granted < asked);
        let here = less(&trial.ends.client, &hosts.client).map(|granted| (asked, granted, "here"));
        let there = || less(trial.ends.server.seen()?, &hosts.server);
        here.or_else(|| there().map(|granted| (asked, granted, "there")))
    });
    let (asked, granted, place) = short.max_by_key(|(asked, ..)| *asked)?;
    let [wanted, given] = [asked, granted].map(|bytes| format_bytes(bytes.into()));
    let text = format!(
        "asked for a window of {wanted}, the kernel {place} granted {given}: sysctl -w \
         net.core.rmem_max={asked} raises it, require_window = true in a plan stops instead [N402]"
    );
    Some(Check { id: "window".to_string(), state: CheckState::Note, text })
}

/// The receive buffer that an end got, in bytes, of which Linux reports twice as much.
pub(super) fn granted(end: &EndReport, host: &Host) -> Option<u32> {
    let doubles = host.facts.get("system").is_some_and(|system| system == "Linux");
    end.granted.receive_buffer.map(|bytes| if doubles { bytes / 2 } else { bytes })
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
        let said = |reported: u32| {
            let mut lines = run(&plan, 6, &EVEN);
            for line in &mut lines {
                match line {
                    Line::Run(header) => {
                        let system = ("system".into(), "Linux".into());
                        header.hosts.server.facts.extend([system]);
                    }
                    Line::Trial(trial) => {
                        trial.ends.server.seen_mut().unwrap().granted.receive_buffer =
                            Some(reported);
                    }
                    _ => {}
                }
            }
            let checks = analyse(&lines).unwrap().checks;
            checks.into_iter().find(|check| check.id == "window").map(|check| check.text)
        };
        assert_eq!(said(2 << 20), None);
        let text = said(425_984).unwrap();
        let expected = "asked for a window of 1 MiB, the kernel there granted 208 KiB";
        assert!(text.starts_with(expected), "{text}");
    }
}
