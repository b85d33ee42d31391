//! What came of each attack, against what was expected of it.

/// What is to come of the attacks.
#[derive(Clone, Copy, PartialEq)]
pub enum Expected {
    /// None succeeds.
    Held,
    /// All of those succeed that did before there was a defence: the program under attack is an old
    /// one, or one whose defence was taken out.
    Harm,
}

impl Expected {
    /// As the environment says.
    pub fn told() -> Self {
        match std::env::var("V6GAP_EXPECT").as_deref() {
            Ok("harm") => Expected::Harm,
            _ => Expected::Held,
        }
    }
}

/// What came of one attack, case by case; each is printed as it comes.
#[derive(Default)]
pub struct Findings {
    held: usize,
    harmed: usize,
    harmed_ever: usize,
}

impl Findings {
    /// A case in which an old program takes harm.
    pub fn case(&mut self, what: &str, harmed: bool, figure: impl std::fmt::Display) {
        self.tell(what, harmed, &figure);
        *(if harmed { &mut self.harmed } else { &mut self.held }) += 1;
    }

    /// A case in which an old program takes none either.
    pub fn ever(&mut self, what: &str, harmed: bool, figure: impl std::fmt::Display) {
        self.tell(what, harmed, &figure);
        self.harmed_ever += usize::from(harmed);
    }

    fn tell(&self, what: &str, harmed: bool, figure: &dyn std::fmt::Display) {
        let word = if harmed { "HARM" } else { "held" };
        println!("    {word}  {what}: {figure}");
    }

    /// Whether it is as expected.
    pub fn are(&self, expected: Expected) -> bool {
        match expected {
            Expected::Held => self.harmed + self.harmed_ever == 0,
            Expected::Harm => self.held == 0,
        }
    }
}
