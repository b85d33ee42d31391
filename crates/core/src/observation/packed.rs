//! Tables of whole numbers in few bytes: a long run stores many thousands of them, and whoever
//! analyses it holds them all.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Room for a usual table, in bytes; what is left over is given back.
const ROOM_BYTES: usize = 1536;

/// In the place of a step of two bytes: it and the count follow in eight bytes each.
const LONG: u16 = u16::MAX;

/// Pairs of (highest value of the bucket, count) of a histogram, ascending; each value is held as
/// its distance from the one before, mostly in two bytes, as the count is. Any pairs in any order
/// come out as they were put in.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Buckets(Box<[u8]>);

impl Buckets {
    /// What a reader is asked for by name: it may hand over the bytes that [`Packing`] makes, or
    /// else treat it as it would any other type.
    pub(crate) const NAME: &str = "$v6gap::Buckets";

    /// The pairs in their order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut rest = &*self.0;
        let mut value: u64 = 0;
        core::iter::from_fn(move || {
            let (&[a, b, c, d], after) = rest.split_first_chunk()?;
            rest = after;
            let [step, count] = [[a, b], [c, d]].map(u16::from_le_bytes);
            if step < LONG {
                value = value.wrapping_add(u64::from(step));
                return Some((value, u64::from(count)));
            }
            let (step, after) = rest.split_first_chunk()?;
            let (count, after) = after.split_first_chunk()?;
            rest = after;
            value = value.wrapping_add(u64::from_le_bytes(*step));
            Some((value, u64::from_le_bytes(*count)))
        })
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(u64, u64)> for Buckets {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(pairs: I) -> Self {
        let mut packing = Packing::default();
        pairs.into_iter().for_each(|pair| packing.put(pair));
        Buckets(packing.bytes().into())
    }
}

impl fmt::Debug for Buckets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A flat list of numbers: of each pair the step from the value before, and the count.
impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        to.collect_seq(self.iter().flat_map(|(value, count)| {
            let step = value.wrapping_sub(last);
            last = value;
            [step, count]
        }))
    }
}

/// What stands in the list of a histogram.
#[derive(Deserialize)]
#[serde(untagged)]
enum Item {
    /// A step, or a count.
    Number(u64),
    /// Value and count, as earlier versions wrote them.
    Pair(u64, u64),
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Buckets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("steps and counts, or pairs of value and count")
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                from: D,
            ) -> Result<Buckets, D::Error> {
                from.deserialize_seq(self)
            }

            /// From a reader that knows what to do with [`Buckets::NAME`].
            fn visit_byte_buf<E>(self, packed: Vec<u8>) -> Result<Buckets, E> {
                Ok(Buckets(packed.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Buckets, A::Error> {
                let mut packing = Packing::default();
                while let Some(item) = seq.next_element()? {
                    match item {
                        Item::Pair(value, count) => packing.put((value, count)),
                        Item::Number(step) => {
                            let count = seq.next_element()?;
                            packing.put_step(
                                step,
                                count.ok_or_else(|| A::Error::missing_field("count"))?,
                            );
                        }
                    }
                }
                Ok(Buckets(packing.bytes().into()))
            }
        }
        from.deserialize_newtype_struct(Buckets::NAME, Pairs)
    }
}

/// Buckets while they are put together.
#[derive(Default)]
pub(crate) struct Packing {
    bytes: Vec<u8>,
    last: u64,
}

impl Packing {
    #[inline]
    pub fn put(&mut self, (value, count): (u64, u64)) {
        self.put_step(value.wrapping_sub(self.last), count);
    }

    /// The value that lies `step` above the last one.
    #[inline]
    pub fn put_step(&mut self, step: u64, count: u64) {
        if self.bytes.is_empty() {
            self.bytes.reserve(ROOM_BYTES);
        }
        match (u16::try_from(step), u16::try_from(count)) {
            (Ok(step), Ok(count)) if step < LONG => {
                let ([a, b], [c, d]) = (step.to_le_bytes(), count.to_le_bytes());
                self.bytes.extend_from_slice(&[a, b, c, d]);
            }
            _ => {
                self.bytes.extend_from_slice(&[0xff; 4]);
                self.bytes.extend_from_slice(&step.to_le_bytes());
                self.bytes.extend_from_slice(&count.to_le_bytes());
            }
        }
        self.last = self.last.wrapping_add(step);
    }

    /// What [`Buckets`] are made of.
    pub fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Counters that changed, by name, in the order of their names.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Counters(Box<[u8]>);

impl Counters {
    /// By how much it changed; `None` if it did not.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.raw().find(|(found, _)| *found == name.as_bytes()).map(|(_, value)| value)
    }

