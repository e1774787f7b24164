//! An app with a host in memory, and what every answer of it must be.

mod answer;
mod bodies;
mod faults;
mod host;
mod keys;

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, header};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use kindgi_core::{
    BoxError, Clock, MemoryStore,
    clock::ManualClock,
    engine::{Engine, Told},
    idempotency::MemoryIdempotency,
    model::{EndedRun, InvalidText, Principal, Run, RunId, RunStatus, Subject, TenantId},
};
use kindgi_tower::{KindgiService, KindgiServiceBuilder};
use tower::ServiceExt;

pub(crate) use self::{
    answer::Answer,
    bodies::{agent_scope, class, judgment, project_scope, queue, quoted, raw, rule, rules},
    faults::{FaultyStore, Gate, Trouble},
    host::{Host, Known},
    keys::FaultyKeys,
};

/// The tenant of everyone who isn't said to be of another.
pub(crate) const TENANT: &str = "acme";
/// The output of the runs there are from the start.
pub(crate) const OUTPUT: &str =
    r#"{"matches":[{"id":"a","score":1.10},{"id":"b","score":0.5}],"note":null,"flag":false}"#;

/// A service, and all that it stands on.
pub(crate) struct App {
    pub(crate) service: KindgiService,
    pub(crate) engine: Engine,
    pub(crate) host: Arc<Host>,
    pub(crate) clock: Arc<ManualClock>,
}

impl App {
    /// With `admin`, who may do everything in the tenant, `judge`, who reads and judges in p1, and
    /// `reader`, who reads p1; with the agent's runs `run-1` in p1 and `run-2` in p2.
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// With a service built otherwise.
    pub(crate) fn with(build: impl FnOnce(KindgiServiceBuilder) -> KindgiServiceBuilder) -> Self {
        Self::on(true, build)
    }

    /// On a host that has no directory.
    pub(crate) fn without_directory() -> Self {
        Self::on(false, |builder| builder)
    }

    fn on(
        directory: bool,
        build: impl FnOnce(KindgiServiceBuilder) -> KindgiServiceBuilder,
    ) -> Self {
        let host = Arc::new(Host::default());
        let clock = Arc::new(ManualClock::default());
        let store = FaultyStore::new(MemoryStore::new(), host.faults.clone());
        let keys = MemoryIdempotency::with_clock(Arc::clone(&clock));
        let mut engine = Engine::builder(store, Arc::clone(&host), Arc::clone(&host))
            .idempotency(FaultyKeys::new(keys, host.faults.clone()))
            .context_capture(Arc::clone(&host))
            .recent_runs(Arc::clone(&host))
            .clock(Arc::clone(&clock));
        if directory {
            engine = engine.directory(Arc::clone(&host));
        }
        let engine = engine.build();
        let builder = KindgiService::builder(engine.clone()).authenticator(Arc::clone(&host));
        let service = build(builder).build();
        let app = Self {
            service,
            engine,
            host,
            clock,
        };
        app.user("admin", "read:* judge:* write:* admin:* admin");
        app.user("judge", "read:p1 judge:p1");
        app.user("reader", "read:p1");
        app.run(finished("run-1", "p1", OUTPUT));
        app.run(finished("run-2", "p2", OUTPUT));
        app
    }

    /// A person of the tenant: the token and the id are the name. Rights are `read:p1`,
    /// `judge:*`, `admin` for the tenant's.
    pub(crate) fn user(&self, name: &str, rights: &str) {
        self.person(name, Principal::user(id(TENANT), id(name)), rights);
    }

    /// Anyone, by any token.
    pub(crate) fn person(&self, token: &str, who: Principal, rights: &str) {
        self.host.grant(&who, rights);
        self.host.token(token, Known::Principal(who));
    }

    /// A run of the tenant.
    pub(crate) fn run(&self, run: Run) {
        self.host.run_of(TENANT, run);
    }

    /// A request, with its token unless that is empty, and its body as JSON.
    pub(crate) fn request(
        &self,
        method: Method,
        token: &str,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = body.into();
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        request.body(Full::new(body)).unwrap()
    }

