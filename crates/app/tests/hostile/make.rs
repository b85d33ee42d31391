//! The files: recorded runs that were changed in every way that comes to mind, and some that were
//! made from nothing.

use super::random::Random;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;
use std::sync::LazyLock;

/// The recorded runs; bytes of the head and of the tail of a gzip file without a name.
const RECORDED: [&[u8]; 2] = [
    include_bytes!("../browser/recorded/ygbv7b.jsonl.gz"),
    include_bytes!("../browser/recorded/n1b7yg.jsonl.gz"),
];
const GZIP: (usize, usize) = (10, 8);

/// Lines that are kept of a run in most files: its facts and some blocks, so that thousands of
/// commands do not take hours.
const LINES: usize = 31;

/// Stands for a number until the line is written, as JSON values hold no wrong ones.
const NUMBER: &str = "@number@";

/// Texts that would do harm where they are not taken for texts.
const TEXTS: [&str; 22] = [
    "<x-evil onclick=alert(1) id=evil>",
    "\"><x-evil onload=\"alert(1)\" x=\"",
    "'><script>alert(1)</script><x-evil a='",
    "</title></style></script></svg><x-evil><img src=x onerror=alert(1)>",
    "<!--<x-evil>--><![CDATA[<x-evil>]]>",
    "&lt;x-evil&gt;&#60;x-evil&#62;",
    "javascript:alert(1)",
    "\u{1b}[2J\u{1b}]0;pwned\u{7}\u{9b}31m",
    "a\r\nHTTP/1.1 200 OK\r\n\r\n",
    "a\nerror: forged\n\tb",
    "\u{202e}gpj.exe\u{2066}\u{200f}",
    "\u{0}\u{1}\u{7f}\u{85}\u{2028}\u{2029}\u{feff}\u{fffe}",
    "../../../../../../tmp/v6gap-evil",
    "/tmp/v6gap-evil",
    "..\\..\\evil",
    "-o/tmp/v6gap-evil",
    "=HYPERLINK(\"http://evil\")",
    "\\input{/etc/passwd}\\write18{id}%$#&_{}~^",
    "| a | [x](javascript:alert(1)) ![x](http://evil) `` ` ``",
    "%s%n%x{}{0:?}",
    "\u{1f468}\u{200d}\u{1f469}e\u{301}\u{301}\u{301}\u{fdfd}",
    "",
];

/// Names that are no identifiers of a run.
const IDS: [&str; 14] = [
    "../../victim",
    "../victim",
    "..",
    ".",
    "",
    "/tmp/v6gap-evil",
    "a/b",
    "a\\b",
    "C:\\evil",
    "a b",
    "-rf",
    "\u{0}",
    "<x-evil>",
    "last",
];

/// Numbers at the edges and beyond them, as they would be written.
const NUMBERS: [&str; 26] = [
    "0",
    "-0",
    "1",
    "-1",
    "1e308",
    "1e309",
    "-1e999",
    "1e-400",
    "5e-324",
    "NaN",
    "Infinity",
    "-Infinity",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "0.1",
    "1e18",
    "01",
    "0x10",
    "1_000",
    "\"12\"",
];

