//! Evaluates proxy auto-config (PAC) files: JavaScript that names the proxies for a URL.
//!
//! There is no standard. The functions that a file may call are Netscape's of 1996 and Microsoft's for IPv6
//! (`isInNetEx` and others); those without a look-up are pure functions here. [`find_proxies`] runs a file in
//! QuickJS-NG, within the limits of [`script`]. The caller looks up names.

mod addresses;
mod calendar;
mod functions;
mod hosts;
pub mod script;

pub use functions::LookUp;
pub use script::find_proxies;
