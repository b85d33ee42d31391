//! A reader of JSON as this program writes it: no white space, no escapes, no number in an unusual
//! form. A journal may be long, and a reader that needs no other case takes a fraction of the time.
//!
//! Whatever it does not know is `None` and left to the complete reader, which accepts it or says
//! what is wrong. What it accepts it reads as that one would.

use crate::observation::{Buckets, Packing};
use alloc::vec::Vec;
use core::fmt;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// Lists and objects inside each other, beyond what any record has; a limit, because each takes
/// room on the stack.
const DEPTH_MAX: u32 = 32;

/// The value of `text`, if the whole of it is in the plain form.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = T::deserialize(&mut reader).ok()?;
    (reader.at == text.len()).then_some(value)
}

/// Not in the plain form, or not what was expected.
#[derive(Debug)]
struct Unfit;

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not in the plain form")
    }
}

impl core::error::Error for Unfit {}

impl serde::de::Error for Unfit {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Unfit
    }
}

struct Reader<'a> {
    text: &'a str,
    /// What comes next.
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// The next byte; 0, which no JSON holds, at the end.
    #[inline]
    fn next(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Unfit> {
        if self.next() != byte {
            return Err(Unfit);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether `word` comes next; then it is passed over.
    #[inline]
    fn word(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    /// A string without escapes.
    #[inline]
    fn string(&mut self) -> Result<&'a str, Unfit> {
        self.expect(b'"')?;
        let start = self.at;
        let mut rest = &self.text.as_bytes()[start..];
        let mut end = start;
        while let Some((eight, after)) = rest.split_first_chunk::<8>() {
            let special = special(u64::from_le_bytes(*eight));
            if special != 0 {
                end += special.trailing_zeros() as usize / 8;
                return self.closed(start, end);
            }
            end += 8;
            rest = after;
        }
        end += rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).ok_or(Unfit)?;
        self.closed(start, end)
    }

    #[inline]
    fn closed(&mut self, start: usize, end: usize) -> Result<&'a str, Unfit> {
        self.at = end;
        self.expect(b'"')?;
        self.text.get(start..end).ok_or(Unfit)
    }

    /// A whole number without a sign; one with a fraction or an exponent is none.
    #[inline]
    fn unsigned(&mut self) -> Result<u64, Unfit> {
        let mut rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let value = whole(&mut rest)?;
        self.at = self.text.len() - rest.len();
        if matches!(rest.first(), Some(b'.' | b'e' | b'E')) { Err(Unfit) } else { Ok(value) }
    }

    fn signed(&mut self) -> Result<i64, Unfit> {
        if self.next() != b'-' {
            return i64::try_from(self.unsigned()?).map_err(|_| Unfit);
        }
        self.at += 1;
        match self.unsigned()? {
            // -0 is no whole number in JSON.
            0 => Err(Unfit),
            value => 0i64.checked_sub_unsigned(value).ok_or(Unfit),
        }
    }

    /// Any number as the nearest one of double precision.
    fn float(&mut self) -> Result<f64, Unfit> {
        let mut rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if let Some(value) = short_decimal(&mut rest) {
            self.at = self.text.len() - rest.len();
            return Ok(value);
        }
        let start = self.at;
        if self.next() == b'-' {
            self.at += 1;
        }
        let whole = self.at;
        self.pass_digits()?;
        if self.at - whole > 1 && self.text.as_bytes()[whole] == b'0' {
            return Err(Unfit);
        }
        if self.next() == b'.' {
            self.at += 1;
            self.pass_digits()?;
        }
        if matches!(self.next(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.next(), b'+' | b'-') {
                self.at += 1;
            }
            self.pass_digits()?;
        }
        let value: f64 = self.text.get(start..self.at).ok_or(Unfit)?.parse().map_err(|_| Unfit)?;
        if value.is_finite() { Ok(value) } else { Err(Unfit) }
    }

    fn pass_digits(&mut self) -> Result<(), Unfit> {
        let start = self.at;
        while self.next().is_ascii_digit() {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Unfit) }
    }

    fn number<V: Visitor<'a>>(&mut self, visitor: V) -> Result<V::Value, Unfit> {
        let start = self.at;
        if self.next() != b'-'
            && let Ok(value) = self.unsigned()
        {
            return visitor.visit_u64(value);
        }
        self.at = start;
        if self.next() == b'-'
            && let Ok(value) = self.signed()
        {
            return visitor.visit_i64(value);
        }
        self.at = start;
        visitor.visit_f64(self.float()?)
    }

    /// The runs of a histogram, which are much of a long journal, or the pairs of an earlier
    /// version.
    fn buckets(&mut self) -> Result<Vec<u8>, Unfit> {
        let mut packing = Packing::default();
        self.expect(b'[')?;
        let mut rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if rest.first() != Some(&b']') {
            loop {
                run(&mut rest, &mut packing)?;
                if rest.first() != Some(&b',') {
                    break;
                }
                rest = &rest[1..];
            }
        }
        self.at = self.text.len() - rest.len();
        self.expect(b']')?;
        Ok(packing.bytes())
    }

    /// What stands between an opening and a closing bracket.
    #[inline]
    fn inside<T>(
        &mut self,
        open: u8,
        close: u8,
        body: impl FnOnce(&mut Self) -> Result<T, Unfit>,
    ) -> Result<T, Unfit> {
        self.expect(open)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Unfit);
        }
        let value = body(self)?;
        self.depth -= 1;
        self.expect(close)?;
        Ok(value)
    }
}

