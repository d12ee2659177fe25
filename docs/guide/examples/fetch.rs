//! Fetches a URL twice on one client.

use warmwire::Error;
use warmwire::blocking::Client;

/// Fetches a URL twice on one client, and returns the sizes.
pub fn fetch(url: &str) -> Result<[usize; 2], Error> {
    let client = Client::new();
    let first = client.get(url).send()?.error_for_status()?.bytes()?;
    let second = client.get(url).send()?.bytes()?; // on the connection of the first request
    Ok([first.len(), second.len()])
}
