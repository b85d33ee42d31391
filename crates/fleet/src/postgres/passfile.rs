//! A file of passwords as PostgreSQL's own programs have it (`.pgpass`; libpq, "The Password
//! File"): a line for each, `HOST:PORT:DATABASE:USER:PASSWORD`. The first that fits counts.

/// For whom a password is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted<'a> {
    /// Name of the host; `localhost` for a socket of this system.
    pub(super) host: &'a str,
    /// Its port.
    pub(super) port: u16,
    /// The database.
    pub(super) database: &'a str,
    /// The user.
    pub(super) user: &'a str,
}

/// Fields of a line.
const FIELDS: usize = 5;

/// The password in a file of them.
pub(super) fn password(text: &str, wanted: Wanted<'_>) -> Option<String> {
    let port = wanted.port.to_string();
    let all = [wanted.host, port.as_str(), wanted.database, wanted.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let [host, port, database, user, password] = fields(line)?;
        let given = [host, port, database, user];
        let fits = given.iter().zip(all).all(|(given, wanted)| given == "*" || given == wanted);
        (fits && !password.is_empty()).then_some(password)
    })
}

/// The fields of a line. A backslash takes its meaning from the character behind it.
fn fields(line: &str) -> Option<[String; FIELDS]> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let is_end = letter == ':' && fields.len() < FIELDS;
        let letter = if letter == '\\' { letters.next()? } else { letter };
        match fields.last_mut() {
            Some(field) if !is_end => field.push(letter),
            _ => fields.push(String::new()),
        }
    }
    fields.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &str) -> Option<String> {
        let wanted = Wanted { host, port: 5432, database: "v6gap", user: "sink" };
        password(text, wanted)
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# a note\ndb2:*:*:*:other\ndb1:5433:*:*:port\ndb1:5432:v6gap:sink:first\n\
                    *:*:*:*:any\n";
        assert_eq!(found(text, "db1").as_deref(), Some("first"));
        assert_eq!(found(text, "db2").as_deref(), Some("other"));
        assert_eq!(found(text, "db3").as_deref(), Some("any"));
        assert_eq!(found("db1:*:*:x:a\n", "db1"), None);
    }

    #[test]
    fn colons_and_backslashes_are_written_with_a_backslash() {
        assert_eq!(found("\\:\\:1:*:*:*:a\\:b\\\\c\n", "::1").as_deref(), Some("a:b\\c"));
        // Of the last field nothing is separated any more.
        assert_eq!(found("*:*:*:*:a:b\n", "db1").as_deref(), Some("a:b"));
        for torn in ["", "*:*:*:*", "*:*:*:*:", "*:*:*:*:a\\"] {
            assert_eq!(found(torn, "db1"), None, "{torn}");
        }
    }
}
