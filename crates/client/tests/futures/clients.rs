//! The settings of a client.

use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::raw::{RawPeer, expect, send};
use warmwire::header::{HeaderMap, HeaderValue};
use warmwire::redirect::Policy;
use warmwire::{Certificate, Client, EasyOption, ErrorKind, Identity, NoProxy, Proxy, StatusCode, tls};

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
