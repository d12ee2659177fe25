//! The crate's tests in one program, because each program links the crates and their dependencies anew. A
//! test that needs a process of its own (a working directory, a fork, a memory limit, replaced primitives)
//! has a `[[test]]` in Cargo.toml. CONTRIBUTING.md says how to run one file's tests.

extern crate warmwire_net as net; // the name that the rest of the workspace knows it by

mod common;
mod connect;
#[cfg(unix)]
mod handover;
mod http2;
mod late_answers;
mod name_servers;
mod pool;
mod proxies;
#[cfg(unix)]
mod quic_mutations;
mod resolver;
mod sessions;
mod socks_gssapi;
mod tls_mutations;
mod x509_limbo;
#[cfg(unix)]
mod x509_oracle;
