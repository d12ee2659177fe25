//! Fetches many URLs at a time on one thread: `cargo run --example parallel -- URL URL…`.

use std::io;
use std::time::Duration;

use warmwire::callbacks::WriteAnswer;
use warmwire::{EasyOption, Handle, Multi};

fn main() -> io::Result<()> {
    let multi = Multi::default();
    let mut handles = Vec::new();
    for url in std::env::args().skip(1) {
        let mut handle = Handle::new();
        if let Err(code) = handle.set(EasyOption::Url, url.as_str()) {
            eprintln!("{url}: {}", code.text());
            continue;
        }
        handle.on_write(|_| WriteAnswer::All);
        multi.add(handle.easy());
        handles.push((url, handle));
    }
    let mut running = handles.len();
    while running > 0 {
        multi.perform();
        while let Some((message, _)) = multi.next_message() {
            multi.remove(&message.easy);
            running -= 1;
            let whose = |(_, handle): &&(String, Handle)| *handle.easy() == message.easy;
            if let Some((url, handle)) = handles.iter().find(whose) {
                let (bytes, total) = handle.info(|info| (info.downloaded(), info.total()));
                println!("{url}: {}, {bytes} bytes in {total:?}", message.code.text());
            }
        }
        multi.wait(&mut [], Duration::from_secs(1), true)?;
    }
    Ok(())
}
