//! Real name servers in a lab, as packages of Debian have them: bind9 knows the site, and dnsdist
//! in front of it does to one kind of question what happens to it elsewhere. Programs have them for
//! the system's in a mount namespace of their own.

use super::sites::{AT, NAME, program, ready, with_libraries};
use super::support::Home;
use super::two_hosts::{Lab, Server};
use std::process::{Command, Stdio};

/// Port of DNS.
pub const DNS: u16 = 53;

/// Port of bind9 where dnsdist has that.
pub const BEHIND: u16 = 5300;

/// Records of the site at the lab's server.
pub const BOTH: [&str; 2] = ["A 10.46.2.2", "AAAA fd46:2::2"];

/// The name by which a network tells its translator's prefix, and what it has everywhere (RFC
/// 7050).
const KNOWN: (&str, [&str; 2]) = ("ipv4only.arpa", ["A 192.0.0.170", "A 192.0.0.171"]);

/// bind9 at the lab's server, which knows these records of the site; more are options of its own.
pub fn bind9(lab: &Lab, home: &Home, port: u16, records: &[&str], more: &str) -> Server {
    let folder = home.path().join("bind9");
    std::fs::create_dir_all(&folder).unwrap();
    let zone = |name: &str, records: &[&str]| {
        let lines: String = records.iter().map(|record| format!("@ {record}\n")).collect();
        let begins = "$TTL 60\n@ SOA ns.invalid. root.invalid. 1 60 60 60 60\n@ NS ns.invalid.\n";
        std::fs::write(folder.join(name), format!("{begins}{lines}")).unwrap();
        format!("zone \"{name}\" {{ type primary; file \"{name}\"; }};\n")
    };
    let zones = [zone(NAME, records), zone(KNOWN.0, &KNOWN.1[..])].concat();
    let text = format!(
        "options {{\n directory \"{}\"; pid-file none; session-keyfile none; lock-file none;\n \
         listen-on port {port} {{ any; }}; listen-on-v6 port {port} {{ any; }};\n \
         recursion no; dnssec-validation no; empty-zones-enable no; notify no;\n \
         allow-query {{ any; }};\n {more}\n}};\ncontrols {{ }};\n{zones}",
        folder.display()
    );
    let config = folder.join("named.conf");
    std::fs::write(&config, text).unwrap();
    let mut command = lab.exec(home, "server");
    command.args(with_libraries()).arg(program("named")).args(["-g", "-n", "1", "-U", "1", "-c"]);
    ready(command.arg(config).stderr(Stdio::piped()), "all zones loaded")
}

/// dnsdist at the lab's server in front of bind9, with a rule in its own language.
pub fn dnsdist(lab: &Lab, home: &Home, rule: &str) -> Server {
    let config = home.path().join("dnsdist.conf");
    let [four, six] = AT;
    let text = format!(
        "setLocal(\"{four}:{DNS}\")\naddLocal(\"[{six}]:{DNS}\")\n\
         setACL({{\"0.0.0.0/0\", \"::/0\"}})\nsetSecurityPollSuffix(\"\")\n\
         newServer(\"127.0.0.1:{BEHIND}\")\n{rule}\n"
    );
    std::fs::write(&config, text).unwrap();
    let mut command = lab.exec(home, "server");
    command.args(with_libraries()).arg(program("dnsdist"));
    command.args(["--supervised", "--disable-syslog", "-C"]).arg(config).stdout(Stdio::piped());
    ready(&mut command, "as 'up'")
}

/// Makes a folder's files those by which the system finds name servers, and becomes a program.
const OWN: &str = r#"
for file in resolv.conf nsswitch.conf; do
    mount --bind "$0/$file" "/etc/$file" || exit 1
done
exec "$@"
"#;

/// A command in a node whose system asks this name server; what it is follows as arguments.
pub fn asking(lab: &Lab, home: &Home, node: &str, server: &str) -> Command {
    let folder = home.path().join("etc");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("resolv.conf"), format!("nameserver {server}\n")).unwrap();
    std::fs::write(folder.join("nsswitch.conf"), "hosts: files dns\n").unwrap();
    let mut command = lab.exec(home, node);
    command.args(["unshare", "--mount", "sh", "-c", OWN]).arg(folder);
    command
}
