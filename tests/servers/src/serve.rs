//! What a program does that gives people a server to try things on.

use std::{
    env,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use crate::Error;

/// A server that runs: its process id, folder and URL.
pub type Running = (Option<u32>, &'static Path, String);

/// Says where a server's programs are, if it is asked so (`--where`); or else starts one, says its
/// process id, folder and URL, and ends with standard input. The code is 3 where it isn't installed.
pub fn serve(programs: fn() -> Result<PathBuf, Error>, start: fn() -> Running) -> ExitCode {
    match run(programs, start) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(match error {
                Error::Missing(_) => 3,
                Error::Failed(_) => 1,
            })
        }
    }
}

fn run(programs: fn() -> Result<PathBuf, Error>, start: fn() -> Running) -> Result<(), Error> {
    let programs = programs()?;
    let mut out = io::stdout();
    if env::args().nth(1).as_deref() == Some("--where") {
        let _ = writeln!(out, "{}", programs.display());
        return Ok(());
    }
    let (pid, folder, url) = start();
    let pid = pid.unwrap_or_default();
    let _ = writeln!(out, "{pid}\n{}\n{url}", folder.display());
    // Tells only when there is no more of it.
    let _ = io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}
