//! The servers behind the link, and the lists of files that the programs poll.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use broker::Client;
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::{Config, FtpServer};
use testkit::http::HttpServer;
use testkit::link::Link;
use testkit::temp::TempDir;

use crate::measure::Scenario;

pub const FTP_SERVERS: usize = 60;
pub const FILE_LENGTH: usize = 2048;
/// Requests to the HTTPS server, in rounds of as many as there are FTP servers.
pub const HTTPS_REQUESTS: usize = 300;

pub struct World {
    directory: TempDir,
    _ftp: Vec<FtpServer>,
    _https: HttpServer,
}

impl World {
    pub fn start(round_trip: Duration) -> io::Result<World> {
        let link = Link::new(round_trip)?;
        let directory = TempDir::new("demo")?;
        let authority = Authority::new();
        directory.write("ca.pem", authority.ca_pem())?;
        let files = BTreeMap::from([("/state".to_string(), pattern(FILE_LENGTH))]);
        let config = Config { files, link: Some(link.clone()), ..Config::default() };
        let ftp: Vec<FtpServer> =
            (0..FTP_SERVERS).map(|_| FtpServer::start(config.clone())).collect::<Result<_, _>>()?;
        let https = HttpServer::tls(authority.good().server_config()?);
        let door = link.door(https.address())?;
        let lines: String = ftp.iter().map(|server| server.url("/state") + "\n").collect();
        directory.write("ftp", lines)?;
        let url = format!("https://localhost:{}/bytes/{FILE_LENGTH}\n", door.port());
        directory.write("https", url.repeat(FTP_SERVERS))?;
        Ok(World { directory, _ftp: ftp, _https: https })
    }

    /// The file that lists what a program polls in a round.
    pub fn urls(&self, scenario: Scenario) -> PathBuf {
        self.directory.path().join(scenario.name())
    }

    pub fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// The folder of the broker.
    pub fn pool(&self) -> PathBuf {
        self.directory.path().join("pool")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Nobody started a broker if our library is not measured.
        let _ = Client::at(&self.pool(), Duration::from_secs(1)).stop();
    }
}
