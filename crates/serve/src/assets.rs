//! Pages, styles and scripts, built into the program. One page for every screen: what it shows is
//! decided by its address, in `app.js`.

use crate::Shared;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

const PAGE: &str = include_str!("../assets/index.html");

/// A file by its name, with its type.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

macro_rules! assets {
    ($($name:literal $kind:expr),* $(,)?) => {
        &[$(Asset {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("../assets/", $name)),
        }),*]
    };
}

const ASSETS: &[Asset] = assets![
    "style.css" STYLE,
    "uplot.css" STYLE,
    "uplot.js" SCRIPT,
    "app.js" SCRIPT,
    "dom.js" SCRIPT,
    "measure.js" SCRIPT,
    "path.js" SCRIPT,
    "paths.js" SCRIPT,
    "strip.js" SCRIPT,
    "live.js" SCRIPT,
    "chart.js" SCRIPT,
    "result.js" SCRIPT,
    "compare.js" SCRIPT,
    "plans.js" SCRIPT,
    "history.js" SCRIPT,
    "fleet.js" SCRIPT,
    "fleet-path.js" SCRIPT,
    "agents.js" SCRIPT,
    "rove.js" SCRIPT,
];

/// The styles of what the program writes of a fleet, which it has itself.
const MATRIX: &str = "matrix.css";

/// All screens and files.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    let page = || async { Html(PAGE) };
    Router::new()
        .route("/", get(page))
        .route("/p/{name}", get(page))
        .route("/r/{id}", get(page))
        .route("/c/{a}/{b}", get(page))
        .route("/plans", get(page))
        .route("/history", get(page))
        .route("/fleet", get(page))
        .route("/fleet/{site}/{host}/{far_site}/{far_host}", get(page))
        .route("/fleet/{site}/{host}/{far_site}/{far_host}/{run}", get(page))
        .route("/assets/{name}", get(asset))
}

async fn asset(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    if name == MATRIX {
        return ([(CONTENT_TYPE, STYLE)], shared.matrix_style).into_response();
    }
    match ASSETS.iter().find(|asset| asset.name == name) {
        Some(asset) => ([(CONTENT_TYPE, asset.kind)], asset.text).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
