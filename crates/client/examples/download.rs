//! Downloads a file in segments, from mirrors, with a checksum: `cargo run --example download -- URL FILE
//! [SUM] [MIRROR ...]`. SUM is like `sha256=…`; `-` is none.

use std::process::ExitCode;
use std::time::Duration;

use warmwire::blocking::Client;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, file, rest @ ..] = &words[..] else {
        eprintln!("usage: download URL FILE [SUM] [MIRROR ...]");
        return ExitCode::FAILURE;
    };
    let mut download =
        Client::new().download(url.as_str()).to(file).segments(4).timeout(Duration::from_secs(60));
    if let Some(sum) = rest.first().filter(|sum| *sum != "-") {
        download = download.checksum(sum);
    }
    for mirror in rest.iter().skip(1) {
        download = download.mirror(mirror.as_str());
    }
    match download.send() {
        Ok(got) => {
            got.warnings().iter().for_each(|warning| eprintln!("{warning}"));
            println!("{} bytes, {} of them now", got.size(), got.received());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
