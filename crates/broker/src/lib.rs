//! The pool of a user's processes: a small process, the broker, keeps idle connections, so that they outlive
//! the process that opened them.
//!
//! A connection moves: its owner sends the socket (SCM_RIGHTS) and the state that is needed to continue, and
//! forgets both. The next process with the same key receives them in one message. The broker reads neither
//! the state nor the socket; no byte of a transfer passes through it.
//!
//! [`Client`] is used by every process, [`Server`] by the broker alone. [`run_broker`] is the body of the
//! hidden command of the tool that starts the broker. [`message`] is the protocol between both.

pub mod message;
mod sys;
#[cfg(unix)]
mod table;
mod unavailable;
mod values;

pub use sys::{Client, Greeting, run_broker};
#[cfg(unix)]
pub use sys::{Folder, Limits, Server};
pub use unavailable::Unavailable;
pub use values::{Entry, Key, Label, Parcel, Secret, Status, Taken};

pub use message::{MAX_RECORD, MAX_STATE, Parked};