    /// Names and changes.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        // What was put in were strings.
        self.raw().map(|(name, value)| (core::str::from_utf8(name).unwrap_or_default(), value))
    }

    /// Puts one in, in the place of any of that name.
    pub fn insert(&mut self, name: &str, value: i64) {
        let mut all: BTreeMap<String, i64> = self.iter().map(|(n, v)| (n.into(), v)).collect();
        all.insert(name.into(), value);
        *self = all.into();
    }

    fn raw(&self) -> impl Iterator<Item = (&[u8], i64)> {
        let mut rest = &*self.0;
        core::iter::from_fn(move || {
            let length = usize::try_from(take(&mut rest)?).ok()?;
            let (name, after) = rest.split_at_checked(length)?;
            rest = after;
            let value = take(&mut rest)?;
            Some((name, (value >> 1) as i64 ^ -((value & 1) as i64)))
        })
    }
}

impl From<BTreeMap<String, i64>> for Counters {
    fn from(all: BTreeMap<String, i64>) -> Self {
        let mut bytes = Vec::with_capacity(ROOM_BYTES);
        for (name, value) in &all {
            put_counter(&mut bytes, name, *value);
        }
        Counters(bytes.into())
    }
}

impl FromIterator<(String, i64)> for Counters {
    fn from_iter<I: IntoIterator<Item = (String, i64)>>(all: I) -> Self {
        all.into_iter().collect::<BTreeMap<_, _>>().into()
    }
}

impl fmt::Debug for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Named;
        impl<'de> Visitor<'de> for Named {
            type Value = Counters;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters, A::Error> {
                let mut counters = Vec::with_capacity(ROOM_BYTES);
                let mut last = None;
                while let Some(Text(name)) = map.next_key()? {
                    let value = map.next_value()?;
                    // As this program writes them; else they are put in order.
                    if last.as_ref().is_some_and(|last| *last >= name) {
                        let mut all = Counters(counters.into());
                        all.insert(&name, value);
                        while let Some((Text(name), value)) = map.next_entry()? {
                            all.insert(&name, value);
                        }
                        return Ok(all);
                    }
                    put_counter(&mut counters, &name, value);
                    last = Some(name);
                }
                Ok(Counters(counters.into()))
            }
        }
        from.deserialize_map(Named)
    }
}

fn put_counter(to: &mut Vec<u8>, name: &str, value: i64) {
    put(to, name.len() as u64);
    to.extend_from_slice(name.as_bytes());
    // Small numbers of either sign in few bytes: 0, -1, 1, -2 …
    put(to, ((value << 1) ^ (value >> 63)) as u64);
}

/// A string that stays where it is if it can.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
#[inline]
fn put(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// What [`put`] put at the front.
#[inline]
fn take(from: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is put in comes out, from memory and through JSON.
        #[test]
        fn nothing_is_lost(pairs: Vec<(u64, u64)>, counters: BTreeMap<String, i64>) {
            let buckets: Buckets = pairs.iter().copied().collect();
            prop_assert!(buckets.iter().eq(pairs.iter().copied()));
            for text in [serde_json::to_string(&buckets), serde_json::to_string(&pairs)] {
                let read: Buckets = serde_json::from_str(&text.unwrap()).unwrap();
                prop_assert_eq!(&read, &buckets);
            }

            let packed = Counters::from(counters.clone());
            let all = counters.iter().map(|(name, value)| (name.as_str(), *value));
            prop_assert!(packed.iter().eq(all));
            let text = serde_json::to_string(&counters).unwrap();
            prop_assert_eq!(&serde_json::to_string(&packed).unwrap(), &text);
            prop_assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), packed);
        }

        /// In few characters: steps are shorter than values.
        #[test]
        fn buckets_are_written_as_steps(first in 1u64..1_000_000, counts: [u16; 2]) {
            let pairs = [(first, u64::from(counts[0])), (first + 64, u64::from(counts[1]))];
            let text = serde_json::to_string(&Buckets::from_iter(pairs)).unwrap();
            prop_assert_eq!(text, format!("[{first},{},64,{}]", counts[0], counts[1]));
            prop_assert!(serde_json::from_str::<Buckets>("[1,2,3]").is_err());
        }

        /// In any order, and of one name the last.
        #[test]
        fn counters_come_in_any_order(entries in vec(("[ab]{0,2}", any::<i64>()), 0..6)) {
            let body: Vec<String> = entries.iter().map(|(n, v)| format!("{n:?}:{v}")).collect();
            let read: Counters = serde_json::from_str(&format!("{{{}}}", body.join(","))).unwrap();
            let wanted: BTreeMap<String, i64> = entries.into_iter().collect();
            prop_assert_eq!(read.get("a"), wanted.get("a").copied());
            prop_assert_eq!(read, wanted.into());
        }
    }
}
