//! What an end proves itself with, a word that both share or pinned keys: where it comes from,
//! whether it is fit for what it guards, and how a good one is made.

use crate::args::{KeyArgs, SnmpArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use std::io::{BufRead, ErrorKind, Read};
use std::path::Path;
use v6gap_core::wire::PORT;
use v6gap_perform::serve::{Pinned, StampKey};
use v6gap_perform::{Credentials, Key, Secret as Privacy};
use v6gap_sys::entropy;
use v6gap_sys::secrets::{self, Secret};

/// Bytes of a word that can be tried from everywhere, at least.
const BYTES_MIN: usize = 16;

/// Random bytes of a new key: 128 bits, beyond any trying.
const RANDOM_BYTES: usize = 16;

/// Longest line with a key on standard input, in bytes.
const LINE_BYTES_MAX: u64 = 4096;

/// Who can try words at a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Near networks only.
    Near,
    /// Hosts of other networks too.
    Far,
    /// Everybody, as the operator said in so many words.
    Public,
}

/// A word that was given, or pinned keys.
struct Word {
    text: String,
    from: Source,
}

/// Where it came from.
enum Source {
    Variable,
    /// The first line of standard input.
    Input,
    CommandLine,
    /// A file by this name, of which a word is the first line, and whether others may read it or
    /// what keeps the system from telling.
    File(String, Result<u32, String>),
}

/// The key that a client was given; the known one if none was. What is doubtful about it is said.
///
/// # Errors
/// If the word is empty or the pinned keys do not read (E108), or the file is not there (E507) or
/// cannot be read (E508).
pub fn of_client(args: &KeyArgs) -> Result<Key, Failure> {
    let Some(word) = word(args)? else { return Ok(Key::none()) };
    let key = word.key()?;
    word.doubts().iter().for_each(|doubt| note(doubt));
    Ok(key)
}

/// The key that a server was given, if it was given any, for clients within `reach`.
///
/// # Errors
/// As for a client; also if it is too short or too open for its reach (E109).
pub fn of_server(args: &KeyArgs, reach: Reach) -> Result<Option<Key>, Failure> {
    let Some(word) = word(args)? else { return Ok(None) };
    let key = word.key()?;
    if reach != Reach::Near && word.is_short() {
        let (found, least) = (word.text.trim().len(), BYTES_MIN);
        let what = format!("a key of {found} bytes is too short for a server that all can reach");
        return Err(weak(what)
            .seen(format!("It takes {least} at least: short ones are found by trying."))
            .run("v6gap serve --allow NET", "serves that network only, also with a short key"));
    }
    if let (Reach::Public, Source::File(path, Ok(1..))) = (reach, &word.from) {
        let what = format!("others on this computer may read or change the key in {path}");
        return Err(weak(what).run(format!("chmod 600 {path}"), "makes it yours alone"));
    }
    word.doubts().iter().for_each(|doubt| note(doubt));
    if let Source::File(path, Err(why)) = &word.from {
        note(&format!("see to it that only you can read {path}: {why}"));
    }
    Ok(Some(key))
}

/// A file with a secret, maybe one of a service's `credentials`.
///
/// # Errors
/// If it is not there (E507) or cannot be read (E508).
fn read(path: &Path, credentials: Option<&Path>) -> Result<Secret, Failure> {
    secrets::read(path, credentials).map_err(|error| unread(path, &error))
}

fn unread(path: &Path, error: &std::io::Error) -> Failure {
    let what = format!("cannot read the key in {}: {error}", path.display());
    match error.kind() {
        ErrorKind::PermissionDenied => Failure::new("E508", Outcome::Permission, what),
        _ => Failure::new("E507", Outcome::Usage, what),
    }
}

/// The key of STAMP in the first line of a file, maybe one of a service's `credentials`. What is
/// doubtful about it is said.
///
/// # Errors
/// If the file is not there (E507), cannot be read (E508), or holds no key (E108).
pub fn of_stamp(path: &Path, credentials: Option<&Path>) -> Result<StampKey, Failure> {
    let secret = read(path, credentials)?;
    let name = path.display();
    if Pinned::is_in(&secret.text) {
        return Err(no_pinned(format!("{name} has pinned keys, which are none of STAMP")));
    }
    let line = secret.text.lines().next().unwrap_or_default();
    let key = StampKey::of_text(line).map_err(|why| {
        let what = format!("{name}: the first line holds no key of STAMP: {why}");
        Failure::new("E108", Outcome::Usage, what)
            .seen("It takes the text of a key, or 0x and pairs of hexadecimal digits.")
    })?;
    if let Ok(others @ 1..) = secret.others {
        note(&format!(
            "others on this computer may read or change the key in {name} (mode bits \
             {others:03o}); chmod 600 {name}"
        ));
    }
    Ok(key)
}

