//! Two network namespaces with a delay between them: the shared tool `delaylink`, which holds back every packet, SYN
//! included. It wants root.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The servers' end.
pub const SERVER: &str = "10.211.7.2";
const CLIENT: &str = "10.211.7.1";

/// The running link; its end takes the namespaces away.
pub struct Link {
    delay: Child,
    /// Where clients run.
    pub near: String,
    /// Where servers run.
    pub far: String,
}

impl Link {
    pub fn start(round_trip: Duration, directory: &Path) -> io::Result<Link> {
        let program = directory.join("delaylink");
        let source = source()?;
        crate::output(Command::new("cc").args(["-O2", "-w", "-o"]).arg(&program).arg(&source))?;
        let names = ["near", "far"].map(|end| format!("ww-{end}-{}", std::process::id()));
        for name in &names {
            crate::output(Command::new("ip").args(["netns", "add", name]))?;
        }
        let one_way_us = (round_trip / 2).as_micros().to_string();
        let mut delay = Command::new(program)
            .args([&names[0], CLIENT, &names[1], SERVER, &one_way_us])
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = String::new();
        if let Some(said) = delay.stdout.take() {
            BufReader::new(said).read_line(&mut ready)?;
        }
        let [near, far] = names;
        let link = Link { delay, near, far };
        match ready.trim() {
            "ready" => Ok(link),
            _ => Err(io::Error::other("delaylink does not start: are we root?")),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.delay.kill();
        let _ = self.delay.wait();
        for name in [&self.near, &self.far] {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

/// The tool's source is not the project's: it stands in the shared folder.
fn source() -> io::Result<PathBuf> {
    let shared = std::env::var_os("WARMWIRE_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| crate::root().join("../shared"));
    let file = shared.join("tools/delaylink.c");
    let missing = || io::Error::other(format!("{} is missing (WARMWIRE_SHARED)", file.display()));
    file.is_file().then_some(()).ok_or_else(missing)?;
    Ok(file)
}
