//! What is visited: a service by its URL.

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

/// Longest place that is followed to, in bytes: it stands in every result.
const PLACE_BYTES_MAX: usize = 2_000;

/// How a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP over TLS, or over QUIC.
    Https,
    /// HTTP without encryption.
    Http,
    /// A connection alone: neither TLS nor a request.
    Tcp,
}

/// A service of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// How it is spoken to.
    pub scheme: Scheme,
    /// Name or address of the host; an IPv6 address without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What is asked for: path and query.
    pub path: PathAndQuery,
}

/// Why a text names nothing that can be visited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// It is no URL.
    #[error("{0:?} is no host, HOST:PORT or URL")]
    NoUrl(String),
    /// A scheme that is not visited.
    #[error("{0}:// cannot be visited; https:// and http:// can, and HOST:PORT")]
    Scheme(String),
    /// A name with letters that DNS does not have.
    #[error("{0} is not written as DNS has it: write it in punycode (xn--…)")]
    NotAscii(String),
    /// A name and a word in front of the host.
    #[error("the URL holds credentials, which are sent to nobody here: take them out")]
    Credentials,
}

impl Scheme {
    fn port(self) -> Option<u16> {
        match self {
            Scheme::Https => Some(443),
            Scheme::Http => Some(80),
            Scheme::Tcp => None,
        }
    }

    /// As a URL begins.
    pub const fn name(self) -> &'static str {
        match self {
            Scheme::Https => "https",
            Scheme::Http => "http",
            Scheme::Tcp => "tcp",
        }
    }
}

impl Site {
    /// What `text` names: a URL, a host (then by HTTPS), or HOST:PORT, which is connected to alone.
    ///
    /// # Errors
    /// If it names nothing that can be visited.
    pub fn parse(text: &str) -> Result<Site, BadUrl> {
        if !text.is_ascii() {
            return Err(BadUrl::NotAscii(text.to_owned()));
        }
        let no_url = || BadUrl::NoUrl(text.to_owned());
        let bare = bare_address(text);
        let uri: Uri = bare.as_deref().unwrap_or(text).parse().map_err(|_| no_url())?;
        let authority = uri.authority().ok_or_else(no_url)?;
        if authority.as_str().contains('@') {
            return Err(BadUrl::Credentials);
        }
        let scheme = match (uri.scheme_str(), authority.port_u16()) {
            (Some("https"), _) | (None, None) => Scheme::Https,
            (Some("http"), _) => Scheme::Http,
            (None, Some(_)) => Scheme::Tcp,
            (Some(other), _) => return Err(BadUrl::Scheme(other.to_owned())),
        };
        // A port that is none is not passed over.
        let has_more = authority.as_str().len() > authority.host().len();
        if has_more && authority.port_u16().is_none() {
            return Err(no_url());
        }
        let host = host_of(authority.host()).ok_or_else(no_url)?;
        let port = authority.port_u16().or(scheme.port()).filter(|&port| port > 0);
        let path = uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        Ok(Site { scheme, host, port: port.ok_or_else(no_url)?, path })
    }

    /// Where an answer of it leads to (`Location`, RFC 9110 section 10.2.2): what that leaves out
    /// is as in what was asked for (RFC 3986 section 5.2). `None` if it is no website, or is where
    /// it was.
    pub fn led_to(&self, place: &str) -> Option<Site> {
        let place = place.split('#').next().filter(|place| !place.is_empty())?;
        if place.len() > PLACE_BYTES_MAX {
            return None;
        }
        let (scheme, authority, path) = (self.scheme.name(), self.authority(), self.path.path());
        let whole = match &place[..place.find(['/', '?']).unwrap_or(place.len())] {
            // Of schemes those of websites alone, and no HOST:PORT, which is a connection alone.
            front if front.contains(':') => place.contains("://").then(|| place.to_owned())?,
            _ if place.starts_with("//") => format!("{scheme}:{place}"),
            _ if place.starts_with('/') => format!("{scheme}://{authority}{place}"),
            _ if place.starts_with('?') => format!("{scheme}://{authority}{path}{place}"),
            _ => format!("{scheme}://{authority}{}", beside(path, place)),
        };
        let next = Site::parse(&whole).ok()?;
        (next.scheme != Scheme::Tcp && next != *self).then_some(next)
    }

    /// Whether another is asked for at the same place, whatever the query says.
    pub fn is_beside(&self, other: &Site) -> bool {
        let place = |site: &Site| (site.scheme, site.port, site.path.path().to_owned());
        self.host == other.host && place(self) == place(other)
    }

