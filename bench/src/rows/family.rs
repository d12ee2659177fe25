//! A host with two addresses of which one is silent: until it is connected, the first time and later.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Stdio};

use super::link::{Link, SERVER, SILENT, inside};
use crate::context::{Bench, Subject, numbers};
use crate::measure::{Case, Quantity};

const CONNECTS: usize = 10;
const PORT: u16 = 8080;
const FIRST: Quantity = Quantity { name: "first connect", unit: "ms" };
const LATER: Quantity = Quantity { name: "median of those after", unit: "ms" };

const HTTP_SERVER: &str = "\
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], int(sys.argv[2]))); s.listen()
print('ready', flush=True)
while True:
    c, _ = s.accept()
    c.recv(65536)
    c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n')
    c.close()";

/// Ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let link = Link::start(bench.directory().path())?;
    let _server = serve(&link)?;
    let program = bench.program("connects")?;
    let libraries: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_library()).collect();
    let names: Vec<String> = libraries.iter().map(|subject| subject.name.clone()).collect();
    let mut cases = Vec::new();
    for (name, addresses) in
        [("IPv6 silent", format!("[{SILENT}],{SERVER}")), ("IPv4 alone", SERVER.to_owned())]
    {
        cases.push(Case::in_turns(name, bench.turns(), &names, &[FIRST, LATER], |at| {
            let mut command = inside(&link.near, &program);
            bench.prepare(&mut command, Some(libraries[at]));
            command.arg(format!("http://host.example:{PORT}/")).arg(CONNECTS.to_string());
            times(&numbers(command.arg(format!("host.example:{PORT}:{addresses}")))?)
        })?);
    }
    Ok(cases)
}

/// In the far namespace, once it listens.
fn serve(link: &Link) -> io::Result<Server> {
    let mut command = inside(&link.far, "python3");
    command.args(["-c", HTTP_SERVER, SERVER, &PORT.to_string()]).stdout(Stdio::piped());
    let mut server = Server(command.spawn()?);
    let mut ready = String::new();
    if let Some(pipe) = server.0.stdout.take() {
        BufReader::new(pipe).read_line(&mut ready)?;
    }
    match ready.trim() {
        "ready" => Ok(server),
        _ => Err(io::Error::other("the server does not start")),
    }
}

fn times(microseconds: &[f64]) -> io::Result<Vec<f64>> {
    let [first, later @ ..] = microseconds else { return Err(io::Error::other("no connects")) };
    let mut later = later.to_vec();
    later.sort_by(f64::total_cmp);
    Ok(vec![first / 1e3, later.get(later.len() / 2).copied().unwrap_or(f64::NAN) / 1e3])
}
