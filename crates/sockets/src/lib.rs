//! Calls on sockets that neither std nor rustix nor socket2 provides safely, in a file for each system. Each
//! function borrows its socket, so that it stays open during the call, and writes only to locals.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(windows)]
pub use windows::*;
