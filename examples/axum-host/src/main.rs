//! The demo host's process: reads the environment, listens, and stops cleanly.
//!
//! What it serves is put together in the library (`lib.rs`).

use std::{
    error::Error,
    io::{self, Write as _},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use axum_host::{App, BoxError, Config};
use tokio::{net::TcpListener, signal, sync::oneshot, time};

/// How long clients may take to finish their requests once the host was told to stop.
const GRACE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    let config = match Config::from_env() {
        Ok(config) => config,
        Err(error) => return fail(2, &error),
    };
    match run(&config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &*error),
    }
}

async fn run(config: &Config) -> Result<(), BoxError> {
    let App { router, service } = axum_host::app(config).await?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port));
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("PORT: can't listen on {address}: {error}"))?;
    // Before anyone is told that the host is ready, so that no signal is missed from then on.
    let signalled = stop_signal()?;
    greet(config, listener.local_addr()?);

    let (stopping, stopped) = oneshot::channel();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
        signalled.await;
        let _ = stopping.send(());
    });
    let overdue = async {
        let _ = stopped.await;
        time::sleep(GRACE).await;
    };
    tokio::select! {
        served = serving.into_future() => served?,
        // A client that keeps its connection busy must not keep the host from stopping.
        () = overdue => {}
    }
    // A write runs on when its client is gone: let it finish.
    service.drained().await;
    Ok(())
}

/// Resolves when the process is asked to stop: SIGTERM or Ctrl-C.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Resolves when the process is asked to stop: Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = signal::ctrl_c().await;
    })
}

/// Says that the host is ready, and what to try. A closed output is no reason to stop.
fn greet(config: &Config, address: SocketAddr) {
    let host = format!("http://{address}");
    let api = format!("{host}{}", config.mount.as_deref().unwrap_or_default());
    let run = if config.runs > 1 {
        "run-1"
    } else {
        "run-replay"
    };
    let greeting = format!(
        r#"listening on {host}
try:
  curl -s {host}/health
  curl -s {api}/v1/judgments -H 'Authorization: Bearer test-token' -H 'Content-Type: application/json' -d '{{"runId":"{run}","item":{{"key":"first","pointer":"/matches/0"}},"verdict":"yes"}}'
  curl -s '{api}/v1/judgments?runId={run}' -H 'Authorization: Bearer test-token'
  curl -s {host}/demo/runs -H 'Authorization: Bearer test-token' -d '{{"runId":"mine","output":{{"score":1.10}}}}'
"#
    );
    let mut out = io::stdout().lock();
    let _ = out
        .write_all(greeting.as_bytes())
        .and_then(|()| out.flush());
}

fn fail(code: u8, error: &dyn Error) -> ExitCode {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    let _ = writeln!(io::stderr(), "axum-host: {message}");
    ExitCode::from(code)
}
