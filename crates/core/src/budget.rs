//! What a run may ask of a host that is a stranger's: rates that nothing lifts, and counts that
//! only its owner may lift. A pure account, which is told the time.

use core::fmt;

/// Something that is asked of a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// A connection of TCP or QUIC to the site.
    Connection,
    /// An echo of ICMP.
    Echo,
    /// A question to a name server.
    Query,
}

/// How often and how many.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// In a second, and at once.
    each_second: u32,
    /// In a run.
    in_all: u32,
}

impl Use {
    /// All of them.
    pub const ALL: [Use; 3] = [Use::Connection, Use::Echo, Use::Query];

    /// As in "connections".
    pub const fn noun(self) -> &'static str {
        match self {
            Use::Connection => "connections",
            Use::Echo => "echoes",
            Use::Query => "queries",
        }
    }

    const fn bounds(self) -> Bounds {
        match self {
            Use::Connection => Bounds { each_second: 2, in_all: 150 },
            Use::Echo => Bounds { each_second: 10, in_all: 1_000 },
            Use::Query => Bounds { each_second: 5, in_all: 400 },
        }
    }

    /// How many may be asked for in a run whose host is not the user's own.
    pub const fn in_all(self) -> u32 {
        self.bounds().in_all
    }
}

/// Bytes that a site may be asked for in all, besides downloads.
pub const BYTES_IN_ALL: u64 = 4 << 20;

/// What a connection brings beside what is read of a body, in bytes: certificates, the head of an
/// answer, and the rest of the last piece.
const BESIDE_BYTES: u64 = 24 << 10;

/// Which bound of a run is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// So many were asked for as may be.
    Count(Use),
    /// So many bytes came as may.
    Bytes,
}

/// Whether something may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Now; it is taken note of.
    Now,
    /// Not before this time, in ns.
    From(u64),
    /// Never in this run.
    Never(Spent),
}

/// Whose host it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Owner {
    /// A stranger.
    #[default]
    Stranger,
    /// The user, who says so: there is no end to what may be asked for, but no hurry either.
    User,
    /// It is this host, which nothing keeps from being asked.
    Here,
}

/// What was used, and what is left.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    owner: Owner,
    accounts: [Account; Use::ALL.len()],
    bytes: u64,
    /// Bytes that downloads may bring.
    downloads_bytes: u64,
}

/// Of one use.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    count: u32,
    /// Before this time the next one is none too early, in ns: later ones of a burst move it.
    due_ns: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

impl Budget {
    /// Of a run at a host of this owner.
    pub fn new(owner: Owner) -> Self {
        Budget { owner, ..Budget::default() }
    }

    /// The budget of a run that downloads: besides the usual, each connection may bring so many
    /// bytes of a body.
    #[must_use]
    pub fn downloading(mut self, body_bytes: u64) -> Self {
        self.downloads_bytes = u64::from(Use::Connection.in_all()).saturating_mul(body_bytes);
        self
    }

    /// Whether so many of `what` may be asked for at `now_ns`. As many as are allowed in a second
    /// may come at once, and no more in any second on average.
    pub fn ask(&mut self, what: Use, many: u32, now_ns: u64) -> Allowed {
        let Bounds { each_second, in_all } = what.bounds();
        let bytes_max = self.bytes_max();
        let account = &mut self.accounts[what as usize];
        let count = account.count.saturating_add(many);
        if self.owner == Owner::Stranger {
            if count > in_all {
                return Allowed::Never(Spent::Count(what));
            }
            if self.bytes >= bytes_max {
                return Allowed::Never(Spent::Bytes);
            }
        }
        if self.owner == Owner::Here {
            account.count = count;
            return Allowed::Now;
        }
        let each_ns = SECOND_NS / u64::from(each_second);
        let ahead_ns = each_ns * u64::from(many);
        let due_ns = account.due_ns.max(now_ns) + ahead_ns;
        // A burst of a second's worth is ahead of its time by a second at most.
        let from_ns = due_ns.saturating_sub(SECOND_NS.max(ahead_ns));
        if from_ns > now_ns {
            return Allowed::From(from_ns);
        }
        (account.count, account.due_ns) = (count, due_ns);
        Allowed::Now
    }

    /// How much of `wanted` bytes of a body the connection that was asked for last may bring, so
    /// that what is left is enough for all that may follow: nothing but the head of an answer is
    /// measured, and a run is not to end for what is read beside it. Downloads are asked for by
    /// themselves.
    pub fn body_bytes(&self, wanted: u64) -> u64 {
        match self.left(Use::Connection) {
            Some(left) if self.downloads_bytes == 0 => {
                let each = self.bytes_max().saturating_sub(self.bytes) / (u64::from(left) + 1);
                wanted.min(each.saturating_sub(BESIDE_BYTES))
            }
            _ => wanted,
        }
    }

    fn bytes_max(&self) -> u64 {
        BYTES_IN_ALL.saturating_add(self.downloads_bytes)
    }

    /// This account at a host of another owner, to which the first one leads: what was asked for
    /// stays asked for.
    #[must_use]
    pub fn at(self, owner: Owner) -> Self {
        Budget { owner, ..self }
    }

    /// How many of `what` may still be asked for; `None` where there is no end to them.
    pub fn left(&self, what: Use) -> Option<u32> {
        let is_counted = self.owner == Owner::Stranger;
        is_counted.then(|| what.in_all().saturating_sub(self.used(what)))
    }

