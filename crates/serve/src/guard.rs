//! What a request must be before anything else looks at it, and what every answer carries.
//!
//! The server starts traffic and shows what was measured, so no other page in the same browser may
//! use it: `Host` must be a name of this server (a name that was made to point here, DNS rebinding,
//! is not), `Origin` must be the page's own on everything that changes something, and the token is
//! in a header that no other page can send.

pub use crate::answer::Refusal;
use crate::{Shared, answer};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, Method, Version};
use axum::middleware::Next;
use axum::response::Response;
use std::net::IpAddr;
use std::sync::Arc;

/// No script, style, picture or connection of anybody else.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// The same for a report, whose styles and scripts are in the page itself; `sandbox` gives it an
/// origin of its own, so that it can ask for nothing here.
pub const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
                                 script-src 'unsafe-inline'; img-src data:; sandbox allow-scripts \
                                 allow-popups; frame-ancestors 'self'; base-uri 'none'";

const COMMON: [(HeaderName, &str); 3] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
];

/// Lets through what comes from this server's own pages, and marks every answer.
pub(crate) async fn check(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let allowed = judge(request.method(), request.headers(), request.version(), &shared.names);
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err(refusal) => answer::refused(refusal),
    };
    let headers = response.headers_mut();
    for (name, value) in COMMON {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if !headers.contains_key(CONTENT_SECURITY_POLICY) {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    response
}

/// Whether a request is for this server and from its own page.
///
/// # Errors
/// Why the request is refused.
pub fn judge(
    method: &Method,
    headers: &HeaderMap,
    version: Version,
    names: &[String],
) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) if version >= Version::HTTP_10 => host.to_str().ok(),
        _ => None,
    };
    let Some(host) = host.filter(|host| is_ours(host, names)) else {
        return Err(Refusal::Host);
    };
    if matches!(*method, Method::GET | Method::HEAD) {
        return Ok(());
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next().and_then(|origin| origin.to_str().ok()), origins.next()) {
        (Some(origin), None) if origin == format!("http://{host}") => Ok(()),
        // TLS ends before this server, for the names that others know it by.
        (Some(origin), None) if origin == format!("https://{host}") && !is_ours(host, &[]) => {
            Ok(())
        }
        _ => Err(Refusal::Origin),
    }
}

/// Who sent a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub IpAddr);

/// Whether a request comes from this computer itself, and by none of the names that others know the
/// server by: a proxy is on this computer, too, and passes on what others ask.
pub(crate) fn is_local(peer: Peer, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    peer.0.to_canonical().is_loopback() && host.is_some_and(|host| is_ours(host, &[]))
}

/// Whether the authority of a URL is a name of this server.
fn is_ours(authority: &str, names: &[String]) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => authority,
    };
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    match bare.parse::<IpAddr>() {
        Ok(address) => address.is_loopback() || names.iter().any(|known| known == bare),
        Err(_) => {
            let same = |known: &str| known.eq_ignore_ascii_case(name);
            same("localhost") || names.iter().any(|known| same(known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: Method, headers: &[(HeaderName, &str)]) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        judge(&method, &map, Version::HTTP_11, &["lab-a".to_owned(), "192.0.2.7".to_owned()])
    }

    #[test]
    fn only_our_own_names_are_hosts() {
        for host in ["127.0.0.1:4466", "[::1]:4466", "localhost", "LOCALHOST:1", "lab-a:80"] {
            assert_eq!(asked(Method::GET, &[(HOST, host)]), Ok(()), "{host}");
        }
        assert_eq!(asked(Method::GET, &[(HOST, "192.0.2.7:80")]), Ok(()));
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "192.0.2.8",
            "",
            "::1:1:x",
            "localhost:80@evil",
            "lab-a:evil",
        ] {
            assert_eq!(asked(Method::GET, &[(HOST, host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(asked(Method::GET, &[]), Err(Refusal::Host));
        let twice = [(HOST, "localhost"), (HOST, "evil.example")];
        assert_eq!(asked(Method::GET, &twice), Err(Refusal::Host));
    }

    #[test]
    fn this_computer_is_told_from_others() {
        let local = |peer: &str, host: &str| {
            let host = HeaderValue::from_str(host).unwrap();
            is_local(Peer(peer.parse().unwrap()), &HeaderMap::from_iter([(HOST, host)]))
        };
        for (peer, host) in [
            ("127.0.0.1", "127.0.0.1:4466"),
            ("::1", "[::1]:4466"),
            ("::ffff:127.0.0.1", "localhost:4466"),
        ] {
            assert!(local(peer, host), "{peer} {host}");
        }
        for (peer, host) in [
            ("192.0.2.8", "localhost:4466"),
            ("fd00::8", "[::1]:4466"),
            ("127.0.0.1", "lab-a:80"),
            ("127.0.0.1", "192.0.2.7:80"),
        ] {
            assert!(!local(peer, host), "{peer} {host}");
        }
        assert!(!is_local(Peer("::1".parse().unwrap()), &HeaderMap::new()));
    }

    #[test]
    fn what_changes_something_comes_from_our_own_page() {
        let from =
            |origin: &str| asked(Method::POST, &[(HOST, "localhost:4466"), (ORIGIN, origin)]);
        assert_eq!(from("http://localhost:4466"), Ok(()));
        for origin in [
            "http://localhost:4467",
            "https://localhost:4466",
            "http://127.0.0.1:4466",
            "null",
            "http://evil.example",
            "",
        ] {
            assert_eq!(from(origin), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(asked(Method::DELETE, &[(HOST, "localhost")]), Err(Refusal::Origin));
        let proxied = |origin: &str| asked(Method::POST, &[(HOST, "lab-a"), (ORIGIN, origin)]);
        assert_eq!(proxied("https://lab-a"), Ok(()));
        assert_eq!(proxied("https://lab-b"), Err(Refusal::Origin));
    }
}
