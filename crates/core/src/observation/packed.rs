//! Tables of whole numbers in few bytes: a long run stores many thousands of them, and whoever
//! analyses it holds them all.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::iter::successors;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Room for a usual table, in bytes; what is left over is given back.
const ROOM_BYTES: usize = 1024;

/// In the place of a count and one: another step follows, and then the count itself.
const STEP: u64 = 0;

/// Pairs of (highest value of the bucket, count) of a histogram, ascending. As values lie on a
/// grid, most of them are the same step above the one before, and take a byte for their count. Any
/// pairs in any order come out as they were put in.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Buckets(Box<[u8]>);

impl Buckets {
    /// The pairs in their order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut rest = &*self.0;
        let (mut value, mut step) = (0_u64, 0);
        core::iter::from_fn(move || {
            let count = match take(&mut rest)? {
                STEP => {
                    step = take(&mut rest)?;
                    take(&mut rest)?
                }
                more => more - 1,
            };
            value = value.wrapping_add(step);
            Some((value, count))
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

/// A list of runs: the first value, the step from each value to the next, and their counts. Values
/// of a histogram lie on a grid, so most of them are in few runs.
impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut runs: Vec<Vec<u64>> = Vec::new();
        let mut last = 0;
        for (value, count) in self.iter() {
            let step = value.wrapping_sub(last);
            last = value;
            match runs.last_mut().map(|run| (run.len(), run)) {
                Some((3, run)) => {
                    run[1] = step;
                    run.push(count);
                }
                Some((_, run)) if run[1] == step => run.push(count),
                _ => runs.push(vec![value, 0, count]),
            }
        }
        to.collect_seq(runs)
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Buckets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("runs of counts, or pairs of value and count")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Buckets, A::Error> {
                let mut packing = Packing::default();
                while let Some(run) = seq.next_element::<Vec<u64>>()? {
                    match *run {
                        // As earlier versions wrote them.
                        [value, count] => packing.put((value, count)),
                        [first, step, ref counts @ ..] if !counts.is_empty() => {
                            let values = successors(Some(first), |v| Some(v.wrapping_add(step)));
                            values.zip(counts).for_each(|(v, count)| packing.put((v, *count)));
                        }
                        _ => return Err(A::Error::invalid_length(run.len(), &self)),
                    }
                }
                Ok(Buckets(packing.bytes().into()))
            }
        }
        from.deserialize_seq(Pairs)
    }
}

/// Buckets while they are put together.
#[derive(Default)]
struct Packing {
    bytes: Vec<u8>,
    last: u64,
    step: u64,
}

impl Packing {
    #[inline]
    fn put(&mut self, (value, count): (u64, u64)) {
        if self.bytes.is_empty() {
            self.bytes.reserve(ROOM_BYTES);
        }
        let step = value.wrapping_sub(self.last);
        match count.checked_add(1) {
            Some(more) if step == self.step => put(&mut self.bytes, more),
            _ => [STEP, step, count].into_iter().for_each(|word| put(&mut self.bytes, word)),
        }
        self.step = step;
        self.last = value;
    }

    /// What [`Buckets`] are made of.
    fn bytes(self) -> Vec<u8> {
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
    use proptest::collection;
    use proptest::prelude::*;

    /// Whatever is put in comes out, from memory and through JSON.
    fn comes_out(pairs: &[(u64, u64)], counters: &BTreeMap<String, i64>) {
        let buckets: Buckets = pairs.iter().copied().collect();
        assert!(buckets.iter().eq(pairs.iter().copied()));
        for text in [serde_json::to_string(&buckets), serde_json::to_string(pairs)] {
            let read: Buckets = serde_json::from_str(&text.unwrap()).unwrap();
            assert_eq!(&read, &buckets);
        }
        let packed = Counters::from(counters.clone());
        let all = counters.iter().map(|(name, value)| (name.as_str(), *value));
        assert!(packed.iter().eq(all));
        let text = serde_json::to_string(counters).unwrap();
        assert_eq!(&serde_json::to_string(&packed).unwrap(), &text);
        assert_eq!(serde_json::from_str::<Counters>(&text).unwrap(), packed);
    }

    /// Few enough for an interpreter that watches over memory.
    #[test]
    fn a_few_come_out() {
        let names = ["", "Ip6.InReceives", "é\n\""];
        let values = [0, 1, 127, 128, i64::MAX, i64::MIN];
        let pairs: Vec<(u64, u64)> =
            values.iter().map(|&v| (v.unsigned_abs(), v.unsigned_abs() >> 3)).collect();
        for value in values {
            let counters = names.map(|name| (name.into(), value)).into_iter().collect();
            comes_out(&pairs, &counters);
        }
        comes_out(&[], &BTreeMap::new());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(pairs: Vec<(u64, u64)>, counters: BTreeMap<String, i64>) {
            comes_out(&pairs, &counters);
        }

        /// Neighbours on the grid take a count each.
        #[test]
        fn neighbours_are_written_as_runs(first in 1u64..1_000_000, c: [u16; 5]) {
            let values = [first, first + 64, first + 128, first + 130, first + 140];
            let pairs = values.into_iter().zip(c.map(u64::from));
            let text = serde_json::to_string(&pairs.collect::<Buckets>()).unwrap();
            let [a, b, c, d, e] = c;
            let wanted = format!("[[{first},64,{a},{b},{c}],[{},10,{d},{e}]]", first + 130);
            prop_assert_eq!(text, wanted);
            for wrong in ["[1,2]", "[[]]", "[[1]]", "[[1,2.5]]", "[[1,-2]]"] {
                prop_assert!(serde_json::from_str::<Buckets>(wrong).is_err());
            }
        }

        /// In any order, and of one name the last.
        #[test]
        fn counters_come_in_any_order(
            entries in collection::vec(("[ab]{0,2}", any::<i64>()), 0..6),
        ) {
            let body: Vec<String> = entries.iter().map(|(n, v)| format!("{n:?}:{v}")).collect();
            let read: Counters = serde_json::from_str(&format!("{{{}}}", body.join(","))).unwrap();
            let wanted: BTreeMap<String, i64> = entries.into_iter().collect();
            prop_assert_eq!(read.get("a"), wanted.get("a").copied());
            prop_assert_eq!(read, wanted.into());
        }
    }
}
