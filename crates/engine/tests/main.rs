//! The crate's tests in one program, because each program links the crates and their dependencies anew. A
//! test that needs a process of its own (a working directory, a fork, a memory limit, replaced primitives)
//! has a `[[test]]` in Cargo.toml. CONTRIBUTING.md says how to run one file's tests.

#[cfg(unix)]
mod auth;
#[cfg(unix)]
mod bad_peers;
#[cfg(unix)]
mod big_inputs;
mod common;
#[cfg(unix)]
mod delivery;
#[cfg(unix)]
mod early_replies;
mod ftp;
#[cfg(unix)]
mod ftp_flights;
mod ftp_next_port;
mod ftp_pipelining;
#[cfg(unix)]
mod ftp_servers;
#[cfg(unix)]
mod ftp_vsftpd;
mod http;
#[cfg(unix)]
#[path = "http2/main.rs"]
mod http2;
#[cfg(unix)]
mod http2_upgrade;
mod https;
mod imap;
#[cfg(unix)]
mod infos;
#[cfg(unix)]
mod ldap;
#[cfg(unix)]
mod look_ups;
#[cfg(unix)]
mod mail;
#[cfg(unix)]
mod mail_faults;
#[cfg(unix)]
mod mail_pipelining;
#[cfg(unix)]
mod meddling;
#[cfg(unix)]
mod moved_names;
#[cfg(unix)]
mod mqtt;
#[cfg(unix)]
mod name_servers;
#[cfg(unix)]
mod negotiate;
#[cfg(unix)]
mod odd_replies;
#[cfg(unix)]
mod over_https;
#[cfg(unix)]
mod own_connection;
#[cfg(unix)]
mod policies;
#[cfg(unix)]
mod proxies;
#[cfg(unix)]
mod proxy_http2;
#[cfg(unix)]
mod proxy_lists;
#[cfg(unix)]
mod racing;
#[cfg(unix)]
mod recording;
mod requests;
#[cfg(unix)]
mod rtsp;
#[cfg(unix)]
mod security;
#[cfg(unix)]
mod security_state;
#[cfg(unix)]
mod security_tls;
#[cfg(unix)]
mod small_protocols;
#[cfg(unix)]
mod socks;
#[cfg(unix)]
mod ssh;
#[cfg(unix)]
mod ssh_liars;
#[cfg(unix)]
mod stores;
#[cfg(unix)]
mod telnet;
mod tftp;
#[cfg(unix)]
mod time_limits;
mod websocket;
mod why;
#[cfg(unix)]
mod words;