/// Keys of the user of managed devices, from the environment.
#[derive(Clone, Default)]
pub struct SnmpKeys {
    /// For authentication.
    pub authentication: Option<String>,
    /// For privacy.
    pub privacy: Option<String>,
}

impl std::fmt::Debug for SnmpKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys(…)")
    }
}

/// Who asks managed devices. A file goes before the `keys` of the environment.
///
/// # Errors
/// If the file is not there (E507) or cannot be read (E508).
pub fn of_devices(args: &SnmpArgs, keys: &SnmpKeys) -> Result<Credentials, Failure> {
    let Some(name) = args.snmp_user.clone() else {
        return Ok(Credentials::Community(args.snmp_community.clone()));
    };
    let mut keys = keys.clone();
    if let Some(path) = &args.snmp_key_file {
        let text = read(path, None)?.text;
        let mut lines = text.lines().map(str::trim).map(str::to_owned);
        let mut next = || lines.next().filter(|line| !line.is_empty());
        keys = SnmpKeys { authentication: next(), privacy: next() };
    }
    let secret = keys.privacy.map(|word| Privacy { cipher: args.snmp_priv.cipher(), word });
    let digest = args.snmp_auth.digest();
    Ok(Credentials::User { name, digest, password: keys.authentication, secret })
}

/// Makes a file with a new key and says what to do with it.
///
/// # Errors
/// If the file is there already (E110) or cannot be written (E508, E509).
pub fn make(path: &Path, port: u16) -> Result<String, Failure> {
    let random: [u8; RANDOM_BYTES] = entropy::bytes()?;
    let word: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let whose = create(path, &format!("{word}\n"))?;
    let (name, port) = (path.display(), typed(port));
    Ok(format!(
        "A new key of 128 random bits is in {name}; {whose}.\n\n\
         Here:   v6gap serve --key-file {name}{port}\n\
         There:  copy the file by a way that you trust, as `scp -p` is, and\n\
         {:8}v6gap run THIS-HOST --key-file {name}{port}\n",
        ""
    ))
}

/// Makes a file with a new private key, and says what to do with that and its public one.
///
/// # Errors
/// As for a word.
pub fn make_pinned(path: &Path, port: u16) -> Result<String, Failure> {
    let (text, public) = Pinned::new_file(entropy::bytes()?);
    let whose = create(path, &text)?;
    let (name, port) = (path.display(), typed(port));
    Ok(format!(
        "A new private key is in {name}; {whose}. It stays on this computer. Its public key:\n\n\
         {:8}{public}\n\n\
         The other end makes its own in the same way. Each file needs a line for the other end,\n\
         its public key got by a way that you trust. A host that is asked for by a name which\n\
         stands there has to prove that key; by another name or an address, any of those there.\n\n\
         Here:   peer OTHER-HOST ITS-PUBLIC-KEY     in {name}, then\n\
         {:8}v6gap serve --key-file {name}{port}\n\
         There:  peer THIS-HOST {public}\n\
         {:8}in its file, then\n\
         {:8}v6gap run THIS-HOST --key-file ITS-FILE{port}\n",
        "", "", "", ""
    ))
}

/// Makes a file with a secret; says who can read it.
fn create(path: &Path, text: &str) -> Result<String, Failure> {
    let name = path.display();
    let missing = secrets::create(path, text).map_err(|error| {
        let (code, outcome) = match error.kind() {
            ErrorKind::AlreadyExists => ("E110", Outcome::Usage),
            ErrorKind::PermissionDenied => ("E508", Outcome::Permission),
            _ => ("E509", Outcome::Unexpected),
        };
        Failure::new(code, outcome, format!("cannot make the key file {name}: {error}"))
    })?;
    Ok(match missing {
        None => "only you can read it".to_owned(),
        Some(why) => format!("see to it that only you can read it: {why}"),
    })
}

