//! What every server needs: a folder, a process, and someone to end the one and remove the other
//! when this process is gone, however it went.
//!
//! That someone is a small shell, the warden, which reads a pipe from us. A server tells it its
//! process id just before it becomes the server. When the pipe closes, because we closed it or
//! because we were killed, the warden ends the server and removes the folder.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    net::{Ipv4Addr, TcpListener},
    os::unix::{
        fs::{MetadataExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::Error;

/// How often a condition is looked at.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);
/// How long anything may take before it counts as failed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Reads process ids, of which the last counts; an empty line means that there is none any more.
/// A server that hangs must not keep the folder, nor must one that has ended and whose new parent
/// doesn't ask how, which only Linux's `/proc` can tell from one that runs.
const WARDEN: &str = r#"
runs() { kill -0 "$pid" && ! grep -q ') Z ' "/proc/$pid/stat"; }
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
    kill -s "$2" "$pid"
    tries=0
    while runs && [ "$tries" -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    [ "$tries" -lt 100 ] || kill -s KILL "$pid"
fi
tries=0
until rm -rf -- "$1" || [ "$tries" -ge 100 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
"#;

/// Tells the warden its id, and becomes the program, with the log as its output.
const PROGRAM: &str = r#"echo "$$" && exec "$@" >&2"#;

/// A user that a server may run as.
#[derive(Clone, Copy, Debug)]
struct User {
    uid: u32,
    gid: u32,
}

/// A folder that is gone when we are, and at most one process that works in it.
#[derive(Debug)]
pub(crate) struct Den {
    path: PathBuf,
    /// Set where we are root, which servers refuse to run as.
    user: Option<User>,
    /// What ends a process at once, leaving nothing of its own behind.
    end: &'static str,
    warden: Child,
    /// `None` only while dropping.
    pipe: Option<File>,
    child: Option<Child>,
    /// The length of the log when the process was started.
    log_start: u64,
}

impl Den {
    /// A new folder. `users` are whom to run as where we are root; the first that exists counts.
    pub(crate) fn new(prefix: &str, users: &[&str], end: &'static str) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir()
            .map_err(Error::on("a temporary folder"))?;
        // Whoever makes a folder owns it.
        let owner = fs::metadata(folder.path()).map_err(Error::on("the temporary folder"))?;
        let user = if owner.uid() == 0 {
            let user = user_of(users)?;
            chown(folder.path(), Some(user.uid), Some(user.gid))
                .map_err(Error::on("giving the folder to the server's user"))?;
            Some(user)
        } else {
            None
        };
        let mut warden = shell(WARDEN)
            .args([folder.path().as_os_str(), OsStr::new(end)])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::on("starting sh"))?;
        let pipe = warden
            .stdin
            .take()
            .ok_or_else(|| Error::Failed("sh has no standard input".to_owned()))?;
        Ok(Self {
            path: folder.keep(),
            user,
            end,
            warden,
            pipe: Some(File::from(std::os::fd::OwnedFd::from(pipe))),
            child: None,
            log_start: 0,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The id of the process, from its start until it was stopped or found to have ended.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Starts a program in the folder, with the C locale, so that its log can be understood.
    pub(crate) fn start<I>(&mut self, program: &Path, arguments: I) -> Result<(), Error>
    where
        I: IntoIterator<Item: AsRef<OsStr>>,
    {
        let failed = || Error::on(format!("starting {}", program.display()));
        self.stop(self.end)?;
        let mut log = File::options()
            .create(true)
            .append(true)
            .open(self.log_path())
            .map_err(failed())?;
        self.log_start = log.seek(SeekFrom::End(0)).map_err(failed())?;
        let pipe = match &self.pipe {
            Some(pipe) => pipe.try_clone().map_err(failed())?,
            None => return Err(Error::Failed("the folder is being removed".to_owned())),
        };
        let mut command = shell(PROGRAM);
        command
            .arg(program)
            .args(arguments)
            .current_dir(&self.path)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(pipe)
            .stderr(log);
        if let Some(user) = self.user {
            // This leaves root's other groups, too.
            command.uid(user.uid).gid(user.gid);
        }
        self.child = Some(command.spawn().map_err(failed())?);
        Ok(())
    }

    /// How the process ended, if it did. That is told once.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        let Some(child) = &mut self.child else {
            return Ok(None);
        };
        let status = child
            .try_wait()
            .map_err(Error::on("waiting for a server"))?;
        if status.is_some() {
            self.forget();
        }
        Ok(status)
    }

    /// Waits for the process to end by itself.
    pub(crate) fn wait(&mut self) -> Result<ExitStatus, Error> {
        until("a program to end", || self.ended())
    }

    /// Sends the process a signal, and waits for its end.
    pub(crate) fn stop(&mut self, signal: &str) -> Result<(), Error> {
        let Some(child) = &self.child else {
            return Ok(());
        };
        // As long as nobody asked for its end, the id is the process's, even if it has ended.
        shell(r#"kill -s "$1" "$2""#)
            .args([signal, &child.id().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(Error::on("starting sh"))?;
        self.wait().map(drop)
    }

    /// What the process has said since it was started.
    pub(crate) fn log(&self) -> String {
        let read = || {
            let mut log = File::open(self.log_path())?;
            log.seek(SeekFrom::Start(self.log_start))?;
            let mut said = Vec::new();
            log.read_to_end(&mut said)?;
            io::Result::Ok(String::from_utf8_lossy(&said).into_owned())
        };
        read().unwrap_or_else(|error| format!("(no log: {error})"))
    }

    fn log_path(&self) -> PathBuf {
        self.path.join("log")
    }

    /// The process has ended, and its id may be another's soon.
    fn forget(&mut self) {
        self.child = None;
        if let Some(pipe) = &mut self.pipe {
            // Fails only where somebody ended the warden, who then ends nothing, either.
            let _ = pipe.write_all(b"\n");
        }
    }
}

impl Drop for Den {
    fn drop(&mut self) {
        // Here, since it is our child: the warden couldn't tell its end from its being a zombie.
        if self.stop(self.end).is_err()
            && let Some(mut child) = self.child.take()
        {
            let _ = child.kill();
            let _ = child.wait();
            self.forget();
        }
        self.pipe = None;
        let _ = self.warden.wait();
    }
}

/// A shell in a process group of its own: Ctrl-C is for us alone, and the warden does the rest.
fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh"]).process_group(0);
    command
}

fn user_of(names: &[&str]) -> Result<User, Error> {
    let users = fs::read_to_string("/etc/passwd").map_err(Error::on("/etc/passwd"))?;
    names
        .iter()
        .find_map(|name| user_in(&users, name))
        .ok_or_else(|| {
            Error::Failed(format!(
                "the server can't run as root, and there is no user {}",
                names.join(" or ")
            ))
        })
}

fn user_in(users: &str, name: &str) -> Option<User> {
    // Some systems write the id of `nobody` as -2.
    let id = |text: &str| {
        text.parse::<u32>()
            .or_else(|_| text.parse::<i32>().map(i32::cast_unsigned))
            .ok()
    };
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let uid = id(fields.nth(1)?)?;
        let gid = id(fields.next()?)?;
        Some(User { uid, gid })
    })
}

/// Asks until there is an answer, for a bounded time.
pub(crate) fn until<T>(
    what: &str,
    mut ask: impl FnMut() -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        if start.elapsed() > PATIENCE {
            return Err(Error::Failed(format!("waited {PATIENCE:?} for {what}")));
        }
        thread::sleep(PAUSE);
    }
}

/// Ports of 127.0.0.1 that nobody listens on just now. They are below those that systems give to
/// outgoing connections, so that a server that is stopped for a while finds its own free again.
pub(crate) fn free_ports() -> impl Iterator<Item = u16> {
    std::iter::repeat_with(|| 15_000 + u16::try_from(random() % 15_000).unwrap_or(0))
        .filter(|&port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok())
}

fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn den() -> Den {
        Den::new("kindgi-child-", &["nobody"], "KILL").unwrap()
    }

    #[test]
    fn a_dropped_den_leaves_nothing() {
        let mut den = den();
        den.start(Path::new("/bin/sh"), ["-c", "exec sleep 600"])
            .unwrap();
        let (path, pid) = (den.path().to_owned(), den.pid().unwrap());
        assert!(is_running(pid));
        drop(den);
        assert!(!is_running(pid));
        assert!(!path.exists());
    }

    #[test]
    fn the_warden_alone_ends_the_process_and_removes_the_folder() {
        let mut den = den();
        den.start(Path::new("/bin/sh"), ["-c", "echo begun; exec sleep 600"])
            .unwrap();
        until("the start", || {
            Ok(den.log().contains("begun").then_some(()))
        })
        .unwrap();
        // What happens when we are killed, but for our asking how the process ended.
        den.pipe = None;
        let child = den.child.as_mut().unwrap();
        let status = until("the end", || Ok(child.try_wait().unwrap())).unwrap();
        assert_eq!(status.signal(), Some(9));
        den.child = None;
        den.warden.wait().unwrap();
        assert!(!den.path().exists());
    }

    #[test]
    fn the_warden_forgets_a_process_that_has_ended() {
        let mut den = den();
        let mut other = Command::new("/bin/sleep").arg("600").spawn().unwrap();
        // As though the id of our process were another's by now.
        let line = format!("{}\n", other.id());
        den.pipe
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
        den.forget();
        drop(den);
        let ended = other.try_wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(ended, None);
    }

    #[test]
    fn the_log_is_of_the_last_start() {
        let mut den = den();
        for word in ["first", "second"] {
            den.start(Path::new("/bin/sh"), ["-c", "echo $0; echo $0 >&2", word])
                .unwrap();
            assert!(den.wait().unwrap().success());
            assert_eq!(den.log(), format!("{word}\n{word}\n"));
        }
        assert_eq!(den.pid(), None);
    }

    #[test]
    fn users_are_found_by_name() {
        let users = "root:x:0:0::/:/bin/sh\nme2:x:7:8::/:/bin/sh\nme:x:5:6::/:\nno:*:-2:-3::/:\n";
        let ids = |name| user_in(users, name).map(|user| (user.uid, user.gid));
        assert_eq!(ids("me"), Some((5, 6)));
        assert_eq!(ids("no"), Some((u32::MAX - 1, u32::MAX - 2)));
        assert_eq!(ids("m"), None);
    }

    #[test]
    fn a_free_port_is_none_that_is_taken() {
        let taken: Vec<_> = free_ports()
            .take(50)
            .filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok())
            .collect();
        let taken: Vec<_> = taken
            .iter()
            .map(|listener| listener.local_addr().unwrap().port())
            .collect();
        let free: Vec<_> = free_ports().take(2000).collect();
        assert!(free.iter().all(|port| !taken.contains(port)));
    }

    fn is_running(pid: u32) -> bool {
        let status = shell(r#"kill -0 "$1""#)
            .arg(pid.to_string())
            .stderr(Stdio::null())
            .status();
        status.unwrap().success()
    }
}
