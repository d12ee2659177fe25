//! Flags of a queue that are no transfers, and those that have no meaning with one.

use super::files::make_absolute;
use super::listing::{list, remove};
use crate::message::{Messages, shown};
use crate::raw::Code;
use crate::request::Globals;
use crate::system;

/// Lists or removes entries of a queue, or refuses a flag, before anything is transferred. Returns the exit
/// code if that is all.
pub fn before_run(globals: &mut Globals, messages: &mut Messages) -> Option<i32> {
    let refused = match refusal(globals) {
        Ok(()) => None,
        Err(why) => {
            messages.error(&why);
            Some(Code::FailedInit.id())
        }
    };
    let name = globals.queue.clone().filter(|_| refused.is_none());
    let Some(name) = name else { return refused };
    if globals.queue_list.is_none() && globals.queue_remove.is_none() {
        make_absolute(globals);
        return None;
    }
    let removed = globals.queue_remove.as_deref().map_or(Ok(0), |which| remove(&name, which));
    let done = removed.and_then(|_| match globals.queue_list {
        Some(format) => list(&name, format, &mut system::stdout()),
        None => Ok(()),
    });
    let done = done.map_err(|why| messages.error(&format!("the queue {} {why}", shown(&name))));
    Some(if done.is_ok() { 0 } else { Code::WriteError.id() })
}

/// Refuses flags that need a queue, or that have no meaning for one.
fn refusal(globals: &Globals) -> Result<(), String> {
    let needs =
        [(globals.queue_list.is_some(), "--queue-list"), (globals.queue_remove.is_some(), "--queue-remove")];
    let conflicts = [
        (globals.watch.is_some(), "--watch"),
        (globals.dry_run, "--dry-run"),
        (globals.mirror.is_on, "--mirror-site"),
        (globals.mirror.sync, "--sync"),
    ];
    match globals.queue {
        None => {
            needs.iter().find(|(is, _)| *is).map_or(Ok(()), |(_, flag)| Err(format!("{flag} needs --queue")))
        }
        Some(_) => {
            let conflict = conflicts.iter().find(|(is, _)| *is);
            conflict.map_or(Ok(()), |(_, flag)| Err(format!("--queue can't be combined with {flag}")))
        }
    }
}
