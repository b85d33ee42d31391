//! IPsec ESP by the program strongSwan, which does it itself where the kernel's is not to be had:
//! its plugin kernel-libipsec reads packets from an interface, encrypts them and sends them in UDP.
//!
//! Each end has a daemon (charon) of its own, in a folder of its own. The two agree on keys by
//! IKEv2 (RFC 7296) before the tunnel counts as laid, and never again: new keys in the middle of a
//! trial would be measured.

use super::Ending;
use super::program::{self, Program};
use crate::LabError;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use v6gap_core::tunnel::TunnelKind;
use v6gap_core::world::World;
use v6gap_sys::entropy;

/// UDP port of both ends for keys and packets of tunnel 0 (RFC 3948); the number of another is
/// added.
const PORT: u16 = 4500;

/// Where distributions put the daemon, which no path of programs has.
const FOLDERS: [&str; 3] = ["/usr/lib/ipsec", "/usr/libexec/ipsec", "/usr/libexec/strongswan"];
const PLUGIN: &str = "plugins/libstrongswan-kernel-libipsec.so";

/// Runs the daemon with its settings in a folder of its own, has it agree with the other end if it
/// is to begin, says so, and ends it when nobody holds the other end of its input any more. Both
/// programs run as copies: where they are they may be held to files of the host (AppArmor).
const SCRIPT: &str = r#"
client=$(command -v swanctl) || exit 1
mount -t tmpfs none /run || exit 1
mkdir /run/settings
printf '%s' "$DAEMON" > /run/strongswan.conf
printf '%s' "$SETTINGS" > /run/settings/swanctl.conf
export STRONGSWAN_CONF=/run/strongswan.conf SWANCTL_DIR=/run/settings
cp "$CHARON" /run/charon && cp "$client" /run/swanctl || exit 1
/run/charon >/dev/null 2>&1 &
program=$!
end() { kill -9 $program; exit 1; }
tries=0
until /run/swanctl --load-all >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 500 ] || ! kill -0 $program; then end; fi
    sleep 0.01
done
if [ "$BEGINS" = yes ]; then
    /run/swanctl --initiate --child tunnel --timeout 20 >/dev/null 2>&1 || end
fi
echo ready
cat >/dev/null
kill -9 $program
"#;

/// The interface that the daemon makes at a node for tunnel `number` (from 0): it has the first
/// number that is free.
pub(super) fn interface(world: &World, number: usize, node: usize) -> String {
    let earlier = world.tunnels[..number].iter();
    let own = earlier.filter(|t| t.tunnel.kind == TunnelKind::Esp && t.ends.contains(&node));
    format!("ipsec{}", own.count())
}

/// ESP at both ends, which know the same secret.
pub(super) fn lay(ends: &[Ending<'_>; 2]) -> Result<Vec<Program>, LabError> {
    let drawn = entropy::bytes::<16>();
    let random = drawn.map_err(|missing| fault("draw a secret", missing.to_string()))?;
    let secret = random.iter().fold(String::new(), |mut secret, byte| {
        // Writing to a string does not fail.
        let _ = write!(secret, "{byte:02x}");
        secret
    });
    let charon = charon().map_err(|missing| fault("start charon", missing))?;
    let charon = charon.display().to_string();
    let mut programs = Vec::new();
    for (place, end) in ends.iter().enumerate() {
        let daemon = daemon(end);
        let settings = settings(end, place, &secret);
        let named = [
            ("CHARON", charon.as_str()),
            ("DAEMON", &daemon),
            ("SETTINGS", &settings),
            // The one that is there last.
            ("BEGINS", if place == 1 { "yes" } else { "no" }),
        ];
        programs.push(end.node.run(|| program::start(SCRIPT, &named))??);
        end.node.run(|| end.equip())??;
    }
    Ok(programs)
}

fn fault(operation: &str, reason: String) -> LabError {
    LabError::Kernel { operation: operation.to_owned(), reason }
}

fn port(end: &Ending<'_>) -> u16 {
    PORT + u16::from(end.number)
}

/// How the daemon works. The routes that it makes itself are asked last, so that the lab's decide
/// what is sent into the tunnel; what is lost on the way is said again soon.
fn daemon(end: &Ending<'_>) -> String {
    let port = port(end);
    let table = 220 + u32::from(end.number);
    format!(
        "charon {{\n\
         load = random nonce aes sha1 sha2 hmac kdf gmp kernel-libipsec kernel-netlink \
         socket-default vici\n\
         install_virtual_ip = no\nrouting_table = {table}\nrouting_table_prio = 40000\n\
         port = 0\nport_nat_t = {port}\n\
         retransmit_base = 1\nretransmit_timeout = 0.5\nretransmit_tries = 40\n\
         plugins {{\nkernel-libipsec {{\nallow_peer_ts = yes\n}}\n}}\n}}\n\
         swanctl {{\nload = random\n}}\n"
    )
}

/// What the two ends agree on: all packets, one suite, and keys that last.
fn settings(end: &Ending<'_>, place: usize, secret: &str) -> String {
    let [own, far] = end.outer;
    let (port, other) = (port(end), 1 - place);
    format!(
        "connections {{\ntunnel {{\nversion = 2\n\
         local_addrs = {own}\nremote_addrs = {far}\nlocal_port = {port}\nremote_port = {port}\n\
         encap = yes\nmobike = no\nrekey_time = 0\nproposals = aes128-sha256-modp2048\n\
         local {{\nauth = psk\nid = end{place}\n}}\nremote {{\nauth = psk\nid = end{other}\n}}\n\
         children {{\ntunnel {{\nmode = tunnel\nrekey_time = 0\nesp_proposals = aes128-sha256\n\
         local_ts = 0.0.0.0/0,::/0\nremote_ts = 0.0.0.0/0,::/0\n}}\n}}\n}}\n}}\n\
         secrets {{\nike {{\nsecret = \"{secret}\"\n}}\n}}\n"
    )
}

/// The daemon, if it is installed with its plugin.
fn charon() -> Result<PathBuf, String> {
    let install = |what: &str, package: &str| {
        format!("`{what}` is not installed: sudo apt install {package}")
    };
    let folder = FOLDERS.iter().map(Path::new).find(|folder| folder.join("charon").is_file());
    let folder = folder.ok_or_else(|| install("charon", "strongswan-charon"))?;
    match folder.join(PLUGIN).is_file() {
        true => Ok(folder.join("charon")),
        false => Err(install("kernel-libipsec", "libcharon-extra-plugins")),
    }
}

/// Whether the programs that make an ESP tunnel are installed.
pub(crate) fn is_there() -> Result<(), String> {
    for (program, package) in [("swanctl", "strongswan-swanctl"), ("unshare", "util-linux")] {
        if !program::installed(program) {
            return Err(format!("`{program}` is not installed: sudo apt install {package}"));
        }
    }
    charon().map(drop)
}
