//! Mosquitto, an MQTT broker, in clear, over TLS, and on a port that requires a password.

use std::io;
use std::process::Command;

use super::{Running, free_port, program, run, with_retries};
use crate::certs::Leaf;
use crate::temp::TempDir;

/// The broker, ended when dropped.
pub struct Mosquitto {
    _running: Running,
    directory: TempDir,
    port: u16,
    tls_port: u16,
    guarded_port: u16,
}

impl Mosquitto {
    /// The login of the protected port.
    pub const USER: (&str, &str) = ("user", "secret");

    pub fn start(leaf: &Leaf) -> io::Result<Mosquitto> {
        with_retries(|| Mosquitto::try_start(leaf))
    }

    fn try_start(leaf: &Leaf) -> io::Result<Mosquitto> {
        let mosquitto = program("mosquitto", "mosquitto")?;
        let directory = TempDir::new("mosquitto")?;
        directory.write("cert.pem", &leaf.cert_pem)?;
        directory.write("key.pem", &leaf.key_pem)?;
        let words = directory.path().join("words");
        let made = Command::new(program("mosquitto_passwd", "mosquitto")?)
            .args(["-b", "-c"])
            .arg(&words)
            .args([Self::USER.0, Self::USER.1])
            .output()?;
        if !made.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&made.stderr).into_owned()));
        }
        let [port, tls_port, guarded_port] = [free_port()?, free_port()?, free_port()?];
        let place = directory.path().display();
        let config = format!(
            "per_listener_settings true\nuser root\nlog_dest stderr\nlog_type all
listener {port} 127.0.0.1\nallow_anonymous true
listener {tls_port} 127.0.0.1\nallow_anonymous true\ncertfile {place}/cert.pem\nkeyfile {place}/key.pem
listener {guarded_port} 127.0.0.1\nallow_anonymous false\npassword_file {place}/words\n"
        );
        let config = directory.write("mosquitto.conf", config)?;
        let mut command = Command::new(mosquitto);
        command.arg("-c").arg(config);
        let running = run(command, &directory.path().join("log"), &[port, tls_port, guarded_port])?;
        Ok(Mosquitto { _running: running, directory, port, tls_port, guarded_port })
    }

    /// Returns its log, which contains each packet.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    pub fn mqtt(&self, topic: &str) -> String {
        format!("mqtt://127.0.0.1:{}/{topic}", self.port)
    }

    pub fn mqtts(&self, topic: &str) -> String {
        format!("mqtts://localhost:{}/{topic}", self.tls_port)
    }

    /// Returns a URL of the protected port.
    pub fn guarded(&self, topic: &str) -> String {
        format!("mqtt://127.0.0.1:{}/{topic}", self.guarded_port)
    }
}
