//! The demo host's process, killed when its test ends.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
};

use crate::client::{Answer, PATIENCE, send};

/// Variables that the host reads; none of them leaks in from whoever runs the tests.
const VARIABLES: [&str; 8] = [
    "PORT",
    "DATABASE_URL",
    "REDIS_URL",
    "RATE_LIMIT",
    "RATE_BURST",
    "MOUNT",
    "RUNS",
    "SEED_QUEUE",
];

/// The host's command, with these variables and no other of its own.
pub(crate) fn command(variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_axum-host"));
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
}

/// Starts a host that must not get ready; gives the status that it ends with and what it says.
#[track_caller]
pub(crate) fn refused(variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = command(&[("PORT", "0"), ("DATABASE_URL", "memory:"), ("RUNS", "0")]);
    command.envs(variables.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that gets ready says so and would not end.
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    if stdout.read_line(&mut line).unwrap() > 0 {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(line, "", "it got ready with {variables:?}");
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// A host that is ready.
pub(crate) struct Host {
    child: Child,
    stdout: Option<BufReader<ChildStdout>>,
    pub(crate) address: SocketAddr,
    /// What it printed up to the line that says that it is ready.
    pub(crate) printed: String,
}

impl Host {
    /// Starts a host on a free port.
    pub(crate) fn start(variables: &[(&str, &str)]) -> Self {
        let defaults = [("PORT", "0"), ("RUNS", "20"), ("DATABASE_URL", "memory:")];
        let mut command = command(&defaults);
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut host = Self {
            stdout: child.stdout.take().map(BufReader::new),
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            printed: String::new(),
        };
        let stdout = host.stdout.as_mut().unwrap();
        loop {
            let before = host.printed.len();
            if stdout.read_line(&mut host.printed).unwrap() == 0 {
                let ended = host.child.wait();
                panic!("the host ended: {ended:?}; it printed: {}", host.printed);
            }
            let line = host.printed[before..].trim_end();
            if let Some(address) = line.strip_prefix("listening on http://") {
                host.address = address.parse().unwrap();
                return host;
            }
        }
    }

    /// The lines that say what to try, without their indentation.
    pub(crate) fn greeting_lines(&mut self) -> Vec<String> {
        let stdout = self.stdout.as_mut().unwrap();
        let mut lines = Vec::new();
        // The host prints its greeting as a whole, and this is how the last line begins.
        while !lines
            .last()
            .is_some_and(|last: &String| last.contains("/demo/runs"))
        {
            let mut line = String::new();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "{lines:?}");
            lines.push(line.trim().to_owned());
        }
        lines
    }

    /// Sends a request with a token and, when it isn't empty, a JSON body.
    pub(crate) fn send(&self, method: &str, target: &str, token: &str, body: &str) -> Answer {
        let authorization = format!("Bearer {token}");
        let mut headers = vec![("Authorization", authorization.as_str())];
        if !body.is_empty() {
            headers.push(("Content-Type", "application/json"));
        }
        send(self.address, method, target, &headers, body)
    }

    pub(crate) fn get(&self, target: &str, token: &str) -> Answer {
        self.send("GET", target, token, "")
    }

    pub(crate) fn post(&self, target: &str, token: &str, body: &str) -> Answer {
        self.send("POST", target, token, body)
    }

    /// Judges an item of a run with `yes`.
    pub(crate) fn judge(&self, run: &str, pointer: &str, token: &str) -> Answer {
        let item = format!(r#"{{"key":"item {pointer}","pointer":"{pointer}"}}"#);
        let body = format!(r#"{{"runId":"{run}","item":{item},"verdict":"yes"}}"#);
        self.post("/v1/judgments", token, &body)
    }

    /// Sends the process a signal, by name.
    #[cfg(unix)]
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill")
            .args(["-s", name, &id])
            .status()
            .unwrap();
        assert!(sent.success());
    }

    /// Waits for the process to end by itself.
    pub(crate) fn wait(mut self) -> ExitStatus {
        let (ended, end) = mpsc::channel();
        let mut stdout = self.stdout.take().unwrap();
        thread::spawn(move || {
            // Its end is the process's end.
            let mut rest = Vec::new();
            let _ = ended.send(stdout.read_to_end(&mut rest));
        });
        let read = end.recv_timeout(PATIENCE).expect("the host goes on and on");
        read.unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
