//! Clients that run their driver themselves, under executors and in threads that wait.

use std::io::Read;
use std::time::Duration;

use testkit::body::pattern;
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, Step, expect, send};
use testkit::temp::TempDir;
use warmwire::blocking;
use warmwire::{Body, Client, Method, Request, StatusCode, Version};

use super::tokio_on_one_thread;

/// Threads of clients in this process.
fn driver_threads() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap();
    let name =
        |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
    names.flatten().filter(|task| task.path().exists()).map(name).filter(|name| name == "warmwire\n").count()
}

#[test]
fn a_new_client_works_on_any_executor() {
    let server = HttpServer::plain();
    let get = || async { Client::new().get(server.url("/bytes/5")).send().await?.bytes().await };
    assert_eq!(tokio_on_one_thread().block_on(get()).unwrap(), pattern(5));
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    assert_eq!(threads.block_on(get()).unwrap(), pattern(5));
    assert_eq!(async_io::block_on(get()).unwrap(), pattern(5));
    let response = async_io::block_on(warmwire::get(server.url("/bytes/6"))).unwrap();
    assert_eq!(async_io::block_on(response.bytes()).unwrap(), pattern(6));
}

/// The test runs in a process of its own, because the others have such threads, too.
#[test]
fn the_thread_of_a_client_lives_from_its_first_request_to_its_last_response() {
    if std::env::var_os("COUNTS_THREADS").is_none() {
        let name = "faces::the_thread_of_a_client_lives_from_its_first_request_to_its_last_response";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let status = again.args([name, "--exact"]).env("COUNTS_THREADS", "1").status().unwrap();
        assert!(status.success());
        return;
    }
    let server = HttpServer::plain();
    let client = Client::new();
    let request = client.get(server.url("/bytes/100000"));
    assert_eq!(driver_threads(), 0);
    let mut response = async_io::block_on(request.send()).unwrap();
    assert_eq!(driver_threads(), 1);
    async_io::block_on(client.get(server.url("/bytes/1")).send()).unwrap();
    assert_eq!(driver_threads(), 1);
    drop(client);
    while async_io::block_on(response.chunk()).unwrap().is_some() {}
    assert_eq!(response.timings().unwrap().downloaded, 100_000);
    drop(response);
    async_io::block_on(super::until("the end of the thread", || driver_threads() == 0));
}

#[test]
fn a_thread_waits_with_the_same_words() {
    let server = HttpServer::plain();
    let client = blocking::Client::builder().user_agent("tests").build().unwrap();
    let response = client.get(server.url("/bytes/1000")).query(&[("a", 1)]).send().unwrap();
    assert_eq!((response.status(), response.version()), (StatusCode::OK, Version::HTTP_11));
    assert_eq!((response.content_length(), response.remote_addr()), (Some(1000), Some(server.address())));
    assert_eq!(response.bytes().unwrap(), pattern(1000));
    let request = server.last_request().unwrap();
    assert_eq!((request.target.as_str(), request.field("User-Agent")), ("/bytes/1000?a=1", Some("tests")));
    let missing = client.get(server.url("/status/404")).send().unwrap();
    assert!(missing.error_for_status_ref().is_err());
    let error = missing.error_for_status().unwrap_err();
    assert!(error.is_status() && error.status() == Some(StatusCode::NOT_FOUND));
    assert_eq!(error.url().unwrap().path(), "/status/404");
    let echoed = client.post(server.url("/body")).json(&[1, 2]).send().unwrap().json::<Vec<u8>>().unwrap();
    assert_eq!(echoed, [1, 2]);
    assert_eq!(server.accepts(), 1, "the connection is kept");
    assert_eq!(blocking::get(server.url("/bytes/3")).unwrap().bytes().unwrap(), pattern(3));
}

