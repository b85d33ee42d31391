//! Unpredictable bytes from the operating system, for tokens, ids and seeds.

use crate::Unavailable;

/// Fills `bytes` from the system's cryptographic random source, whole or not at all.
///
/// # Errors
/// If the system has no such source or refuses it.
pub fn random(bytes: &mut [u8]) -> Result<(), Unavailable> {
    getrandom::fill(bytes)
        .map_err(|error| Unavailable::new("the system's source of random bytes", error))
}

/// So many bytes from the same source.
///
/// # Errors
/// As [`random`].
pub fn bytes<const N: usize>() -> Result<[u8; N], Unavailable> {
    let mut bytes = [0; N];
    random(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{bytes, random};

    #[test]
    fn fills_every_length_whole() {
        for length in [0, 1, 16, 255, 256, 257, 1000] {
            let mut bytes = vec![0; length];
            random(&mut bytes).expect("every supported system has a random source");
            // A run of 32 zeros has a chance of 2^-256.
            assert!(!bytes.windows(32).any(|window| window.iter().all(|&byte| byte == 0)));
        }
    }

    #[test]
    fn two_draws_differ() {
        let draw = || bytes::<32>().expect("every supported system has a random source");
        assert_ne!(draw(), draw());
    }
}
