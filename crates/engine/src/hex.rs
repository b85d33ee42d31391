//! Octets as pairs of hexadecimal digits, which is how a person is shown keys and types them.

use std::fmt::{self, Write};

/// Writes octets as digits in lower case.
pub(crate) fn write(octets: &[u8], to: &mut impl Write) -> fmt::Result {
    octets.iter().try_for_each(|octet| write!(to, "{octet:02x}"))
}

/// The octets of pairs of digits; `None` if there is anything else, or a digit alone.
pub(crate) fn octets_of(digits: &str) -> Option<Vec<u8>> {
    let digits: Vec<u32> = digits.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let pair = |pair: &[u32]| u8::try_from(pair[0] * 16 + pair.get(1)?).ok();
    digits.chunks(2).map(pair).collect()
}
