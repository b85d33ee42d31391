//! A task that accepts connections itself: whoever else comes meanwhile is served as ever.

use super::hostile::Puppet;
use super::*;

/// All that comes over a connection until it ends.
fn answer(stream: &Stream) -> Vec<u8> {
    let mut all = Vec::new();
    let mut bytes = [0; 64];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        all.extend_from_slice(&bytes[..count]);
    }
    all
}

/// A connection over the family of the task that says this.
fn saying(served: &Served, bytes: &[u8]) -> Stream {
    let stream = served.connect(Family::V6);
    stream.write_all(bytes).unwrap();
    stream
}

/// Does `client` as the client's half of a task that is answered.
fn while_answering(served: &Served, client: impl FnOnce(Data)) {
    let mut connection = open(served.addresses, &options("client")).unwrap();
    let workload = Connect { count: 100, purpose: Purpose::Rate, concurrent: 2 };
    let task = Task { workload: Workload::Connect(workload), ..task(1, 1) };
    let own = Data { token: task.token, arm: Arm::A, connection: 0 };
    let outcome = connection.run_task(&task, |_| {
        let _lead = saying(served, &own.encode());
        client(own);
        Ok::<_, Infallible>(())
    });
    outcome.unwrap();
}

#[test]
fn only_who_names_the_task_is_answered() {
    let served = Served::new(|_| {});
    while_answering(&served, |own| {
        let asks = Data { connection: 7, ..own };
        assert_eq!(answer(&saying(&served, &asks.encode())), asks.encode());
        let other_token = Data { token: Token([9; 16]), ..asks }.encode();
        let other_arm = Data { arm: Arm::B, ..asks }.encode();
        for other in [&other_token[..], &other_arm, b"GET / HTTP/1.1\r\n\r\n"] {
            assert_eq!(answer(&saying(&served, other)), b"");
        }
    });
}

#[test]
fn others_are_served_meanwhile() {
    let served = Served::new(|_| {});
    while_answering(&served, |_| {
        for family in Family::BOTH {
            drop(Puppet::greet(&served, family, &Key::none()));
        }
    });
}

#[test]
fn who_is_slow_to_say_it_is_answered_among_many_that_say_nothing() {
    let served = Served::new(|_| {});
    while_answering(&served, |own| {
        let asks = Data { connection: 7, ..own }.encode();
        let (first, rest) = asks.split_at(5);
        let slow = saying(&served, first);
        let silent: Vec<Stream> = (0..20).map(|_| served.connect(Family::V6)).collect();
        // Through all of the silent ones, which have pushed the slow one out.
        let behind = Data { connection: 8, ..own }.encode();
        assert_eq!(answer(&saying(&served, &behind)), behind);
        slow.write_all(rest).unwrap();
        assert_eq!(answer(&slow), asks);
        drop(silent);
    });
}

#[test]
fn sources_that_are_not_served_are_turned_away_as_ever() {
    if Datagram::bind("127.0.0.2:0".parse().unwrap()).is_err() {
        return println!("not tested: loopback has one address here");
    }
    let served = Served::new(|options| options.allow = vec!["127.0.0.1/32".parse().unwrap()]);
    let addresses = PerFamily { v6: None, ..served.addresses };
    let mut connection = open(addresses, &options("client")).unwrap();
    let workload = Connect { count: 1, purpose: Purpose::Rate, concurrent: 1 };
    let arms = vec![TaskArm { arm: Arm::A, family: Family::V4 }];
    let task = Task { workload: Workload::Connect(workload), arms, ..task(1, 1) };
    let asks = Data { token: task.token, arm: Arm::A, connection: 1 };
    let outcome = connection.run_task(&task, |_| {
        let from = |local: &str, data: Data| {
            let patience_ns = PATIENCE.as_nanos() as u64;
            let (local, remote) = (local.parse().ok(), addresses.v4.unwrap());
            let options = StreamOptions::default();
            let stream = Stream::connect(local, remote, &options, patience_ns).unwrap();
            stream.write_all(&data.encode()).unwrap();
            stream
        };
        let _lead = from("127.0.0.1:0", Data { connection: 0, ..asks });
        assert_eq!(answer(&from("127.0.0.1:0", asks)), asks.encode());
        assert_eq!(answer(&from("127.0.0.2:0", asks)), b"");
        Ok::<_, Infallible>(())
    });
    outcome.unwrap();
    served.await_event(|event| matches!(event, ServerEvent::TurnedAway { .. }));
}
