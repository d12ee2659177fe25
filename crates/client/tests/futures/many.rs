//! Many simultaneous requests, and how often their tasks are polled.

use std::cell::Cell;
use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::launch::Nginx;
use testkit::launch::{Http2Kind, Http2Server};
use warmwire::{Certificate, Client, Tokio, Version};

use super::{client_and_driver, everywhere, once, sleep, together, tokio_on_one_thread};

#[test]
fn a_thousand_gets_on_few_connections() {
    let server = Nginx::start(&Authority::new().good(), &[1000]).unwrap();
    let url = server.http("/bytes-1000");
    everywhere(
        || Client::builder().connections_per_host(8),
        |client| {
            let url = url.clone();
            async move {
                let get = |_| async {
                    let reply = client.get(&url).send().await.unwrap();
                    let from = reply.local_addr().unwrap();
                    assert!(reply.bytes().await.unwrap() == pattern(1000));
                    from
                };
                let connections: HashSet<_> = together((0..1000).map(get)).await.into_iter().collect();
                // nginx ends a connection after a thousand requests; none of them has had that many.
                assert!((1..=8).contains(&connections.len()), "{} connections", connections.len());
            }
        },
    );
}

#[test]
fn a_thousand_tasks_on_several_threads() {
    let server = Nginx::start(&Authority::new().good(), &[1000]).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    let client = Client::builder().connections_per_host(8).build().unwrap();
    tokio.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..1000 {
            let (client, url) = (client.clone(), server.http("/bytes-1000"));
            tasks.spawn(async move { client.get(&url).send().await?.bytes().await });
        }
        while let Some(ended) = tasks.join_next().await {
            assert!(ended.unwrap().unwrap() == pattern(1000));
        }
    });
}

#[test]
fn requests_share_a_connection_of_http2() {
    let authority = Authority::new();
    let server = Http2Server::start(Http2Kind::Nghttpx, &authority.good(), &[1000, 3_000_000]).unwrap();
    let root = Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let builder = || Client::builder().add_root_certificate(root.clone()).wait_for_streams(true);
    everywhere(builder, |client| {
        let (small, large) = (server.https("/bytes-1000"), server.https("/bytes-3000000"));
        async move {
            let get = |_| async {
                let reply = client.get(&small).send().await.unwrap();
                assert_eq!(reply.version(), Version::HTTP_2);
                let from = reply.local_addr().unwrap();
                assert!(reply.bytes().await.unwrap() == pattern(1000));
                from
            };
            let connections: HashSet<_> = together((0..80).map(get)).await.into_iter().collect();
            assert_eq!(connections.len(), 1);
            // Dropping a stream resets only that one; an unread one delays no other.
            let dropped = client.get(&large).send().await.unwrap();
            let held = client.get(&large).send().await.unwrap();
            drop(dropped);
            assert!(connections.contains(&get(0).await));
            assert!(held.bytes().await.unwrap() == pattern(3_000_000));
        }
    });
}

/// Polls a future and counts how often.
async fn counted<F: Future>(polls: Rc<Cell<usize>>, future: F) -> F::Output {
    let mut future = pin!(future);
    std::future::poll_fn(|cx| {
        polls.set(polls.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}

#[test]
fn a_driver_is_polled_when_there_is_something_to_do() {
    let server = HttpServer::plain();
    let tokio = tokio_on_one_thread();
    let (client, driver) = client_and_driver();
    let polls = Rc::new(Cell::new(0));
    tokio::task::LocalSet::new().block_on(&tokio, async {
        let driven = tokio::task::spawn_local(counted(polls.clone(), driver.run(Tokio)));
        for _ in 0..100 {
            client.get(server.url("/bytes/10")).send().await.unwrap().bytes().await.unwrap();
        }
        let busy = polls.take();
        assert!(busy <= 100 * 10, "{busy} polls for 100 requests");
        // Nothing arrives for a second and a half, except for the timers of one transfer and an idle
        // connection.
        let mut waiting =
            Box::pin(client.get(server.url("/delay/60000/bytes/1")).timeout(Duration::from_secs(50)).send());
        assert!(once(waiting.as_mut()).await.is_none());
        sleep(Duration::from_millis(1500)).await;
        let idle = polls.take();
        assert!(idle <= 20, "{idle} polls while nothing came");
        // A paused body is no reason to be polled.
        let paused = client.get(server.url("/bytes/5000000")).window(1).send().await.unwrap();
        sleep(Duration::from_millis(200)).await;
        polls.set(0);
        sleep(Duration::from_millis(1500)).await;
        assert!(polls.get() <= 20, "{} polls while a body was held", polls.get());
        drop((waiting, paused, client));
        driven.await.unwrap().unwrap();
    });
}

#[test]
fn a_large_body_does_not_starve_other_tasks() {
    let server = HttpServer::plain();
    let tokio = tokio_on_one_thread();
    let (client, driver) = client_and_driver();
    tokio::task::LocalSet::new().block_on(&tokio, async {
        tokio::task::spawn_local(driver.run(Tokio));
        let turns = Rc::new(Cell::new(0));
        let counter = turns.clone();
        let other = tokio::task::spawn_local(async move {
            loop {
                counter.set(counter.get() + 1);
                tokio::task::yield_now().await;
            }
        });
        let reply = client.get(server.url("/bytes/30000000")).send().await.unwrap();
        assert_eq!(reply.bytes().await.unwrap().len(), 30_000_000);
        assert!(turns.get() > 10, "{} turns", turns.get());
        other.abort();
    });
}
