//! `--exec`: runs a command for each change. What a server has sent reaches it only in variables, which no
//! shell interprets.

use crate::bytes::Bytes;
use crate::raw::archive::iso;
use crate::system;
use std::collections::HashMap;
use std::io;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};
use warmwire::watch::Event;

/// Most bytes of a message in a variable: Linux refuses to start a program with a longer one than 128 KiB.
const DATA_LIMIT: usize = 64 * 1024;

/// Variables of the command, with their values; `None` removes one that was inherited.
type Variables = Vec<(&'static str, Option<String>)>;

/// The commands that run, one for each URL at most.
pub struct Commands {
    command: Option<Bytes>,
    running: HashMap<usize, Child>,
    /// The last change of a URL whose command still runs.
    waiting: HashMap<usize, Variables>,
}

impl Commands {
    /// Creates the runner of a command; without one it does nothing.
    pub fn new(command: Option<Bytes>) -> Commands {
        Commands { command, running: HashMap::new(), waiting: HashMap::new() }
    }

    /// Runs the command for a change. If that of the last change of the URL still runs, it runs once more
    /// afterwards, for the newest change.
    pub fn run(&mut self, event: &Event, url: &str, saved: Option<&str>) -> io::Result<()> {
        let variables = variables(event, url, saved);
        match self.running.contains_key(&event.index) {
            true => drop(self.waiting.insert(event.index, variables)),
            false => self.start(event.index, variables)?,
        }
        Ok(())
    }

    /// Returns whether a command runs.
    pub fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Collects commands that have ended and starts those that waited. Returns a line for each failure.
    pub fn take_ended(&mut self) -> Vec<String> {
        let mut failures = Vec::new();
        let mut ended = Vec::new();
        self.running.retain(|at, child| match child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                if !status.success() {
                    failures.push(format!("the command of --exec failed: {status}"));
                }
                ended.push(*at);
                false
            }
            Err(error) => {
                failures.push(format!("the command of --exec was lost: {error}"));
                ended.push(*at);
                false
            }
        });
        for at in ended {
            if let Some(variables) = self.waiting.remove(&at)
                && let Err(error) = self.start(at, variables)
            {
                failures.push(format!("--exec failed: {error}"));
            }
        }
        failures
    }

    fn start(&mut self, at: usize, variables: Variables) -> io::Result<()> {
        let Some(command) = &self.command else { return Ok(()) };
        let mut command = system::shell(command);
        for (name, value) in variables {
            match value {
                Some(value) => command.env(name, value.replace('\0', "")),
                None => command.env_remove(name),
            };
        }
        // Standard output has the lines of the watch.
        command.stdin(Stdio::null()).stdout(io::stderr());
        self.running.insert(at, command.spawn()?);
        Ok(())
    }
}

fn variables(event: &Event, url: &str, saved: Option<&str>) -> Variables {
    let modified = event.stamp.modified.and_then(|seconds| u64::try_from(seconds).ok());
    let modified = modified.map(|seconds| iso(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)));
    let message = event.message.as_ref();
    let data = message.map(|message| message.data.clone()).filter(|data| data.len() <= DATA_LIMIT);
    vec![
        ("WATCH_EVENT", Some(event.kind.name().to_owned())),
        ("WATCH_URL", Some(url.to_owned())),
        ("WATCH_FILE", saved.map(str::to_owned)),
        ("WATCH_MODIFIED", modified),
        ("WATCH_SIZE", event.stamp.size.map(|size| size.to_string())),
        ("WATCH_TYPE", message.map(|message| message.kind.clone())),
        ("WATCH_DATA", data),
        ("WATCH_ID", message.map(|message| message.id.clone())),
    ]
}
