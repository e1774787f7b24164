//! The host's own routes, beside the API: `GET /health`, `POST /demo/runs` and
//! `POST /demo/runs/{runId}/erase`.
//!
//! In a real host runs end because its agents end them, and they are erased because someone asked
//! for it; here a request stands for both. Anyone who is let in may do it; a real host asks its
//! permissions.

use axum::{
    Router,
    body::Bytes,
    extract::{
        DefaultBodyLimit, FromRequestParts, Path, State,
        rejection::{BytesRejection, PathRejection},
    },
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE},
        request::Parts,
    },
    response::{IntoResponse, Response},
    routing::{get, post},
};
use kindgi_core::{
    Clock as _, Error, SystemClock,
    engine::Engine,
    json::{ObjectWriter, Writer},
    model::{Principal, ProjectId, RunId},
};

use crate::{
    demo::{Demo, FinishedRun, OTHER_PROJECT, PROJECT, RefusedToken, TENANT},
    new_run::{Fault, NewRun},
};

/// The most bytes of a run's body. The API's own bodies are smaller; its service caps them itself.
const MAX_RUN_BYTES: usize = 64 << 20;

/// What the host's routes work on.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) demo: Demo,
    pub(crate) engine: Engine,
}

/// The host's own routes.
pub(crate) fn router(host: Host) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/demo/runs", post(finish_run))
        .route("/demo/runs/{run_id}/erase", post(erase_run))
        .layer(DefaultBodyLimit::max(MAX_RUN_BYTES))
        .with_state(host)
}

async fn health() -> Response {
    json(StatusCode::OK, |o| o.str("status", "ok"))
}

async fn finish_run(
    State(host): State<Host>,
    Caller(who): Caller,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let new = NewRun::decode(body?)?;
    let id = match &new.id {
        Some(id) => id.clone(),
        None => RunId::new(format!("run-{}", SystemClock.new_id())).map_err(Refusal::internal)?,
    };
    let project = match &new.project {
        Some(project) => project.clone(),
        None => home(&who).map_err(Refusal::internal)?,
    };
    let finished = new
        .finish(id.clone(), project.clone(), SystemClock.now())
        .map_err(Refusal::internal)?;
    let was_free = to_its_end(tell(host, who, finished)).await?;
    if !was_free {
        return Err(
            Refusal::new(StatusCode::CONFLICT, "run-exists", "there is such a run").at("/runId"),
        );
    }
    Ok(json(StatusCode::CREATED, |o| {
        o.str("runId", id.as_str());
        o.str("projectId", project.as_str());
    }))
}

