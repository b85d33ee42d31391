//! `/api/v1`: what pages and scripts can ask for. Described in `docs/openapi.json`.

use crate::answer::{self, coded, failed, misasked, plain};
use crate::form::{self, Form, Target};
use crate::guard::Peer;
use crate::passed::{as_file, as_json, asked, broken};
use crate::{Shared, connection, fleet, guard, paths, run};
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest body of a request, in bytes: a plan.
const BODY_MAX: usize = 256 << 10;

/// Bytes that are sent without a question.
const BYTES_UNASKED: f64 = 10e9;

type State_ = State<Arc<Shared>>;

type FromWhom = Extension<Peer>;

/// What stands behind the question mark of an address.
type Asked<T> = Result<Query<T>, QueryRejection>;

/// Everything below `/api/v1`.
pub(crate) fn routes(shared: Arc<Shared>) -> Router<Arc<Shared>> {
    let known = Router::new()
        .route("/info", get(info))
        .route("/presets", get(presets))
        .route("/presets/{name}", get(preset))
        .route("/check", post(check))
        .route("/estimate", post(estimate))
        .route("/plans/validate", post(validate))
        .route("/runs", get(list).post(start))
        .route("/runs/{id}", get(result).patch(annotate).delete(remove))
        .route("/runs/{id}/note", get(note))
        .route("/runs/{id}/stop", post(stop))
        .route("/runs/{id}/events", get(events))
        .route("/runs/{id}/figures", get(figures))
        .route("/runs/{id}/figures/{file}", get(figure))
        .route("/runs/{id}/{file}", get(file))
        .route("/compare", get(compare))
        .route("/tickets", post(ticket))
        .merge(paths::routes())
        .merge(fleet::routes())
        .layer(middleware::from_fn(whole))
        .layer(middleware::from_fn_with_state(shared, authorised));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/session", post(session))
        .layer(middleware::from_fn(whole))
        .merge(known)
        .layer(DefaultBodyLimit::max(BODY_MAX))
}

/// Lets through what came whole and in time.
async fn whole(request: Request, next: Next) -> Response {
    connection::whole(request, next, BODY_MAX).await
}

/// Lets through who has a token, or a ticket for what is asked.
async fn authorised(State(shared): State_, request: Request, next: Next) -> Response {
    let token = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer "));
    let known = match (token, ticketed(&request)) {
        (Some(token), _) => shared.keys.knows(token),
        (None, Some((path, ticket))) => shared.keys.opens(ticket, path),
        (None, None) => false,
    };
    match known {
        true => next.run(request).await,
        false => answer::unknown(),
    }
}

/// The address of a request below `/api/v1` and the ticket at its end.
fn ticketed(request: &Request) -> Option<(&str, &str)> {
    let asked = request.uri().path_and_query()?.as_str();
    let (path, ticket) = asked.rsplit_once("ticket=")?;
    let path = path.strip_suffix(['?', '&'])?;
    (*request.method() == Method::GET).then_some((path, ticket))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    key: String,
}

