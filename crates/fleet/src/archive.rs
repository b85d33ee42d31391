//! The archive of a hub: a folder of this program's data for each host, so that every verb reads it
//! as it reads results that were measured here.

use std::path::{Path, PathBuf};
use v6gap_core::fleet::names::HostName;
use v6gap_core::fleet::sink::{Room, RunOf, Shares};
use v6gap_core::unit::format_bytes;
use v6gap_store::{Store, StoreError};
use v6gap_sys::disk;

/// Bytes of the disk that results leave free: the hub itself keeps what it decides there.
const FREE_BYTES_MIN: u64 = 1 << 30;

/// The archive.
#[derive(Debug)]
pub struct Archive {
    pub(crate) folder: PathBuf,
    shares: Shares,
}

/// Why a part is not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritten {
    /// The disk has no room for anybody.
    #[error("less than {} of its disk is free", format_bytes(FREE_BYTES_MIN))]
    Full,
    /// Its host has sent as much as it may.
    #[error(
        "{host} has sent {} within a day, and no host may send more than the {} that are free for \
         all; its results are in {}", format_bytes(*bytes), format_bytes(*free), data.display()
    )]
    Share {
        /// The host.
        host: HostName,
        /// What came of it.
        bytes: u64,
        /// What the disk has for all.
        free: u64,
        /// The folder of its results.
        data: PathBuf,
        /// Whether that was not said within the last minute.
        say: bool,
    },
    /// The disk refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Archive {
    /// The archive of the hub in `folder`.
    pub fn of(folder: &Path) -> Self {
        Archive { folder: folder.join("archive"), shares: Shares::default() }
    }

    /// The results of a host.
    pub fn store(&self, host: &HostName) -> Store {
        // A name is one part of a path, whatever its letters.
        Store::at(&self.folder.join(host.site()).join(host.host()))
    }

    /// Adds bytes to the end of a journal and waits until they are on the disk; how many it has.
    pub(crate) fn append(
        &mut self,
        run: &RunOf,
        bytes: &[u8],
        now_ns: u64,
    ) -> Result<u64, Unwritten> {
        // Where the system does not tell, writing shows it.
        let free = disk::free_bytes(&self.folder).unwrap_or(u64::MAX);
        let more = bytes.len() as u64;
        self.look_for_room(&run.host, more, free, now_ns)?;
        let store = self.store(&run.host);
        let at = store.grown_bytes(&run.run)?;
        store.grow(&run.run, at, bytes)?;
        self.shares.written(&run.host, more, at == 0);
        Ok(at + more)
    }

    /// Fails if `more` bytes of a host have no room where so many are free.
    fn look_for_room(
        &mut self,
        host: &HostName,
        more: u64,
        free: u64,
        now_ns: u64,
    ) -> Result<(), Unwritten> {
        if free < FREE_BYTES_MIN {
            return Err(Unwritten::Full);
        }
        match self.shares.room(host, more, free, now_ns) {
            Room::Enough => Ok(()),
            Room::None { bytes, say } => {
                let (host, data) = (host.clone(), self.store(host).data().to_owned());
                Err(Unwritten::Share { host, bytes, free, data, say })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use v6gap_core::record::RunId;

    #[test]
    fn a_host_with_its_share_waits_and_another_is_written() {
        let scratch = std::env::temp_dir().join(format!("v6gap-archive-{}", std::process::id()));
        let mut archive = Archive::of(&scratch);
        let [a, b]: [HostName; 2] = ["rome/a", "rome/b"].map(|name| name.parse().unwrap());
        let run = RunOf { host: a.clone(), run: RunId::from_bits(1) };
        std::fs::create_dir_all(&archive.folder).unwrap();
        assert_eq!(archive.append(&run, b"abc\n", 0).unwrap(), 4);
        assert_eq!(archive.append(&run, b"de\n", 1).unwrap(), 7);
        let free = 2 << 30;
        archive.look_for_room(&a, free / 2, free, 2).unwrap();
        let refused = archive.look_for_room(&a, free, free, 3).unwrap_err();
        assert!(matches!(refused, Unwritten::Share { say: true, .. }), "{refused:?}");
        let refused = refused.to_string();
        // Two parts of 16 KiB and a run of 48 KiB beside its 7 bytes.
        assert!(refused.starts_with("rome/a has sent 81927 B within a day"), "{refused}");
        archive.look_for_room(&b, free, free, 4).unwrap();
        assert!(matches!(archive.look_for_room(&b, 1, 1 << 29, 5), Err(Unwritten::Full)));
        std::fs::remove_dir_all(&scratch).unwrap();
    }
}
