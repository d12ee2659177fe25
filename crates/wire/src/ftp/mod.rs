//! FTP (RFC 959, RFC 2428, RFC 3659) without its connections: `reply` reads what the server says, `path`
//! splits a URL's path into CWD commands and a file name, `list` reads directory listings.

pub mod list;
pub mod path;
pub mod reply;
