//! What an end measured, one form for each kind of workload, and how it is read.

use super::{Connections, Probed, Received, Returned, Searched, Sent, Times};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use core::fmt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// What one end measured of the workload itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", remote = "Self")]
pub enum Measured {
    /// Nothing: it only answered.
    #[default]
    Nothing,
    /// Times of exchanges; at the server, times between connections.
    Times(Times),
    /// Connections that this end opened.
    Connections(Box<Connections>),
    /// Bulk data that arrived.
    Received(Received),
    /// Bulk data that was sent.
    Sent(Sent),
    /// Bulk data both ways at the same time.
    BothWays {
        /// What arrived here.
        received: Received,
        /// What left here.
        sent: Sent,
    },
    /// Probes that came back.
    Probed(Box<Probed>),
    /// Probes that were sent back.
    Returned(Box<Returned>),
    /// A search for the rate of the path, as the end that sent saw it.
    Searched(Box<Searched>),
}

impl Measured {
    /// What arrived at this end, if it was an end that received.
    pub fn received(&self) -> Option<&Received> {
        match self {
            Measured::Received(received) | Measured::BothWays { received, .. } => Some(received),
            _ => None,
        }
    }

    /// What left this end, if it was an end that sent.
    pub fn sent(&self) -> Option<&Sent> {
        match self {
            Measured::Sent(sent) | Measured::BothWays { sent, .. } => Some(sent),
            Measured::Searched(searched) => Some(&searched.sent),
            _ => None,
        }
    }
}

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Measured::serialize(self, to)
    }
}

/// The derived form builds a tree of the whole before it looks for the kind, which takes several
/// times as long as reading it. The kind is written first, so that it can be read first; where it
/// is not, the derived form reads it.
impl<'de> Deserialize<'de> for Measured {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(KindFirst)
    }
}

struct KindFirst;

impl<'de> Visitor<'de> for KindFirst {
    type Value = Measured;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what an end measured")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Measured, A::Error> {
        match map.next_key()? {
            Some(Key::Kind) => of_kind(map.next_value()?, map),
            Some(Key::Other(first)) => {
                let mut all = Map::new();
                all.insert(first.into_owned(), map.next_value()?);
                while let Some((key, value)) = map.next_entry()? {
                    all.insert(key, value);
                }
                Measured::deserialize(Value::Object(all)).map_err(A::Error::custom)
            }
            None => Err(A::Error::missing_field("kind")),
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Key<'a> {
    Kind,
    Other(#[serde(borrow)] Cow<'a, str>),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Nothing,
    Times,
    Connections,
    Received,
    Sent,
    BothWays,
    Probed,
    Returned,
    Searched,
}

#[derive(Deserialize)]
struct Both {
    received: Received,
    sent: Sent,
}

fn of_kind<'de, A: MapAccess<'de>>(kind: Kind, mut rest: A) -> Result<Measured, A::Error> {
    fn whole<'de, T: Deserialize<'de>, A: MapAccess<'de>>(rest: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(rest))
    }
    Ok(match kind {
        Kind::Nothing => {
            while rest.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Measured::Nothing
        }
        Kind::Times => Measured::Times(whole(rest)?),
        Kind::Connections => Measured::Connections(whole(rest)?),
        Kind::Received => Measured::Received(whole(rest)?),
        Kind::Sent => Measured::Sent(whole(rest)?),
        Kind::BothWays => {
            let Both { received, sent } = whole(rest)?;
            Measured::BothWays { received, sent }
        }
        Kind::Probed => Measured::Probed(whole(rest)?),
        Kind::Returned => Measured::Returned(whole(rest)?),
        Kind::Searched => Measured::Searched(whole(rest)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::arbitrary::measured;
    use proptest::prelude::*;

    proptest! {
        /// What is written is read again wherever its kind stands.
        #[test]
        fn the_kind_may_stand_anywhere(measured in measured()) {
            let text = serde_json::to_string(&measured).unwrap();
            let read: Measured = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read, &measured);
            // Without its braces and its kind, which then goes last.
            let inner = &text[1..text.len() - 1];
            let (kind, rest) = inner.split_once(',').unwrap_or((inner, ""));
            let comma = if rest.is_empty() { "" } else { "," };
            let moved = alloc::format!("{{{rest}{comma}{kind}}}");
            prop_assert_eq!(serde_json::from_str::<Measured>(&moved).unwrap(), measured);
        }
    }
}