#[inline]
fn pass(rest: &mut &[u8], byte: u8) -> Result<(), Unfit> {
    match rest.split_first() {
        Some((&found, after)) if found == byte => {
            *rest = after;
            Ok(())
        }
        _ => Err(Unfit),
    }
}

/// A number of a few digits with a fraction, as most are: digits and power of ten are both exact in
/// double precision, so that their quotient is the nearest number (Clinger, 1990).
#[inline]
fn short_decimal(rest: &mut &[u8]) -> Option<f64> {
    const TENS: [f64; 18] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17,
    ];
    const EXACT_MAX: u64 = 1 << f64::MANTISSA_DIGITS;
    let mut after = *rest;
    let whole = whole(&mut after).ok()?;
    pass(&mut after, b'.').ok()?;
    let mut digits = whole;
    let mut places = 0;
    while let [digit @ b'0'..=b'9', more @ ..] = after {
        digits = digits.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
        places += 1;
        after = more;
    }
    let is_short = places > 0 && digits <= EXACT_MAX && !matches!(after, [b'e' | b'E', ..]);
    let ten = TENS.get(places).filter(|_| is_short)?;
    *rest = after;
    Some(digits as f64 / ten)
}

/// A first value, a step and counts in brackets; or a value and its count.
#[inline]
fn run(rest: &mut &[u8], packing: &mut Packing) -> Result<(), Unfit> {
    pass(rest, b'[')?;
    let mut value = whole(rest)?;
    pass(rest, b',')?;
    let second = whole(rest)?;
    if rest.first() == Some(&b']') {
        packing.put((value, second));
    }
    while rest.first() == Some(&b',') {
        *rest = &rest[1..];
        packing.put((value, whole(rest)?));
        value = value.wrapping_add(second);
    }
    pass(rest, b']')
}

/// A whole number without a sign.
#[inline]
fn whole(rest: &mut &[u8]) -> Result<u64, Unfit> {
    let mut value: u64 = 0;
    let mut after = *rest;
    while let [digit @ b'0'..=b'9', more @ ..] = after {
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        after = more;
    }
    let count = rest.len() - after.len();
    let zero_first = count > 1 && rest[0] == b'0';
    if count == 0 || zero_first {
        return Err(Unfit);
    }
    // Up to 19 digits always fit; the largest numbers have 20.
    if count > 19 {
        let digits = core::str::from_utf8(&rest[..count]).map_err(|_| Unfit)?;
        value = digits.parse().map_err(|_| Unfit)?;
    }
    *rest = after;
    Ok(value)
}

