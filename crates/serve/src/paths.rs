//! The paths that are watched: how each does, also as the watch goes on, and the history of one.
//!
//! The watch is a process of its own, which these pages neither start nor stop.

use crate::answer::{misasked, plain};
use crate::passed::as_json;
use crate::{Shared, following, form};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use std::sync::Arc;

/// Everything below `/api/v1` that is of paths.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/paths", get(list))
        .route("/paths/events", get(events))
        .route("/paths/{name}/strips", get(strips))
}

/// How all paths do.
async fn list(State(shared): State<Arc<Shared>>) -> Response {
    let words = ["watch", "status", "--json"].map(str::to_owned).to_vec();
    as_json(shared.program.run(&as_it_was(&shared, words)).await)
}

/// The same now and each time that the watch has gone on.
async fn events(State(shared): State<Arc<Shared>>) -> Response {
    let words = ["watch", "status", "--follow", "--json"].map(str::to_owned).to_vec();
    following::events(&shared, as_it_was(&shared, words), "status")
}

#[derive(Deserialize)]
struct Back {
    since: Option<String>,
}

/// The history of a path, as pictures and in words.
async fn strips(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    back: Result<Query<Back>, QueryRejection>,
) -> Response {
    let Back { since } = match back {
        Ok(Query(back)) => back,
        Err(error) => return misasked(&error),
    };
    let name = match form::value(&name, "the path") {
        Ok(name) => name,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let since = match since.map(|since| form::word(&since, "the time")).transpose() {
        Ok(since) => since,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let words = ["watch", "history", "--format=strips"].map(str::to_owned).into_iter();
    let words = words.chain(since.map(|since| format!("--since={since}"))).collect();
    let mut words = as_it_was(&shared, words);
    // Whatever it begins with, it is no option.
    words.extend(["--".to_owned(), name]);
    as_json(shared.program.run(&words).await)
}

/// A log that was recorded shows what it showed then.
fn as_it_was(shared: &Shared, mut words: Vec<String>) -> Vec<String> {
    let at = shared.demo.as_ref().and_then(|demo| demo.at_unix_ns);
    words.extend(at.map(|at| format!("--at-unix-ns={at}")));
    words
}
