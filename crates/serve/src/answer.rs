//! Answers that say what is wrong, in the words and codes of the terminal.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// An error as every endpoint gives it: `{"error": {"code", "title", "why", "try"}}`.
pub(crate) fn error(status: StatusCode, failure: Value) -> Response {
    (status, Json(json!({ "error": failure }))).into_response()
}

/// One that has no code.
pub(crate) fn plain(status: StatusCode, title: &str, why: &str) -> Response {
    let why: Vec<&str> = Some(why).into_iter().filter(|why| !why.is_empty()).collect();
    error(status, json!({"code": null, "title": title, "why": why, "try": []}))
}

/// One with a code, which `v6gap explain` knows.
pub(crate) fn coded(status: StatusCode, code: &str, title: &str, why: &str) -> Response {
    let tries = json!([{"run": format!("v6gap explain {code}"), "does": "says more"}]);
    error(status, json!({"code": code, "title": title, "why": [why], "try": tries}))
}

/// What the program says, by the status that fits its exit code.
pub(crate) fn failed(failure: Value) -> Response {
    let status = match failure.get("exit").and_then(Value::as_i64) {
        Some(2) => StatusCode::BAD_REQUEST,
        Some(3 | 4 | 7) => StatusCode::BAD_GATEWAY,
        Some(5) => StatusCode::FORBIDDEN,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    error(status, failure)
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It asks for another host's page.
    Host,
    /// It comes from another page.
    Origin,
}

/// A request that is not this server's.
pub(crate) fn refused(refusal: Refusal) -> Response {
    let (title, why) = match refusal {
        Refusal::Host => (
            "not a page of this server",
            "The name in the address is not one that this server was told to answer to.",
        ),
        Refusal::Origin => {
            ("asked by another page", "Only pages of this server may change anything here.")
        }
    };
    plain(StatusCode::FORBIDDEN, title, why)
}

/// An address with something behind its question mark that is not asked for.
pub(crate) fn misasked(error: &QueryRejection) -> Response {
    plain(error.status(), "the address is not what this asks for", &error.body_text())
}

/// A request without a token that was given out here.
pub(crate) fn unknown() -> Response {
    plain(
        StatusCode::FORBIDDEN,
        "this browser is not known here",
        "Each link works once. Press Enter where v6gap web runs to get another.",
    )
}

/// Nothing is there.
pub(crate) async fn not_found() -> Response {
    plain(StatusCode::NOT_FOUND, "there is no such page", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passed::broken;
    use std::collections::BTreeSet;
    use std::io;

    /// What asks no program: its answers come from this server alone.
    const UNASKED: [&str; 6] =
        ["/healthz", "/session", "/info", "/runs/{id}/stop", "/runs/{id}/events", "/tickets"];

    /// What a program goes on to tell once it has begun.
    const FOLLOWED: [&str; 2] = ["/paths/events", "/fleet/events"];

    fn of(answers: impl Iterator<Item = Response>) -> BTreeSet<u16> {
        answers.map(|answer| answer.status().as_u16()).collect()
    }

    /// The statuses that an operation of docs/openapi.json may answer with besides its own.
    fn expected(path: &str, operation: &Value) -> BTreeSet<u16> {
        let kinds = [io::ErrorKind::ResourceBusy, io::ErrorKind::NotFound];
        let begins = of(kinds.into_iter().map(|kind| broken(&kind.into())));
        let ends = of((1..=255).map(|exit| failed(json!({ "exit": exit }))));
        let mut all: BTreeSet<u16> = BTreeSet::from([403, 408, 413]);
        if path.contains('{') {
            all.insert(400);
        }
        if operation["requestBody"].is_object() {
            all.extend([400_u16, 415, 422]);
        }
        if matches!(path, "/session" | "/tickets") {
            // The system may give no random bytes.
            all.insert(broken(&io::Error::other("none")).status().as_u16());
        }
        if !UNASKED.contains(&path) {
            all.extend(begins);
        }
        if !UNASKED.contains(&path) && !FOLLOWED.contains(&path) {
            all.extend(ends);
        }
        all
    }

    #[test]
    fn every_status_is_described() {
        let described = include_str!("../../../docs/openapi.json");
        let described: Value = serde_json::from_str(described).unwrap();
        for (path, operations) in described["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                let told = operation["responses"].as_object().unwrap();
                let missing = |status: &u16| !told.contains_key(&status.to_string());
                let missing: Vec<u16> =
                    expected(path, operation).into_iter().filter(missing).collect();
                assert!(missing.is_empty(), "{method} {path}: {missing:?}");
            }
        }
    }
}
