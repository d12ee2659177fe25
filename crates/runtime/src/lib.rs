//! Executor, reactor, timers and clock of one multi handle, independent of curl.
//!
//! One thread, the caller's, drives it through [`Runtime::run`], [`Runtime::perform`] and [`Runtime::wait`];
//! other threads only wake tasks. There are no thread-locals, since a multi handle may migrate between
//! threads between calls. The only exception is the count of live borrows in a debug build ([`cell`]), which
//! is zero whenever a call returns.

mod backlog;
mod boxed;
pub mod cell;
mod clock;
pub mod environment;
mod executor;
mod interest;
mod lock_free_once;
mod offload;
mod reactor;
mod read_state;
mod ready;
pub mod stack;
mod sync;
pub mod sys;
mod timers;
mod wait;

pub use rustix::fd;

pub use boxed::{Boxed, boxed};
pub use clock::{Clock, ManualClock, seconds_since_1970};
pub use executor::{Recursive, Runtime, TaskId};
pub use interest::{Direction, Interest};
pub use lock_free_once::LockFreeOnce;
pub use offload::offload;
pub use reactor::{NextCall, Reactor, Registration, SocketHook, Turn, WakeGuard};
pub use sys::calls::{BUFFERS_GROW, SEND, is_under_way, new_socket};
pub use sys::fork::{after_fork_in_child, generation as fork_generation};
pub use sys::host::host_name;
pub use sys::privilege::secure_execution;
pub use sys::socket::{CloseHook, Idle, SendLimits, Socket};
pub use sys::threads::spawn_helper;
pub use timers::{NextRun, Sleep};
pub use wait::{Descriptor, ExtraFd};
