//! The judgments API in a warp app, beside the app's own routes.
//!
//! `filter.rs` is the part to copy. Run it, then try:
//!
//! ```sh
//! curl -s localhost:8080/kindgi/v1/judgments -H 'Authorization: Bearer demo-token' \
//!   -H 'Content-Type: application/json' \
//!   -d '{"runId":"run-1","item":{"key":"score","pointer":"/score"},"verdict":"yes"}'
//! ```

mod filter;

use std::io::{self, Write as _};

use async_trait::async_trait;
use kindgi_core::{
    BoxError, HostError, MemoryStore,
    engine::Engine,
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{InvalidText, Principal, Readable, Run, RunId, Subject, TenantId},
};
use kindgi_tower::{AuthError, Authenticator, KindgiService};
use tokio::net::TcpListener;
use warp::{Filter, Rejection, Reply};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    // A database in place of `MemoryStore` keeps judgments beyond the process.
    let engine = Engine::builder(MemoryStore::new(), Host, Host).build();
    let service = KindgiService::builder(engine)
        .authenticator(Host)
        .base_path("/kindgi")
        .build();

    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    writeln!(
        io::stdout(),
        "listening on http://{}",
        listener.local_addr()?
    )?;
    let until = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    warp::serve(app(service.clone()))
        .incoming(listener)
        .graceful(until)
        .run()
        .await;
    // A write goes on when its client has hung up: let it finish.
    service.drained().await;
    Ok(())
}

/// The app's own routes, and the API.
fn app(
    service: KindgiService,
) -> impl Filter<Extract = (impl Reply,), Error = Rejection> + Clone + Send + Sync + 'static {
    let hello = warp::path!("hello").map(|| "hello from the app\n");
    hello.or(filter::mounted("kindgi", service, signed_in()))
}

/// Whom the app's own session belongs to, if there is one: this wins over a bearer token. A real
/// host looks the session up.
fn signed_in() -> impl Filter<Extract = (Option<Principal>,), Error = std::convert::Infallible>
+ Clone
+ Send
+ Sync
+ 'static {
    let cookie = warp::header::value("cookie")
        .map(Some)
        .or(warp::any().map(|| None))
        .unify();
    cookie.map(|cookie: Option<http::HeaderValue>| {
        let cookie = cookie.filter(|cookie| cookie.as_bytes() == b"session=ada");
        cookie.and_then(|_| ada().ok())
    })
}

/// The host: its runs, its permissions, its tokens.
struct Host;

#[async_trait]
impl Runs for Host {
    /// A real host looks the run up in its own database, by tenant and id.
    async fn run(&self, _: &TenantId, id: &RunId) -> Result<Option<Run>, HostError> {
        if id.as_str() != "run-1" {
            return Ok(None);
        }
        let subject = Subject::Agent {
            id: "acme.matcher".parse().map_err(HostError::new)?,
            version: "1.2.0".parse().map_err(HostError::new)?,
        };
        let project = "project-1".parse().map_err(HostError::new)?;
        let output = RawJson::parse(r#"{"score":1.10}"#).map_err(HostError::new)?;
        Ok(Some(
            Run::new(id.clone(), project, subject).completed_with(output),
        ))
    }
}

#[async_trait]
impl Permissions for Host {
    /// A real host asks its own permissions, for each `Permission` on its own.
    async fn allows(&self, _: &Principal, _: Permission<'_>) -> Result<bool, HostError> {
        Ok(true)
    }

    /// A real host names the projects, unless the caller may read them all.
    async fn readable_projects(&self, _: &Principal) -> Result<Readable, HostError> {
        Ok(Readable::All)
    }
}

#[async_trait]
impl Authenticator for Host {
    /// A real host looks up a hash of the token, or checks its signature.
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError> {
        match token {
            "demo-token" => ada().map_err(|e| HostError::new(e).into()),
            _ => Err(AuthError::unknown()),
        }
    }
}

fn ada() -> Result<Principal, InvalidText> {
    Ok(Principal::user("acme".parse()?, "ada".parse()?))
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;

    /// One request over a socket of its own.
    async fn send(address: std::net::SocketAddr, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let length = body.len();
        let request = format!(
            "{head}\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    async fn started() -> std::net::SocketAddr {
        let engine = Engine::builder(MemoryStore::new(), Host, Host).build();
        let service = KindgiService::builder(engine)
            .authenticator(Host)
            .base_path("/kindgi")
            .build();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(warp::serve(app(service)).incoming(listener).run());
        address
    }

    const JUDGMENT: &str = r#"{"runId":"run-1","item":{"key":"score"},"verdict":"yes"}"#;

    #[tokio::test]
    async fn the_apps_own_routes_and_the_api_answer() {
        let address = started().await;
        let hello = send(address, "GET /hello HTTP/1.1", "").await;
        assert!(hello.ends_with("hello from the app\n"), "{hello}");
        let head = "POST /kindgi/v1/judgments HTTP/1.1\r\nAuthorization: Bearer demo-token";
        let made = send(address, head, JUDGMENT).await;
        assert!(made.starts_with("HTTP/1.1 201 "), "{made}");
    }

    #[tokio::test]
    async fn the_apps_session_is_enough_and_without_one_a_token_is_needed() {
        let address = started().await;
        let head = "POST /kindgi/v1/judgments HTTP/1.1";
        let made = send(address, &format!("{head}\r\nCookie: session=ada"), JUDGMENT).await;
        assert!(made.starts_with("HTTP/1.1 201 "), "{made}");
        let nobody = send(address, head, JUDGMENT).await;
        assert!(nobody.starts_with("HTTP/1.1 401 "), "{nobody}");
    }
}
