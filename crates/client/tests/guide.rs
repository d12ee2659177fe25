//! Runs the Rust program of docs/guide/examples.

#[path = "../../../docs/guide/examples/fetch.rs"]
mod fetch;

use testkit::http::HttpServer;

#[test]
fn the_guides_program_reuses_its_connection() {
    let server = HttpServer::plain();
    assert_eq!(fetch::fetch(&server.url("/bytes/1000")).unwrap(), [1000, 1000]);
    assert_eq!(server.accepts(), 1);
}

/// The line of README.md; compiled, not run, because it needs the network. `cargo xtask docs --check`
/// compares both.
fn _readme() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", warmwire::get("https://example.com/")?.status);
    Ok(())
}
