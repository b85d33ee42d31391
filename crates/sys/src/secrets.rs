//! Files that hold a secret: who else may read one, and how one is made that nobody else may.

use crate::Unavailable;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// More than any file with a secret holds, in bytes: a device that never ends is none.
const BYTES_MAX: u64 = 64 << 10;

/// Among a service's credentials files are root's and an access list lets the service's user read
/// them. What is the group's right elsewhere is the mask of that list there (acl(5)), and no group
/// may read.
const SERVICE_READS: u32 = 0o040;

/// A file with a secret.
#[derive(Debug)]
pub struct Secret {
    /// Text of the file.
    pub text: String,
    /// The bits of its mode that let others than its owner do something with it, 0 if none do or
    /// it is no plain file; or why this system does not tell.
    pub others: Result<u32, Unavailable>,
}

/// Reads a file with a secret. Its mode is that of what was read, whatever the path names later.
/// `credentials` is the folder of the service's credentials, if this is a service that has such
/// (systemd.exec(5), "Credentials").
///
/// # Errors
/// If it cannot be read, is longer than 64 KiB, or is no UTF-8.
pub fn read(path: &Path, credentials: Option<&Path>) -> io::Result<Secret> {
    let file = File::open(path)?;
    let mut others = others(&file.metadata()?);
    if credentials.is_some_and(|folder| path.starts_with(folder)) {
        others = others.map(|bits| bits & !SERVICE_READS);
    }
    let mut text = String::new();
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is longer than 64 KiB"));
    }
    Ok(Secret { text, others })
}

/// Makes a file that only its owner may read, with this text, safe on the disk. What is there
/// already, a symbolic link included, is left as it is. Returns why the system keeps no such modes,
/// if it does not.
///
/// # Errors
/// If there is something at that path already, or the file cannot be written; then there is none.
pub fn create(path: &Path, text: &str) -> io::Result<Option<Unavailable>> {
    let mut options = File::options();
    options.write(true).create_new(true);
    private(&mut options);
    let mut file = options.open(path)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // Half a secret is of no use; that it stays behind is the lesser trouble.
        let _ = std::fs::remove_file(path);
        return Err(error);
    }
    Ok(others(&file.metadata()?).err())
}

/// Removes a file that [`create`] made and that is of no use after all.
///
/// # Errors
/// If it cannot be removed.
pub fn take_back(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

#[cfg(unix)]
fn others(of: &std::fs::Metadata) -> Result<u32, Unavailable> {
    use std::os::unix::fs::MetadataExt;
    /// Everything that group and others may do.
    const OTHERS: u32 = 0o077;
    Ok(if of.is_file() { of.mode() & OTHERS } else { 0 })
}

#[cfg(unix)]
fn private(options: &mut std::fs::OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn others(_of: &std::fs::Metadata) -> Result<u32, Unavailable> {
    Err(Unavailable::new("who may read a file", "this system has access lists in place of modes"))
}

#[cfg(not(unix))]
fn private(_options: &mut std::fs::OpenOptions) {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("v6gap-secrets-{}-{name}", std::process::id());
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            std::fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_made_is_its_owner_s_and_replaces_nothing() {
        let folder = Folder::new("made");
        let path = folder.0.join("key");
        let missing = create(&path, "word\n").unwrap();
        assert_eq!(missing.is_none(), cfg!(unix));
        let found = read(&path, None).unwrap();
        assert_eq!(found.text, "word\n");
        assert_eq!(found.others.ok(), cfg!(unix).then_some(0));
        let again = create(&path, "other\n").unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(read(&path, None).unwrap().text, "word\n");
    }

    #[cfg(unix)]
    #[test]
    fn whoever_else_may_read_it_is_told_and_links_are_not_followed() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("modes");
        let path = folder.0.join("key");
        create(&path, "word").unwrap();
        for (mode, others) in [(0o600, 0), (0o400, 0), (0o640, 0o40), (0o644, 0o44), (0o602, 2)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(read(&path, None).unwrap().others, Ok(others), "{mode:o}");
        }
        let link = folder.0.join("link");
        std::os::unix::fs::symlink(folder.0.join("elsewhere"), &link).unwrap();
        assert_eq!(create(&link, "word").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!folder.0.join("elsewhere").exists());
    }

    #[cfg(unix)]
    #[test]
    fn among_a_service_s_credentials_the_mask_of_the_access_list_is_nobody_s_right() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("credentials");
        let path = folder.0.join("key");
        create(&path, "word").unwrap();
        let elsewhere = folder.0.join("elsewhere");
        for (mode, within) in [(0o440, 0), (0o444, 4), (0o460, 0o20), (0o400, 0)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let others = |folder| read(&path, folder).unwrap().others.unwrap();
            assert_eq!(others(Some(folder.0.as_path())), within, "{mode:o}");
            assert_eq!(others(Some(elsewhere.as_path())), mode & 0o077, "{mode:o}");
            assert_eq!(others(None), mode & 0o077, "{mode:o}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_never_ends_is_no_secret() {
        let error = read(Path::new("/dev/zero"), None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
