//! Changes a document of JSON at places and in ways that bytes choose, so that what comes out is
//! nearly right: far more of it gets past the first check than of arbitrary text.

use arbitrary::{Result, Unstructured};
use serde_json::{Number, Value, json};

/// Most changes of one document.
const CHANGES_MAX: usize = 12;

/// Nodes of a part that is put elsewhere too, so that a document grows by little.
const COPIED_MAX: usize = 200;

/// Text that would be markup, a path, a command or a disguise where it is not kept as text. The
/// oracles look for the word in it.
pub const MARK: &str = "v6mark";

/// Texts to put in the place of others.
pub const TEXTS: [&str; 24] = [
    "",
    "a",
    "client",
    "rtt-tcp-64",
    "throughput-tcp",
    "../../x",
    "/x",
    "..",
    ".",
    "A\u{0}B",
    "\u{1b}[2J\u{1b}]0;v6mark\u{7}",
    "\u{202e}kram6v",
    "\"><v6mark v6mark=1>",
    "<script>v6mark</script>",
    "' onload='v6mark",
    "--v6mark=1",
    "-",
    "$(v6mark)`v6mark`",
    "{v6mark}%\\v6mark&_^~#",
    "|v6mark|\n|--|",
    "\r\nv6mark: 1",
    "]]>--></title></style></svg><v6mark>",
    "é\u{fffd}\u{1f600}",
    "null",
];

/// Numbers at which something ends.
fn edge(choice: u8) -> Number {
    let whole: [i128; 19] = [
        0,
        1,
        -1,
        2,
        19,
        20,
        100,
        255,
        256,
        65_535,
        65_536,
        1_000_000_000,
        i128::from(u32::MAX),
        i128::from(u32::MAX) + 1,
        i128::from(i64::MAX),
        i128::from(i64::MIN),
        i128::from(u64::MAX),
        i128::from(u64::MAX) - 1,
        1 << 53,
    ];
    const REAL: [f64; 9] =
        [-0.0, 0.5, 1e-9, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, 1e300, -1e-300];
    let at = usize::from(choice) % (whole.len() + REAL.len());
    let number = match whole.get(at) {
        Some(whole) => u64::try_from(*whole)
            .map(Number::from)
            .or_else(|_| i64::try_from(*whole).map(Number::from))
            .ok(),
        None => Number::from_f64(REAL[at - whole.len()]),
    };
    number.unwrap_or_else(|| Number::from(0))
}

/// Changes `document` as the bytes say; without bytes it stays as it is.
pub fn change(document: &mut Value, bytes: &mut Unstructured<'_>) {
    for _ in 0..CHANGES_MAX {
        if bytes.is_empty() || change_once(document, bytes).is_err() {
            return;
        }
    }
}

fn change_once(document: &mut Value, bytes: &mut Unstructured<'_>) -> Result<()> {
    let nodes = count(document);
    let place = bytes.int_in_range(0..=nodes - 1)?;
    let kind: u8 = bytes.arbitrary()?;
    let copied = match kind % 12 {
        6 => {
            let from = bytes.int_in_range(0..=nodes - 1)?;
            node(document, from).filter(|part| count(part) <= COPIED_MAX).map(|part| part.clone())
        }
        _ => None,
    };
    let Some(found) = node(document, place) else { return Ok(()) };
    match kind % 12 {
        0 | 1 => *found = Value::Number(edge(bytes.arbitrary()?)),
        2 => *found = json!(bytes.arbitrary::<u64>()?),
        3 => *found = Number::from_f64(bytes.arbitrary()?).map_or(Value::Null, Value::Number),
        4 => *found = json!(TEXTS[usize::from(bytes.arbitrary::<u8>()?) % TEXTS.len()]),
        5 => {
            let length = usize::from(bytes.arbitrary::<u8>()?);
            let length = length.min(bytes.len());
            *found = json!(String::from_utf8_lossy(bytes.bytes(length)?));
        }
        6 => *found = copied.unwrap_or(Value::Null),
        7 => *found = Value::Null,
        8 => less(found, bytes.arbitrary()?),
        9 => more(found, bytes.arbitrary()?),
        10 => *found = json!([found.take()]),
        _ => *found = json!(bytes.arbitrary::<bool>()?),
    }
    Ok(())
}

/// One item less.
fn less(found: &mut Value, choice: u8) {
    match found {
        Value::Array(items) if !items.is_empty() => {
            items.remove(usize::from(choice) % items.len());
        }
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(usize::from(choice) % fields.len()).cloned();
            name.and_then(|name| fields.remove(&name));
        }
        Value::String(text) => drop(text.pop()),
        other => *other = json!([]),
    }
}

/// One item more, or the same ones again.
fn more(found: &mut Value, choice: u8) {
    match found {
        Value::Array(items) => {
            let at = usize::from(choice);
            match items.get(at % items.len().max(1)).filter(|item| count(item) <= COPIED_MAX) {
                Some(item) => items.push(item.clone()),
                None => items.push(json!(choice)),
            }
        }
        Value::Object(fields) => {
            fields.insert(TEXTS[usize::from(choice) % TEXTS.len()].to_owned(), json!(choice));
        }
        Value::String(text) if text.len() < 1 << 12 => *text = text.repeat(2) + "x",
        other => *other = json!({ "": choice }),
    }
}

/// How many nodes a document has: at least 1.
fn count(of: &Value) -> usize {
    match of {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// The node of that number, the document being 0.
fn node(of: &mut Value, number: usize) -> Option<&mut Value> {
    if number == 0 {
        return Some(of);
    }
    let mut left = number - 1;
    let parts: Vec<&mut Value> = match of {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        _ => return None,
    };
    for part in parts {
        let nodes = count(part);
        if left < nodes {
            return node(part, left);
        }
        left -= nodes;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_a_number() {
        let mut document = json!({ "a": [1, { "b": 2 }], "c": null });
        assert_eq!(count(&document), 6);
        let each: Vec<Value> = (0..6).map(|n| node(&mut document, n).unwrap().clone()).collect();
        assert_eq!(
            each[1..],
            [json!([1, { "b": 2 }]), json!(1), json!({ "b": 2 }), json!(2), json!(null)]
        );
        assert_eq!(node(&mut document, 6), None);
    }

    #[test]
    fn no_bytes_change_nothing_and_some_change_something() {
        let whole = json!({ "a": [1, { "b": 2 }], "c": "text" });
        let mut document = whole.clone();
        change(&mut document, &mut Unstructured::new(&[]));
        assert_eq!(document, whole);
        let mut changed = 0;
        for seed in 0..=255_u8 {
            let mut document = whole.clone();
            change(&mut document, &mut Unstructured::new(&[seed; 24]));
            changed += u32::from(document != whole);
        }
        assert!(changed > 200, "{changed}");
    }

    /// However long the input, the document stays small.
    #[test]
    fn a_document_grows_by_a_bounded_part() {
        for seed in 0..=255_u8 {
            let mut document = json!({ "a": [1, { "b": [2, 3, 4] }], "c": "text" });
            change(&mut document, &mut Unstructured::new(&[seed; 4096]));
            assert!(count(&document) < 10_000);
        }
    }
}
