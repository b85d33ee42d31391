//! Debian packages. `dpkg-deb` packs them: it is Debian's own, packs for any processor, and with
//! the time of the commit gives the same bytes each time. A library would take more code for it.

use super::{Arch, Layout, notices, read, write};
use crate::command::Line;
use crate::workspace;
use std::path::{Path, PathBuf};

/// Where the completions of each shell are looked for.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/v6gap"),
    ("zsh", "usr/share/zsh/vendor-completions/_v6gap"),
    ("fish", "usr/share/fish/vendor_completions.d/v6gap.fish"),
];

/// What others read of metrics, below `share`.
const SHARED: [&str; 8] = [
    "prometheus/v6gap.rules.yml",
    "prometheus/v6gap.rules.test.yml",
    "prometheus/v6gap-fleet.rules.yml",
    "prometheus/v6gap-fleet.rules.test.yml",
    "grafana/path.json",
    "grafana/fleet.json",
    "grafana/dashboards.yml",
    "grafana/datasources.yml",
];

/// The folder of documents in a package.
const DOC: &str = "usr/share/doc/v6gap";

/// Makes what is the same for all processors, as a tree of files, and returns its folder.
pub fn documents(place: &Layout) -> Result<PathBuf, String> {
    let (root, tree) = (workspace::root(), place.work.join("documents"));
    let program = place.own_program()?.display().to_string();
    let packaging = |name: &str| root.join("packaging").join(name);
    let put = |mode: &str, from: PathBuf, to: &str| install(mode, &from, &tree.join(to));

    let pages = place.work.join("pages");
    install_folder("755", &pages)?;
    Line::new(&program, "man --dir").args([pages.display().to_string()]).output()?;
    for name in super::names(&pages)? {
        let page = pages.join(&name);
        gzip(&page)?;
        let section = name.rsplit('.').next().unwrap_or_default();
        let packed = page.with_extension(format!("{section}.gz"));
        put("644", packed, &format!("usr/share/man/man{section}/{name}.gz"))?;
    }
    for (shell, path) in SHELLS {
        let script = place.work.join(shell);
        write(&script, &Line::new(&program, "completions").args([shell.to_owned()]).output()?)?;
        put("644", script, path)?;
    }
    for unit in ["v6gap.service", "v6gap-watch.service"] {
        put("644", packaging(unit), &format!("usr/lib/systemd/system/{unit}"))?;
    }
    for name in SHARED {
        put("644", root.join("share").join(name), &format!("usr/share/v6gap/{name}"))?;
    }
    put("644", packaging("default"), "etc/default/v6gap")?;
    install_folder("700", &tree.join("etc/v6gap"))?;
    put("644", packaging("deb/copyright"), &format!("{DOC}/copyright"))?;

    // Notices are handed out with the bare programs, too.
    let third = place.out.join("third-party.txt");
    write(&third, &notices::text()?)?;
    let sysroot = Line::new("rustc", "--print sysroot").output()?;
    let library = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
    install("644", &library, &place.out.join("rust-standard-library.html"))?;
    let long = [
        (third, "third-party.txt"),
        (library, "rust-standard-library.html"),
        (root.join("CHANGELOG.md"), "changelog"),
    ];
    for (from, name) in long {
        let to = tree.join(DOC).join(name);
        install("644", &from, &to)?;
        gzip(&to)?;
    }
    Ok(tree)
}

/// Packs a program with the documents.
pub fn build(arch: &Arch, place: &Layout, documents: &Path) -> Result<(), String> {
    let tree = place.work.join(arch.debian);
    let shown = |path: &Path| path.display().to_string();
    Line::new("cp", "--recursive --preserve=mode").args([shown(documents), shown(&tree)]).run()?;
    install("755", &place.program(arch), &tree.join("usr/bin/v6gap"))?;
    let used = Line::new("du", "--summarize --apparent-size --block-size=1024")
        .args([shown(&tree)])
        .output()?;
    let size = used.split_whitespace().next().unwrap_or_default();

    let meta = workspace::root().join("packaging/deb");
    let control = read(&meta.join("control"))?
        .replace("@VERSION@", &place.version)
        .replace("@ARCHITECTURE@", arch.debian)
        .replace("@SIZE@", size);
    let made = place.work.join("control");
    write(&made, &control)?;
    install("644", &made, &tree.join("DEBIAN/control"))?;
    write(&made, "/etc/default/v6gap\n")?;
    install("644", &made, &tree.join("DEBIAN/conffiles"))?;
    for script in ["postinst", "prerm", "postrm"] {
        install("755", &meta.join(script), &tree.join("DEBIAN").join(script))?;
    }
    // Several threads may cut what they compress elsewhere than one does.
    Line::new("dpkg-deb", "--root-owner-group -Zxz --threads-max=1 --build")
        .args([shown(&tree), shown(&place.package(arch))])
        .env("SOURCE_DATE_EPOCH", super::epoch()?)
        .run()
}

/// Copies a file, whatever this user's mask is, into a folder that is made if need be.
pub fn install(mode: &str, from: &Path, to: &Path) -> Result<(), String> {
    let words = [mode.to_owned(), from.display().to_string(), to.display().to_string()];
    Line::new("install", "-D -m").args(words).output().map(drop)
}

fn install_folder(mode: &str, folder: &Path) -> Result<(), String> {
    let words = [mode.to_owned(), folder.display().to_string()];
    Line::new("install", "-d -m").args(words).output().map(drop)
}

/// Compresses a file in place, without its name and time.
fn gzip(path: &Path) -> Result<(), String> {
    Line::new("gzip", "-9n").args([path.display().to_string()]).output().map(drop)
}
