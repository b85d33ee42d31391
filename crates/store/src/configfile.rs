//! Files of options that somebody always types.

use crate::StoreError;
use crate::source::{Named, Source, TEXT_BYTES_MAX};
use std::path::Path;
use v6gap_sys::disk;

/// The text of the file of options at `path`; `None` if there is none.
///
/// # Errors
/// If it cannot be read, or others may have written it: options name files and programs.
pub fn read_config(path: &Path) -> Result<Option<String>, StoreError> {
    if !crate::Store::exists(path) {
        return Ok(None);
    }
    let source = Source::open(path, Named::ByUser)?;
    let found = source.file.metadata().map_err(StoreError::io("look at", path))?;
    if !disk::is_own(&found) {
        return Err(StoreError::unfit(path, "is a file of options that others may have written"));
    }
    source.text(path, TEXT_BYTES_MAX).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Scratch;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn options_are_read_where_nobody_else_can_have_written_them() {
        let scratch = Scratch::new("config");
        let path = scratch.0.join("v6gap.toml");
        assert_eq!(read_config(&path).unwrap(), None);
        fs::write(&path, "[run]\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
        assert_eq!(read_config(&path).unwrap().as_deref(), Some("[run]\n"));
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(read_config(&path), Err(StoreError::Unfit { .. })));
    }
}
