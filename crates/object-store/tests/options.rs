//! `ClientOptions`: each is honoured, or the store is not built.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use object_store::client::{DnsFuture, DnsResolver, HttpClient, HttpConnector};
use object_store::{ClientConfigKey, ClientOptions};
use testkit::certs::Authority;
use testkit::http::{HttpServer, Response};
use testkit::launch::{Http2Kind, Http2Server};
use warmwire_object_store::WarmwireConnector;

use super::{client, get, plain};

async fn status(client: &HttpClient, url: &str) -> u16 {
    client.execute(get(url)).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn header_fields_and_user_agent_are_sent() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/3");
    status(&client(&plain()), &url).await;
    let request = server.last_request().unwrap();
    let agent = concat!("warmwire-object-store/", env!("CARGO_PKG_VERSION"));
    assert_eq!((request.field("User-Agent"), request.field("Accept-Encoding")), (Some(agent), None));
    let headers = [("x-a".parse().unwrap(), "1".parse().unwrap())].into_iter().collect();
    let options = plain().with_default_headers(headers).with_user_agent("reader/2".parse().unwrap());
    status(&client(&options), &url).await;
    let request = server.last_request().unwrap();
    assert_eq!((request.field("User-Agent"), request.field("X-A")), (Some("reader/2"), Some("1")));
}

#[tokio::test]
async fn the_path_is_sent_as_it_is_signed() {
    let server = HttpServer::with(|_| Some(Response::ok("")));
    for path in ["/a%2Fb%20c/%2E%2E/d", "/a/../b", "/a//b?x=%7E&y=+", "/%C3%BC"] {
        status(&client(&plain()), &server.url(path)).await;
        assert_eq!(server.last_request().unwrap().target, path);
    }
}

#[tokio::test]
async fn a_proxy_gets_the_requests_except_for_some_hosts() {
    let (server, proxy) = (HttpServer::plain(), HttpServer::with(|_| Some(Response::status(418))));
    let options = plain().with_proxy_url(proxy.url("")).with_proxy_excludes("127.0.0.1");
    let client = client(&options);
    assert_eq!(status(&client, "http://bucket.example/object").await, 418);
    assert_eq!(proxy.last_request().unwrap().target, "http://bucket.example/object");
    assert_eq!(status(&client, &server.url("/bytes/3")).await, 200);
    assert_eq!((server.served(), proxy.served()), (1, 1));
}

#[tokio::test]
async fn a_limit_of_the_whole_request_includes_its_body() {
    let server = HttpServer::plain();
    let client = client(&plain().with_timeout(Duration::from_millis(300)));
    let start = Instant::now();
    let body = client.execute(get(&server.url("/drip/1/50/bytes/1000"))).await.unwrap().into_body();
    body.bytes().await.unwrap_err();
    assert!((300..5000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_authority_of_the_program_is_trusted_by_the_connector() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let url = server.url("/bytes/3");
    let certificate = warmwire::Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let connector =
        WarmwireConnector::new().configure(move |client| client.add_root_certificate(certificate.clone()));
    for options in [ClientOptions::new(), ClientOptions::new().with_no_system_certificates(true)] {
        assert_eq!(status(&connector.connect(&options).unwrap(), &url).await, 200);
    }
    let open = client(&ClientOptions::new().with_allow_invalid_certificates(true));
    assert_eq!(status(&open, &url).await, 200);
}

#[tokio::test]
async fn the_version_of_http_is_the_one_of_the_options() {
    let leaf = Authority::new().good();
    let server = Http2Server::start(Http2Kind::Nginx, &leaf, &[3]);
    let server = server.unwrap_or_else(|error| testkit::left_out(error));
    let options = || ClientOptions::new().with_allow_invalid_certificates(true);
    let url = server.https("/bytes-3");
    for (options, wanted) in [
        (options(), http::Version::HTTP_11),
        (options().with_allow_http2(), http::Version::HTTP_2),
        (options().with_http2_only(), http::Version::HTTP_2),
    ] {
        let response = client(&options).execute(get(&url)).await.unwrap();
        assert_eq!(response.version(), wanted);
    }
}

#[derive(Debug)]
struct Resolver;

impl DnsResolver for Resolver {
    fn resolve(&self, _: &str) -> DnsFuture {
        Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
    }
}

#[test]
fn an_option_without_a_counterpart_is_refused() {
    let refusal = |options: &ClientOptions| WarmwireConnector::new().connect(options).unwrap_err();
    let frames = plain().with_config(ClientConfigKey::Http2MaxFrameSize, "16384");
    for (options, name) in [
        (frames, "http2_max_frame_size"),
        (plain().with_pool_max_idle_per_host(3), "pool_max_idle_per_host"),
        (plain().with_dns_resolver(Arc::new(Resolver)), "dns_resolver"),
    ] {
        let error = refusal(&options);
        assert!(matches!(error, object_store::Error::NotSupported { .. }), "{error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let error = refusal(&plain().with_config(ClientConfigKey::Timeout, "soon"));
    assert!(error.to_string().contains("the option timeout is refused"), "{error}");
}
