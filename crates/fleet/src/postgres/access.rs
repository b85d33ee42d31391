//! Which database, as whom, and how safely: what was given is judged before anybody is spoken to.

use super::passfile::{self, Wanted};
use super::tls::Tls;
use super::{PostgresError, error};
use std::net::IpAddr;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};

/// How a URL of a database begins.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// How long each host has to answer, unless the URL says it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what was sent may stay without an answer of the far end's kernel, unless the URL says
/// it: a sink whose database lost its power must not wait for hours.
const SILENCE: Duration = Duration::from_secs(60);

/// The port of a database, unless the URL says it.
const PORT: u16 = 5432;

/// What is known of a database.
#[derive(Clone, Copy, Default)]
pub struct Given<'a> {
    /// Its URL, as `postgres://sink@db.example/v6gap`.
    pub url: &'a str,
    /// Whether others can read the URL, since it is an argument of a process.
    pub is_typed: bool,
    /// The password, where it is in a variable of its own.
    pub password: Option<&'a str>,
    /// The text of a file of passwords.
    pub passwords: Option<&'a str>,
    /// Certificates of who vouches for the database, as PEM, in place of those that this system
    /// trusts.
    pub roots: Option<&'a str>,
}

/// A database that can be connected to.
pub struct Access {
    config: Config,
    tls: Option<Tls>,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").field("encrypts", &self.encrypts()).finish_non_exhaustive()
    }
}

impl Access {
    /// Judges what was given. A database elsewhere is spoken to by TLS, and its certificate must
    /// be good for its name, unless the URL says `sslmode=disable`.
    ///
    /// # Errors
    /// If that is no URL, its password can be read by others, or there is nobody who vouches for a
    /// database elsewhere.
    pub fn new(given: Given<'_>) -> Result<Self, PostgresError> {
        if !SCHEMES.iter().any(|scheme| given.url.starts_with(scheme)) {
            return Err(PostgresError::Url);
        }
        // What the library says of a URL may repeat part of a password.
        let mut config: Config = given.url.parse().map_err(|_| PostgresError::Url)?;
        if given.is_typed && config.get_password().is_some() {
            return Err(PostgresError::Password);
        }
        if !are_hosts(&config) {
            return Err(PostgresError::Url);
        }
        if config.get_password().is_none() {
            let password = given.password.map(str::to_owned);
            let found = password.or_else(|| passfile::password(given.passwords?, wanted(&config)));
            if let Some(password) = found {
                config.password(password);
            }
        }
        if config.get_application_name().is_none() {
            config.application_name("v6gap");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
        }
        let wants_tls = match config.get_ssl_mode() {
            SslMode::Disable => false,
            SslMode::Require => true,
            // What is the rule without a word: no way back to plain text.
            _ => !is_here(&config),
        };
        config.ssl_mode(if wants_tls { SslMode::Require } else { SslMode::Disable });
        let tls = wants_tls.then(|| Tls::trusting(given.roots)).transpose()?;
        Ok(Access { config, tls })
    }

    /// Whether what is sent is encrypted.
    pub fn encrypts(&self) -> bool {
        self.tls.is_some()
    }

    /// Connects, and drives the connection until the client is dropped.
    pub(super) async fn client(&self) -> Result<Client, PostgresError> {
        let failed = |why: tokio_postgres::Error| PostgresError::Connect(error::in_words(&why));
        // What breaks a connection is told to whoever uses it.
        Ok(match &self.tls {
            Some(tls) => {
                let (client, connection) =
                    self.config.connect(tls.clone()).await.map_err(failed)?;
                drop(tokio::spawn(connection));
                client
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(failed)?;
                drop(tokio::spawn(connection));
                client
            }
        })
    }
}

/// The name of a host; none for a socket of this system.
fn name(host: &Host) -> Option<&str> {
    match host {
        Host::Tcp(name) => Some(name),
        #[allow(unreachable_patterns, reason = "systems without such sockets have no other hosts")]
        _ => None,
    }
}