/// A key for a token.
async fn session(State(shared): State_, body: Result<Json<Key>, JsonRejection>) -> Response {
    let Key { key } = match body {
        Ok(Json(key)) => key,
        Err(error) => return malformed(&error),
    };
    match shared.keys.exchange(&key) {
        Ok(Some(token)) => Json(json!({ "token": token })).into_response(),
        Ok(None) => answer::unknown(),
        Err(error) => broken(&error),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Address {
    path: String,
}

/// A ticket for what a browser asks for by itself, without a token.
async fn ticket(State(shared): State_, body: Result<Json<Address>, JsonRejection>) -> Response {
    let Address { path } = match body {
        Ok(Json(address)) => address,
        Err(error) => return malformed(&error),
    };
    match shared.keys.ticket(&path) {
        Ok(Some(ticket)) => Json(json!({ "ticket": ticket })).into_response(),
        Ok(None) => plain(StatusCode::BAD_REQUEST, "the path is too long", ""),
        Err(error) => broken(&error),
    }
}

async fn info(State(shared): State_, Extension(peer): FromWhom, headers: HeaderMap) -> Response {
    let live = shared.run.get();
    let live =
        live.map(|live| json!({"id": live.id(), "command": live.command, "over": live.is_over()}));
    let worlds = asked(&shared, &["lab", "list", "--worlds", "--json"]).await;
    let worlds = worlds.ok().and_then(|ran| serde_json::from_slice::<Value>(&ran.out).ok());
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "read_only": shared.read_only,
        "demo": shared.demo.as_ref().map(|demo| &demo.about),
        "fleet": fleet::about(shared.fleet.as_ref()),
        "probe": may_probe(&shared, peer, &headers),
        "live": live,
        "worlds": worlds,
    }))
    .into_response()
}

/// Whether hosts may be visited that did not agree to it: for who is at this computer alone. Others
/// would come past its firewalls.
fn may_probe(shared: &Shared, peer: Peer, headers: &HeaderMap) -> bool {
    shared.demo.is_some() || guard::is_local(peer, headers)
}

async fn presets(State(shared): State_) -> Response {
    as_json(asked(&shared, &["plan", "list", "--json"]).await)
}

