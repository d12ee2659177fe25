//! The first byte over https in a fresh process that trusts as many anchors as a system does. The handshake's
//! cost is read from the process's CPU clock from outside: from its ClientHello on the wire to its request.

use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use testkit::http::{HttpServer, Response};

use crate::context::{Bench, Subject, numbers};
use crate::measure::{Case, Quantity};

const ANCHORS: usize = 150;
const STARTS: usize = 30;
const FIRST_BYTE: Quantity = Quantity { name: "first byte", unit: "µs" };
const HANDSHAKE: Quantity = Quantity { name: "CPU from hello to request", unit: "µs" };

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let anchors = anchors(bench)?;
    let tls = bench.authority.good().server_config().map_err(io::Error::other)?;
    let handler = |_: &_| Some(Response::ok("x"));
    let server = HttpServer::start(testkit::http::Config {
        tls: Some(tls),
        handler: Some(std::sync::Arc::new(handler)),
        ..Default::default()
    })?;
    let (hello, first) = (bench.program("hello")?, bench.program("first")?);
    let libraries: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_library()).collect();
    let tools: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_tool()).collect();
    let ask = |subject: &Subject, tool: Option<&Path>| {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let (runs, url) = (bench.count(STARTS).to_string(), format!("https://localhost:{port}/"));
        let mut command = bench.command(&hello, subject);
        command.env("CA", &anchors).args([&port.to_string(), &server.port().to_string(), &runs]);
        match tool {
            Some(tool) => command.arg(tool).args(["-s", "-4", "--cacert"]).arg(&anchors).arg(url),
            None => command.arg(&first).arg(url),
        };
        numbers(&mut command)
    };
    let names = |list: &[&Subject]| list.iter().map(|subject| subject.name.clone()).collect::<Vec<_>>();
    let quantities = [FIRST_BYTE, HANDSHAKE];
    Ok(vec![
        Case::in_turns("the library", bench.turns(), &names(&libraries), &quantities, |at| {
            ask(libraries[at], None)
        })?,
        Case::in_turns("the tool", bench.turns(), &names(&tools), &quantities, |at| {
            ask(tools[at], Some(tools[at].tool()))
        })?,
    ])
}

/// Returns a file of the system's anchors, with ours as the last one.
pub fn anchors(bench: &Bench) -> io::Result<PathBuf> {
    const END: &str = "-----END CERTIFICATE-----\n";
    let mut all = String::new();
    std::fs::File::open("/etc/ssl/certs/ca-certificates.crt")?.read_to_string(&mut all)?;
    let mut some: Vec<&str> = all.split_inclusive(END).take(ANCHORS - 1).collect();
    if some.len() < ANCHORS / 2 {
        return Err(io::Error::new(ErrorKind::NotFound, "the system trusts too few to be measured by"));
    }
    // A system with fewer anchors gets some twice.
    let missing = ANCHORS - 1 - some.len();
    some.extend_from_within(..missing);
    bench.directory().write("anchors.pem", some.concat() + bench.authority.ca_pem())
}
