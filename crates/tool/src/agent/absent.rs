//! Systems without agents: a command makes its call itself, and `--agent` and similar flags are refused. An
//! agent needs Unix: passing streams and rights, identifying the caller by the kernel, holding back signals.

use crate::bytes::Bytes;

pub const BUILT: bool = false;

/// The command that has an agent make its call: there is none.
pub enum Caller {}

impl Caller {
    pub fn variable(&self, _: &str) -> Option<Option<Bytes>> {
        match *self {}
    }

    pub fn ask(&self, _: &str) -> Bytes {
        match *self {}
    }

    pub fn hide(&self, _: usize, _: usize) {
        match *self {}
    }
}

pub fn is_agent() -> bool {
    false
}

/// Never called: no process is an agent.
pub fn serve(_: fn(&[Bytes], Caller) -> i32) -> i32 {
    crate::parse::Wrong::NotSupported.exit_code()
}

pub fn call(_: &[Bytes]) -> Option<i32> {
    None
}

/// The words that ask for these are refused before.
pub fn status() -> (String, i32) {
    (String::new(), 1)
}

pub fn stop() -> (String, i32) {
    status()
}
