//! `%RESOLVE [--ipv4|--ipv6] HOST`: says why not, and fails, when the host has no address of that family
//! here.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::process::ExitCode;

pub fn main(arguments: &[String]) -> ExitCode {
    let wants_v6 = arguments.iter().any(|a| a == "--ipv6");
    let Some(host) = arguments.iter().find(|a| !a.starts_with("--")) else {
        println!("no host given");
        return ExitCode::FAILURE;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let found = (bare, 0).to_socket_addrs().is_ok_and(|mut all| all.any(|a| suits(a, wants_v6)));
    if found {
        return ExitCode::SUCCESS;
    }
    println!("Resolving {} '{host}' does not work", if wants_v6 { "IPv6" } else { "IPv4" });
    ExitCode::FAILURE
}

/// Returns whether the family matches, and such sockets can be created.
fn suits(address: SocketAddr, wants_v6: bool) -> bool {
    address.is_ipv6() == wants_v6 && (!wants_v6 || TcpListener::bind("[::1]:0").is_ok())
}
