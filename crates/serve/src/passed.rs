//! What the program wrote when it was asked something, passed on as it is.

use crate::answer::{failed, plain};
use crate::program::Ran;
use crate::{Shared, guard};
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// Asks the program.
pub(crate) async fn asked(shared: &Shared, args: &[&str]) -> std::io::Result<Ran> {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    shared.program.run(&args).await
}

/// JSON that it wrote.
pub(crate) fn as_json(ran: std::io::Result<Ran>) -> Response {
    as_file(ran, "application/json", None)
}

/// What the program wrote, as it wrote it. Pages of reports are apart from this server's own.
pub(crate) fn as_file(
    ran: std::io::Result<Ran>,
    kind: &'static str,
    name: Option<String>,
) -> Response {
    let (mut response, name) = match ran {
        Ok(ran) if ran.code == 0 || (!ran.out.is_empty() && ran.code < 20) => {
            (([(CONTENT_TYPE, kind)], Body::from(ran.out)).into_response(), name)
        }
        Ok(ran) => (failed(ran.failure()), None),
        Err(error) => (broken(&error), None),
    };
    let headers = response.headers_mut();
    // What went wrong is read in the frame, too.
    if kind.starts_with("text/html")
        && let Ok(policy) = guard::REPORT_POLICY.parse()
    {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    if let Some(Ok(value)) = name.map(|name| format!("attachment; filename=\"{name}\"").parse()) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response
}

/// Why the program could not be asked.
pub(crate) fn broken(error: &std::io::Error) -> Response {
    if error.kind() == std::io::ErrorKind::ResourceBusy {
        let why = "So many things are looked up at a time and no more. Ask again in a moment.";
        return plain(StatusCode::SERVICE_UNAVAILABLE, "too much is asked at once", why);
    }
    plain(StatusCode::INTERNAL_SERVER_ERROR, "the program cannot be run", &error.to_string())
}
