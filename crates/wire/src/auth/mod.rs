//! Authentication as values. `challenge` parses an HTTP server's challenges, the other modules write
//! responses; `sasl` is for the mail protocols. Random octets and the time are arguments. The caller chooses
//! a scheme and decides who may receive credentials.

pub mod basic;
pub mod challenge;
pub mod digest;
pub mod httpsig;
pub mod ntlm;
pub mod sasl;
pub mod sigv4;

mod hash;
