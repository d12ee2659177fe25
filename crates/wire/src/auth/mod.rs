//! Authentication as values: `challenge` reads what an HTTP server asks for, the others write what is
//! answered; `sasl` is what the mail protocols speak. Random octets and the time are arguments; which scheme
//! to pick and whom to trust with credentials is the caller's.

pub mod basic;
pub mod challenge;
pub mod digest;
pub mod httpsig;
pub mod ntlm;
pub mod sasl;
pub mod sigv4;

mod hash;