async fn preset(State(shared): State_, Path(name): Path<String>) -> Response {
    match form::name(&name, "the plan") {
        Ok(name) => as_file(asked(&shared, &["plan", "show", &name]).await, "text/plain", None),
        Err(why) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

/// Whether a host can be measured: the place of a form, and how to reach it.
async fn check(State(shared): State_, body: Result<Json<Host>, JsonRejection>) -> Response {
    if shared.read_only {
        return read_only();
    }
    let Host { host, port, v4, v6 } = match body {
        Ok(Json(host)) => host,
        Err(error) => return malformed(&error),
    };
    let mut options = BTreeMap::new();
    let port = port.map(|port| port.to_string());
    for (name, text) in [("port", port), ("v4", v4), ("v6", v6)] {
        options.extend(text.map(|text| (name.to_owned(), text)));
    }
    let form = Form { options, ..Form::at(Target::Host(host)) };
    match (form.arguments(), &shared.demo) {
        (Ok(_), Some(demo)) => Json(&demo.check).into_response(),
        // Whatever was found is the answer, also if it is that there is nobody.
        (Ok(mut args), None) => {
            args.splice(..1, ["check".to_owned()]);
            // Who types beside a measurement is told of it: one that waits for its end would keep
            // others from being looked up meanwhile.
            args.extend(["--json", "--no-wait"].map(str::to_owned));
            as_json(shared.program.run(&args).await)
        }
        (Err(why), _) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    host: String,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default)]
    v4: Option<String>,
    #[serde(default)]
    v6: Option<String>,
}

/// The line that would be typed, and of plans what they take.
async fn estimate(State(shared): State_, body: Result<Json<Form>, JsonRejection>) -> Response {
    let form = match body {
        Ok(Json(form)) => form,
        Err(error) => return malformed(&error),
    };
    let command = match form.command() {
        Ok(command) => command,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    match takes(&shared, &form).await {
        Ok(takes) => Json(json!({"command": command, "takes": takes})).into_response(),
        Err(refused) => refused,
    }
}

/// How long it takes and how much it sends at most, as the program says.
async fn takes(shared: &Shared, form: &Form) -> Result<Value, Response> {
    let wrong = |why: String| plain(StatusCode::BAD_REQUEST, &why, "");
    let mut args = form.arguments().map_err(wrong)?;
    args.extend(["--dry-run", "--json"].map(str::to_owned));
    match shared.program.run_with(&args, form.input()).await {
        Ok(ran) if ran.code == 0 => Ok(serde_json::from_slice(&ran.out).unwrap_or_default()),
        Ok(ran) => Err(failed(ran.failure())),
        Err(error) => Err(broken(&error)),
    }
}

/// Refuses what is longer or faster than was allowed, and asks before it sends much.
fn limited(shared: &Shared, form: &Form, takes: &Value) -> Option<Response> {
    let number = |name: &str| takes.get(name).and_then(Value::as_f64).unwrap_or_default();
    let (seconds, bytes) = (number("time_ns") / 1e9, number("bytes"));
    if shared.time_max.is_some_and(|most| seconds > most.as_secs_f64()) {
        let why = format!("It takes {seconds:.0} s; this server was started with --max-time.");
        return Some(coded(StatusCode::FORBIDDEN, "E307", "that is longer than allowed", &why));
    }
    if let Some(most) = shared.rate_bps_max {
        let mbps = |bps: f64| format!("{} Mbit/s", bps / 1e6);
        let most = most as f64;
        let asks = match takes.get("rate_bps_most").and_then(Value::as_f64) {
            Some(bps) if bps <= most => None,
            Some(bps) => Some(format!("It asks for {}", mbps(bps))),
            None => Some("It sends as fast as the path carries".to_owned()),
        };
        if let Some(asks) = asks {
            let allowed = mbps(most);
            let why = format!("{asks}; this server was started with --max-rate {allowed}.");
            return Some(coded(StatusCode::FORBIDDEN, "E308", "that is faster than allowed", &why));
        }
    }
    let much = bytes > BYTES_UNASKED && !form.confirm;
    much.then(|| {
        let most = BYTES_UNASKED / 1e9;
        let title = format!("that sends up to {:.0} GB, more than {most:.0} GB", bytes / 1e9);
        let why = "Somebody may pay for it by volume. Ask again with \"confirm\": true.";
        coded(StatusCode::PRECONDITION_REQUIRED, "E306", &title, why)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    toml: String,
}

/// What a plan does in words, or everything that is wrong with it.
async fn validate(State(shared): State_, body: Result<Json<Text>, JsonRejection>) -> Response {
    let text = match body {
        Ok(Json(Text { toml })) => toml,
        Err(error) => return malformed(&error),
    };
    let args = ["plan", "check", "-"].map(str::to_owned);
    match shared.program.run_with(&args, text.into_bytes()).await {
        Ok(ran) if ran.code == 0 => {
            Json(json!({"words": String::from_utf8_lossy(&ran.out)})).into_response()
        }
        Ok(ran) => failed(ran.failure()),
        Err(error) => broken(&error),
    }
}

#[derive(Deserialize, Default)]
struct Filter {
    host: Option<String>,
    plan: Option<String>,
    limit: Option<usize>,
    before: Option<u64>,
}

/// Stored results, the latest first.
async fn list(State(shared): State_, filter: Asked<Filter>) -> Response {
    let filter = match filter {
        Ok(Query(filter)) => filter,
        Err(error) => return misasked(&error),
    };
    let Filter { host, plan, limit, before } = filter;
    let options = [
        host.map(|host| format!("--against={host}")),
        plan.map(|plan| format!("--plan={plan}")),
        limit.map(|limit| format!("--last={limit}")),
        before.map(|before| format!("--before-unix-ns={before}")),
    ];
    let words = ["list", "--json"].map(str::to_owned).into_iter();
    let words: Vec<String> = words.chain(options.into_iter().flatten()).collect();
    as_json(shared.program.run(&words).await)
}

/// Starts a measurement.
async fn start(
    State(shared): State_,
    Extension(peer): FromWhom,
    headers: HeaderMap,
    body: Result<Json<Form>, JsonRejection>,
) -> Response {
    if shared.read_only {
        return read_only();
    }
    let form = match body {
        Ok(Json(form)) => form,
        Err(error) => return malformed(&error),
    };
    if form.is_of_stranger() && !may_probe(&shared, peer, &headers) {
        let why = "A page of another computer would make this one connect anywhere.";
        let title = "hosts are visited for this computer's own pages alone";
        return coded(StatusCode::FORBIDDEN, "E309", title, why);
    }
    let (args, command) = match (form.arguments(), form.command()) {
        (Ok(args), Ok(command)) => (args, command),
        (Err(why), _) | (_, Err(why)) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let (args, input) = match &shared.demo {
        Some(demo) => (demo.args.clone(), Vec::new()),
        None => match takes(&shared, &form).await {
            Ok(takes) => match limited(&shared, &form, &takes) {
                Some(refused) => return refused,
                None => (args, form.input()),
            },
            Err(refused) => return refused,
        },
    };
    match shared.run.start(&shared, &args, input, command.clone()) {
        Ok(Some(_)) => {
            let started = json!({"id": "live", "command": command});
            (StatusCode::ACCEPTED, Json(started)).into_response()
        }
        Ok(None) => plain(
            StatusCode::CONFLICT,
            "something is being measured already",
            "One measurement at a time: two would measure each other.",
        ),
        Err(error) => broken(&error),
    }
}

async fn stop(State(shared): State_, Path(id): Path<String>) -> Response {
    match shared.run.named(&id) {
        Some(live) => {
            live.stop();
            StatusCode::NO_CONTENT.into_response()
        }
        None => answer::not_found().await,
    }
}

#[derive(Deserialize)]
struct From {
    after: Option<usize>,
}

/// What happens, as it happens; after the event that was seen last.
async fn events(
    State(shared): State_,
    Path(id): Path<String>,
    from: Asked<From>,
    headers: HeaderMap,
) -> Response {
    let from = match from {
        Ok(Query(from)) => from,
        Err(error) => return misasked(&error),
    };
    const SEEN: HeaderName = HeaderName::from_static("last-event-id");
    let Some(live) = shared.run.named(&id) else { return answer::not_found().await };
    let seen = headers.get(SEEN).and_then(|seen| seen.to_str().ok());
    let next = match (seen, from.after) {
        (None, Some(after)) => after.saturating_add(1),
        (seen, _) => match run::behind(&live, seen) {
            Some(next) => next,
            None => return Sse::new(run::gone()).into_response(),
        },
    };
    Sse::new(run::events(live, next)).keep_alive(KeepAlive::default()).into_response()
}

async fn result(State(shared): State_, Path(id): Path<String>) -> Response {
    match form::name(&id, "the result") {
        Ok(id) => as_json(asked(&shared, &["show", &id, "--format", "json"]).await),
        Err(why) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

/// What a person wrote on a result.
async fn note(State(shared): State_, Path(id): Path<String>) -> Response {
    match form::name(&id, "the result") {
        Ok(id) => as_json(asked(&shared, &["note", &id, "--json"]).await),
        Err(why) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    note: Option<String>,
}

/// Writes on a result; what is not named stays.
async fn annotate(
    State(shared): State_,
    Path(id): Path<String>,
    body: Result<Json<Written>, JsonRejection>,
) -> Response {
    if shared.read_only {
        return read_only();
    }
    let Written { title, note } = match body {
        Ok(Json(written)) => written,
        Err(error) => return malformed(&error),
    };
    let id = match form::name(&id, "the result") {
        Ok(id) => id,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    if title.iter().chain(&note).any(|text| text.contains('\0')) {
        return plain(StatusCode::BAD_REQUEST, "the title or the note is no text", "");
    }
    let mut args = vec!["note".to_owned(), id, "--json".to_owned()];
    args.extend(title.map(|title| format!("--title={title}")));
    // Whatever it begins with, it is no option.
    args.extend(note.into_iter().flat_map(|note| ["--".to_owned(), note]));
    as_json(shared.program.run(&args).await)
}

async fn remove(State(shared): State_, Path(id): Path<String>) -> Response {
    if shared.read_only {
        return read_only();
    }
    match form::name(&id, "the result") {
        Ok(id) => match asked(&shared, &["rm", &id]).await {
            Ok(ran) if ran.code == 0 => {
                let said = String::from_utf8_lossy(&ran.out);
                let left = said.lines().find_map(|line| line.strip_prefix("note: "));
                Json(json!({ "left": left })).into_response()
            }
            other => as_json(other),
        },
        Err(why) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

/// A result in another form: the bytes that the terminal would write.
async fn file(State(shared): State_, Path((id, file)): Path<(String, String)>) -> Response {
    let id = match form::name(&id, "the result") {
        Ok(id) => id,
        Err(why) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let (args, kind): (&[&str], _) = match file.as_str() {
        "report.html" => (&["report", &id, "-o", "-"], "text/html; charset=utf-8"),
        "result.json" => (&["export", &id, "--format", "json"], "application/json"),
        "trials.csv" => (&["export", &id, "--format", "csv"], "text/csv; charset=utf-8"),
        "table.csv" => (&["export", &id, "--format", "table"], "text/csv; charset=utf-8"),
        "result.md" => (&["export", &id, "--format", "md"], "text/markdown; charset=utf-8"),
        "result.tex" => (&["export", &id, "--format", "latex"], "application/x-tex"),
        "plan.toml" => (&["export", &id, "--format", "plan"], "application/toml"),
        "journal.jsonl" => (&["export", &id], "application/x-ndjson"),
        _ => return answer::not_found().await,
    };
    let name = (file != "report.html").then(|| format!("{id}-{file}"));
    as_file(asked(&shared, args).await, kind, name)
}

/// Run, number, name and title of every figure of a result.
async fn figures(State(shared): State_, Path(id): Path<String>) -> Response {
    match form::name(&id, "the result") {
        Ok(id) => as_json(asked(&shared, &["figures", &id, "--list"]).await),
        Err(why) => plain(StatusCode::BAD_REQUEST, &why, ""),
    }
}

/// One of them: the bytes of the file that the terminal would write.
async fn figure(State(shared): State_, Path((id, file)): Path<(String, String)>) -> Response {
    let (number, ending) = file.rsplit_once('.').unwrap_or((&file, ""));
    let (id, number) = match (form::name(&id, "the result"), form::name(number, "the figure")) {
        (Ok(id), Ok(number)) => (id, number),
        (Err(why), _) | (_, Err(why)) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let kind = match ending {
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        _ => return answer::not_found().await,
    };
    let args = ["figures", &id, "--only", &number, "--format", ending, "-o", "-"];
    as_file(asked(&shared, &args).await, kind, Some(format!("{id}-{file}")))
}

#[derive(Deserialize)]
struct Two {
    a: String,
    b: String,
}

async fn compare(State(shared): State_, two: Asked<Two>, headers: HeaderMap) -> Response {
    let Two { a, b } = match two {
        Ok(Query(two)) => two,
        Err(error) => return misasked(&error),
    };
    let (a, b) = match (form::name(&a, "the first result"), form::name(&b, "the second result")) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(why), _) | (_, Err(why)) => return plain(StatusCode::BAD_REQUEST, &why, ""),
    };
    let accepts = headers.get("accept").and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    match accepts.contains("text/html") {
        true => {
            let args = ["compare", &a, &b, "--format", "html"];
            as_file(asked(&shared, &args).await, "text/html; charset=utf-8", None)
        }
        false => as_json(asked(&shared, &["compare", &a, &b, "--json"]).await),
    }
}

fn malformed(error: &JsonRejection) -> Response {
    plain(error.status(), "the request is not what this asks for", &error.body_text())
}

fn read_only() -> Response {
    plain(
        StatusCode::FORBIDDEN,
        "results can only be looked at here",
        "It was started with --read-only.",
    )
}
