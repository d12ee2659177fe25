//! Waits for the next change of a URL.

use std::time::Duration;
use warmwire::watch::{EventKind, Watcher};

/// Returns the new content of the first URL that changes.
pub fn next_change(urls: &[&str]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut watcher = Watcher::builder(Duration::from_millis(200)).keep_contents(true).build();
    for url in urls {
        watcher.add(url)?;
    }
    while let Some(event) = watcher.next_event(None)? {
        if event.kind == EventKind::Changed {
            return Ok(event.body.unwrap_or_default());
        }
    }
    Err("no URL".into())
}
