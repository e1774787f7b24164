//! The judgments API under plain hyper, without a web framework.
//!
//! Run it, then try:
//!
//! ```sh
//! curl -s localhost:8080/v1/judgments -H 'Authorization: Bearer demo-token' \
//!   -H 'Content-Type: application/json' \
//!   -d '{"runId":"run-1","item":{"key":"score","pointer":"/score"},"verdict":"yes"}'
//! ```

use std::io::{self, Write as _};

use async_trait::async_trait;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use kindgi_core::{
    BoxError, HostError, MemoryStore,
    engine::Engine,
    host::{Permission, Permissions, Runs},
    json::RawJson,
    model::{InvalidText, Principal, Readable, Run, RunId, Subject, TenantId},
};
use kindgi_tower::{AuthError, Authenticator, KindgiService};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    writeln!(
        io::stdout(),
        "listening on http://{}",
        listener.local_addr()?
    )?;
    let service = service();
    tokio::select! {
        served = serve(listener, service.clone()) => served?,
        _ = tokio::signal::ctrl_c() => {}
    }
    // A write goes on when its client has hung up: let it finish. A real host also lets the open
    // connections come to their end, with hyper-util's `GracefulShutdown`.
    service.drained().await;
    Ok(())
}

fn service() -> KindgiService {
    // A database in place of `MemoryStore` keeps judgments beyond the process.
    let engine = Engine::builder(MemoryStore::new(), Host, Host).build();
    // Behind a proxy that leaves a prefix on the path, say `.base_path("/that-prefix")`.
    KindgiService::builder(engine).authenticator(Host).build()
}

/// Accepts connections until accepting fails. A real host goes on after a failure that passes,
/// such as too many open files, and limits how many connections it takes.
async fn serve(listener: TcpListener, service: KindgiService) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // The timer lets hyper drop clients that never finish their request's head.
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                let _ = writeln!(io::stderr(), "a connection failed: {error}");
            }
        });
    }
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

    #[tokio::test]
    async fn a_judgment_is_recorded_over_a_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, service()));

        let body = r#"{"runId":"run-1","item":{"key":"score","pointer":"/score"},"verdict":"no"}"#;
        let length = body.len();
        let head = "POST /v1/judgments HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
                    Authorization: Bearer demo-token\r\nContent-Length";
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("{head}: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
        assert!(answer.contains(r#""verdict":"no""#), "{answer}");
    }
}