    /// Takes note of bytes that came.
    pub fn came(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// How many of `what` were asked for.
    pub fn used(&self, what: Use) -> u32 {
        self.accounts[what as usize].count
    }

    /// Bytes that came.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is granted to somebody who always asks again at once.
    fn granted(budget: &mut Budget, what: Use, many: u32, until_ns: u64) -> alloc::vec::Vec<u64> {
        let (mut now_ns, mut at) = (0, alloc::vec::Vec::new());
        while now_ns < until_ns {
            match budget.ask(what, many, now_ns) {
                Allowed::Now => at.push(now_ns),
                Allowed::From(later_ns) => now_ns = later_ns,
                Allowed::Never(_) => break,
            }
        }
        at
    }

    #[test]
    fn a_second_s_worth_comes_at_once_and_the_rest_at_the_rate() {
        let at = granted(&mut Budget::new(Owner::User), Use::Connection, 1, 3 * SECOND_NS);
        let half = SECOND_NS / 2;
        assert_eq!(at, [0, 0, half, 2 * half, 3 * half, 4 * half, 5 * half]);
    }

    #[test]
    fn what_is_left_is_known_of_a_stranger_s_alone() {
        let mut budget = Budget::new(Owner::Stranger);
        for second in 0..5 {
            assert_eq!(budget.ask(Use::Connection, 2, second * SECOND_NS), Allowed::Now);
        }
        assert_eq!(budget.left(Use::Connection), Some(140));
        assert_eq!(budget.left(Use::Query), Some(400));
        for owner in [Owner::User, Owner::Here] {
            assert_eq!(Budget::new(owner).left(Use::Connection), None, "{owner:?}");
        }
    }

    #[test]
    fn counts_end_and_only_an_owner_lifts_them() {
        let hour_ns = 3_600 * SECOND_NS;
        for (owner, most) in [(Owner::Stranger, 150), (Owner::User, 7_200 + 2)] {
            let at = granted(&mut Budget::new(owner), Use::Connection, 1, hour_ns);
            assert!(at.len() <= most && at.len() + 2 >= most, "{owner:?}: {}", at.len());
        }
        let mut budget = Budget::new(Owner::Stranger);
        budget.came(BYTES_IN_ALL);
        assert_eq!(budget.ask(Use::Query, 1, 0), Allowed::Never(Spent::Bytes));
        // A download for each connection is added, and no more.
        let mut budget = Budget::new(Owner::Stranger).downloading(1_000_000);
        budget.came(BYTES_IN_ALL);
        assert_eq!(budget.ask(Use::Query, 1, 0), Allowed::Now);
        budget.came(150_000_000);
        assert_eq!(budget.ask(Use::Query, 1, 0), Allowed::Never(Spent::Bytes));
        let mut budget = Budget::new(Owner::Stranger);
        let many = budget.ask(Use::Connection, 151, 0);
        assert_eq!(many, Allowed::Never(Spent::Count(Use::Connection)));
    }

    /// A site whose pages are long, and certificates and heads beside them: the counts end a run,
    /// and not the bytes.
    #[test]
    fn bytes_are_enough_for_all_connections() {
        const HEAD_BYTES: u64 = 8_000;
        let mut budget = Budget::new(Owner::Stranger);
        for visit in 0..Use::Connection.in_all() {
            let now_ns = u64::from(visit) * SECOND_NS;
            assert_eq!(budget.ask(Use::Connection, 1, now_ns), Allowed::Now, "{visit}");
            // What is read comes in frames of up to 16 KiB, the last of them whole. The first
            // visits, which find out what works, read more.
            let body_bytes = if visit < 8 { 64 << 10 } else { budget.body_bytes(64 << 10) };
            budget.came(HEAD_BYTES + body_bytes.next_multiple_of(16 << 10));
        }
        assert!(budget.bytes() <= BYTES_IN_ALL, "{}", budget.bytes());
        for other in [Budget::new(Owner::User), Budget::default().downloading(1_000_000)] {
            assert_eq!(other.body_bytes(64 << 10), 64 << 10);
        }
    }

    /// A host of this computer may lead to a stranger's, which is a stranger's then.
    #[test]
    fn who_is_led_to_has_bounds_of_its_own() {
        let mut budget = Budget::new(Owner::Here);
        for _ in 0..10 {
            assert_eq!(budget.ask(Use::Connection, 1, 0), Allowed::Now);
        }
        assert_eq!(budget.left(Use::Connection), None);
        let mut budget = budget.at(Owner::Stranger);
        assert_eq!(budget.left(Use::Connection), Some(140));
        let asked = [(); 3].map(|()| budget.ask(Use::Connection, 1, 0));
        assert_eq!(asked, [Allowed::Now, Allowed::Now, Allowed::From(SECOND_NS / 2)]);
    }

    proptest! {
        /// In no second more than twice the rate, and in all no more than the rate and one second.
        #[test]
        fn no_second_has_more_than_a_burst_and_its_rate(many in 1_u32..10) {
            let at = granted(&mut Budget::new(Owner::User), Use::Echo, many, 20 * SECOND_NS);
            for start in &at {
                let second = at.iter().filter(|t| (*start..start + SECOND_NS).contains(t));
                prop_assert!(second.count() as u32 * many <= 2 * 10 + many);
            }
            prop_assert!(at.len() as u32 * many <= 20 * 10 + 10 + many);
        }
    }
}
