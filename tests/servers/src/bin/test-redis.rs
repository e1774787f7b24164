//! A Redis server to try things on, as tests get it. It ends when standard input does.
//!
//! ```sh
//! cargo run -p kindgi-test-servers --bin test-redis             # says its process id, folder and URL
//! cargo run -p kindgi-test-servers --bin test-redis -- --where  # says where Redis's programs are
//! ```
//!
//! Exits with 3 where Redis isn't installed.

use std::{
    env,
    io::{self, Read, Write},
    process::ExitCode,
};

use kindgi_test_servers::{Error, Redis, redis};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(match error {
                Error::Missing(_) => 3,
                _ => 1,
            })
        }
    }
}

fn run() -> Result<(), Error> {
    let programs = redis::programs()?;
    let mut out = io::stdout();
    if env::args().nth(1).as_deref() == Some("--where") {
        let _ = writeln!(out, "{}", programs.display());
        return Ok(());
    }
    // The shared one, which is never dropped.
    let server = Redis::shared();
    let _ = writeln!(
        out,
        "{}\n{}\n{}",
        server.pid().unwrap_or_default(),
        server.folder().display(),
        server.url()
    );
    // Tells only when there is no more of it.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}
