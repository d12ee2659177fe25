//! Uploads a file that continues after a cut, and when the program is started again.

use std::path::Path;

use warmwire::blocking::Client;
use warmwire::{Error, UploadMode};

/// Uploads a file by tus, and returns how many attempts were made.
pub fn upload(url: &str, file: &Path, state: &Path) -> Result<u32, Error> {
    let upload = Client::new().upload(url).from(file).protocol(UploadMode::Tus);
    Ok(upload.attempts(50).state_in(state).send()?.attempts())
}
