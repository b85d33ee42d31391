//! Tunnels that programs of the host make: started at a node, ended when dropped or with this
//! process, whichever comes first.

use super::Ending;
use crate::LabError;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Port of WireGuard at both ends of tunnel 0; the number of another is added.
const WIREGUARD_PORT: u16 = 51_820;

/// Gives the program a folder of its own for its socket, starts and configures it, says so, and
/// ends it when nobody holds the other end of its input any more.
const WIREGUARD: &str = r#"
mount -t tmpfs none /run || exit 1
WG_PROCESS_FOREGROUND=1 LOG_LEVEL=silent wireguard-go "$NAME" >/dev/null 2>&1 &
program=$!
tries=0
until wg show "$NAME" >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then kill -9 $program; exit 1; fi
    sleep 0.01
done
printf '%s' "$SETTINGS" | wg setconf "$NAME" /dev/stdin || { kill -9 $program; exit 1; }
echo ready
cat >/dev/null
kill -9 $program
"#;

/// A running program; it is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Program {
    child: Child,
}

impl Drop for Program {
    fn drop(&mut self) {
        // The script ends its program when its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Runs `script` at the calling thread's network namespace, with a mount namespace of its own, and
/// waits until it says `ready`.
pub(super) fn start(script: &str, settings: &[(&str, &str)]) -> Result<Program, LabError> {
    let operation = || "start a tunnel's program";
    // What interrupts this program at its terminal is for it alone: the script ends with it.
    let mut child = command("unshare")
        .process_group(0)
        .args(["--mount", "sh", "-c", script])
        .envs(settings.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(LabError::system(operation()))?;
    let said = child.stdout.take();
    let program = Program { child };
    let mut line = String::new();
    if let Some(said) = said {
        BufReader::new(said).read_line(&mut line).map_err(LabError::system(operation()))?;
    }
    if line.trim_end() == "ready" {
        return Ok(program);
    }
    let reason = "it did not become ready".to_owned();
    Err(LabError::Kernel { operation: operation().to_owned(), reason })
}

/// WireGuard at both ends, each knowing the other's key.
pub(super) fn wireguard(ends: &[Ending<'_>; 2]) -> Result<Vec<Program>, LabError> {
    let [a, b] = [wg("genkey", "")?, wg("genkey", "")?];
    let public = [wg("pubkey", &a)?, wg("pubkey", &b)?];
    let mut programs = Vec::new();
    for (end, (own, far)) in ends.iter().zip([(&a, &public[1]), (&b, &public[0])]) {
        let port = WIREGUARD_PORT + u16::from(end.number);
        let remote = SocketAddr::new(end.outer[1], port);
        let settings = format!(
            "[Interface]\nPrivateKey = {own}\nListenPort = {port}\n\
             [Peer]\nPublicKey = {far}\nAllowedIPs = 0.0.0.0/0, ::/0\nEndpoint = {remote}\n"
        );
        let named = [("NAME", end.name.as_str()), ("SETTINGS", settings.as_str())];
        programs.push(end.node.run(|| start(WIREGUARD, &named))??);
        end.node.run(|| end.equip())??;
    }
    Ok(programs)
}

/// What `wg` makes of `input`.
fn wg(verb: &str, input: &str) -> Result<String, LabError> {
    let operation = || format!("run wg {verb}");
    let mut child = command("wg")
        .arg(verb)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(LabError::system(operation()))?;
    // What needs no input ends before it could be written.
    if let Some(mut to) = child.stdin.take().filter(|_| !input.is_empty()) {
        writeln!(to, "{input}").map_err(LabError::system(operation()))?;
    }
    let output = child.wait_with_output().map_err(LabError::system(operation()))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Whether the programs that make a WireGuard tunnel are installed.
pub(crate) fn wireguard_is_there() -> Result<(), String> {
    for (program, package) in
        [("wireguard-go", "wireguard-go"), ("wg", "wireguard-tools"), ("unshare", "util-linux")]
    {
        if !installed(program) {
            return Err(format!("`{program}` is not installed: sudo apt install {package}"));
        }
    }
    Ok(())
}

pub(crate) fn installed(program: &str) -> bool {
    let mut asked = command(program);
    asked.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    asked.status().is_ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the program is the network that is measured, not a part of the measurement"
)]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    // Some are programs of the administrator, whose folders ordinary users do not search.
    if let Ok(mut path) = std::env::var("PATH") {
        let roots = path.split(':').filter_map(|folder| folder.strip_suffix("/bin"));
        let beside: String = roots.map(|root| format!(":{root}/sbin")).collect();
        path.push_str(&beside);
        command.env("PATH", path);
    }
    command
}
