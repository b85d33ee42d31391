//! A kernel to be emulated: a folder into which a package of one was unpacked, with its image and
//! its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the image's file is called, with the release behind it.
const IMAGE: &str = "vmlinuz";
/// How the file of a module ends.
const MODULE: &str = "ko";
/// In a module, before the list of those that it needs (`MODULE_INFO` of `linux/module.h`).
const NEEDS: &[u8] = b"\0depends=";

/// The files of a kernel.
#[derive(Debug)]
pub(super) struct Kernel {
    pub image: PathBuf,
    /// By the names that the kernel knows them by.
    modules: BTreeMap<String, PathBuf>,
}

impl Kernel {
    /// The kernel in a folder.
    ///
    /// # Errors
    /// If there is none, in words.
    pub fn find(folder: &Path) -> Result<Self, String> {
        let mut files = Vec::new();
        let listed = list(folder, &mut files);
        listed.map_err(|error| format!("`{}` is no folder: {error}", folder.display()))?;
        // Of several kernels the last one by name.
        files.sort();
        let name =
            |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let image = files.iter().rfind(|file| name(file).starts_with(IMAGE)).cloned();
        let image = image.ok_or_else(|| format!("`{}` has no `{IMAGE}`", folder.display()))?;
        let release = name(&image).trim_start_matches(IMAGE).trim_start_matches('-').to_owned();
        let of_image = |file: &&PathBuf| {
            let inside = |part: std::path::Component<'_>| part.as_os_str() == release.as_str();
            release.is_empty() || file.components().any(inside)
        };
        let modules = files.iter().filter(|file| file.extension().is_some_and(|e| e == MODULE));
        let modules = modules.filter(of_image).filter_map(|file| {
            Some((file.file_stem()?.to_string_lossy().replace('-', "_"), file.clone()))
        });
        Ok(Kernel { modules: modules.collect(), image })
    }

    /// The modules with these names and all that they need, each behind what it needs. What is no
    /// module of this kernel is taken to be part of it.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn modules(&self, wanted: &[&str]) -> io::Result<Vec<(String, Vec<u8>)>> {
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        for name in wanted {
            self.add(name, &mut known, &mut found)?;
        }
        Ok(found)
    }

    fn add(
        &self,
        name: &str,
        known: &mut BTreeSet<String>,
        found: &mut Vec<(String, Vec<u8>)>,
    ) -> io::Result<()> {
        let Some(path) = self.modules.get(name) else { return Ok(()) };
        if known.insert(name.to_owned()) {
            let bytes = fs::read(path)?;
            for other in needs(&bytes) {
                self.add(&other, known, found)?;
            }
            found.push((name.to_owned(), bytes));
        }
        Ok(())
    }
}

/// All files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}

/// Names of the modules that a module needs.
fn needs(module: &[u8]) -> Vec<String> {
    let at = module.windows(NEEDS.len()).position(|window| window == NEEDS);
    let Some(at) = at else { return Vec::new() };
    let list = module[at + NEEDS.len()..].split(|&byte| byte == 0).next().unwrap_or_default();
    let names = list.split(|&byte| byte == b',').filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).replace('-', "_")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_says_what_it_needs() {
        let module = b"\x7fELF..\0license=GPL\0depends=virtio,net_failover\0name=virtio_net\0";
        assert_eq!(needs(module), ["virtio", "net_failover"]);
        assert_eq!(needs(b"..\0depends=\0name=virtio\0"), Vec::<String>::new());
        assert_eq!(needs(b"no module"), Vec::<String>::new());
    }

    #[test]
    fn modules_come_behind_what_they_need() {
        let folder = std::env::temp_dir().join(format!("v6gap-kernel-{}", std::process::id()));
        let modules = folder.join("lib/modules/6.1/kernel");
        let older = folder.join("lib/modules/5.10/kernel");
        for folder in [&modules, &older, &folder.join("boot")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(folder.join("boot/vmlinuz-5.10"), "old").unwrap();
        fs::write(folder.join("boot/vmlinuz-6.1"), "new").unwrap();
        fs::write(older.join("first.ko"), "\0depends=other\0").unwrap();
        for (name, needs) in [("first", "second-one,built_in"), ("second-one", ""), ("third", "")] {
            fs::write(modules.join(format!("{name}.ko")), format!("\0depends={needs}\0")).unwrap();
        }
        let kernel = Kernel::find(&folder).unwrap();
        assert_eq!(kernel.image, folder.join("boot/vmlinuz-6.1"));
        let found = kernel.modules(&["first", "second_one", "built_in"]).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["second_one", "first"]);
        fs::remove_file(folder.join("boot/vmlinuz-6.1")).unwrap();
        fs::remove_file(folder.join("boot/vmlinuz-5.10")).unwrap();
        let refused = Kernel::find(&folder).unwrap_err();
        assert!(refused.ends_with("has no `vmlinuz`"), "{refused}");
        fs::remove_dir_all(&folder).unwrap();
        assert!(Kernel::find(&folder).unwrap_err().contains("is no folder"));
    }
}
