//! A site that is reached over IPv6 through a translator alone (NAT64): a real name server makes
//! its address (DNS64), with the prefix that is for all, or with the network's own, which tells
//! that (RFC 7050).

use super::name_servers::{DNS, asking, bind9};
use super::sites::{NAME, PORT, caddy};
use super::support::{Home, PROGRAM, figure, measured, noted, text, times};
use super::two_hosts::{Lab, Server};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The server's IPv4 network: the prefix for all is not for private addresses (RFC 6052 section
/// 3.1), and this one has no hosts but those that answer for private ones (RFC 7535).
const WORLD: &str = r#"
v6gap   = 1
hosts   = ["client", "server"]
routers = ["router"]
[every]
rate  = "100 Mbit/s"
delay = "2 ms"
[[links]]
between = ["client", "router"]
[[links]]
between   = ["router", "server"]
v4.subnet = "192.31.196.0/24"
"#;

/// The server there, the router in front of it, and the router as the client has it.
const FOUR: &str = "192.31.196.2";
const ROUTER: &str = "192.31.196.1";
const ROUTER_SIX: &str = "fd46:1::2";

/// What the server sees the client as, and what of it is the translator itself.
const POOL: &str = "10.49.0.0/24";
const OWN: &str = "10.49.0.1";

/// How long the translator has to be at its interface.
const READY: Duration = Duration::from_secs(3);

/// tayga at the router, with a prefix.
fn translator(lab: &Lab, home: &Home, prefix: &str) -> Server {
    let config = home.path().join("tayga.conf");
    let settings = format!(
        "tun-device nat64\nprefix {prefix}\nipv6-addr fd46:66::1\nipv4-addr {OWN}\n\
         dynamic-pool {POOL}\ndata-dir {}\n",
        home.path().display()
    );
    std::fs::write(&config, settings).unwrap();
    let tayga = |option: &str| {
        let mut command = lab.exec(home, "router");
        command.args(["tayga", option, "--config"]).arg(&config);
        command
    };
    let made = tayga("--mktun").output().unwrap();
    assert!(made.status.success(), "{made:?}");
    lab.ip(home, "router", "link set nat64 up");
    lab.ip(home, "router", &format!("-6 route add {prefix} dev nat64"));
    lab.ip(home, "router", &format!("route add {POOL} dev nat64"));
    lab.ip(home, "client", &format!("-6 route add {prefix} via {ROUTER_SIX}"));
    lab.ip(home, "server", &format!("route add {POOL} via {ROUTER}"));
    let server = Server(tayga("--nodetach").spawn().unwrap());
    let give_up = Instant::now() + READY;
    loop {
        let mut look = lab.exec(home, "router");
        let seen = look.args(["ip", "-o", "link", "show", "nat64"]).output().unwrap();
        if text(&seen.stdout).contains("state UP") {
            return server;
        }
        assert!(Instant::now() < give_up, "{seen:?}");
    }
}

/// Neither is called by the name of its family alone, and both addresses are one machine.
pub fn is_named() {
    for prefix in ["64:ff9b::/96", "2001:db8:64::/96"] {
        let home = Home::new("nat64");
        let lab = Lab::of_world(&home, "nat64", WORLD);
        let made = format!("dns64 {prefix} {{ clients {{ any; }}; recursive-only no; }};");
        let servers = [
            translator(&lab, &home, prefix),
            caddy(&lab, &home),
            bind9(&lab, &home, DNS, &[&format!("A {FOUR}")], &made),
        ];
        let mut probe = asking(&lab, &home, "client", FOUR);
        probe.arg(PROGRAM).args(["probe", &format!("https://{NAME}:{PORT}/"), "--http", "2"]);
        probe.args(["--measure", "first-byte", "--pairs", &times(6, 12).to_string()]);
        let probe = probe.args(["--mine", "--no-report", "--no-path", "--json", "-q"]);
        let output = probe.output().unwrap();
        drop(servers);
        measured(&output);
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(result.to_string().contains("IPv6 by NAT64"), "{prefix}: {result:#}");
        let one = "one machine: the IPv6 address is made of the IPv4 address by a translator";
        assert!(noted(&result, one), "{prefix}: {:#}", result["checks"]);
        assert!(noted(&result, "it is not native IPv6"), "{prefix}: {:#}", result["checks"]);
        figure(prefix, &result["headline"]);
    }
}