async fn erase_run(
    State(host): State<Host>,
    Caller(who): Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Response, Refusal> {
    let none = || Refusal::new(StatusCode::NOT_FOUND, "run-not-found", "no such run");
    // An id that can't be one is nobody's.
    let Path(id) = path.map_err(|_| none())?;
    let id = RunId::new(id).map_err(|_| none())?;
    let found = host.demo.runs.get(&who.tenant, &id);
    if !found.is_some_and(|found| host.demo.people.may_read(&who, &found.run.project)) {
        return Err(none());
    }
    let run = id.clone();
    to_its_end(async move {
        // The host's own content first, so that no judgment meanwhile copies it again.
        host.demo.runs.erase(&who.tenant, &run);
        host.engine.erase_run(&who.tenant, &run).await
    })
    .await?;
    Ok(json(StatusCode::OK, |o| {
        o.str("runId", id.as_str());
        o.bool("erased", true);
    }))
}

/// Stores a finished run and tells the rules; whether its id was free. A run that is there is told
/// again, which makes up for a telling that failed and changes nothing else.
async fn tell(host: Host, who: Principal, finished: FinishedRun) -> Result<bool, Error> {
    let (id, project) = (finished.run.id.clone(), finished.run.project.clone());
    let was_free = host.demo.runs.add(&who.tenant, finished);
    if was_free {
        host.demo.directory.add(&who.tenant, &project);
    }
    // Once the run is there, so that whoever finds it in the queue finds it in the host, too.
    if let Some(stored) = host.demo.runs.get(&who.tenant, &id) {
        host.engine.run_ended(&who.tenant, &stored.ended()).await?;
    }
    Ok(was_free)
}

/// Does the work on a task of its own: a client that hangs up must not leave half of it done.
async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Refusal> {
    let done = tokio::spawn(work).await;
    done.map_err(Refusal::internal)?.map_err(Refusal::internal)
}

/// The project that a caller's runs are in unless they say.
fn home(who: &Principal) -> Result<ProjectId, kindgi_core::model::InvalidText> {
    let ours = who.tenant.as_str() == TENANT;
    (if ours { PROJECT } else { OTHER_PROJECT }).parse()
}

/// Who calls one of the host's own routes. They take the tokens that the API takes.
struct Caller(Principal);

impl FromRequestParts<Host> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, host: &Host) -> Result<Self, Refusal> {
        let token = bearer(&parts.headers).ok_or_else(|| {
            Refusal::unauthenticated("auth-missing", "send `Authorization: Bearer <token>`")
        })?;
        match host.demo.people.by_token(token) {
            Ok(who) => Ok(Self(who.clone())),
            Err(refused) => Err(match refused {
                RefusedToken::Unknown => {
                    Refusal::unauthenticated("auth-missing", "nobody has this token")
                }
                RefusedToken::Expired => {
                    Refusal::unauthenticated("auth-expired", "the token has expired")
                }
                RefusedToken::Revoked => {
                    Refusal::unauthenticated("auth-revoked", "the token was revoked")
                }
            }),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// An answer of 400 or more, of the shape that the API's errors have.
struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    field: Option<String>,
}

impl Refusal {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            field: None,
        }
    }

    fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    fn unauthenticated(code: &'static str, message: &'static str) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, code, message)
    }

    /// What went wrong is for the host's log, not for the caller.
    fn internal(_error: impl std::error::Error) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self::new(status, "internal-server-error", "the host failed")
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let field = fault.field.as_str();
        let message = match field {
            "" => format!("the body: {}", fault.message),
            _ => format!("`{field}` {}", fault.message),
        };
        Self::new(StatusCode::BAD_REQUEST, fault.code, message).at(field)
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        let status = rejection.status();
        let code = match status {
            StatusCode::PAYLOAD_TOO_LARGE => "request-too-large",
            _ => "bad-input",
        };
        Self::new(status, code, rejection.body_text())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = json(self.status, |o| {
            o.object("error", |o| {
                o.str("code", self.code);
                o.str("message", &self.message);
                if let Some(field) = &self.field {
                    o.object("details", |o| o.str("field", field));
                }
            });
        });
        if self.status == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

fn json(status: StatusCode, members: impl FnOnce(&mut ObjectWriter<'_>)) -> Response {
    let body = Writer::object(members);
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

#[cfg(test)]
mod tests {
    use kindgi_core::{MemoryStore, host::Runs as _};

    use super::*;

    #[tokio::test]
    async fn erasing_clears_the_hosts_own_run_too() {
        let demo = Demo::new(2).unwrap();
        let runs = demo.runs.clone();
        let who = demo.people.by_token("test-token").unwrap().clone();
        let store = MemoryStore::new();
        let engine = Engine::builder(store, runs.clone(), demo.people.clone()).build();

        let path = Ok(Path("run-1".to_owned()));
        let host = State(Host { demo, engine });
        let answer = erase_run(host, Caller(who.clone()), path).await;
        assert!(answer.is_ok_and(|answer| answer.status() == StatusCode::OK));

        for (name, erased) in [("run-1", true), ("run-0", false)] {
            let run = runs.run(&who.tenant, &name.parse().unwrap()).await;
            let run = run.unwrap().unwrap();
            assert_eq!(run.erased, erased, "{name}");
            assert_eq!(run.input.is_null(), erased, "{name}");
            assert_eq!(run.output.is_none(), erased, "{name}");
        }
    }
}
