//! The settings of a client.

use std::io::Read as _;

use testkit::certs::Authority;
use testkit::http::{HttpServer, Request, Response};
use testkit::raw::{RawPeer, expect, send};
use warmwire::header::{HeaderMap, HeaderValue};
use warmwire::redirect::Policy;
use warmwire::{
    AsyncIo, Certificate, Client, EasyOption, ErrorKind, Identity, NoProxy, Pool, Proxy, StatusCode, tls,
};

use super::everywhere;

#[test]
fn no_redirect_is_followed_if_the_policy_is_none() {
    everywhere(
        || Client::builder().redirect(Policy::none()),
        |client| async move {
            let server = HttpServer::plain();
            let reply = client.get(server.url("/redirect/3")).send().await.unwrap();
            assert_eq!(reply.status(), StatusCode::FOUND);
            assert!(reply.error_for_status_ref().is_ok() && reply.headers().contains_key("location"));
        },
    );
    everywhere(
        || Client::builder().redirect(Policy::limited(2)),
        |client| async move {
            let server = HttpServer::plain();
            assert_eq!(client.get(server.url("/redirect/2")).send().await.unwrap().status(), 200);
            let error = client.get(server.url("/redirect/3")).send().await.unwrap_err();
            assert!(error.is_redirect() && !error.is_request(), "{error:?}");
        },
    );
}

#[test]
fn names_lead_to_other_addresses() {
    let server = HttpServer::plain();
    let address = server.address();
    let builder = || {
        let mut anywhere = address;
        anywhere.set_port(0);
        Client::builder()
            .no_proxy()
            .resolve("resolved.example", address)
            .resolve("kept.example", anywhere)
            .connect_to("moved.example:80", &address.to_string())
    };
    everywhere(builder, |client| async move {
        let server_port = address.port();
        for url in [
            "http://resolved.example/bytes/3".to_owned(),
            format!("http://kept.example:{server_port}/bytes/3"),
            "http://moved.example/bytes/3".to_owned(),
        ] {
            let reply = client.get(&url).send().await.unwrap();
            assert_eq!((reply.remote_addr(), reply.url().as_str()), (Some(address), &*url));
        }
    });
    assert!(server.last_request().unwrap().field("Host").unwrap().ends_with(".example"));
}

#[test]
fn a_proxy_is_used_but_for_its_exceptions() {
    everywhere(Client::builder, |_| async {
        let peer = RawPeer::start(vec![vec![
            expect("GET http://far.example/ HTTP/1.1\r\n"),
            expect("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"),
            send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ]]);
        let proxy = Proxy::all(&format!("http://{}", peer.address())).unwrap().basic_auth("user", "secret");
        let proxy = proxy.no_proxy(NoProxy::from_string("127.0.0.1, near.example"));
        let client = Client::builder().proxy(proxy).build().unwrap();
        assert_eq!(client.get("http://far.example/").send().await.unwrap().text().await.unwrap(), "ok");
        let server = HttpServer::plain();
        assert_eq!(client.get(server.url("/bytes/1")).send().await.unwrap().status(), 200);
    });
    assert!(Proxy::all("ftp://h/").is_err() && Proxy::all("").is_err());
}

/// The feature `pac` is among those of these tests.
#[test]
fn a_pac_file_names_the_proxies_of_a_client() {
    everywhere(Client::builder, |_| async {
        let proxy = HttpServer::plain();
        let file = format!(
            "function FindProxyForURL(url, host) {{ \
             return shExpMatch(host, '*.far.example') ? 'PROXY {}' : 'DIRECT' }}",
            proxy.address()
        );
        let server =
            HttpServer::with(move |request| (request.target == "/p").then(|| Response::ok(file.clone())));
        let pac = Proxy::pac(&server.url("/p")).unwrap().no_proxy(NoProxy::from_string("near.far.example"));
        let client = Client::builder().proxy(pac).build().unwrap();
        let get = async |url: &str| client.get(url).send().await.map(|reply| reply.status().as_u16());
        assert_eq!(get("http://www.far.example/bytes/1").await.unwrap(), 200);
        assert_eq!(get(&server.url("/bytes/1")).await.unwrap(), 200);
        assert!(get("http://near.far.example/bytes/1").await.is_err(), "it goes without the proxy");
        assert_eq!(proxy.served(), 1);
        let failing = Client::builder().proxy(Proxy::pac(&server.url("/bytes/9")).unwrap()).build().unwrap();
        let error = failing.get("http://www.far.example/").send().await.unwrap_err();
        assert!(error.to_string().contains("cannot be used"), "{error}");
    });
    assert!(Proxy::pac("ftp://h/p").is_err() && Proxy::pac("").is_err());
    let system = Client::builder().proxy(Proxy::system()).build().unwrap();
    let server = HttpServer::plain();
    let status =
        async_io::block_on(async { system.get(server.url("/bytes/1")).send().await.unwrap().status() });
    assert_eq!(status, 200);
}

