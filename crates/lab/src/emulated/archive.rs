//! The first file system of an emulated system: an archive in the form `newc` of cpio(5), which the
//! kernel unpacks into memory before it starts anything
//! (`Documentation/driver-api/early-userspace/buffer-format.rst`).

/// Kind and permissions of a folder and of a file, as in stat(2).
const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_755;
/// Name of the entry that ends an archive.
const TRAILER: &str = "TRAILER!!!";
/// Headers with their names, and contents, begin at multiples of this many bytes.
const ALIGNMENT: usize = 4;

/// An archive that is being made.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: Vec<String>,
}

impl Archive {
    /// Adds a file, with the folders that lead to it. `path` begins without a slash.
    pub fn add(&mut self, path: &str, content: &[u8]) {
        for (end, _) in path.match_indices('/') {
            self.add_folder(&path[..end]);
        }
        self.entry(path, FILE, content);
    }

    /// Adds an empty folder unless it is there.
    pub fn add_folder(&mut self, path: &str) {
        if !self.folders.iter().any(|known| known == path) {
            self.folders.push(path.to_owned());
            self.entry(path, FOLDER, &[]);
        }
    }

    /// The whole archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, &[]);
        self.bytes
    }

    /// One entry: magic number, thirteen numbers of eight hexadecimal digits, name and content.
    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let links = 1;
        let (number, name_bytes) = (self.entries, name.len() as u32 + 1);
        // Owner, group and time are 0, and so are the numbers of devices and the check sum.
        let numbers = [number, mode, 0, 0, links, 0, content.len() as u32, 0, 0, 0, 0];
        self.bytes.extend(b"070701");
        for number in numbers.into_iter().chain([name_bytes, 0]) {
            self.bytes.extend(format!("{number:08x}").bytes());
        }
        self.bytes.extend(name.bytes().chain([0]));
        self.align();
        self.bytes.extend(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_as_the_kernel_reads_it() {
        let mut archive = Archive::default();
        archive.add("a/b", b"hello");
        let bytes = archive.finish();
        let header = |number: u32, mode: u32, size: u32, name: u32| {
            let zero = "00000000";
            format!(
                "070701{number:08x}{mode:08x}{zero}{zero}00000001{zero}{size:08x}\
                 {zero}{zero}{zero}{zero}{name:08x}{zero}"
            )
        };
        // 110 bytes of header and a name of 2 end at 112; of 4, at 114 and so at 116.
        let mut expected = (header(1, 0o040_755, 0, 2) + "a\0").into_bytes();
        expected.extend((header(2, 0o100_755, 5, 4) + "a/b\0\0\0hello\0\0\0").bytes());
        expected.extend((header(3, 0, 0, 11) + "TRAILER!!!\0\0\0\0").bytes());
        assert_eq!(bytes, expected);
    }

    #[test]
    fn a_folder_is_in_it_once() {
        let mut archive = Archive::default();
        archive.add("lib/one", b"1");
        archive.add("lib/two", b"2");
        archive.add_folder("lib");
        assert_eq!(archive.entries, 3);
    }
}
