//! Texts in verbose output (CURLOPT_DEBUGFUNCTION(3)) and in error messages that programs search for: they
//! are curl's.

use std::rc::Rc;

use crate::common::{App, handle, long};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Step, expect, send};
use warmwire_engine::Easy;

fn listening(url: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(url);
    app.notes.replace(Some(String::new()));
    long(&easy, O::Verbose, 1);
    (easy, app)
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn the_version_the_host_as_written_and_the_end_of_an_upload() {
    let peer = RawPeer::start(vec![vec![expect("body"), send(OK), Step::Hold]]);
    let (easy, app) = listening(&format!("http://LocalHost:{}/", peer.port()));
    app.upload.replace(b"body".to_vec());
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 4);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let notes = app.notes.take().unwrap();
    for words in
        ["using HTTP/1.x", "Established connection to LocalHost (", "upload completely sent off: 4 bytes"]
    {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn a_kept_connection_that_speaks_no_http_any_more() {
    let script = vec![expect("\r\n\r\n"), send(OK), expect("\r\n\r\n"), send("what is this\r\n"), Step::Hold];
    let peer = RawPeer::start(vec![script]);
    let (easy, _) = listening(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(easy.perform(), Code::WeirdServerReply);
    assert_eq!(easy.state().message(), "Invalid status line");
}
