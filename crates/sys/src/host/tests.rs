//! Facts of the host the tests run on, and the parsers on fixture text.

use super::*;

#[test]
fn every_platform_knows_system_and_architecture() {
    let host = facts();
    assert!(host.os.is_some_and(|name| !name.is_empty()));
    assert!(host.architecture.is_some_and(|name| !name.is_empty()));
    assert!(host.cpu_count.is_some_and(|count| count > 0));
}

#[cfg(unix)]
#[test]
fn unix_knows_release_name_and_page_size() {
    let host = facts();
    assert!(host.kernel.is_some_and(|release| !release.is_empty()));
    assert!(host.hostname.is_some());
    assert!(host.page_size.is_some_and(|bytes| bytes >= 4096 && bytes.is_power_of_two()));
    assert!(host.is_root.is_some());
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;

    #[test]
    fn imitations_are_told_from_hardware() {
        assert_eq!(flagged("flags\t\t: fpu hypervisor lahf_lm\n"), Some(true));
        assert_eq!(flagged("flags\t\t: fpu lahf_lm\n"), Some(false));
        assert_eq!(flagged("Features\t: fp asimd\n"), None);
        assert!(is_virtual("QEMU Standard PC") && is_virtual("VMware, Inc."));
        assert!(!is_virtual("LENOVO") && !is_virtual("ThinkPad"));
    }

    #[test]
    fn network_settings_are_read() {
        let host = facts();
        let default = host.congestion_default.expect("Linux names its default");
        assert!(host.congestion_available.expect("Linux lists them").contains(&default));
        let rmem = &host.settings["net.ipv4.tcp_rmem"];
        assert_eq!(rmem.split(' ').filter(|word| word.parse::<u64>().is_ok()).count(), 3, "{rmem}");
        assert!(host.settings.contains_key("net.ipv4.tcp_timestamps"));
    }

    #[test]
    fn distribution_loses_its_quotes() {
        let text = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        assert_eq!(parse_os_release(text).as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
        assert_eq!(parse_os_release("PRETTY_NAME=\"\"\n"), None);
        assert_eq!(parse_os_release("NAME=x\n"), None);
    }

    #[test]
    fn processor_model_is_found_under_each_of_its_names() {
        let x86 = "processor\t: 0\nvendor_id\t: X\nmodel\t\t: 85\nmodel name\t: Some CPU\n";
        assert_eq!(parse_cpuinfo(x86).as_deref(), Some("Some CPU"));
        let arm = "processor\t: 0\nBogoMIPS\t: 108.00\n\nModel\t\t: Small Board Rev 1.4\n";
        assert_eq!(parse_cpuinfo(arm).as_deref(), Some("Small Board Rev 1.4"));
        assert_eq!(parse_cpuinfo("processor\t: 0\nBogoMIPS\t: 108.00\n"), None);
        assert_eq!(parse_cpuinfo(""), None);
    }
}