/// Whether there is a host, and each can be one: part of a password with an `@` in it that was not
/// encoded would otherwise be looked up, and be seen by others.
fn are_hosts(config: &Config) -> bool {
    let mut names = config.get_hosts().iter().filter_map(name);
    let some = !config.get_hosts().is_empty() || !config.get_hostaddrs().is_empty();
    some && names.all(|name| !name.is_empty() && !name.contains(['@', '/', ' ']))
}

/// Whether the database is on this computer, as far as that is certain.
fn is_here(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(IpAddr::is_loopback);
    }
    config.get_hosts().iter().filter_map(name).all(|name| {
        let address: Result<IpAddr, _> = name.parse();
        address.map_or(name == "localhost", |address| address.is_loopback())
    })
}

/// For whom a password is sought.
fn wanted(config: &Config) -> Wanted<'_> {
    let user = config.get_user().unwrap_or_default();
    Wanted {
        host: config.get_hosts().first().and_then(name).unwrap_or("localhost"),
        port: config.get_ports().first().copied().unwrap_or(PORT),
        database: config.get_dbname().unwrap_or(user),
        user,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Access, PostgresError> {
        Access::new(Given { url, ..Given::default() })
    }

    #[test]
    fn what_is_no_url_is_not_repeated() {
        let secrets = [
            "hunter2",
            "postgres://",
            "postgres:///v6gap",
            "postgres://sink:hunt@hunter2@db.example/v6gap",
            "postgres://sink@db.example/v6gap?hunter2=1",
            "postgres://sink@db.example/v6gap?hunter2",
            "host=db.example password=hunter2",
        ];
        for url in secrets {
            let error = of(url).unwrap_err();
            assert!(matches!(error, PostgresError::Url), "{url}: {error:?}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn a_password_that_was_typed_is_refused() {
        let url = "postgres://sink:hunter2@db.example/v6gap?sslmode=disable";
        let typed = Access::new(Given { url, is_typed: true, ..Given::default() });
        let error = typed.unwrap_err();
        assert!(matches!(error, PostgresError::Password));
        assert!(!error.to_string().contains("hunter2"));
        let access = of(url).unwrap();
        assert_eq!(access.config.get_password(), Some(&b"hunter2"[..]));
        assert!(!format!("{access:?}").contains("hunter2"));
    }

    #[test]
    fn passwords_come_from_a_variable_or_a_file() {
        let url = "postgres://sink@db.example:5433/v6gap?sslmode=disable";
        let passwords = Some("db.example:5433:v6gap:sink:filed\n");
        let both = Given { url, is_typed: true, password: Some("named"), passwords, roots: None };
        let password =
            |given| Access::new(given).unwrap().config.get_password().map(<[u8]>::to_vec);
        assert_eq!(password(both).as_deref(), Some(&b"named"[..]));
        assert_eq!(password(Given { password: None, ..both }).as_deref(), Some(&b"filed"[..]));
        assert_eq!(password(Given { password: None, passwords: None, ..both }), None);
    }

    #[test]
    fn only_a_database_here_is_spoken_to_plainly_without_a_word() {
        for here in ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"] {
            assert!(!of(&format!("postgres://sink@{here}/v6gap")).unwrap().encrypts(), "{here}");
        }
        assert!(!of("postgres://sink@db.example/v6gap?sslmode=disable").unwrap().encrypts());
        let roots = Some(include_str!("../../testdata/authority.pem"));
        for more in ["", "?sslmode=prefer", "?sslmode=require"] {
            let url = format!("postgres://sink@localhost,db.example/v6gap{more}");
            let access = Access::new(Given { url: &url, roots, ..Given::default() }).unwrap();
            assert!(access.encrypts(), "{url}");
            assert_eq!(access.config.get_ssl_mode(), SslMode::Require);
        }
        let none =
            Given { url: "postgres://db.example/v6gap", roots: Some("x"), ..Given::default() };
        assert!(matches!(Access::new(none).unwrap_err(), PostgresError::Roots));
    }
}
