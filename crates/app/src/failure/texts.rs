//! What `v6gap explain` says: one text for each code and topic.

mod codes;
mod fleet;
mod topics;

pub use codes::CODES;
pub use fleet::FLEET;
pub use topics::TOPICS;

/// Something that can be explained.
#[derive(Debug)]
pub struct Topic {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// All there is to say, at most 80 columns wide.
    pub text: &'static str,
}

/// Topics and codes.
pub fn all() -> impl Iterator<Item = &'static Topic> {
    TOPICS.iter().chain(CODES).chain(FLEET)
}