#[test]
fn the_next_proxy_of_a_list_replaces_a_dead_one() {
    everywhere(Client::builder, |_| async {
        let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let peer = RawPeer::start(vec![vec![
            expect("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=\r\n"),
            send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        ]]);
        let proxy = Proxy::all(&format!("http://{dead} http://{}", peer.address())).unwrap();
        let client = Client::builder().proxy(proxy.basic_auth("user", "secret")).build().unwrap();
        assert_eq!(client.get("http://far.example/").send().await.unwrap().text().await.unwrap(), "ok");
    });
    assert!(Proxy::all("http://a:1 direct").is_ok() && Proxy::all("http://a:1 ftp://b:2").is_err());
}

/// The first proxy that is for a URL counts, also after a redirect to another scheme.
#[test]
fn each_scheme_has_its_proxy() {
    let redirects = |request: &Request| {
        let moved = Response::status(302).with("Location", "https://far.example/secure");
        (request.target == "http://far.example/moved").then_some(moved)
    };
    let plain = HttpServer::with(move |request| redirects(request).or_else(|| Some(Response::ok("plain"))));
    let secure = HttpServer::with(|_| Some(Response::status(403)));
    let rest = HttpServer::with(|_| Some(Response::ok("rest")));
    let address = |server: &HttpServer| format!("http://{}", server.address());
    let client = Client::builder()
        .proxy(Proxy::https(&address(&secure)).unwrap().basic_auth("a@b", "c:d"))
        .proxy(
            Proxy::http(&address(&plain)).unwrap().no_proxy(NoProxy::from_string("near.example, 127.0.0.1")),
        )
        .proxy(Proxy::all(&address(&rest)).unwrap().no_proxy(NoProxy::from_string("127.0.0.1")))
        .build()
        .unwrap();
    let get = |url: &str| async_io::block_on(async { client.get(url).send().await?.text().await });
    assert_eq!(get("http://far.example/").unwrap(), "plain");
    assert_eq!(get("http://near.example/").unwrap(), "rest");
    let error = get("http://far.example/moved").unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    let tunnel = secure.last_request().unwrap();
    assert_eq!((&*tunnel.method, &*tunnel.target), ("CONNECT", "far.example:443"));
    assert_eq!(tunnel.field("Proxy-Authorization"), Some("Basic YUBiOmM6ZA=="));
    // None is for this one.
    let server = HttpServer::plain();
    assert!(get(&server.url("/bytes/1")).is_ok() && server.served() == 1);
}

/// OpenSSL offers to encrypt before it authenticates (RFC 7366); rustls has no such suites.
#[test]
fn a_client_chooses_its_tls_library() {
    if !warmwire::has_system_tls() {
        assert!(Client::builder().use_native_tls().build().unwrap_err().is_builder());
        testkit::left_out("OpenSSL is missing: libssl.so.3");
    }
    let hello = |builder: warmwire::ClientBuilder| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = builder.no_proxy().build().unwrap();
        let url = format!("https://{}/", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut record = vec![0; 16 * 1024];
            let length = listener.accept().unwrap().0.read(&mut record).unwrap();
            record.truncate(length);
            record
        });
        async_io::block_on(client.get(url).send()).unwrap_err();
        server.join().unwrap()
    };
    let is_of_openssl = |hello: &[u8]| hello.windows(4).any(|extension| extension == [0, 22, 0, 0]);
    assert!(is_of_openssl(&hello(Client::builder().use_native_tls())));
    assert!(!is_of_openssl(&hello(Client::builder().use_rustls_tls())));
}

