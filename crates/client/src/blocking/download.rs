//! Downloads without futures.

use super::wait::wait;
use crate::client::download::download_settings;
use crate::{Downloaded, Error};

/// A download to a file, under construction: [`warmwire::Download`](crate::Download) for threads that wait.
///
/// ```no_run
/// let client = warmwire::blocking::Client::new();
/// let file = client.download("https://example.com/image.iso").to("image.iso").segments(8).send()?;
/// println!("{} bytes", file.size());
/// # Ok::<(), warmwire::Error>(())
/// ```
#[must_use = "a download does nothing before it is sent"]
pub struct Download(pub(super) crate::Download);

impl Download {
    /// Downloads the file.
    pub fn send(self) -> Result<Downloaded, Error> {
        wait(None, self.0.send())
    }
}

download_settings!(Download);
