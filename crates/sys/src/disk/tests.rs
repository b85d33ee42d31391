//! Modes and links as this system keeps them.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn what_is_made_is_its_owners_alone_and_links_are_not_followed() {
    let folder = std::env::temp_dir().join(format!("v6gap-disk-{}", std::process::id()));
    private_folder(&mut DirBuilder::new()).create(&folder).unwrap();
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let file = folder.join("file");
    let made = private(OpenOptions::new().write(true).create_new(true)).open(&file);
    assert!(!is_pipe(&made.unwrap().metadata().unwrap()));
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    let link = folder.join("link");
    symlink(&file, &link).unwrap();
    assert!(wary(OpenOptions::new().read(true), true).open(&link).is_ok());
    assert!(wary(OpenOptions::new().read(true), false).open(&link).is_err());
    assert!(wary(OpenOptions::new().read(true), false).open(&file).is_ok());
    std::fs::remove_dir_all(&folder).unwrap();
}
