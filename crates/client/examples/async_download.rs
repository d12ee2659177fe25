//! Saves a URL on async-io, without spawning anything: `cargo run --features async-io --example
//! async_download -- URL FILE`.
//!
//! Whatever curl fetches is a URL here (HTTP, FTP, SFTP …). The sender keeps to the pace of the disk.

use std::error::Error;
use std::fs::File;

use warmwire::AsyncIo;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, name] = words.as_slice() else { return Err("usage: async_download URL FILE".into()) };
    let (client, driver) = warmwire::Client::builder().build_with_driver()?;
    async_io::block_on(driver.run_until(AsyncIo, async {
        let mut reply = client.get(url).send().await?.error_for_status()?;
        let mut file = File::create(name)?;
        let bytes = reply.copy_to(&mut file).await?;
        println!("{bytes} bytes from {}", reply.url());
        Ok(())
    }))
}
