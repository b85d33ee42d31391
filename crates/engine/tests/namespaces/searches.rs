//! Searches on a path whose second link is slower than the first: only what the receiver reports
//! can tell the sender, whose own link takes whatever it sends.

use super::common::{Service, trial, values_of};
use super::support::{Outcome, addresses, ensure};
use v6gap_core::family::Family;
use v6gap_core::observation::{Measured, Searched};
use v6gap_core::workload::{Capacity, Kind, Search, Transport, Workload};
use v6gap_core::world::{Link, LinkModel, World};
use v6gap_engine::trial::client;
use v6gap_lab::Lab;

const RATE_BPS: u64 = 100_000_000;

/// Capacity within 1 % of the slower link's, in both families, although the search asks for more.
pub fn find_a_slower_link_behind_a_faster_one() -> Outcome {
    let rates = [10 * RATE_BPS, RATE_BPS].map(|rate| Link::ethernet(Some(rate)));
    let world = World::chain(LinkModel::Shaped, rates.to_vec());
    let lab = Lab::build(&world)?;
    let (near, far) = (lab.node("client")?, lab.node("server")?);
    let addresses = addresses(far)?;
    let service = far.run(|| Service::at(addresses))?;
    let context = service.context(Transport::Udp);
    let load = Search::Load { duration_ns: 3_000_000_000 };
    let halving =
        |lost_ppm_max| Search::Halving { trial_ns: 300_000_000, lost_ppm_max, forced: false };
    for family in Family::BOTH {
        for search in [load, halving(0), halving(20_000)] {
            let capacity = Capacity { rate_bps_max: 2 * RATE_BPS, search, ..Capacity::default() };
            let metric = capacity.metrics()[0];
            let task = trial(Workload::Capacity(capacity), family);
            let both = || service.perform_with(&task, || near.run(|| client::run(&task, &context)));
            let (client, server) = far.run(both)?;
            let (client, server) = (client??, server?);
            let value = values_of(&task, &client, &server)[0].get(&metric).copied();
            let Measured::Searched(searched) = &client[0].1.measured else {
                return Err("no search".into());
            };
            let sent = searched.sent.packets;
            let received = server[0].1.measured.received().ok_or("nothing received")?;
            let lost = received.lost_of(&searched.sent);
            let ip_bytes = 1222.0 + 8.0 + f64::from(family.header_bytes());
            let model = RATE_BPS as f64 * ip_bytes / (ip_bytes + 38.0);
            let off = value.ok_or("no value")? / model - 1.0;
            let all = format!(
                "{family}, {search:?}: {:.3} Mbit/s, {:+.2} %; {}; {lost} of {sent} lost",
                value.unwrap_or(0.0) / 1e6,
                100.0 * off,
                course(searched),
            );
            println!("       {all}");
            ensure(off.abs() < 0.01, || all.clone())?;
            ensure(lost > 0 && searched.sent.skipped * 100 < sent, || all.clone())?;
            let turned_back = searched.rates.windows(2).any(|pair| pair[1].1 < pair[0].1);
            let refused = searched.trials.iter().any(|trial| !trial.carried);
            ensure(turned_back || refused, || all.clone())?;
        }
    }
    Ok(())
}

fn course(searched: &Searched) -> String {
    let most = searched.rates.iter().map(|rate| rate.1).max().unwrap_or(0) / 1_000_000;
    match searched.trials.len() {
        0 => format!("{} reports, up to {most} Mbit/s", searched.reports),
        trials => format!("{trials} trials"),
    }
}
