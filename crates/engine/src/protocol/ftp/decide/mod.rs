//! Decisions of FTP (RFC 959, 2228, 2428, 3659 and 4217): pure functions from facts to a verdict. The handler
//! gathers the facts and acts on the verdict.

pub mod body;
pub mod data;
pub mod directory;
pub mod flight;
pub mod login;
pub mod pipeline;
pub mod repeated;
pub mod servers;

/// Returns a reply for a test.
#[cfg(test)]
fn reply(line: &str) -> wire::ftp::reply::Reply {
    wire::ftp::reply::Reply { code: line[..3].parse().unwrap(), line: line.as_bytes().to_vec() }
}
