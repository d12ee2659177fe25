//! Fetches a URL and says how long it took: `cargo run --example get -- https://example.com/`.

use std::process::ExitCode;

use warmwire::{EasyOption, Handle};

fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        eprintln!("usage: get URL");
        return ExitCode::FAILURE;
    };
    let mut handle = Handle::new();
    for (option, value) in [(EasyOption::FollowLocation, 1), (EasyOption::ConnectTimeoutMs, 10_000)] {
        handle.set(option, value).expect("both are built in");
    }
    if let Err(code) = handle.set(EasyOption::Url, url.as_str()) {
        eprintln!("{}", code.text());
        return ExitCode::FAILURE;
    }
    match handle.fetch() {
        Ok(reply) => {
            let (total, address) = handle.info(|info| (info.total(), info.primary_ip()));
            println!("{} from {address}: {} bytes in {total:?}", reply.status, reply.body.len());
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}