#[test]
fn a_response_is_a_reader() {
    let server = HttpServer::plain();
    let client = blocking::Client::new();
    let mut response = client.get(server.url("/bytes/300000")).send().unwrap();
    let mut start = [0; 1001];
    response.read_exact(&mut start).unwrap();
    assert_eq!(response.read(&mut []).unwrap(), 0);
    let mut rest = Vec::new();
    assert_eq!(response.copy_to(&mut rest).unwrap(), 300_000 - 1001);
    assert!([&start[..], &rest].concat() == pattern(300_000));
    assert_eq!(response.read(&mut start).unwrap(), 0, "the end stays the end");
    // The part of a piece that a reader has left belongs to the rest.
    let mut response = client.get(server.url("/bytes/10")).send().unwrap();
    response.read_exact(&mut start[..3]).unwrap();
    assert_eq!(response.bytes().unwrap(), pattern(10)[3..]);
    // A cut body is an error of the reader.
    let mut response = client.get(server.url("/cut/500/bytes/1000")).send().unwrap();
    let error = response.read_to_end(&mut rest).unwrap_err();
    assert!(error.get_ref().unwrap().downcast_ref::<warmwire::Error>().unwrap().is_body(), "{error:?}");
}

#[test]
fn readers_and_files_are_bodies() {
    let server = HttpServer::plain();
    let folder = TempDir::new("faces").unwrap();
    folder.write("file", pattern(200_000)).unwrap();
    let client = blocking::Client::new();
    let file = std::fs::File::open(folder.path().join("file")).unwrap();
    client.put(server.url("/sum")).body(file).send().unwrap();
    let request = server.last_request().unwrap();
    assert_eq!(request.field("Content-Length"), Some("200000"));
    assert!(request.body == pattern(200_000));
    client.post(server.url("/sum")).body(Body::new(&b"of unknown length"[..])).send().unwrap();
    let request = server.last_request().unwrap();
    assert_eq!(request.field("Transfer-Encoding"), Some("chunked"));
    assert_eq!(request.body, b"of unknown length");
    // A response is the body of another request.
    let from = client.get(server.url("/bytes/70000")).send().unwrap();
    let sent = client.post(server.url("/body")).body(from).send().unwrap();
    assert!(sent.bytes().unwrap() == pattern(70_000));
}

#[test]
fn a_request_is_built_changed_and_sent() {
    let server = HttpServer::plain();
    let client = blocking::Client::new();
    let builder = client.post(server.url("/body")).header("x-a", "1").header("x-a", "2").body("first");
    let copy = builder.try_clone().unwrap();
    let mut request = builder.build().unwrap();
    assert_eq!((request.method(), request.url().path()), (&Method::POST, "/body"));
    assert_eq!(request.body().unwrap().as_bytes(), Some(&b"first"[..]));
    request.headers_mut().remove("x-a");
    *request.body_mut() = "second".into();
    assert_eq!(client.execute(request).unwrap().text().unwrap(), "second");
    assert_eq!(server.last_request().unwrap().field("X-A"), None);
    assert_eq!(copy.send().unwrap().text().unwrap(), "first");
    assert!(client.post(server.url("/body")).body(Body::new(&b"x"[..])).try_clone().is_none());
    let foreign = http::Request::builder().method("PUT").uri(server.url("/body")).header("x-b", "3");
    let request = Request::try_from(foreign.body("third").unwrap()).unwrap();
    assert_eq!(client.execute(request).unwrap().text().unwrap(), "third");
    assert_eq!(server.last_request().unwrap().field("X-B"), Some("3"));
}

#[test]
fn a_time_limit_is_an_error_of_its_kind() {
    let peer = || RawPeer::start(vec![vec![expect("\r\n\r\n"), send(""), Step::ReadAll]]);
    let client = blocking::Client::builder().timeout(Duration::from_millis(100)).build().unwrap();
    let silent = peer();
    let error = client.get(format!("http://{}/", silent.address())).send().unwrap_err();
    assert!(error.is_timeout() && !error.is_connect(), "{error:?}");
    let silent = peer();
    let reader = client.get(format!("http://{}/", silent.address())).timeout(Duration::from_nanos(1));
    assert!(reader.send().unwrap_err().is_timeout(), "a short limit is not rounded down to none");
}
