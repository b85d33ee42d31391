//! Linux: the files of cpufreq under `/sys/devices/system/cpu`.

use super::Frequency;

const FOLDER: &str = "/sys/devices/system/cpu";

pub(super) fn of(cpu: usize) -> Result<Frequency, String> {
    let folder = format!("{FOLDER}/cpu{cpu}/cpufreq");
    let number = |name: &str| read(&format!("{folder}/{name}")).and_then(|text| text.parse().ok());
    let governor = read(&format!("{folder}/scaling_governor"));
    let governor = governor.ok_or_else(|| {
        format!("the kernel does not set it (no cpufreq for processor {cpu}); its owner may")
    })?;
    Ok(Frequency {
        governor,
        khz_min: number("scaling_min_freq"),
        khz_max: number("scaling_max_freq"),
        khz_now: number("scaling_cur_freq"),
    })
}

/// The driver of Intel says whether it is forbidden, all others whether it is allowed.
pub(super) fn boosts() -> Result<bool, String> {
    let flag = |path: &str| read(&format!("{FOLDER}/{path}")).map(|text| text != "0");
    let forbidden = flag("intel_pstate/no_turbo").map(|forbidden| !forbidden);
    forbidden
        .or_else(|| flag("cpufreq/boost"))
        .ok_or_else(|| "the kernel has no switch for it here".to_owned())
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
