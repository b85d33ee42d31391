//! Facts about this host that belong beside every result. Each is optional: what cannot be read is
//! absent, never guessed.

pub mod filter;
pub mod frequency;
pub mod interrupts;
pub mod memory;
pub mod resolver;
pub mod sleep;
#[cfg(test)]
mod tests;

use crate::Unavailable;
use std::collections::BTreeMap;

/// Settings that change what TCP and UDP can do, and with them the result.
const SETTINGS: [&str; 9] = [
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv6.auto_flowlabels",
    "net.ipv6.conf.all.disable_ipv6",
];

/// What is known of this host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Name of the operating system or kernel, as in "Linux".
    pub os: Option<String>,
    /// Release of the kernel, as in "6.12.3".
    pub kernel: Option<String>,
    /// Name and version of the distribution or product, as in "Debian GNU/Linux 13 (trixie)".
    pub distribution: Option<String>,
    /// Instruction set, as in `"x86_64"`.
    pub architecture: Option<String>,
    /// The host's own name.
    pub hostname: Option<String>,
    /// Model of the processor.
    pub cpu_model: Option<String>,
    /// Number of processors this process may use.
    pub cpu_count: Option<usize>,
    /// Size of a memory page in bytes.
    pub page_size: Option<usize>,
    /// TCP congestion control that new connections get.
    pub congestion_default: Option<String>,
    /// All TCP congestion controls that may be chosen.
    pub congestion_available: Option<Vec<String>>,
    /// Kernel settings that bear on the results, by their `sysctl` name; those of the network are
    /// of the calling thread's network namespace.
    pub settings: BTreeMap<String, String>,
    /// Whether this process has the rights of the administrator.
    pub is_root: Option<bool>,
}

/// Collects the facts; takes well under 10 ms.
pub fn facts() -> Host {
    let words = |text: String| text.split_ascii_whitespace().map(str::to_owned).collect();
    let settings = SETTINGS.into_iter();
    Host {
        architecture: Some(std::env::consts::ARCH.to_owned()),
        cpu_count: std::thread::available_parallelism().ok().map(usize::from),
        distribution: text("/etc/os-release").as_deref().and_then(parse_os_release),
        cpu_model: text("/proc/cpuinfo").as_deref().and_then(parse_cpuinfo),
        page_size: page_size(),
        congestion_default: setting("net.ipv4.tcp_congestion_control"),
        congestion_available: setting("net.ipv4.tcp_available_congestion_control").map(words),
        settings: settings.filter_map(|name| Some((name.to_owned(), setting(name)?))).collect(),
        ..system()
    }
}

/// What this host runs in if it is a virtual machine, as in "KVM"; `None` on hardware of its own.
///
/// It is the hypervisor's name, the maker of the machine where it makes virtual ones, or the flag
/// that x86 has for it. Elsewhere nothing would tell hardware from an imitation that is silent.
///
/// # Errors
/// If the system gives no sign of either.
pub fn hypervisor() -> Result<Option<String>, Unavailable> {
    const WHAT: &str = "what this host runs in";
    Unavailable::off_linux(WHAT)?;
    if let Some(name) = text("/sys/hypervisor/type") {
        return Ok(Some(name));
    }
    let maker =
        ["sys_vendor", "product_name"].map(|name| text(&format!("/sys/class/dmi/id/{name}")));
    if let Some(name) = maker.iter().flatten().find(|name| is_virtual(name)) {
        return Ok(Some(name.clone()));
    }
    let cpuinfo = Unavailable::or_read(WHAT, "/proc/cpuinfo")?;
    match flagged(&cpuinfo) {
        Some(flagged) => Ok(flagged.then(|| "an unnamed hypervisor".to_owned())),
        None => Err(Unavailable::new(WHAT, "neither the machine nor its processor tells")),
    }
}

/// Bytes of a memory page, where the system tells.
fn page_size() -> Option<usize> {
    #[cfg(unix)]
    {
        Some(rustix::param::page_size())
    }
    #[cfg(not(unix))]
    {
        None
    }
}

/// What `uname` and the C library tell.
#[cfg(unix)]
fn system() -> Host {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| Some(name.to_string_lossy().into_owned());
    Host {
        os: text(names.sysname()),
        kernel: text(names.release()),
        hostname: text(names.nodename()),
        is_root: Some(rustix::process::geteuid().is_root()),
        ..Host::default()
    }
}

/// What the standard library tells.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "the standard library has no other host name")]
fn system() -> Host {
    let os = Some(std::env::consts::OS.to_owned());
    Host { os, hostname: std::env::var("COMPUTERNAME").ok(), ..Host::default() }
}

/// Whether the maker or the product of a machine is known for virtual ones.
fn is_virtual(name: &str) -> bool {
    const KNOWN: [&str; 9] = [
        "QEMU",
        "KVM",
        "VMware",
        "VirtualBox",
        "Xen",
        "Bochs",
        "Parallels",
        "Virtual Machine",
        "Firecracker",
    ];
    KNOWN.iter().any(|known| name.contains(known))
}

/// Whether the processor says that it is an imitation; only those of x86 do.
fn flagged(cpuinfo: &str) -> Option<bool> {
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"))?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// `PRETTY_NAME` of an os-release file, without its quotes.
fn parse_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = value.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The processor's model; architectures call it differently, and some do not tell.
fn parse_cpuinfo(text: &str) -> Option<String> {
    const NAMES: [&str; 4] = ["model name", "Model", "cpu model", "processor 0"];
    let (_, model) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| NAMES.contains(&name.trim()))?;
    let model = model.trim();
    (!model.is_empty()).then(|| model.to_owned())
}

/// The value of a `sysctl`, with runs of white space made one space.
fn setting(name: &str) -> Option<String> {
    let text = text(&format!("/proc/sys/{}", name.replace('.', "/")))?;
    Some(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

/// The text of one of Linux's files without white space around it; `None` if there is none.
fn text(path: &str) -> Option<String> {
    let text = Unavailable::or_read("a fact", path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