/// The highest bit of each byte that ends a plain string: a quote, a backslash or a control
/// character. Bytes above the lowest such one may be marked wrongly.
#[inline]
fn special(eight: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    let quote = zero(eight ^ (ONES * u64::from(b'"')));
    let backslash = zero(eight ^ (ONES * u64::from(b'\\')));
    (control | quote | backslash) & (ONES * 0x80)
}

impl<'a> Deserializer<'a> for &mut Reader<'a> {
    type Error = Unfit;

    fn deserialize_any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        match self.next() {
            b'"' => visitor.visit_borrowed_str(self.string()?),
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b't' if self.word("true") => visitor.visit_bool(true),
            b'f' if self.word("false") => visitor.visit_bool(false),
            b'n' if self.word("null") => visitor.visit_unit(),
            _ => self.number(visitor),
        }
    }

    #[inline]
    fn deserialize_u64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_u64(self.unsigned()?)
    }

    #[inline]
    fn deserialize_i64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_i64(self.signed()?)
    }

    #[inline]
    fn deserialize_f64<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_f64(self.float()?)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_borrowed_str(self.string()?)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_borrowed_str(self.string()?)
    }

    #[inline]
    fn deserialize_identifier<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        visitor.visit_borrowed_str(self.string()?)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        if self.word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'a>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        if name == Buckets::NAME {
            return visitor.visit_byte_buf(self.buckets()?);
        }
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.inside(b'[', b']', |reader| visitor.visit_seq(Items { reader, first: true }))
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, Unfit> {
        self.inside(b'{', b'}', |reader| visitor.visit_map(Items { reader, first: true }))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'a>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        match self.next() {
            b'"' => visitor.visit_enum(BorrowedStrDeserializer::new(self.string()?)),
            _ => self.inside(b'{', b'}', |reader| visitor.visit_enum(Variant { reader })),
        }
    }

    forward_to_deserialize_any! {
        <W: Visitor<'a>>
        bool i8 i16 i32 u8 u16 u32 f32 char bytes byte_buf unit unit_struct tuple_struct
        ignored_any
    }
}

/// Entries of a list or an object.
struct Items<'r, 'a> {
    reader: &'r mut Reader<'a>,
    first: bool,
}

impl Items<'_, '_> {
    /// Whether another entry follows; then its comma is passed over.
    #[inline]
    fn more(&mut self) -> Result<bool, Unfit> {
        let first = core::mem::take(&mut self.first);
        match self.reader.next() {
            b']' | b'}' => Ok(false),
            b',' if !first => {
                self.reader.at += 1;
                // A comma before the bracket is no JSON.
                if matches!(self.reader.next(), b']' | b'}') { Err(Unfit) } else { Ok(true) }
            }
            _ if first => Ok(true),
            _ => Err(Unfit),
        }
    }
}

impl<'a> SeqAccess<'a> for Items<'_, 'a> {
    type Error = Unfit;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'a>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Unfit> {
        if self.more()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

impl<'a> MapAccess<'a> for Items<'_, 'a> {
    type Error = Unfit;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Unfit> {
        if !self.more()? {
            return Ok(None);
        }
        // Keys are strings; a number or a list in their place is no JSON.
        if self.reader.next() != b'"' {
            return Err(Unfit);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Unfit> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

/// A variant that holds something: an object with its name as the only key.
struct Variant<'r, 'a> {
    reader: &'r mut Reader<'a>,
}

impl<'a> EnumAccess<'a> for Variant<'_, 'a> {
    type Error = Unfit;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'a>>(self, seed: V) -> Result<(V::Value, Self), Unfit> {
        let name = BorrowedStrDeserializer::<Unfit>::new(self.reader.string()?);
        let variant = seed.deserialize(name)?;
        self.reader.expect(b':')?;
        Ok((variant, self))
    }
}

impl<'a> VariantAccess<'a> for Variant<'_, 'a> {
    type Error = Unfit;

    fn unit_variant(self) -> Result<(), Unfit> {
        Err(Unfit)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'a>>(self, seed: T) -> Result<T::Value, Unfit> {
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Unfit> {
        self.reader.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unfit> {
        self.reader.deserialize_map(visitor)
    }
}

#[cfg(test)]
mod tests;
