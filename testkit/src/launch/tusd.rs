//! tusd, the server of the tus project, by tus 1.0 and by the draft of the HTTP working group;
//! tests/install.sh tus_server builds it.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use super::ftpd::target;
use super::{Running, run_until};
use crate::temp::TempDir;

/// A server that stores uploads in a folder.
pub struct Tusd {
    _running: Running,
    directory: TempDir,
    pub port: u16,
}

impl Tusd {
    pub fn start() -> io::Result<Tusd> {
        let program = target().join("tusd-go/server");
        if !program.is_file() {
            let text = format!("{} is missing: run tests/install.sh tus_server", program.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let directory = TempDir::new("tusd")?;
        let (port_file, uploads) = (directory.path().join("port"), directory.path().join("uploads"));
        fs::create_dir(&uploads)?;
        let mut command = Command::new(program);
        command.arg(&port_file).arg(&uploads);
        let running = run_until(command, &directory.path().join("log"), || port_file.exists())?;
        let port = fs::read_to_string(&port_file)?.parse().map_err(io::Error::other)?;
        Ok(Tusd { _running: running, directory, port })
    }

    /// The URL at which uploads are created.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/files/", self.port)
    }

    /// Returns the folder of the uploads.
    pub fn folder(&self) -> PathBuf {
        self.directory.path().join("uploads")
    }

    /// Returns the contents of all uploads, complete or not.
    pub fn uploads(&self) -> Vec<Vec<u8>> {
        self.files(|name| !name.contains('.')).iter().filter_map(|path| fs::read(path).ok()).collect()
    }

    /// Returns what the server knows of each upload, as JSON.
    pub fn infos(&self) -> Vec<String> {
        let infos = self.files(|name| name.ends_with(".info"));
        infos.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
    }

    /// Removes all uploads.
    pub fn forget(&self) -> io::Result<()> {
        self.files(|_| true).iter().try_for_each(fs::remove_file)
    }

    fn files(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let listed = fs::read_dir(self.folder()).into_iter().flatten().flatten();
        let paths = listed.map(|entry| entry.path());
        paths.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&is_wanted)).collect()
    }
}
