//! Runs the guide's program on object_store.

#[path = "../../../docs/guide/examples/object_store.rs"]
mod object_store_program;

use testkit::body::pattern;
use testkit::http::HttpServer;

#[tokio::test]
async fn the_guides_program_reads_a_range() {
    let server = HttpServer::with(|request| {
        let answer = testkit::http::ranged(request, pattern(1000)).with("ETag", "\"1\"");
        Some(answer.with("Last-Modified", "Sun, 29 Nov 2026 10:00:00 GMT"))
    });
    let beginning = object_store_program::beginning(&server.url("/"), "file").await.unwrap();
    assert_eq!(beginning, pattern(4));
    assert_eq!(server.last_request().unwrap().field("Range"), Some("bytes=0-3"));
}