/// What is typed for a port.
fn typed(port: u16) -> String {
    if port == PORT { String::new() } else { format!(" -p {port}") }
}

/// What was typed comes before the variable.
fn word(args: &KeyArgs) -> Result<Option<Word>, Failure> {
    if args.key_of_input {
        return of_input().map(Some);
    }
    if let Some(path) = &args.key_file {
        let secret = read(path, args.credentials.as_deref())?;
        let text = if Pinned::is_in(&secret.text) {
            secret.text
        } else {
            secret.text.lines().next().map(str::trim).unwrap_or_default().to_owned()
        };
        let others = secret.others.map_err(|missing| missing.to_string());
        return Ok(Some(Word { text, from: Source::File(path.display().to_string(), others) }));
    }
    let given = [(&args.word, Source::CommandLine), (&args.key_of_environment, Source::Variable)];
    let mut given = given.into_iter().filter_map(|(text, from)| Some((text.clone()?, from)));
    Ok(given.next().map(|(text, from)| Word { text, from }))
}

/// The first line of standard input; what follows stays there.
fn of_input() -> Result<Word, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(LINE_BYTES_MAX).read_line(&mut text);
    read.map_err(|error| {
        let what = format!("cannot read the key from standard input: {error}");
        Failure::new("E507", Outcome::Usage, what)
    })?;
    Ok(Word { text: text.trim().to_owned(), from: Source::Input })
}

impl Word {
    fn key(&self) -> Result<Key, Failure> {
        if Pinned::is_in(&self.text) {
            return match &self.from {
                Source::File(path, _) => Key::of_pinned(&self.text)
                    .map_err(|why| no_pinned(format!("{path}, pinned keys: {why}"))),
                _ => Err(no_pinned("pinned keys are taken from a file alone".to_owned())),
            };
        }
        Key::of_word(&self.text).map_err(|_| {
            let what = match &self.from {
                Source::Variable => "the variable V6GAP_KEY is set and empty".to_owned(),
                Source::Input => "standard input begins with no key".to_owned(),
                Source::CommandLine => "--key is empty".to_owned(),
                Source::File(path, _) => format!("{path}: the first line holds no key"),
            };
            let failure = Failure::new("E108", Outcome::Usage, what)
                .seen("An empty key is known to everybody.");
            match self.from {
                Source::Variable => failure.run("unset V6GAP_KEY", "if no key is wanted"),
                _ => failure.run("v6gap serve --new-key FILE", "makes a key"),
            }
        })
    }

    fn is_short(&self) -> bool {
        self.text.trim().len() < BYTES_MIN
    }

    /// What is worth a warning.
    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        match &self.from {
            Source::CommandLine => doubts.push(
                "others on this computer can read the key of --key in the list of processes; \
                 --key-file FILE and the variable V6GAP_KEY keep it from them"
                    .to_owned(),
            ),
            Source::File(path, Ok(others @ 1..)) => doubts.push(format!(
                "others on this computer may read or change the key in {path} (mode bits \
                 {others:03o}); chmod 600 {path}"
            )),
            Source::Variable | Source::Input | Source::File(..) => {}
        }
        if self.is_short() {
            doubts.push(format!(
                "the key has fewer than {BYTES_MIN} bytes: whoever records one connection can try \
                 words against it; v6gap serve --new-key FILE makes a good one"
            ));
        }
        doubts
    }
}

fn no_pinned(what: String) -> Failure {
    Failure::new("E108", Outcome::Usage, what)
        .run("v6gap serve --new-key FILE --pinned", "makes such a file, and says what it needs")
}

fn weak(what: String) -> Failure {
    Failure::new("E109", Outcome::Usage, what).run("v6gap serve --new-key FILE", "makes a good one")
}

fn note(text: &str) {
    output::to_stderr(&output::wrap(&format!("warning: {text}."), 80, "  "));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root may read every file, so that no other test meets the second one there.
    #[test]
    fn a_key_that_may_not_be_read_is_another_error_than_one_that_is_not_there() {
        let of = |kind: ErrorKind| {
            let failure = unread(Path::new("lab.key"), &kind.into());
            (failure.code, failure.outcome)
        };
        assert_eq!(of(ErrorKind::NotFound), (Some("E507"), Outcome::Usage));
        assert_eq!(of(ErrorKind::PermissionDenied), (Some("E508"), Outcome::Permission));
    }
}
