//! Other platforms: not told.

pub(super) fn tracked() -> Result<Option<u64>, &'static str> {
    Err("this program can read it on Linux only")
}
