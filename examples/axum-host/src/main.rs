//! The demo host's process: reads the environment, listens, and stops cleanly; or moves what a
//! database holds, if its arguments say so.
//!
//! What it serves is put together in the library (`lib.rs`).

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    net::{Ipv4Addr, SocketAddr},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum_host::{
    App, BoxError, Config,
    archive::{self, Command},
};
use kindgi_core::store::ExportPosition;
use tokio::{net::TcpListener, signal, sync::oneshot, time};

/// How long clients may take to finish their requests once the host was told to stop.
const GRACE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    match Command::from_args(env::args_os().skip(1)) {
        Ok(None) => {}
        Ok(Some(command)) => return move_house(command).await,
        Err(error) => return fail(2, &*error),
    }
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

/// Does what was asked for instead of serving.
async fn move_house(command: Command) -> ExitCode {
    let done = match &command {
        Command::Export { url, from } => export(url, from.clone()).await,
        Command::Import { url } => import(url).await,
        Command::Compare { urls } => match compare(urls).await {
            Ok(0) => Ok(()),
            // As `cmp` and `diff` end.
            Ok(_) => return ExitCode::from(1),
            Err(error) => return fail(2, &*error),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(1, &*error),
    }
}

async fn export(url: &str, from: Option<ExportPosition>) -> Result<(), BoxError> {
    let store = archive::open_to_read(url).await?;
    let told = Arc::new(AtomicBool::new(false));
    let signalled = stop_signal()?;
    let telling = Arc::clone(&told);
    tokio::spawn(async move {
        signalled.await;
        telling.store(true, Ordering::Relaxed);
    });
    let is_told = || told.load(Ordering::Relaxed);
    let mut out = io::stdout().lock();
    let records = archive::export(&store, from, &mut out, &is_told).await?;
    say(&format!("{records} records exported"));
    Ok(())
}

async fn import(url: &str) -> Result<(), BoxError> {
    let store = archive::open(url).await?;
    let mut input = io::stdin().lock();
    let counts = archive::import(&store, &mut input).await?;
    let archive::Counts { read, added } = counts;
    say(&format!("{read} records imported, {added} of them new"));
    // SQLite's log goes into its file.
    store.close().await;
    Ok(())
}

async fn compare([one, other]: &[String; 2]) -> Result<u64, BoxError> {
    let one = archive::open_to_read(one).await?;
    let other = archive::open_to_read(other).await?;
    let mut out = io::stdout().lock();
    let differences = archive::compare(&one, &other, &mut out).await?;
    say(&match differences {
        0 => "both hold the same".to_owned(),
        _ => format!("{differences} records differ"),
    });
    Ok(differences)
}

/// Says something to the person at the terminal, apart from the output.
fn say(what: &str) {
    let _ = writeln!(io::stderr(), "axum-host: {what}");
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
    say(&message);
    ExitCode::from(code)
}
