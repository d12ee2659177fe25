//! Bytes to values and back, one module per protocol: no I/O, no clock, bounded memory, no panic on input.

pub mod altsvc;
pub mod auth;
pub mod base64;
pub mod content_encoding;
pub mod cookie;
pub mod date;
pub mod dict;
pub mod escape;
pub mod fnmatch;
pub mod ftp;
pub mod gopher;
pub mod h2;
pub mod hex;
pub mod hsts;
pub mod http1;
pub mod imap;
pub mod ldap;
pub mod mime;
pub mod mqtt;
pub mod netrc;
pub mod noproxy;
pub mod socks;
pub mod socks_gssapi;
pub mod telnet;
pub mod tftp;
pub mod url;
