//! RTSP::Server, in Perl: a publisher announces a stream and records it, a player receives the announced
//! description.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{Running, run_until, with_retries};
use crate::temp::TempDir;

const SERVER: &str = include_str!("rtsp.pl");

/// The server, ended when dropped.
pub struct RtspServer {
    _running: Running,
    _directory: TempDir,
    play_port: u16,
    publish_port: u16,
}

impl RtspServer {
    pub fn start() -> io::Result<RtspServer> {
        with_retries(RtspServer::try_start)
    }

    fn try_start() -> io::Result<RtspServer> {
        if !Path::new("/usr/share/perl5/RTSP/Server.pm").exists() {
            let text = "RTSP::Server is missing: install the package librtsp-server-perl";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("rtsp")?;
        let (file, port_file) = (directory.write("server.pl", SERVER)?, directory.path().join("port"));
        let mut command = Command::new("/usr/bin/perl");
        command.arg(file).arg(&port_file);
        let running = run_until(command, &directory.path().join("log"), || ports(&port_file).is_some())?;
        let (play_port, publish_port) = ports(&port_file).expect("the server has written them");
        Ok(RtspServer { _running: running, _directory: directory, play_port, publish_port })
    }

    /// Returns the URL for players.
    pub fn play(&self, path: &str) -> String {
        format!("rtsp://127.0.0.1:{}{path}", self.play_port)
    }

    /// Returns the URL for publishers.
    pub fn publish(&self, path: &str) -> String {
        format!("rtsp://127.0.0.1:{}{path}", self.publish_port)
    }
}

fn ports(port_file: &Path) -> Option<(u16, u16)> {
    let text = std::fs::read_to_string(port_file).ok()?;
    let (play, publish) = text.strip_prefix("ports ")?.strip_suffix('\n')?.split_once(' ')?;
    Some((play.parse().ok()?, publish.parse().ok()?))
}
