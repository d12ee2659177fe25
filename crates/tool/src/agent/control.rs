//! `--agent-status` and `--agent-stop`.

use super::caller::reached;
use super::folder::Folder;
use super::link::{Frame, Link};
use std::time::Duration;

/// How long an agent that makes no call may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// One that makes a call answers afterwards.
const NO_PATIENCE: Duration = Duration::from_millis(50);
/// When there is none.
const NONE: i32 = 1;

/// Returns the state of this user's agents, and the exit code.
pub fn status() -> (String, i32) {
    each(false, |link| {
        link.send(&Frame::Status).ok()?;
        match link.receive().ok()?? {
            Frame::State(text) => Some(String::from_utf8_lossy(&text).into_owned()),
            _ => None,
        }
    })
}

/// Ends the agents, busy ones after their call; returns the exit code.
pub fn stop() -> (String, i32) {
    each(true, |link| {
        link.send(&Frame::Stop).ok()?;
        link.receive().ok()?.map(|_| "agent: stopped".to_string())
    })
}

/// Sends a message to each agent, and collects the replies. A busy agent reads it after its call; this is not
/// awaited.
fn each(ends: bool, say: impl Fn(&Link) -> Option<String>) -> (String, i32) {
    let path = Folder::usual();
    let folder = match Folder::open(&path) {
        Ok(folder) => folder,
        Err(why) => return (format!("{why}\n"), NONE),
    };
    let mut lines = Vec::new();
    for name in folder.names() {
        let lock = folder.try_lock(&name).ok().flatten();
        let link = reached(&folder, &name);
        let patience = if lock.is_some() { PATIENCE } else { NO_PATIENCE };
        match (link, lock) {
            (Ok(link), lock) => {
                let _ = link.wait_at_most(Some(patience));
                let busy = "agent: busy with a call";
                lines.push(say(&link).unwrap_or_else(|| busy.to_string()));
                if let (true, Some(lock)) = (ends, lock) {
                    folder.forget(&name, lock);
                }
            }
            (Err(_), Some(lock)) => folder.forget(&name, lock),
            (Err(_), None) => {}
        }
    }
    match lines.as_slice() {
        [] => (format!("no agent in {}\n", path.display()), NONE),
        lines => (format!("{}\n", lines.join("\n")), 0),
    }
}
