//! The proxy of the process (WARMWIRE_PROXY), for handles that have none of their own.

use runtime::{LockFreeOnce, environment};
use tables::environment::PROXY;
use wire::proxy_source::SYSTEM;

/// Returns the text of the variable, in the form of CURLOPT_PROXY. The variable is read once.
pub fn proxy_of_process() -> Option<&'static str> {
    static READ: LockFreeOnce<Option<String>> = LockFreeOnce::new();
    READ.get(|| environment::text(&PROXY).map(|text| if text == "auto" { SYSTEM.to_owned() } else { text }))
        .as_deref()
}
