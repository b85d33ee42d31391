//! The paths between the hosts of a fleet: how all do, also as runs are added, the history of one
//! and the report of a run.
//!
//! The runs lie in a folder that others write to, an archive for instance; the agents are known to
//! a hub. Both are asked by the program, and only if it was told of them.

use crate::answer::{misasked, plain};
use crate::passed::{as_file, as_json};
use crate::{Shared, following, form};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

/// Sites that may be asked for at once.
const SITES_MAX: usize = 16;

/// Where a fleet is known.
#[derive(Debug, Clone)]
pub struct Fleet {
    /// The folder of its runs.
    pub runs: PathBuf,
    /// Its mesh plan, if it is to be shown which paths there should be.
    pub mesh: Option<PathBuf>,
    /// The credentials by which its hub is asked how the agents do.
    pub credentials: Option<PathBuf>,
    /// When it is looked at, in ns since the Unix epoch, if not now.
    pub at_unix_ns: Option<u64>,
}

/// Everything below `/api/v1` that is of a fleet.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/fleet", get(matrix))
        .route("/fleet/events", get(events))
        .route("/fleet/status", get(status))
        .route("/fleet/paths/{site}/{host}/{far_site}/{far_host}/strips", get(strips))
        .route("/fleet/paths/{site}/{host}/{far_site}/{far_host}/report.html", get(newest))
        .route("/fleet/paths/{site}/{host}/{far_site}/{far_host}/{run}/report.html", get(report))
}

/// What is told of it with everything else that pages know of this server.
pub(crate) fn about(fleet: Option<&Fleet>) -> Value {
    match fleet {
        Some(fleet) => json!({ "hub": fleet.credentials.is_some() }),
        None => Value::Null,
    }
}

#[derive(Deserialize)]
struct Shown {
    measure: Option<String>,
    sites: Option<String>,
}

type Asked<T> = Result<Query<T>, QueryRejection>;

/// What is answered in place of what was asked for.
type Refused = Box<Response>;

/// How all paths do.
async fn matrix(State(shared): State<Arc<Shared>>, shown: Asked<Shown>) -> Response {
    match known(&shared).and_then(|fleet| matrix_words(fleet, shown)) {
        Ok(words) => as_json(shared.program.run(&words).await),
        Err(refused) => *refused,
    }
}

/// The same now and each time that there is another run.
async fn events(State(shared): State<Arc<Shared>>, shown: Asked<Shown>) -> Response {
    match known(&shared).and_then(|fleet| matrix_words(fleet, shown)) {
        Ok(mut words) => {
            words.push("--follow".to_owned());
            following::events(&shared, words, "fleet")
        }
        Err(refused) => *refused,
    }
}

/// How the agents do, as the hub tells it.
async fn status(State(shared): State<Arc<Shared>>) -> Response {
    let credentials = match known(&shared) {
        Ok(fleet) => fleet.credentials.as_ref(),
        Err(refused) => return *refused,
    };
    let Some(credentials) = credentials else {
        let why = "v6gap web --fleet FOLDER --fleet-creds FILE asks one.";
        return plain(StatusCode::CONFLICT, "no hub is asked here", why);
    };
    let mut words = ["fleet", "status", "--json"].map(str::to_owned).to_vec();
    words.push(option("creds", credentials.as_os_str()));
    as_json(shared.program.run(&words).await)
}

/// Both ends of a path, as an address has them.
type Ends = (String, String, String, String);

#[derive(Deserialize)]
struct Back {
    since: Option<String>,
    measure: Option<String>,
}

/// The history of a path, as pictures and in words.
async fn strips(
    State(shared): State<Arc<Shared>>,
    Path(ends): Path<Ends>,
    back: Asked<Back>,
) -> Response {
    let words = || -> Result<Vec<String>, Refused> {
        let Query(Back { since, measure }) = back.map_err(misasked_for)?;
        let mut words = begin(known(&shared)?, "history");
        words.push("--format=strips".to_owned());
        words.extend(given("since", since, "the time")?);
        words.extend(given("measure", measure, "what is measured")?);
        words.extend(between(&ends)?);
        Ok(words)
    };
    match words() {
        Ok(words) => as_json(shared.program.run(&words).await),
        Err(refused) => *refused,
    }
}

/// The report of the newest run of a path.
async fn newest(State(shared): State<Arc<Shared>>, Path(ends): Path<Ends>) -> Response {
    written(&shared, &ends, None).await
}

/// The report of one of its runs.
async fn report(
    State(shared): State<Arc<Shared>>,
    Path((site, host, far_site, far_host, run)): Path<(String, String, String, String, String)>,
) -> Response {
    written(&shared, &(site, host, far_site, far_host), Some(&run)).await
}

async fn written(shared: &Shared, ends: &Ends, run: Option<&str>) -> Response {
    let words = || -> Result<Vec<String>, Refused> {
        let mut words = begin(known(shared)?, "report");
        // As far back as anything that was shown may lie.
        words.push("--since=36500d".to_owned());
        if let Some(run) = run {
            words.push(format!("--run={}", form::name(run, "the result").map_err(wrong)?));
        }
        words.push("--output=-".to_owned());
        words.extend(between(ends)?);
        Ok(words)
    };
    match words() {
        Ok(words) => as_file(shared.program.run(&words).await, "text/html; charset=utf-8", None),
        Err(refused) => *refused,
    }
}