#[test]
fn idle_connections_go_to_the_chosen_pool() {
    let fetch = |server: &HttpServer, kind| {
        let (client, driver) = Client::builder().no_proxy().pool(kind).build_with_driver().unwrap();
        let url = server.url("/bytes/1");
        async_io::block_on(driver.run_until(AsyncIo, async { client.get(url).send().await?.bytes().await }))
            .unwrap();
    };
    let server = HttpServer::plain();
    fetch(&server, Pool::Process);
    fetch(&server, Pool::Process);
    assert_eq!(server.accepts(), 1);
    fetch(&server, Pool::Off);
    fetch(&server, Pool::Off);
    assert_eq!(server.accepts(), 3);
    fetch(&server, Pool::Process);
    assert_eq!(server.accepts(), 3, "the others have left it alone");
}

#[test]
fn settings_that_cannot_hold_are_errors_of_build() {
    for builder in
        [Client::builder().user_agent("two\nlines"), Client::builder().tls_built_in_root_certs(false)]
    {
        assert!(builder.build().unwrap_err().is_builder());
    }
    assert!(Certificate::from_pem(b"nothing").is_err() && Certificate::from_der(b"nothing").is_err());
    assert!(Identity::from_pem(b"nothing").is_err());
}

#[test]
fn other_schemes_than_https_are_refused_on_demand() {
    everywhere(
        || Client::builder().https_only(true),
        |client| async move {
            let server = HttpServer::plain();
            let error = client.get(server.url("/bytes/1")).send().await.unwrap_err();
            assert_eq!((error.kind(), server.accepts()), (ErrorKind::Url, 0));
        },
    );
}

#[test]
fn versions_of_tls_have_bounds() {
    let authority = Authority::new();
    let root = Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let url = server.url("/bytes/3");
    for (low, high) in
        [(tls::Version::TLS_1_2, tls::Version::TLS_1_2), (tls::Version::TLS_1_3, tls::Version::TLS_1_3)]
    {
        let builder = || {
            Client::builder().add_root_certificate(root.clone()).min_tls_version(low).max_tls_version(high)
        };
        everywhere(builder, |client| {
            let url = url.clone();
            async move { assert_eq!(client.get(&url).send().await.unwrap().status(), 200) }
        });
    }
}

#[test]
fn a_request_overrides_the_fields_of_its_client() {
    let mut fields = HeaderMap::new();
    fields.append("x-list", HeaderValue::from_static("1"));
    fields.append("x-list", HeaderValue::from_static("2"));
    everywhere(
        || Client::builder().default_headers(fields.clone()),
        |client| async move {
            let server = HttpServer::plain();
            let head = || String::from_utf8(server.last_request().unwrap().head).unwrap();
            client.get(server.url("/bytes/1")).send().await.unwrap();
            assert!(head().contains("x-list: 1\r\nx-list: 2\r\n"), "{}", head());
            client.get(server.url("/bytes/1")).header("X-List", "3").send().await.unwrap();
            assert_eq!(head().matches("x-list: ").count(), 1, "{}", head());
            client.get(server.url("/bytes/1")).header("x-empty", "").send().await.unwrap();
            assert!(head().contains("x-empty:\r\n"), "{}", head());
        },
    );
}

#[test]
fn an_option_of_a_request_comes_after_its_clients() {
    everywhere(
        || Client::builder().option(EasyOption::Referer, "http://client/"),
        |client| async move {
            let server = HttpServer::plain();
            let get = || client.get(server.url("/bytes/1"));
            get().send().await.unwrap();
            assert_eq!(server.last_request().unwrap().field("Referer"), Some("http://client/"));
            get().option(EasyOption::Referer, "http://own/").send().await.unwrap();
            assert_eq!(server.last_request().unwrap().field("Referer"), Some("http://own/"));
        },
    );
}

#[test]
fn cookies_of_a_head_are_listed() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let reply = client.get(server.url("/cookies/set/a/b")).send().await.unwrap();
        let cookies: Vec<_> = reply.cookies().map(|cookie| (cookie.name(), cookie.value())).collect();
        assert_eq!(cookies, [("a", "b")]);
    });
}
