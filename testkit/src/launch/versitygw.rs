//! versitygw, a gateway from S3 to files that checks signatures; tests/install.sh s3_server builds it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use super::ftpd::target;
use super::{Running, run_until};
use crate::temp::TempDir;

/// The parameters of a signature for the server (CURLOPT_AWS_SIGV4), and its only login.
pub const S3_SIGNATURE: (&str, &str) = ("aws:amz:us-east-1:s3", "access:secret");

/// An S3 server with one bucket, `files`, whose objects are files.
pub struct Versitygw {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Versitygw {
    pub fn start() -> io::Result<Versitygw> {
        let program = target().join("s3-go/server");
        if !program.is_file() {
            let text = format!("{} is missing: run tests/install.sh s3_server", program.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("s3")?;
        let [port_file, buckets, facts] =
            ["port", "buckets", "facts"].map(|name| directory.path().join(name));
        fs::create_dir_all(buckets.join("files"))?;
        fs::create_dir(&facts)?;
        let mut command = Command::new(program);
        command.arg(&port_file).arg(&buckets).arg(&facts);
        let running = run_until(command, &directory.path().join("log"), || port_file.exists())?;
        let port = fs::read_to_string(&port_file)?.parse().map_err(io::Error::other)?;
        Ok(Versitygw { _running: running, directory, port })
    }

    /// The URL of the bucket.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/files/", self.port)
    }

    /// Returns the folder of the objects.
    pub fn folder(&self) -> PathBuf {
        self.directory.path().join("buckets/files")
    }

    /// Returns the content of an object.
    pub fn object(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder().join(name)).ok()
    }

    fn incomplete(&self) -> PathBuf {
        self.folder().join(".sgwtmp/multipart")
    }

    /// Returns how many uploads are incomplete.
    pub fn incomplete_uploads(&self) -> usize {
        let objects = fs::read_dir(self.incomplete()).into_iter().flatten().flatten();
        objects.map(|object| fs::read_dir(object.path()).into_iter().flatten().count()).sum()
    }

    /// Removes all uploads that are incomplete. The server may still write a part of a client that is gone:
    /// a folder in which a file appears meanwhile is emptied again.
    pub fn forget_uploads(&self) -> io::Result<()> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            match fs::remove_dir_all(self.incomplete()) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && Instant::now() < end => {}
                result => return result,
            }
        }
    }
}
