//! What is measured while something breaks: one kind of task each, with trials of about a second so
//! that a moment within them can be met.

/// A kind of task: its name and the table that asks for it.
pub type Kind = (&'static str, &'static str);

pub const KINDS: [Kind; 7] = [
    (
        "exchanges-tcp",
        "metric = \"rtt\"\nprotocol = \"tcp\"\nmessage = \"64 B\"\nturn = 300\nturns = 100",
    ),
    (
        "exchanges-udp",
        "metric = \"rtt\"\nprotocol = \"udp\"\nmessage = \"64 B\"\nturn = 300\nturns = 100",
    ),
    ("connections", "metric = \"connect\"\ncount = 20000"),
    ("bulk-tcp", "metric = \"throughput\"\npacing = \"20 Mbit/s\"\ntime = \"1 s\""),
    (
        "bulk-tcp-back",
        "metric = \"throughput\"\npacing = \"20 Mbit/s\"\ntime = \"1 s\"\ndirection = \"receive\"",
    ),
    (
        "bulk-udp",
        "metric = \"throughput\"\nprotocol = \"udp\"\nbitrate = \"20 Mbit/s\"\ntime = \"1 s\"",
    ),
    (
        "probes",
        "metric = \"rtt\"\nprotocol = \"udp\"\ninterval = \"10 ms\"\ntime = \"1 s\"\n\
         timeout = \"500 ms\"",
    ),
];

/// A plan of so many pairs of it.
pub fn plan(kind: Kind, pairs: u32) -> String {
    let (name, table) = kind;
    format!(
        "v6gap = 1\nname = \"{name}\"\n[design]\npairs = {pairs}\nnull_blocks = 0\nseed = 7\n\
         [[measure]]\n{table}\n"
    )
}
