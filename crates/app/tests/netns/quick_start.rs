//! The quick start of docs/fleet.md, line by line as it stands there, on three hosts that have
//! nothing but this program and nats-server: from nothing to a first matrix.
//!
//! `scp` copies from folder to folder here, as the hosts are of one computer. A line that is "for
//! each host" is run with the names of each. Nothing is shortened.

use super::machines::Machines;
use super::programs::{Running, until};
use super::support::figure;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The section of the document.
const SECTION: &str = "\n## Three lines\n";

/// The hosts that the text is about, and what its lines call the first agent.
const HOSTS: [&str; 3] = ["hub1", "lab-a", "lab-b"];
const FIRST: &str = "rome/lab-a";

/// Where they are.
const WORLD: &str = r#"
v6gap   = 1
hosts   = ["hub1", "lab-a", "lab-b"]
routers = ["router"]
client  = "lab-a"
server  = "lab-b"
[every]
rate  = "100 Mbit/s"
delay = "1 ms"
[[links]]
between = ["hub1", "router"]
[[links]]
between = ["lab-a", "router"]
[[links]]
between = ["lab-b", "router"]
"#;

/// Longest that it may take from nothing to a first matrix.
const LONGEST: Duration = Duration::from_secs(300);

/// What `scp -p FILE HOST:` does between the folders of these hosts.
const COPY: &str = "#!/bin/sh\n[ \"$1\" = -p ] && exec cp -p \"$2\" \"../${3%:}/\"\n";

/// A block of the section.
enum Block {
    /// A mesh plan.
    Mesh(String),
    /// Lines that are typed, each with the host it is typed on.
    Typed(Vec<(String, String)>),
}

pub fn leads_to_a_matrix() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/fleet.md");
    let blocks = blocks(&std::fs::read_to_string(document).unwrap());
    let numbers = (1..).zip(HOSTS);
    let at = |n: u32| [format!("10.46.{n}.1"), format!("fd46:{n}::1")];
    let hosts: Vec<(&str, [String; 2])> = numbers.map(|(n, host)| (host, at(n))).collect();
    let machines = Machines::new("quick-start", WORLD, &hosts);
    let copy = machines.home().join("bin/scp");
    std::fs::write(&copy, COPY).unwrap();
    std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755)).unwrap();
    let agents = agents(&blocks);
    let start = Instant::now();
    let mut running = Vec::new();
    let mut typed = 0;
    for block in &blocks {
        match block {
            Block::Mesh(text) => {
                std::fs::write(machines.folder("hub1").join("mesh.toml"), text).unwrap();
            }
            Block::Typed(lines) => {
                for (host, line) in for_each(lines, &agents) {
                    typed += 1;
                    type_in(&machines, &host, &line, &agents, &mut running);
                }
            }
        }
    }
    figure("lines typed", typed);
    let took = start.elapsed();
    figure("time to a first matrix", format!("{:.0} s", took.as_secs_f64()));
    assert!(took <= LONGEST, "{took:?}");
    // The agents first, as they began last.
    running.into_iter().rev().for_each(Running::stop);
}

/// Types a line. What goes on is waited for until it is ready, and the matrix until it has the
/// agents.
fn type_in(
    machines: &Machines,
    host: &str,
    line: &str,
    agents: &[String],
    running: &mut Vec<Running>,
) {
    if line.contains("fleet hub run") || line.contains("fleet agent") {
        let mut program = machines.start(host, line);
        program.until_said("Ready");
        running.push(program);
        return;
    }
    let said = match line.contains("fleet matrix") {
        false => machines.run(host, line),
        true => until("the first matrix", || {
            let said = machines.run(host, line);
            agents.iter().all(|agent| said.contains(agent.as_str())).then_some(said)
        }),
    };
    figure(line, said.lines().last().unwrap_or_default());
}

/// The blocks of the section, in their order.
fn blocks(document: &str) -> Vec<Block> {
    let (_, section) = document.split_once(SECTION).expect("docs/fleet.md has its quick start");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut found = Vec::new();
    for (number, part) in section.split("```").enumerate() {
        let Some((kind, text)) = part.split_once('\n').filter(|_| number % 2 == 1) else {
            continue;
        };
        match kind {
            "toml" => found.push(Block::Mesh(text.to_owned())),
            "console" => found.push(Block::Typed(text.lines().filter_map(typed).collect())),
            other => panic!("what to do with a block of {other:?}?"),
        }
    }
    found
}

/// The host before the prompt and the line behind it; others are what is said.
fn typed(line: &str) -> Option<(String, String)> {
    let (host, line) = line.split_once("$ ")?;
    HOSTS.contains(&host).then(|| (host.to_owned(), line.trim().to_owned()))
}

/// The agents of the mesh plan.
fn agents(blocks: &[Block]) -> Vec<String> {
    let meshes = blocks.iter().filter_map(|block| match block {
        Block::Mesh(text) => Some(text),
        Block::Typed(_) => None,
    });
    let lines = meshes.flat_map(|text| text.lines());
    let named = |line: &str| {
        let name = line.strip_prefix("[hosts.\"")?.split('"').next()?;
        Some(name.to_owned())
    };
    let agents: Vec<String> = lines.filter_map(named).collect();
    assert!(agents.len() >= 2 && agents[0] == FIRST, "{agents:?}");
    agents
}

/// The lines with those that are for each host once for each.
fn for_each(lines: &[(String, String)], agents: &[String]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let (_, first) = FIRST.split_once('/').unwrap();
    for (host, line) in lines {
        if !line.ends_with("each host") {
            all.push((host.clone(), line.clone()));
            continue;
        }
        for agent in agents {
            let (_, own) = agent.split_once('/').unwrap();
            let line = line.replace(FIRST, agent).replace(first, own);
            all.push((host.replace(first, own), line));
        }
    }
    all
}
