//! HTTP/2: nghttpx in front of the case's HTTP/1 server, as in curl's harness; upgrade and prior knowledge on
//! one port, TLS on another. The cases expect what it adds to a reply (`via`, `server`).

use testkit::launch::Nghttpx;

use super::case_context::Hall;
use super::tls;
use crate::prepro::Variables;

/// Starts it in front of the server with port `HTTPPORT`, and sets its own ports.
pub fn engage(hall: &mut Hall, variables: &mut Variables) -> Result<(), String> {
    let origin = variables.text("HTTPPORT").and_then(|port| port.parse().ok());
    let origin = origin.ok_or("HTTP/2 needs the HTTP server behind it")?;
    let place = hall.socket_path("nghttpx");
    std::fs::create_dir_all(&place).map_err(|e| e.to_string())?;
    let server = Nghttpx::start(&place, tls::usual_leaf(), origin).map_err(|e| e.to_string())?;
    variables.set("HTTP2PORT", server.plain.to_string());
    variables.set("HTTP2TLSPORT", server.secure.to_string());
    hall.keep(server);
    Ok(())
}
