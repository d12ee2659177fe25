//! Uploads without futures.

use super::wait::wait;
use crate::client::upload::upload_settings;
use crate::{Error, Uploaded};

/// An upload of a file, under construction: [`warmwire::Upload`](crate::Upload) for threads that wait.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let upload = client.upload("sftp://server.example/~/image.iso").from("image.iso").attempts(20);
/// println!("{} bytes", upload.send()?.size());
/// # Ok::<(), warmwire::Error>(())
/// ```
#[must_use = "an upload does nothing before it is sent"]
pub struct Upload(pub(super) crate::Upload);

impl Upload {
    /// Uploads the file.
    pub fn send(self) -> Result<Uploaded, Error> {
        wait(None, self.0.send())
    }
}

upload_settings!(Upload);
