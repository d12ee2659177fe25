//! The known_hosts file of a transfer over SSH.

use super::{Prepare, Stop};
use crate::raw::{Code, EasyOption as O};
use crate::system::{self, path};

impl Prepare<'_> {
    /// Hosts that are spoken to by SSH must be known: by a file, or by a fingerprint.
    pub(super) fn known_hosts(&mut self) -> Result<(), Stop> {
        let options = &self.request.options;
        let ssh = matches!(self.job.scheme.as_str(), "scp" | "sftp");
        if !ssh || self.request.insecure || options.text(O::SshKnownHosts).is_some() {
            return Ok(());
        }
        self.job.known_hosts = usual_known_hosts();
        if self.job.known_hosts.is_some() {
            return Ok(());
        }
        let printed = [O::SshHostPublicKeyMd5, O::SshHostPublicKeySha256];
        if printed.iter().any(|option| options.text(*option).is_some()) {
            self.env.warn("Could not find a known_hosts file");
            return Ok(());
        }
        self.env.error("Could not find a known_hosts file");
        Err(self.refused(Code::FailedInit))
    }
}

/// Returns the default known_hosts: ssh's, or the one beside the tool's own files.
fn usual_known_hosts() -> Option<Vec<u8>> {
    ["CURL_HOME", "XDG_CONFIG_HOME"].iter().chain(system::HOMES).find_map(|name| {
        let folder = system::variable(name).filter(|folder| !folder.is_empty())?;
        let file = [folder.as_slice(), b"/.ssh/known_hosts"].concat();
        path(&file).is_file().then_some(file)
    })
}
