//! Fetches a URL twice on one handle.

use warmwire::{EasyOption, Failure, Handle};

/// Fetches a URL twice on one handle, and returns the sizes.
pub fn fetch(url: &str) -> Result<[usize; 2], Failure> {
    let mut handle = Handle::new();
    handle.set(EasyOption::Url, url).expect("a URL is text");
    let first = handle.fetch()?;
    let second = handle.fetch()?; // on the connection of the first request
    Ok([first.body.len(), second.body.len()])
}