    /// Host and port as a request names them.
    pub fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        if self.scheme.port() == Some(self.port) { host } else { format!("{host}:{}", self.port) }
    }

    /// As it would be typed.
    pub fn url(&self) -> String {
        match self.scheme {
            Scheme::Tcp => self.authority(),
            scheme => format!("{}://{}{}", scheme.name(), self.authority(), self.path),
        }
    }
}

/// A relative path from where `path` is, without its dots (RFC 3986 section 5.2.4).
fn beside(path: &str, place: &str) -> String {
    let (relative, query) = place.split_at(place.find('?').unwrap_or(place.len()));
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut kept: Vec<&str> = folder.split('/').skip(1).collect();
    let mut segments = relative.split('/').peekable();
    while let Some(segment) = segments.next() {
        match segment {
            ".." => {
                kept.pop();
            }
            "." => {}
            name => kept.push(name),
        }
        // What ends with dots is a folder.
        if segments.peek().is_none() && matches!(segment, "." | "..") {
            kept.push("");
        }
    }
    format!("/{}{query}", kept.join("/"))
}

/// The name or address that stands in a URL, where brackets are those of an IPv6 address alone.
fn host_of(text: &str) -> Option<String> {
    let Some(rest) = text.strip_prefix('[') else {
        return (!text.is_empty() && !text.contains(['[', ']'])).then(|| text.to_owned());
    };
    let inside = rest.strip_suffix(']')?;
    inside.parse::<std::net::Ipv6Addr>().is_ok().then(|| inside.to_owned())
}

/// An IPv6 address without brackets gets them.
fn bare_address(text: &str) -> Option<String> {
    text.parse::<std::net::Ipv6Addr>().ok().map(|address| format!("[{address}]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_a_site() {
        let of = |text: &str| {
            let site = Site::parse(text).unwrap();
            (site.scheme.name(), site.host.clone(), site.port, site.url())
        };
        let site =
            |scheme, host: &str, port, url: &str| (scheme, host.to_owned(), port, url.to_owned());
        assert_eq!(of("example.org"), site("https", "example.org", 443, "https://example.org/"));
        let asked = "http://example.org:8080/a?b=c";
        assert_eq!(of(asked), site("http", "example.org", 8080, asked));
        assert_eq!(
            of("mail.example.org:25"),
            site("tcp", "mail.example.org", 25, "mail.example.org:25")
        );
        assert_eq!(of("2001:db8::7"), site("https", "2001:db8::7", 443, "https://[2001:db8::7]/"));
        assert_eq!(of("https://[2001:db8::7]:99/x").3, "https://[2001:db8::7]:99/x");
    }

    #[test]
    fn what_cannot_be_visited_is_refused() {
        let of = |text: &str| Site::parse(text).unwrap_err();
        assert_eq!(of("ftp://example.org"), BadUrl::Scheme("ftp".to_owned()));
        assert_eq!(of("https://me:word@example.org/"), BadUrl::Credentials);
        assert!(matches!(of("bücher.example"), BadUrl::NotAscii(_)));
        for text in ["", "a b", "https://", "/path", "example.org:0", "example.org:99999"] {
            assert!(matches!(of(text), BadUrl::NoUrl(_)), "{text}: {}", of(text));
        }
        for host in ["[]", "[example.org]", "b[2001:db8::7]", "[2001:db8::7", "[192.0.2.7]"] {
            let text = format!("https://{host}/");
            assert!(matches!(of(&text), BadUrl::NoUrl(_)), "{text}: {}", of(&text));
        }
    }

    /// The examples of RFC 3986 section 5.4 that a website may give, and what none may.
    #[test]
    fn what_an_answer_leads_to_is_a_site() {
        let site = Site::parse("http://a/b/c/d?q").unwrap();
        for (place, url) in [
            ("https://g.example/x", "https://g.example/x"),
            ("g", "http://a/b/c/g"),
            ("./g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d?y"),
            ("g?y#s", "http://a/b/c/g?y"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../../g", "http://a/g"),
            ("login?to=https://x/", "http://a/b/c/login?to=https://x/"),
        ] {
            assert_eq!(site.led_to(place).map(|next| next.url()).as_deref(), Some(url), "{place}");
        }
        for place in ["", "#s", "d?q", "mailto:me@example.org", "g:25", "g:25/x", "ftp://g/"] {
            assert_eq!(site.led_to(place), None, "{place}");
        }
        assert_eq!(site.led_to(&"x".repeat(3_000)), None);
        let led = |place: &str| site.led_to(place).unwrap();
        assert!(led("/login?state=1").is_beside(&led("/login?state=2")));
        assert!(!led("/login").is_beside(&led("/other")) && !led("/g").is_beside(&led("//g/g")));
        let top = Site::parse("example.org").unwrap();
        assert_eq!(top.led_to("de/").unwrap().url(), "https://example.org/de/");
    }
}