/// A name, a share, and what makes such a file.
type Kind = (&'static str, usize, fn(&mut Random) -> Vec<u8>);

/// What is done to a run, with the files in a thousand that it gets.
const KINDS: [Kind; 14] = [
    ("hostile texts", 220, texts),
    ("hostile numbers", 200, numbers),
    ("other values", 120, values),
    ("bytes changed", 100, bytes),
    ("cut off", 80, cut),
    ("lines moved", 80, lines),
    ("an identifier", 50, identifier),
    ("keys twice", 40, twice),
    ("an escape", 20, escapes),
    ("deep", 30, deep),
    ("long", 20, long),
    ("much", 10, much),
    ("nothing of a run", 25, nothing),
    ("as it was", 5, |random| text(&base(random)).into_bytes()),
];

/// A file by its number, and what was done to it.
pub fn file(number: u64) -> (&'static str, Vec<u8>) {
    let mut random = Random::new(number);
    let all = KINDS.iter().map(|(_, share, _)| share).sum();
    let mut at = random.below(all);
    for (name, share, make) in KINDS {
        if at < share {
            return (name, make(&mut random));
        }
        at -= share;
    }
    unreachable!("shares add up")
}

/// The lines of one of the runs.
fn base(random: &mut Random) -> Vec<Value> {
    static RUNS: LazyLock<Vec<Vec<Value>>> = LazyLock::new(|| {
        let unpack = |packed: &&[u8]| {
            let text = decompress_to_vec(&packed[GZIP.0..packed.len() - GZIP.1]).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        RECORDED.iter().map(unpack).collect()
    });
    let run = &RUNS[random.below(RUNS.len())];
    // Now and then all of it, with its end.
    let count = if random.below(20) == 0 { run.len() } else { LINES };
    run[..count].to_vec()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

/// How many changes: mostly few, so that the rest is still read.
fn few(random: &mut Random) -> usize {
    random.of(&[1, 1, 1, 2, 3, 8])
}

/// Changes some values that `is` says, anywhere in some lines.
fn change(
    lines: &mut [Value],
    random: &mut Random,
    is: fn(&Value) -> bool,
    to: fn(&mut Random) -> Value,
) {
    fn find<'a>(value: &'a mut Value, is: fn(&Value) -> bool, found: &mut Vec<&'a mut Value>) {
        if is(value) {
            found.push(value);
            return;
        }
        match value {
            Value::Array(all) => all.iter_mut().for_each(|value| find(value, is, found)),
            Value::Object(all) => all.values_mut().for_each(|value| find(value, is, found)),
            _ => {}
        }
    }
    for _ in 0..few(random) {
        // The facts of the run are in the first line.
        let at = if random.below(2) == 0 { 0 } else { random.below(lines.len()) };
        let mut found = Vec::new();
        find(&mut lines[at], is, &mut found);
        if !found.is_empty() {
            let which = random.below(found.len());
            *found[which] = to(random);
        }
    }
}

/// Texts are kept as texts, so that most of these are read and shown.
fn texts(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    if random.below(2) == 0 {
        change(&mut lines, random, Value::is_string, |random| random.of(&TEXTS).into());
        return text(&lines).into_bytes();
    }
    // All that a person or host may call itself.
    let mut evil = || Value::from(random.of(&TEXTS));
    let header = &mut lines[0];
    header["target"] = evil();
    header["tool"] = evil();
    header["plan"]["name"] = evil();
    header["plan"]["description"] = evil();
    header["notes"] = Value::from(vec![evil(), evil()]);
    for end in ["client", "server"] {
        header["hosts"][end]["name"] = evil();
        let facts = header["hosts"][end]["facts"].as_object_mut().unwrap();
        for fact in facts.values_mut() {
            *fact = evil();
        }
        for name in TEXTS {
            facts.insert(name.to_owned(), evil());
        }
    }
    text(&lines).into_bytes()
}

fn numbers(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    change(&mut lines, random, Value::is_number, |_| NUMBER.into());
    let mut text = text(&lines);
    while let Some(at) = text.find(&format!("\"{NUMBER}\"")) {
        text.replace_range(at..at + NUMBER.len() + 2, random.of(&NUMBERS));
    }
    text.into_bytes()
}

fn values(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    let any = |value: &Value| !value.is_object() || value.as_object().is_some_and(|o| o.len() < 4);
    change(&mut lines, random, any, |random| {
        let long = || vec![Value::from(u32::MAX); 20_000];
        [
            Value::Null,
            true.into(),
            serde_json::json!({}),
            serde_json::json!([]),
            serde_json::json!([[]]),
            long().into(),
            serde_json::json!({"": {"": ""}}),
            "x".repeat(100_000).into(),
        ][random.below(8)]
        .clone()
    });
    text(&lines).into_bytes()
}

fn bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = text(&base(random)).into_bytes();
    for _ in 0..few(random) * 2 {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..(at + 1 + random.below(9)).min(bytes.len()))),
            _ => bytes.insert(at, random.of(b"\"\\{}[],:\n\r\t \0\x1b\xff\xc0eE-0")),
        }
    }
    bytes
}

/// At any byte, at the end of a line, or right behind it.
fn cut(random: &mut Random) -> Vec<u8> {
    let mut bytes = text(&base(random)).into_bytes();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').collect();
    let at = match random.below(3) {
        0 => random.below(bytes.len()),
        1 => random.of(&ends),
        _ => random.of(&ends) + 1,
    };
    bytes.truncate(at);
    bytes
}

