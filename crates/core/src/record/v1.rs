//! Lines of version 1 in the form of the current one.
//!
//! Version 1 took it for granted that the far end runs this program, and wrote the kind of what an
//! end measured among its figures.

use alloc::string::String;
use serde_json::{Map, Value};

/// What the first line said of the session.
const SESSION: [&str; 3] = ["protocol", "control", "limits"];

/// Brings a line of version 1 into the form of the current version. What is not of that form is
/// left as it is, for the reader to say what is wrong.
pub(super) fn bring_up(line: &mut Map<String, Value>) {
    let of_session = SESSION.map(|name| Some((name.into(), line.remove(name)?)));
    let session: Map<String, Value> = of_session.into_iter().flatten().collect();
    if !session.is_empty() {
        line.insert("session".into(), seen(session.into()));
    }
    let Some(Value::Object(ends)) = line.get_mut("ends") else { return };
    ends.values_mut().filter_map(|end| end.get_mut("measured")).for_each(tag_outside);
    if let Some(server) = ends.remove("server") {
        ends.insert("server".into(), seen(server));
    }
}

fn seen(value: Value) -> Value {
    Map::from_iter([("seen".into(), value)]).into()
}

/// `{"kind":"times",...}` to `{"times":{...}}`; without figures, to the name alone.
fn tag_outside(measured: &mut Value) {
    let Value::Object(figures) = measured else { return };
    let Some(Value::String(kind)) = figures.remove("kind") else { return };
    let figures = core::mem::take(figures);
    *measured = match kind.as_str() {
        "nothing" => kind.into(),
        _ => Map::from_iter([(kind, figures.into())]).into(),
    };
}