    /// The answer to a request, checked for what every answer must have.
    pub(crate) async fn send<B>(&self, request: Request<B>) -> Answer
    where
        B: Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let is_head = request.method() == Method::HEAD;
        let Ok(response) = self.service.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        let Ok(body) = body.collect().await;
        Answer::checked(parts, body.to_bytes(), is_head)
    }

    /// A request with an idempotency key.
    pub(crate) fn keyed_request(
        &self,
        method: Method,
        token: &str,
        path: &str,
        body: &str,
        key: &str,
    ) -> Request<Full<Bytes>> {
        let mut request = self.request(method, token, path, body.to_owned());
        let key = key.parse().unwrap();
        request.headers_mut().insert("idempotency-key", key);
        request
    }

    /// Posts with an idempotency key.
    pub(crate) async fn keyed_post(
        &self,
        token: &str,
        path: &str,
        body: &str,
        key: &str,
    ) -> Answer {
        self.send(self.keyed_request(Method::POST, token, path, body, key))
            .await
    }

    pub(crate) async fn call(&self, method: Method, token: &str, path: &str, body: &str) -> Answer {
        self.send(self.request(method, token, path, body.to_owned()))
            .await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Answer {
        self.call(Method::GET, token, path, "").await
    }

    pub(crate) async fn head(&self, token: &str, path: &str) -> Answer {
        self.call(Method::HEAD, token, path, "").await
    }

    pub(crate) async fn post(&self, token: &str, path: &str, body: &str) -> Answer {
        self.call(Method::POST, token, path, body).await
    }

    pub(crate) async fn patch(&self, token: &str, path: &str, body: &str) -> Answer {
        self.call(Method::PATCH, token, path, body).await
    }

    /// Posts a judgment's body.
    pub(crate) async fn record(&self, token: &str, body: &str) -> Answer {
        self.post(token, "/v1/judgments", body).await
    }

    /// Judges an item without a pointer, and gives the judgment's id.
    pub(crate) async fn judge(&self, token: &str, run: &str, key: &str) -> String {
        self.record(token, &judgment(run, key, ""))
            .await
            .is(201)
            .text("/id")
    }

    /// A judgment with its copies.
    pub(crate) async fn judgment(&self, id: &str) -> Answer {
        self.get("admin", &format!("/v1/judgments/{id}"))
            .await
            .is(200)
    }

    /// Creates a judge class as the admin, and gives its id.
    pub(crate) async fn class(&self, scope: &str, name: &str, more: &str) -> String {
        let body = class(scope, name, more);
        self.post("admin", "/v1/judge-classes", &body)
            .await
            .is(201)
            .text("/id")
    }

    /// Creates a judging rule as the admin, and gives its path.
    pub(crate) async fn rule(&self, project: &str, name: &str, more: &str) -> String {
        let rules = rules(project);
        let made = self.post("admin", &rules, &rule(name, more)).await.is(201);
        format!("{rules}/{}", made.text("/ruleId"))
    }

    /// A run of the agent that ends now, and well.
    pub(crate) fn ended(&self, run: &str, project: &str) -> EndedRun {
        let subject = agent_run(run, project).subject;
        EndedRun::new(id(run), id(project), subject, self.clock.now())
    }

    /// Ends a run as the host does: it can be judged if it went well, and the rules are told.
    pub(crate) async fn end(&self, run: EndedRun) -> Told {
        let mut own = Run::new(run.id.clone(), run.project.clone(), run.subject.clone());
        if run.status == RunStatus::Completed {
            own = own.completed_with(raw(OUTPUT));
        }
        self.run(own);
        self.host.ended(TENANT, run.clone());
        let told = self.engine.run_ended(&id::<TenantId>(TENANT), &run).await;
        told.unwrap()
    }

    /// Ends runs of the agent, each of which some rule takes.
    pub(crate) async fn queued(&self, project: &str, runs: &[&str]) {
        for run in runs {
            let told = self.end(self.ended(run, project)).await;
            assert!(matches!(told, Told::Queued(_)), "{run}: {told:?}");
        }
    }

    /// The text at a pointer into a run's one item in a project's queue.
    pub(crate) async fn item(&self, project: &str, run: &str, pointer: &str) -> String {
        let path = format!("{}?limit=100", queue(project));
        let page = self.get("admin", &path).await.is(200);
        let runs = page.column("runId");
        let at: Vec<usize> = (0..runs.len()).filter(|at| runs[*at] == run).collect();
        assert_eq!(at.len(), 1, "{run}: {}", page.body);
        page.shown(&format!("/data/{}{pointer}", at[0]))
    }

    /// Where a run's item is.
    pub(crate) async fn state(&self, project: &str, run: &str) -> String {
        let state = self.item(project, run, "/state").await;
        state.trim_matches('"').to_owned()
    }

    /// Dismisses or reopens a run's item.
    pub(crate) async fn moved(&self, token: &str, run: &str, how: &str, body: &str) -> Answer {
        let path = format!("{}/{run}/{how}", queue("p1"));
        self.post(token, &path, body).await
    }

    /// Judges a run under a class.
    pub(crate) async fn judge_under(&self, token: &str, run: &str, class: &str) -> String {
        let body =
            judgment(run, "k", "").replacen('{', &format!(r#"{{"judgeClassId":"{class}","#), 1);
        self.record(token, &body).await.is(201).text("/id")
    }

    /// The ids of a list's first page.
    pub(crate) async fn ids(&self, token: &str, path: &str) -> Vec<String> {
        self.get(token, path).await.is(200).ids()
    }

    /// Erases a run of the tenant, as the host does.
    pub(crate) async fn erase(&self, run: &str) {
        self.engine
            .erase_run(&id::<TenantId>(TENANT), &id::<RunId>(run))
            .await
            .unwrap();
    }
}

/// A valid text as an id.
pub(crate) fn id<T>(text: &str) -> T
where
    T: for<'t> TryFrom<&'t str, Error = InvalidText>,
{
    T::try_from(text).unwrap()
}

/// A run of the agent `acme.matcher` 1.2.0 that hasn't ended.
pub(crate) fn agent_run(run: &str, project: &str) -> Run {
    let subject = Subject::Agent {
        id: id("acme.matcher"),
        version: id("1.2.0"),
    };
    Run::new(id(run), id(project), subject)
}

/// A run of the agent that ended well.
pub(crate) fn finished(run: &str, project: &str, output: &str) -> Run {
    agent_run(run, project)
        .with_input(raw(r#"{"q": "who?"}"#))
        .completed_with(raw(output))
}
