//! FTP (RFC 959, RFC 2428, RFC 3659) without its connections: `reply` parses replies, `path` splits a URL's
//! path into CWD commands and a file name, `list` and `facts` parse directory
//! listings.

pub mod facts;
pub mod list;
pub mod path;
pub mod reply;
