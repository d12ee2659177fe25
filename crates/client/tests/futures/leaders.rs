//! The parts that run a client's own engine: threads that wait, a task in tokio's runtime, or the background
//! thread.

use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use testkit::body::pattern;
use testkit::http::HttpServer;
use warmwire::{Body, Client, ErrorKind, blocking};

use super::{SOON, sleep, tokio_on_one_thread};

#[test]
fn threads_that_share_a_blocking_client_lead_in_turns() {
    let server = HttpServer::plain();
    let client = blocking::Client::new();
    thread::scope(|threads| {
        for number in 0..16 {
            let (client, server) = (&client, &server);
            threads.spawn(move || {
                for size in 0..20 {
                    let size = size * 1000 + number;
                    let reply = client.get(server.url(&format!("/bytes/{size}"))).send().unwrap();
                    assert!(reply.bytes().unwrap() == pattern(size), "thread {number}");
                }
            });
        }
    });
}

#[test]
fn a_transfer_that_nobody_waits_for_still_ends() {
    let server = HttpServer::plain();
    let client = blocking::Client::new();
    // The limit expires while no thread is in a call, and the transfer ends then.
    let request = client.get(server.url("/bytes/5000000")).window(1).timeout(Duration::from_secs(3));
    let mut reply = request.send().unwrap();
    thread::sleep(Duration::from_secs(6));
    let error = loop {
        match reply.chunk() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the body ended"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::Timeout);
    let total = error.timings().unwrap().total;
    assert!(total < Duration::from_secs(5), "ended after {total:?}");
    // Its thread gives way to the next call, and a response may be read on another thread than it came to.
    let reply = client.get(server.url("/bytes/5000000")).send().unwrap();
    let read = thread::spawn(move || reply.bytes().unwrap().len());
    assert_eq!(client.get(server.url("/bytes/10")).send().unwrap().bytes().unwrap().len(), 10);
    assert_eq!(read.join().unwrap(), 5_000_000);
}

/// A body whose reader makes requests with the client that sends it.
struct Nested(blocking::Client, String, usize);

impl Read for Nested {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.2 == 0 {
            return Ok(0);
        }
        self.2 -= 1;
        let reply =
            self.0.get(&self.1).send().and_then(blocking::Response::bytes).map_err(io::Error::other)?;
        buffer[..reply.len()].copy_from_slice(&reply);
        Ok(reply.len())
    }
}

#[test]
fn the_reader_of_a_body_may_use_the_client_that_sends_it() {
    let server = HttpServer::plain();
    let client = blocking::Client::new();
    let body = Nested(client.clone(), server.url("/bytes/100"), 3);
    let reply = client.post(server.url("/echo")).body(Body::new(body)).send().unwrap();
    assert_eq!(reply.status(), 200);
    drop(reply.bytes().unwrap());
}

#[test]
fn a_client_serves_one_runtime_after_the_other() {
    let server = HttpServer::plain();
    let client = Client::new();
    for size in [10, 20, 30] {
        let reply = tokio_on_one_thread().block_on(async {
            client.get(server.url(&format!("/bytes/{size}"))).send().await?.bytes().await
        });
        assert_eq!(reply.unwrap().len(), size);
    }
}

#[test]
fn a_transfer_outlives_the_runtime_that_ran_it() {
    let server = HttpServer::plain();
    let client = Client::new();
    let large = server.url("/bytes/5000000");
    let held = tokio_on_one_thread().block_on(client.get(&large).send()).unwrap();
    assert_eq!(tokio_on_one_thread().block_on(held.bytes()).unwrap().len(), 5_000_000);
    // And beside the one that runs it, on a thread without any.
    let runtime = tokio_on_one_thread();
    let held = runtime.block_on(client.get(&large).send()).unwrap();
    let got = thread::spawn(move || blocking::Response::from(held).bytes().unwrap().len());
    assert_eq!(got.join().unwrap(), 5_000_000);
    let got = async_io::block_on(async { client.get(&large).send().await?.bytes().await });
    assert_eq!(got.unwrap().len(), 5_000_000, "the runtime is not polled");
}

#[test]
fn a_blocking_client_works_inside_a_runtime() {
    let server = HttpServer::plain();
    let got = tokio_on_one_thread().block_on(async {
        let reply = blocking::Client::new().get(server.url("/bytes/1000000")).send().unwrap();
        reply.bytes().unwrap().len()
    });
    assert_eq!(got, 1_000_000);
}

#[test]
fn a_runtime_without_io_gets_the_thread() {
    let server = HttpServer::plain();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let client = Client::new();
    let got = runtime.block_on(async { client.get(server.url("/bytes/1000")).send().await?.bytes().await });
    assert_eq!(got.unwrap().len(), 1000);
}

#[test]
fn dropped_responses_and_clients_end_their_connections() {
    let server = HttpServer::plain();
    let runtime = tokio_on_one_thread();
    runtime.block_on(async {
        let client = Client::new();
        let held = client.get(server.url("/bytes/30000000")).send().await.unwrap();
        drop(held);
        assert_eq!(
            client.get(server.url("/bytes/10")).send().await.unwrap().bytes().await.unwrap().len(),
            10
        );
        drop(client);
        sleep(Duration::from_millis(10)).await;
    });
    let client = blocking::Client::new();
    let held = client.get(server.url("/bytes/30000000")).send().unwrap();
    drop(client);
    assert_eq!(held.bytes().unwrap().len(), 30_000_000, "a response keeps the engine");
    let started = std::time::Instant::now();
    let client = blocking::Client::new();
    drop(client.get(server.url("/bytes/30000000")).send().unwrap());
    drop(client);
    assert!(started.elapsed() < SOON);
}
