//! Runs the Rust programs of docs/guide/examples.

#[path = "../../../docs/guide/examples/fetch.rs"]
mod fetch;
#[path = "../../../docs/guide/examples/files.rs"]
mod files;
#[path = "../../../docs/guide/examples/post.rs"]
mod post;
#[path = "../../../docs/guide/examples/upload.rs"]
mod upload;
#[path = "../../../docs/guide/examples/watch.rs"]
mod watch;

use testkit::http::HttpServer;

#[test]
fn the_guides_program_reuses_its_connection() {
    let server = HttpServer::plain();
    assert_eq!(fetch::fetch(&server.url("/bytes/1000")).unwrap(), [1000, 1000]);
    assert_eq!(server.accepts(), 1);
}

#[test]
fn the_guides_future_posts_a_form() {
    let server = HttpServer::plain();
    let posted = async_io::block_on(post::post(&server.url("/body"))).unwrap();
    assert_eq!(posted, "name=a+b&color=red");
    assert_eq!(server.last_request().unwrap().target, "/body?page=2");
}

#[test]
fn the_guides_file_is_stored_and_listed() {
    let leaf = testkit::certs::Authority::new().good();
    let server = testkit::launch::Ftpd::start(testkit::launch::FtpdKind::Pyftpdlib, &leaf, &[]).unwrap();
    assert_eq!(files::store(&server.url("")).unwrap(), "Hello, world!\n");
    assert_eq!(server.file("/hello.txt"), None);
}

#[test]
fn the_guides_upload_arrives() {
    let server = testkit::launch::Tusd::start().unwrap();
    let folder = testkit::temp::TempDir::new("upload").unwrap();
    let file = folder.write("f", "content").unwrap();
    assert_eq!(upload::upload(&server.url(), &file, folder.path()).unwrap(), 1);
    assert_eq!(server.uploads(), [b"content"]);
}

#[test]
fn the_guides_watch_returns_the_next_change() {
    let folder = testkit::temp::TempDir::new("watch").unwrap();
    let path = folder.write("f", "old").unwrap();
    let url = format!("file://{}", path.display());
    let waiting = std::thread::spawn(move || watch::next_change(&[&url]).map_err(|e| e.to_string()));
    while !waiting.is_finished() {
        std::thread::sleep(std::time::Duration::from_millis(300));
        // Another size each time: the first one may be the state that later ones are compared with.
        let before = std::fs::metadata(&path).unwrap().len() as usize;
        folder.write("f", "x".repeat(before + 1)).unwrap();
    }
    assert!(waiting.join().unwrap().unwrap().len() > 3);
}

/// The line of README.md; compiled, not run, because it needs the network. `cargo xtask docs --check`
/// compares both.
fn _readme() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", warmwire::blocking::get("https://example.com/")?.status());
    Ok(())
}

/// The lines of crates/client/README.md; compiled, not run, because they need the network.
async fn _readme_of_the_crate() -> Result<(), warmwire::Error> {
    let client = warmwire::Client::new();
    let response = client.get("https://example.com/").query(&[("page", "2")]).send().await?;
    println!("{}", response.error_for_status()?.text().await?);
    Ok(())
}
