//! Linux: `uname`, `/proc` and `/etc/os-release`.

use super::Host;
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

pub(super) fn complete(host: Host) -> Host {
    let available = setting("net.ipv4.tcp_available_congestion_control");
    Host {
        distribution: read("/etc/os-release").as_deref().and_then(parse_os_release),
        cpu_model: read("/proc/cpuinfo").as_deref().and_then(parse_cpuinfo),
        congestion_default: setting("net.ipv4.tcp_congestion_control"),
        congestion_available: available
            .map(|names| names.split_ascii_whitespace().map(str::to_owned).collect()),
        settings: SETTINGS
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), setting(name)?)))
            .collect::<BTreeMap<_, _>>(),
        ..super::unix::complete(host)
    }
}

/// The hypervisor's name, the maker of the machine where it makes virtual ones, or the flag that
/// x86 has for it. Elsewhere nothing would tell hardware from an imitation that is silent.
pub(super) fn hypervisor() -> Result<Option<String>, &'static str> {
    let told = |path: &str| read(path).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty());
    if let Some(name) = told("/sys/hypervisor/type") {
        return Ok(Some(name));
    }
    let maker =
        ["sys_vendor", "product_name"].map(|name| told(&format!("/sys/class/dmi/id/{name}")));
    if let Some(name) = maker.iter().flatten().find(|name| is_virtual(name)) {
        return Ok(Some(name.clone()));
    }
    let cpuinfo = read("/proc/cpuinfo").ok_or("/proc/cpuinfo cannot be read")?;
    flagged(&cpuinfo).map(|flagged| flagged.then(|| "an unnamed hypervisor".to_owned()))
}

/// Whether the maker or the product of a machine is known for virtual ones.
pub(super) fn is_virtual(name: &str) -> bool {
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
pub(super) fn flagged(cpuinfo: &str) -> Result<bool, &'static str> {
    let flags = cpuinfo.lines().find_map(|line| line.strip_prefix("flags"));
    let flags = flags.ok_or("neither the machine nor its processor tells")?;
    Ok(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// `PRETTY_NAME` of an os-release file, without its quotes.
pub(super) fn parse_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = value.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The processor's model; architectures call it differently, and some do not tell.
pub(super) fn parse_cpuinfo(text: &str) -> Option<String> {
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
    let text = read(&format!("/proc/sys/{}", name.replace('.', "/")))?;
    Some(text.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}
