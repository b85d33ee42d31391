//! The archive of a hub: a folder for each host of a fleet, `SITE/HOST`, which is one of this
//! program's data.

use crate::{Store, StoreError};
use std::fs;
use std::path::Path;
use v6gap_core::fleet::names::HostName;

impl Store {
    /// The stores of all hosts below a folder, by their names. No link is followed, and what is
    /// called otherwise than a host is passed over.
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn of_hosts(folder: &Path) -> Result<Vec<Store>, StoreError> {
        let mut hosts: Vec<HostName> = Vec::new();
        for site in folders(folder)? {
            let found = folders(&folder.join(&site))?;
            hosts.extend(found.iter().filter_map(|host| HostName::new(&site, host).ok()));
        }
        hosts.sort();
        let store = |host: &HostName| Store::at(&folder.join(host.site()).join(host.host()));
        Ok(hosts.iter().map(store).filter(|store| Store::exists(&store.runs)).collect())
    }
}

/// Names of the folders in a folder.
fn folders(folder: &Path) -> Result<Vec<String>, StoreError> {
    let found = fs::read_dir(folder).map_err(StoreError::io("read", folder))?.flatten();
    let folders = found.filter(|found| found.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.filter_map(|found| found.file_name().into_string().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;

    #[test]
    fn hosts_are_found_by_their_names() {
        let scratch = Scratch::new("hosts");
        for name in ["rome/lab-b/runs", "rome/lab-a/runs", "oslo/x/runs", "oslo/empty", "a/B/runs"]
        {
            fs::create_dir_all(scratch.0.join(name)).unwrap();
        }
        fs::write(scratch.0.join("sink.lock"), "").unwrap();
        let found = Store::of_hosts(&scratch.0).unwrap();
        let expected = ["oslo/x", "rome/lab-a", "rome/lab-b"].map(|name| scratch.0.join(name));
        assert_eq!(found.iter().map(Store::data).collect::<Vec<_>>(), expected);
        assert!(Store::of_hosts(&scratch.0.join("none")).is_err());
    }
}
