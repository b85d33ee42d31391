//! A server on whose host something else is measured.

use super::*;
use std::sync::Mutex;
use v6gap_core::host::names;
use v6gap_core::wire::control::Queued;

/// Shut as long as `free` is not set; what it was told.
#[derive(Clone, Default)]
struct Host {
    free: Arc<AtomicBool>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn told(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

impl Door for Host {
    fn enter(&mut self, measurement: Option<&str>) -> Result<(), Queued> {
        if self.free.load(Ordering::Acquire) {
            let name = measurement.unwrap_or("nobody").to_owned();
            self.told.lock().unwrap().push(name);
            return Ok(());
        }
        Err(Queued { place: 1, seconds: 12, by: "somebody here".to_owned() })
    }

    fn leave(&mut self) {
        self.told.lock().unwrap().push("left".to_owned());
    }
}

#[test]
fn a_host_that_is_measured_is_said_to_be_busy() {
    let host = Host::default();
    let served = Served::behind(Box::new(host.clone()));
    let mut impatient = options("client");
    impatient.wait = false;
    let problem = open(served.addresses, &impatient).err().unwrap().problems.v4.unwrap();
    let Trouble::Busy { why } = problem.trouble else { panic!("{problem}") };
    assert_eq!(why, "busy: measuring for somebody here since 12 s");
    host.free.store(true, Ordering::Release);
    open(served.addresses, &impatient).unwrap().close();
    let left = |e: &ServerEvent| matches!(e, ServerEvent::Left { ending: Ending::PeerLeft, .. });
    served.await_event(left);
    assert_eq!(host.told()[0], "nobody");
}

#[test]
fn a_client_waits_for_the_host_and_shares_it_by_its_measurement() {
    let host = Host::default();
    let served = Served::behind(Box::new(host.clone()));
    let mut patient = options("client");
    patient.host.facts.insert(names::CLAIM.to_owned(), "00000000000000ab".to_owned());
    let mut waited = None;
    let mut waiting = |queued: &Queued| {
        waited = Some(queued.clone());
        host.free.store(true, Ordering::Release);
        ControlFlow::Continue(())
    };
    let connection = Connection::open(served.addresses, &patient, &mut waiting).unwrap();
    let waited = waited.unwrap();
    assert_eq!((waited.place, waited.by.as_str()), (1, "somebody here"));
    assert_eq!(host.told(), ["00000000000000ab"]);
    connection.close();
    let left = |e: &ServerEvent| matches!(e, ServerEvent::Left { ending: Ending::PeerLeft, .. });
    served.await_event(left);
    // The next one is let in only after the door heard that this one is gone.
    open(served.addresses, &options("client")).unwrap().close();
    assert_eq!(host.told()[..2], ["left", "nobody"]);
}
