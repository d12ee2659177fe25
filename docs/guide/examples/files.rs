//! Stores a file by FTP, and lists its folder.

use warmwire::Error;
use warmwire::blocking::Client;

/// Stores a file, lists its folder, and returns the file's text.
pub fn store(url: &str) -> Result<String, Error> {
    let files = Client::new().ftp(url).login("user", "secret");
    files.put("hello.txt", "Hello, world!\n")?;
    for entry in files.list("")? {
        println!("{} {:?} {:?}", entry.name, entry.kind, entry.size);
    }
    let text = files.get("hello.txt")?.text()?;
    files.delete("hello.txt")?;
    Ok(text)
}
