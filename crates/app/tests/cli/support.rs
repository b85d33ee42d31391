//! Runs the real program with a data folder of its own, and makes a stored run for it to look at.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use v6gap_core::arm::{Arm, BlockKind, PerArm};
use v6gap_core::family::{Family, PerFamily};
use v6gap_core::metric::Metric;
use v6gap_core::observation::{Far, PerEnd};
use v6gap_core::plan::{defaults, preset};
use v6gap_core::record::{BlockRecord, Ending, Host, Line, RunHeader, Session, TrialRecord};
use v6gap_core::schedule::{self, Block};
use v6gap_core::wiremodel::{TcpOptions, tcp_packets};
use v6gap_core::workload::Workload;
use v6gap_core::world::World;
use v6gap_core::world::model::world_round_trip_ns;
use v6gap_store::Store;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A folder for one test, removed at its end.
pub struct Sandbox {
    folder: PathBuf,
}

/// What was printed, without breaks of lines.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a run of the program gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Sandbox {
    pub fn new() -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("v6gap-cli-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Sandbox { folder }
    }

    /// A sandbox that holds a stored run called `7k2f9q`.
    pub fn with_run() -> Self {
        let sandbox = Sandbox::new();
        sandbox.store("7k2f9q", "lab-b", 1_763_560_962_000_000_000);
        sandbox
    }

    /// Stores a run like [`Sandbox::store`] against lab-b at an earlier time, `early1` and so on.
    pub fn store_one_of_five(&self, number: u64) {
        let started_unix_ns = 1_763_400_000_000_000_000 + number * 1_000_000_000_000;
        self.store(&format!("early{number}"), "lab-b", started_unix_ns);
    }

    /// Stores a run of 20 pairs of throughput and round trips.
    pub fn store(&self, id: &str, target: &str, started_unix_ns: u64) {
        let store = Store::at(&self.folder);
        let lines = journal(id, target, started_unix_ns);
        let Line::Run(header) = &lines[0] else { unreachable!("the first line is the header") };
        store.create(header).unwrap().append(&lines[1..]).unwrap();
    }

    /// Stores a run between two hosts of a fleet that began at that time.
    pub fn store_between(&self, id: &str, between: [&str; 2], started_unix_ns: u64) {
        self.store_of_fleet(id, between, started_unix_ns, 1.0);
    }

    /// Stores a run like [`Sandbox::store_between`] whose round trips over IPv6 take so many times
    /// as long.
    pub fn store_of_fleet(&self, id: &str, between: [&str; 2], started_unix_ns: u64, factor: f64) {
        let mut lines = journal(id, "lab-b", started_unix_ns);
        if let Line::Run(header) = &mut lines[0] {
            header.between = Some(between.map(str::to_owned));
        }
        slow(&mut lines, factor);
        self.store_lines(&lines);
    }

    /// Stores a run `swept1` of TCP round trips of three sizes on the lab's line of 100 Mbit/s; the
    /// hosts take 30 µs over IPv4 and 31 µs over IPv6.
    pub fn store_sweep(&self) {
        let lab = preset::demo_world();
        self.store_lines(&sweep("swept1", PerArm::FAMILIES, &lab, Some(1500)));
    }

    /// The same as `swept2`, with IPv6 for the reference.
    pub fn store_sweep_of_swapped_arms(&self) {
        let arms = PerArm { a: Family::V6, b: Family::V4 };
        self.store_lines(&sweep("swept2", arms, &preset::demo_world(), Some(1500)));
    }

    /// The same as `swept3` on a path of one link that is not known, with the MTU that the kernel
    /// told.
    pub fn store_sweep_of_a_path(&self, mtu: Option<u32>) {
        let demo = preset::demo_world();
        let cable = World::chain(demo.model, demo.links[..1].to_vec());
        let mut lines = sweep("swept3", PerArm::FAMILIES, &cable, mtu);
        if let Line::Run(header) = &mut lines[0] {
            header.plan.parts_mut().world = None;
        }
        self.store_lines(&lines);
    }

    /// Stores a run like [`Sandbox::store`] whose round trips over IPv6 take so many times as long
    /// with another kernel of the server.
    pub fn store_slower(&self, id: &str, factor: f64) {
        let mut lines = journal(id, "lab-b", 1_763_700_000_000_000_000);
        if let Line::Run(header) = &mut lines[0] {
            header.hosts.server.facts.insert("kernel".into(), "6.12.9".into());
        }
        slow(&mut lines, factor);
        self.store_lines(&lines);
    }

    /// Stores the sweep as that of a plan that repeats an experiment of a study.
    pub fn store_study(&self, id: &str, reference: &str) {
        let mut lines = sweep(id, PerArm::FAMILIES, &preset::demo_world(), Some(1500));
        if let Line::Run(header) = &mut lines[0] {
            header.plan.parts_mut().reference = Some(reference.to_owned());
        }
        self.store_lines(&lines);
    }

    /// Stores the sweep again with two requests under way at a time.
    pub fn store_other_factor(&self, id: &str) {
        let mut lines = sweep(id, PerArm::FAMILIES, &preset::demo_world(), Some(1500));
        if let Line::Run(header) = &mut lines[0] {
            for cell in &mut header.plan.parts_mut().cells {
                if let Workload::Echo(echo) = &mut cell.workload {
                    echo.outstanding = 2;
                }
            }
        }
        self.store_lines(&lines);
    }

    fn store_lines(&self, lines: &[Line]) {
        let Line::Run(header) = &lines[0] else { unreachable!("the first line is the header") };
        Store::at(&self.folder).create(header).unwrap().append(&lines[1..]).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What is in a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A file that only its owner may read.
    pub fn secret(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        v6gap_sys::secrets::create(&path, text).unwrap();
        path
    }

    /// A folder for the claims of one program, which stands for a host of its own: programs of a
    /// test measure beside each other, and so do tests.
    fn host_of_its_own(&self) -> PathBuf {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.folder.join("hosts-of-their-own").join(number.to_string())
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_v6gap"));
        command
            .args(line.split_whitespace())
            .env_clear()
            .env("V6GAP_DATA", &self.folder)
            .env("V6GAP_LOCKS", self.host_of_its_own())
            .env("COLUMNS", "80")
            .env("LANG", "C.UTF-8")
            .current_dir(&self.folder)
            .stdin(Stdio::null());
        command
    }

    /// Runs `v6gap LINE`.
    pub fn run(&self, line: &str) -> Ran {
        let Output { status, stdout, stderr } = self.command(line).output().unwrap();
        Ran {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs `v6gap LINE` with no variables but these.
    pub fn run_with(&self, line: &str, variables: &[(&str, &Path)]) -> Ran {
        let mut command = self.command(line);
        command.env_clear().envs(variables.iter().copied());
        let Output { status, stdout, stderr } = command.output().unwrap();
        Ran {
            code: status.code().unwrap(),
            out: String::from_utf8(stdout).unwrap(),
            err: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs `v6gap LINE` with a text on its standard input.
    pub fn run_on(&self, line: &str, text: &str) -> Ran {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let [out, err] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        Ran { code: status.code().unwrap(), out, err }
    }

    /// Starts `v6gap LINE`, whose standard input and output are pipes.
    pub fn start(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Starts `v6gap LINE` with these variables too; standard output and error are pipes.
    pub fn start_with(&self, line: &str, variables: &[(&str, &str)]) -> Child {
        let mut command = self.command(line);
        command.envs(variables.iter().copied());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What came of a program of which `out` was read, now that it ends; -1 for one that was
    /// killed.
    pub fn ended(child: Child, out: String) -> Ran {
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        Ran { code: status.code().unwrap_or(-1), out, err: String::from_utf8(stderr).unwrap() }
    }

    /// Starts `v6gap LINE`, whose standard input and error are pipes.
    pub fn start_heard(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs `v6gap LINE` with a standard output that nobody reads; its code and standard error.
    pub fn run_unread(&self, line: &str) -> (i32, String) {
        let mut child =
            self.command(line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (child.wait().unwrap().code().unwrap(), err)
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

impl Ran {
    /// Fails unless the program ended with that code.
    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// Has round trips over IPv6 take so many times as long.
fn slow(lines: &mut [Line], factor: f64) {
    for line in lines {
        if let Line::Trial(trial) = line
            && trial.family == Family::V6
            && let Some(rtt) = trial.values.get_mut(&Metric::Rtt)
        {
            *rtt *= factor;
        }
    }
}

/// The lines of a complete run: IPv6 1.38 % slower and 5 % longer, with a little noise.
fn journal(id: &str, target: &str, started_unix_ns: u64) -> Vec<Line> {
    let mut plan = preset::first_look(PerArm::FAMILIES, Some(preset::demo_world()), 7);
    plan.parts_mut()
        .cells
        .retain(|cell| ["throughput-tcp", "rtt-tcp-64"].contains(&cell.id.as_str()));
    plan.parts_mut().design.null_cells = vec![0, 1];
    plan.parts_mut().design.null_fewer.clear();
    plan.parts_mut().design.blocks_max = 1;
    (plan.parts_mut().design.null_blocks, plan.parts_mut().design.sentinel_every) = (4, 0);
    let rounds: Vec<Block> = (0..=20).flat_map(|number| schedule::round(&plan, number)).collect();
    let header = RunHeader {
        tool: "0.1.0".to_owned(),
        started_unix_ns,
        target: target.to_owned(),
        addresses: PerFamily {
            v4: Some("10.46.2.2".parse().unwrap()),
            v6: Some("fd46:2::2".parse().unwrap()),
        },
        session: Far::Seen(Session { protocol: 1, control: Family::V4, limits: None }),
        hosts: PerEnd {
            client: Host { name: "lab-a".to_owned(), facts: BTreeMap::new() },
            server: Host { name: "lab-b".to_owned(), facts: BTreeMap::new() },
        },
        ..RunHeader::new(id.parse().unwrap(), plan)
    };
    let mut lines = vec![Line::Run(Box::new(header))];
    let arms = PerArm::FAMILIES;
    let mut blocks = Blocks { number: 0, started_unix_ns, arms, lines: &mut lines };
    let cells = [
        ("throughput-tcp", Metric::Throughput, PerFamily { v4: 94.1e6, v6: 92.8e6 }),
        ("rtt-tcp-64", Metric::Rtt, PerFamily { v4: 145e-6, v6: 152e-6 }),
    ];
    for block in &rounds {
        let (cell, metric, values) = cells[block.cell];
        blocks.add(cell, metric, values, block);
    }
    lines.push(Line::End(Ending::Complete));
    lines
}

fn sweep(id: &str, arms: PerArm<Family>, world: &World, mtu: Option<u32>) -> Vec<Line> {
    let whole = journal(id, "lab-b", 1_763_700_000_000_000_000);
    let Line::Run(header) = &whole[0] else { unreachable!("the first line is the header") };
    let mut header = header.clone();
    header.plan = preset::first_look(arms, Some(world.clone()), 7);
    let sizes = defaults::MESSAGE_BYTES.map(|bytes| (format!("rtt-tcp-{bytes}"), bytes));
    header.plan.parts_mut().cells.retain(|cell| sizes.iter().any(|(id, _)| *id == cell.id));
    header.plan.parts_mut().design.null_cells = Vec::new();
    let plan = header.plan.clone();
    let mut lines = vec![Line::Run(header)];
    let mut blocks = Blocks { number: 0, started_unix_ns: 0, arms, lines: &mut lines };
    for round in 1..21 {
        let mut scheduled = schedule::round(&plan, round);
        // The noise follows the number of the block; so it is the same in each round.
        scheduled.sort_by_key(|block| block.cell);
        for block in scheduled {
            let (cell, bytes) = &sizes[block.cell];
            let time = |family, hosts_ns| {
                let mtu = mtu.unwrap_or(1500);
                let packets = tcp_packets(*bytes, family, mtu, TcpOptions::TIMESTAMPS);
                (hosts_ns + world_round_trip_ns(world, family, &packets)) / 1e9
            };
            let values = PerFamily { v4: time(Family::V4, 30e3), v6: time(Family::V6, 31e3) };
            blocks.add(cell, Metric::Rtt, values, &block);
        }
    }
    for line in &mut lines {
        if let Line::Trial(trial) = line {
            trial.ends.client.granted.path_mtu = mtu;
        }
    }
    lines.push(Line::End(Ending::Complete));
    lines
}

struct Blocks<'a> {
    number: u32,
    started_unix_ns: u64,
    arms: PerArm<Family>,
    lines: &'a mut Vec<Line>,
}

impl Blocks<'_> {
    fn add(&mut self, cell: &str, metric: Metric, values: PerFamily<f64>, scheduled: &Block) {
        let block = self.number;
        self.number += 1;
        let Block { round, kind, order, .. } = *scheduled;
        for (turn, arm) in order.arms().into_iter().enumerate() {
            let family = match (kind, arm) {
                (BlockKind::Null(family), _) => family,
                (BlockKind::Compare, arm) => *self.arms.get(arm),
            };
            // Noise of a few parts in ten thousand that does not repeat with the order.
            let step = (block * 7 + if arm == Arm::A { 3 } else { 8 }) % 11;
            let value = values.get(family) * (1.0 + (f64::from(step) - 5.0) * 1e-4);
            let started_ns = u64::from(block) * 2_000_000_000 + turn as u64 * 1_000_000_000;
            self.lines.push(Line::Trial(Box::new(TrialRecord {
                block,
                cell: cell.to_owned(),
                kind,
                round,
                arm,
                family,
                order,
                attempt: 0,
                started_unix_ns: self.started_unix_ns + started_ns,
                started_ns,
                duration_ns: 1_000_000_000,
                values: BTreeMap::from([(metric, value)]),
                ends: PerEnd::default(),
                findings: Vec::new(),
                link: None,
                beside: None,
            })));
        }
        self.lines.push(Line::Block(BlockRecord { block, valid: true, drawn: None }));
    }
}