fn lines(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    for _ in 0..few(random) {
        let (a, b) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(6) {
            0 => lines.swap(a, b),
            1 => drop(lines.remove(a)),
            2 => lines.insert(b, lines[a].clone()),
            3 => lines.insert(b, lines[0].clone()),
            4 => lines.retain(|line| line["line"] != "block"),
            _ => lines[a]["v"] = random.next().into(),
        }
        if lines.is_empty() {
            break;
        }
    }
    text(&lines).into_bytes()
}

fn identifier(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    lines[0]["id"] = match random.below(5) {
        0 => "x".repeat(33 + random.below(5_000)).into(),
        // Out of the data folder, to where nothing is yet: what is there already is replaced by
        // hardly any command.
        1 => "../../escaped".into(),
        2 => random.next().into(),
        _ => random.of(&IDS).into(),
    };
    text(&lines).into_bytes()
}

/// A key of an object again, with the same value or another.
fn twice(random: &mut Random) -> Vec<u8> {
    let mut text = text(&base(random));
    for _ in 0..few(random) {
        let keys: Vec<usize> = text.match_indices("\":").map(|(at, _)| at).collect();
        let end = random.of(&keys);
        let Some(start) = text[..end].rfind('"') else { continue };
        let again = format!("{}:{},", &text[start..=end], random.of(&NUMBERS));
        text.insert_str(start, &again);
    }
    text.into_bytes()
}

/// Escapes in texts that stand for no character, or for one that no text holds.
fn escapes(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    change(&mut lines, random, Value::is_string, |_| NUMBER.into());
    let wrong = ["\\ud800", "\\udc00\\ud800", "\\u0000", "\\u001b[2J", "\\x41", "\\u12", "\\"];
    text(&lines).replace(NUMBER, random.of(&wrong)).into_bytes()
}

fn deep(random: &mut Random) -> Vec<u8> {
    let depth = random.of(&[10, 127, 128, 129, 1_000, 100_000]);
    let (open, close) = random.of(&[("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")]);
    let nested = open.repeat(depth) + "1" + &close.repeat(depth * random.below(2));
    let mut lines = base(random);
    let at = random.below(3);
    // In a field that is known, and in one that is passed over.
    let key = random.of(&["plan", "ends", "unknown", "notes", "line", "v"]);
    lines[at][key] = NUMBER.into();
    text(&lines).replace(&format!("\"{NUMBER}\""), &nested).into_bytes()
}

/// Longer than any: a text, a line without an end, a number of many digits.
fn long(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    lines[0][random.of(&["target", "tool", "unknown"])] = NUMBER.into();
    let text = text(&lines);
    let count = random.of(&[1_000_000, 17 << 20]);
    match random.below(4) {
        0 => text.replace(NUMBER, &"<x-evil>\u{202e}".repeat(count / 32)).into_bytes(),
        1 => text.replace(&format!("\"{NUMBER}\""), &"9".repeat(count)).into_bytes(),
        2 => vec![b'{'; count],
        _ => vec![0; count],
    }
}

/// More than there is of anything.
fn much(random: &mut Random) -> Vec<u8> {
    let mut lines = base(random);
    match random.below(4) {
        0 => {
            let cells = lines[0]["plan"]["cells"].as_array().unwrap().clone();
            lines[0]["plan"]["cells"] = cells.into_iter().cycle().take(5_000).collect();
        }
        1 => {
            let trial = lines[1].clone();
            lines.extend(std::iter::repeat_n(trial, 500));
        }
        2 => {
            let block =
                |n: u32| serde_json::json!({"v": 1, "line": "block", "block": n, "valid": true});
            lines.extend((0..5_000).map(block));
        }
        _ => {
            let note = Value::from(random.of(&TEXTS));
            lines[0]["notes"] = std::iter::repeat_n(note, 20_000).collect();
        }
    }
    text(&lines).into_bytes()
}

fn nothing(random: &mut Random) -> Vec<u8> {
    match random.below(10) {
        0 => Vec::new(),
        1 => b"\n".repeat(1 + random.below(100_000)),
        2 => b"\xef\xbb\xbf".to_vec(),
        3 => random.of(&RECORDED).to_vec(),
        4 => (0..50_000).map(|_| random.next() as u8).collect(),
        5 => text(&base(random)).replace('\n', "\r\n").into_bytes(),
        6 => text(&base(random)).encode_utf16().flat_map(u16::to_le_bytes).collect(),
        7 => b"{}\n".to_vec(),
        8 => b"null\n[]\n\"\"\n0\n".to_vec(),
        _ => random.of(&TEXTS).as_bytes().to_vec(),
    }
}
