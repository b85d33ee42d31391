//! Percentiles of delays some of which are infinite, because the packet was lost (RFC 2330 section
//! 11.3, RFC 7679 section 5).

/// The whole, in the unit in which shares are given here: parts per million.
pub const WHOLE: u32 = 1_000_000;

/// Smallest value of which at least `millionths` of all are not above it; `lost` values lie above
/// all those of `sorted`, which ascend. `None` if it is one of the lost ones, or there are none.
pub fn percentile(sorted: &[i64], lost: u64, millionths: u32) -> Option<i64> {
    let rank = rank((sorted.len() as u64).saturating_add(lost), millionths);
    sorted.get(usize::try_from(rank.max(1) - 1).ok()?).copied()
}

/// How many of `count` values are not above the percentile, at least.
pub fn rank(count: u64, millionths: u32) -> u64 {
    let rank = (u128::from(count) * u128::from(millionths)).div_ceil(u128::from(WHOLE));
    u64::try_from(rank).unwrap_or(u64::MAX)
}

/// The value in the middle; of an even number, the mean of the two in the middle. `None` if it is
/// infinite, or there are no values.
pub fn median(sorted: &[i64], lost: u64) -> Option<f64> {
    let count = (sorted.len() as u64).saturating_add(lost);
    let at = |index: u64| sorted.get(usize::try_from(index).ok()?).copied();
    let upper = at(count / 2)?;
    let lower = if count.is_multiple_of(2) { at(count / 2 - 1)? } else { upper };
    Some((lower as f64 + upper as f64) / 2.0)
}
