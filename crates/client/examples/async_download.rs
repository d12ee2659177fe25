//! Saves a URL on async-io, without spawning anything: `cargo run --features async-io --example
//! async_download -- URL FILE`.
//!
//! Whatever curl fetches is a URL here (HTTP, FTP, SFTP …). The sender keeps to the pace of the disk.

use std::error::Error;
use std::fs::File;
use std::io::Write;

use warmwire::AsyncIo;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, name] = words.as_slice() else { return Err("usage: async_download URL FILE".into()) };
    let (client, driver) = warmwire::client();
    async_io::block_on(driver.run_until(AsyncIo, async {
        let mut reply = client.get(url).redirects(10).send().await?.error_for_status()?;
        let mut file = File::create(name)?;
        let mut bytes = 0;
        while let Some(piece) = reply.chunk().await? {
            file.write_all(&piece)?;
            bytes += piece.len();
        }
        println!("{bytes} bytes from {}", reply.url());
        Ok(())
    }))
}