/// The fleet that is shown here.
fn known(shared: &Shared) -> Result<&Fleet, Refused> {
    shared.fleet.as_ref().ok_or_else(|| {
        let why = "v6gap web --fleet FOLDER shows one.";
        Box::new(plain(StatusCode::CONFLICT, "no fleet is shown here", why))
    })
}

fn wrong(why: String) -> Refused {
    Box::new(plain(StatusCode::BAD_REQUEST, &why, ""))
}

fn misasked_for(error: QueryRejection) -> Refused {
    Box::new(misasked(&error))
}

/// What every line begins with.
fn begin(fleet: &Fleet, verb: &str) -> Vec<String> {
    let mut words = vec!["fleet".to_owned(), verb.to_owned()];
    words.push(option("runs", fleet.runs.as_os_str()));
    words.extend(fleet.at_unix_ns.map(|at| format!("--at-unix-ns={at}")));
    words
}

/// The words that have the program write the matrix.
fn matrix_words(fleet: &Fleet, shown: Asked<Shown>) -> Result<Vec<String>, Refused> {
    let Query(Shown { measure, sites }) = shown.map_err(misasked_for)?;
    let mut words = begin(fleet, "matrix");
    words.push("--format=page".to_owned());
    words.extend(fleet.mesh.as_ref().map(|mesh| option("mesh", mesh.as_os_str())));
    words.extend(given("measure", measure, "what is measured")?);
    if let Some(sites) = sites {
        let sites: Vec<&str> = sites.split(',').collect();
        if sites.len() > SITES_MAX {
            return Err(wrong(format!("more than {SITES_MAX} sites are asked for")));
        }
        for site in sites {
            words.push(format!("--sites={}", end(site)?));
        }
    }
    Ok(words)
}

/// An option whose value came with the address.
fn given(name: &str, value: Option<String>, what: &str) -> Result<Option<String>, Refused> {
    let value = value.filter(|value| !value.is_empty());
    let word = value.map(|value| form::word(&value, what)).transpose().map_err(wrong)?;
    Ok(word.map(|word| format!("--{name}={word}")))
}

/// Both ends. Whatever they begin with, they are no options.
fn between((site, host, far_site, far_host): &Ends) -> Result<[String; 3], Refused> {
    let near = format!("{}/{}", end(site)?, end(host)?);
    let far = format!("{}/{}", end(far_site)?, end(far_host)?);
    Ok(["--".to_owned(), near, far])
}

/// A site, or a host at its site.
fn end(text: &str) -> Result<String, Refused> {
    form::name(text, "the host").map_err(wrong)
}

/// An option that names a file, as it was named to this server.
fn option(name: &str, value: &OsStr) -> String {
    format!("--{name}={}", value.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> Fleet {
        Fleet {
            runs: PathBuf::from("/srv/runs"),
            mesh: Some(PathBuf::from("mesh.toml")),
            credentials: None,
            at_unix_ns: Some(7),
        }
    }

    fn words(measure: Option<&str>, sites: Option<&str>) -> Option<Vec<String>> {
        let shown = Shown { measure: measure.map(str::to_owned), sites: sites.map(str::to_owned) };
        matrix_words(&fleet(), Ok(Query(shown))).ok()
    }

    #[test]
    fn a_page_asks_what_a_person_would_type() {
        let line = "fleet matrix --runs=/srv/runs --at-unix-ns=7 --format=page --mesh=mesh.toml";
        assert_eq!(words(None, None).unwrap().join(" "), line);
        let more = words(Some("rtt"), Some("rome,oslo")).unwrap().join(" ");
        assert_eq!(more, format!("{line} --measure=rtt --sites=rome --sites=oslo"));
        // A field that was left empty asks for nothing.
        assert_eq!(words(Some(""), None).unwrap().join(" "), line);
    }

    #[test]
    fn nothing_in_an_address_becomes_another_option() {
        for (measure, sites) in [
            (Some("--output=/etc/passwd"), None),
            (Some("a b"), None),
            (None, Some("--runs=/")),
            (None, Some("")),
            (None, Some("rome,,oslo")),
            (None, Some("rome/a")),
        ] {
            assert_eq!(words(measure, sites), None, "{measure:?} {sites:?}");
        }
        let many = vec!["a"; SITES_MAX + 1].join(",");
        assert_eq!(words(None, Some(&many)), None);
        let ends = |near: &str, far: &str| {
            let [near, far, site] = [near, far, "rome"].map(str::to_owned);
            between(&(site.clone(), near, site, far)).ok()
        };
        let both = ["--", "rome/a", "rome/b"].map(str::to_owned);
        assert_eq!(ends("a", "b"), Some(both));
        for odd in ["", "--help", "a/b", "a b", "a\0"] {
            assert_eq!(ends(odd, "b"), None, "{odd:?}");
            assert_eq!(ends("a", odd), None, "{odd:?}");
        }
    }
}
