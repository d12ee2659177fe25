//! The contents of requests, and of their responses.

use std::time::Duration;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{After, HttpServer};
use warmwire::header::HeaderMap;
use warmwire::multipart::{Form, Part};
use warmwire::{
    Body, Certificate, Client, ClientBuilder, EasyOption, Error, Method, Priority, Request, Response,
    StatusCode, Url, Version,
};

use super::everywhere;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_reply_has_status_fields_and_body() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let mut reply = client.get(server.url("/bytes/1000")).send().await.unwrap();
        assert_eq!((reply.status(), reply.version()), (StatusCode::OK, Version::HTTP_11));
        assert_eq!(reply.headers()["CONTENT-length"], "1000");
        assert_eq!(reply.content_length(), Some(1000));
        assert_eq!(reply.remote_addr(), Some(server.address()));
        let mut body = Vec::new();
        while let Some(piece) = reply.chunk().await.unwrap() {
            body.extend(piece);
        }
        assert_eq!(body, pattern(1000));
        assert_eq!(reply.timings().unwrap().downloaded, 1000);
        assert!(reply.chunk().await.unwrap().is_none(), "the end stays the end");
        let missing = client.get(server.url("/status/404")).send().await.unwrap();
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    });
}

#[test]
fn connections_are_kept() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        for _ in 0..5 {
            assert_eq!(
                client.get(server.url("/bytes/3")).send().await.unwrap().bytes().await.unwrap(),
                pattern(3)
            );
        }
        assert_eq!((server.accepts(), server.served()), (1, 5));
    });
}

#[test]
fn every_method_with_every_body() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let url = server.url("/body");
        let last = || server.last_request().unwrap();
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let reply = client.request(method.parse().unwrap(), &url).body("four").send().await.unwrap();
            assert_eq!(reply.text().await.unwrap(), "four");
            assert_eq!(last().method, method);
            assert_eq!((last().field("Content-Length"), last().field("Content-Type")), (Some("4"), None));
        }
        for method in ["POST", "PUT", "PATCH"] {
            client.request(method.parse().unwrap(), &url).send().await.unwrap();
            assert_eq!((last().method.as_str(), last().field("Content-Length")), (method, Some("0")));
        }
        client.delete(&url).send().await.unwrap();
        assert_eq!((last().method.as_str(), last().field("Content-Length")), ("DELETE", None));
        let head = client.head(server.url("/bytes/77")).send().await.unwrap();
        assert_eq!((head.content_length(), head.bytes().await.unwrap().len()), (Some(77), 0));
        assert_eq!(last().method, "HEAD");
        client.post(&url).form(&[("a b", "ü&"), ("c", "")]).send().await.unwrap();
        assert_eq!(last().field("Content-Type"), Some("application/x-www-form-urlencoded"));
        assert_eq!(text(&last().body), "a+b=%C3%BC%26&c=");
    });
}

#[test]
fn json_both_ways() {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
    struct Point {
        x: i32,
        name: String,
    }
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let point = Point { x: -3, name: "p".into() };
        let reply = client.put(server.url("/body")).json(&point).send().await.unwrap();
        assert_eq!(reply.json::<Point>().await.unwrap(), point);
        assert_eq!(server.last_request().unwrap().field("Content-Type"), Some("application/json"));
        let reply = client.put(server.url("/body")).body("no json").send().await.unwrap();
        let error: Error = reply.json::<Point>().await.unwrap_err();
        assert_eq!(error.kind(), warmwire::ErrorKind::Decode);
    });
}

#[test]
fn a_form_of_parts() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let file = testkit::temp::TempDir::new("multipart").unwrap();
        file.write("notes.txt", "from a file").unwrap();
        let data = Part::bytes(vec![0, 255]).file_name("data.bin").mime_str("application/x-data").unwrap();
        let form = Form::new().text("field", "value").part("data", data);
        let form = form.file("file", file.path().join("notes.txt")).unwrap();
        client.post(server.url("/body")).multipart(form).send().await.unwrap();
        let request = server.last_request().unwrap();
        assert!(request.field("Content-Type").unwrap().starts_with("multipart/form-data; "));
        let body = text(&request.body);
        for piece in [
            "name=\"field\"\r\n\r\nvalue\r\n",
            "filename=\"data.bin\"\r\nContent-Type: application/x-data",
            "filename=\"notes.txt\"\r\nContent-Type: text/plain\r\n\r\nfrom a file",
        ] {
            assert!(body.contains(piece), "{piece}: {body}");
        }
        assert!(Form::new().file("file", file.path().join("none")).is_err());
        file.write("none", "").unwrap();
        let form = Form::new().file("file", file.path().join("none")).unwrap();
        std::fs::remove_file(file.path().join("none")).unwrap();
        let error = client.post(server.url("/body")).multipart(form).send().await.unwrap_err();
        assert_eq!(error.kind(), warmwire::ErrorKind::Upload);
        assert!(error.message().contains("none"), "{error}");
    });
}

#[test]
fn parts_of_a_form_may_be_streams() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let folder = testkit::temp::TempDir::new("streams").unwrap();
        folder.write("notes.txt", "from a file").unwrap();
        let form = |part: Part| {
            let form = Form::new().text("first", "1").part("streamed", part.file_name("s.bin"));
            form.file("file", folder.path().join("notes.txt")).unwrap().text("last", "2")
        };
        let large = pattern(300_000);
        let source = || std::io::Cursor::new(large.clone());
        for (part, has_length) in [
            (Part::stream(Body::new(source())), false),
            (Part::reader(source()), false),
            (Part::stream_with_length(Body::new(source()), large.len() as u64), true),
            (Part::reader_with_length(source(), large.len() as u64), true),
        ] {
            let request = client.post(server.url("/body")).multipart(form(part));
            assert!(request.try_clone().is_none(), "a stream cannot be copied");
            let reply = request.send().await.unwrap();
            let request = server.last_request().unwrap();
            assert_eq!((reply.status(), &*request.method), (StatusCode::OK, "POST"));
            assert_eq!(request.field("Content-Length").is_some(), has_length);
            let kind = request.field("Content-Type").unwrap();
            let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
            let field =
                |name: &str| format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
            let (first, second) = (field("first"), field("streamed"));
            let whole = format!("{first}\r\n\r\n1\r\n{second}; filename=\"s.bin\"\r\n");
            assert!(request.body.starts_with(whole.as_bytes()), "{}", text(&request.body[..400]));
            let found = request.body.windows(large.len()).any(|window| window == large);
            assert!(found, "the stream is there as it is");
            let last = field("last");
            let end = format!("\r\n\r\nfrom a file\r\n{last}\r\n\r\n2\r\n--{boundary}--\r\n");
            assert!(request.body.ends_with(end.as_bytes()), "{}", text(&request.body));
        }
        for length in [1, 300_001] {
            let form = form(Part::reader_with_length(source(), length));
            let error = client.post(server.url("/body")).multipart(form).send().await.unwrap_err();
            assert!(error.to_string().contains("its length"), "{error}");
        }
    });
}

#[test]
fn headers_query_cookies_and_logins() {
    let defaults = |(name, value): (&'static str, &str)| (name.parse().unwrap(), value.parse().unwrap());
    let fields: HeaderMap = [("x-all", "1"), ("x-one", "client's")].map(defaults).into_iter().collect();
    let builder = || Client::builder().default_headers(fields.clone()).user_agent("tests").cookie_store(true);
    everywhere(builder, |client| async move {
        let server = HttpServer::plain();
        let last = || server.last_request().unwrap();
        let url = server.url("/body?first=1#end");
        let request = client.get(&url).query(&[("q", "a b"), ("r", "&")]);
        request.header("x-one", "its own").send().await.unwrap();
        assert_eq!(last().target, "/body?first=1&q=a+b&r=%26");
        assert_eq!((last().field("X-All"), last().field("X-One")), (Some("1"), Some("its own")));
        assert_eq!(last().field("User-Agent"), Some("tests"));
        client.get(server.url("/cookies/set/kept/yes")).send().await.unwrap().bytes().await.unwrap();
        let cookies = client.get(server.url("/cookies")).cookie("a", "b").cookie("c", "d");
        assert_eq!(cookies.send().await.unwrap().text().await.unwrap(), "kept=yes; a=b; c=d");
        let private = client.get(server.url("/basic/me/it:s"));
        assert_eq!(private.basic_auth("me", Some("it:s")).send().await.unwrap().status(), 200);
        let asked = client.get(server.url("/basic/me/secret")).any_auth("me", Some("secret"));
        assert_eq!(asked.send().await.unwrap().status(), 200);
        client.get(&url).bearer_auth("token").send().await.unwrap();
        assert_eq!(last().field("Authorization"), Some("Bearer token"));
        client.get(&url).option(EasyOption::Referer, "http://from/").send().await.unwrap();
        assert_eq!(last().field("Referer"), Some("http://from/"));
        client.get(&url).send().await.unwrap();
        assert_eq!((last().field("Authorization"), last().field("Referer")), (None, None), "each for itself");
    });
}

#[test]
fn ten_redirects_are_followed() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let url = server.url("/redirect/3");
        let reply = client.get(&url).send().await.unwrap();
        assert_eq!((reply.status(), reply.url().as_str()), (StatusCode::OK, &*server.url("/redirect/0/302")));
        assert_eq!(reply.text().await.unwrap(), "arrived\n");
        let error = client.get(server.url("/redirect/11")).send().await.unwrap_err();
        assert!(error.is_redirect() && error.kind() == warmwire::ErrorKind::Redirects);
        let seen_other = client.post(server.url("/redirect/1/303")).body("x").send().await.unwrap();
        assert_eq!(
            (seen_other.status(), server.last_request().unwrap().method.as_str()),
            (StatusCode::OK, "GET")
        );
        let again = client.put(server.url("/redirect/1/308")).body("again").send().await.unwrap();
        assert_eq!(again.status(), 200);
        let request = server.last_request().unwrap();
        assert_eq!((request.method.as_str(), text(&request.body)), ("PUT", "again".to_owned()));
    });
}

#[test]
fn compressed_bodies_are_decoded_unless_switched_off() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let reply = client.get(server.url("/gzip/5000")).send().await.unwrap();
        assert!(reply.content_length().is_none() && !reply.headers().contains_key("content-encoding"));
        assert_eq!(reply.bytes().await.unwrap(), pattern(5000));
        let asked = server.last_request().unwrap();
        assert_eq!(asked.field("Accept-Encoding"), Some("gzip, deflate, br, zstd"));
        // A part of a coded body could not be decoded.
        client.get(server.url("/bytes/50")).header("range", "bytes=0-4").send().await.unwrap();
        assert_eq!(server.last_request().unwrap().field("Accept-Encoding"), None);
    });
    let builder = || Client::builder().gzip(false).deflate(false).brotli(false).zstd(false);
    everywhere(builder, |client| async move {
        let server = HttpServer::plain();
        let reply = client.get(server.url("/gzip/5000")).send().await.unwrap();
        assert_ne!(reply.bytes().await.unwrap(), pattern(5000));
        assert_eq!(server.last_request().unwrap().field("Accept-Encoding"), None);
    });
}

#[test]
fn tls_is_judged() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let url = server.url("/bytes/3");
    everywhere(Client::builder, |client| {
        let url = url.clone();
        async move {
            let error = client.get(&url).send().await.unwrap_err();
            assert_eq!(
                (error.kind(), error.reached()),
                (warmwire::ErrorKind::Tls, warmwire::RequestPhase::Connected)
            );
            assert!(error.is_connect() && !error.is_timeout());
        }
    });
    let root = Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let trusting: [&dyn Fn() -> ClientBuilder; 3] = [
        &|| Client::builder().add_root_certificate(root.clone()),
        &|| Client::builder().add_root_certificate(root.clone()).tls_built_in_root_certs(false),
        &|| Client::builder().danger_accept_invalid_certs(true),
    ];
    for builder in trusting {
        everywhere(builder, |client| {
            let url = url.clone();
            async move {
                assert_eq!(client.get(&url).send().await.unwrap().bytes().await.unwrap().len(), 3);
            }
        });
    }
}

#[test]
fn ftp_by_its_url() {
    everywhere(Client::builder, |client| async move {
        let server = FtpServer::with_file("/old", "by ftp");
        let reply = client.get(server.url("/old")).send().await.unwrap();
        assert!(reply.status() == 200 && reply.headers().is_empty());
        assert_eq!(reply.text().await.unwrap(), "by ftp");
        client.put(server.url("/new")).body("put there").send().await.unwrap().bytes().await.unwrap();
        assert_eq!(server.file("/new").unwrap(), b"put there");
        let error = match client.get(server.url("/none")).send().await {
            Ok(reply) => reply.bytes().await.unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.kind(), warmwire::ErrorKind::NotFound);
    });
}

#[test]
fn a_version_is_asked_for() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        client.get(server.url("/bytes/1")).version(Version::HTTP_10).send().await.unwrap();
        let head = server.last_request().unwrap().head;
        assert!(head.starts_with(b"GET /bytes/1 HTTP/1.0\r\n"), "{}", text(&head));
    });
}

/// The requirements of `tokio::spawn`.
#[test]
fn futures_may_go_to_another_thread() {
    fn sends<T: Send>(_: T) {}
    fn sends_and_shares<T: Send + Sync + Clone>(_: T) {}
    let (client, driver) = super::client_and_driver();
    sends(client.get("http://localhost/").send());
    sends(async {
        let reply: Response = client.get("http://localhost/").timeout(Duration::from_secs(1)).send().await?;
        reply.bytes().await
    });
    sends(driver);
    sends_and_shares(client.clone());
}

#[test]
fn a_client_is_a_service_of_tower() {
    async fn twice<S>(mut service: S, url: &str) -> Vec<usize>
    where
        S: tower_service::Service<Request, Response = Response, Error = Error>,
    {
        let mut lengths = Vec::new();
        for _ in 0..2 {
            std::future::poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
            let request = Request::new(Method::GET, Url::parse(url).unwrap());
            lengths.push(service.call(request).await.unwrap().bytes().await.unwrap().len());
        }
        lengths
    }
    let server = HttpServer::plain();
    let (client, url) = (Client::new(), server.url("/bytes/70"));
    assert_eq!(async_io::block_on(twice(&client, &url)), [70, 70]);
    assert_eq!(async_io::block_on(twice(client, &url)), [70, 70]);
    assert_eq!(server.accepts(), 1);
}

#[test]
fn early_hints_are_those_of_the_last_reply() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::with(|request| {
            let end = match request.path() {
                "/moved" => "302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
                _ => "200 OK\r\nContent-Length: 1\r\n\r\nx",
            };
            let hint =
                format!("HTTP/1.1 103 Early Hints\r\nLink: <{}>\r\n\r\nHTTP/1.1 {end}", request.path());
            Some(testkit::http::Response::raw(hint, After::Keep))
        });
        let reply = client.get(server.url("/moved")).send().await.unwrap();
        let found = reply.informational();
        assert_eq!((found.len(), found[0].status()), (1, StatusCode::EARLY_HINTS));
        assert_eq!(found[0].headers()["link"], "</>");
        assert_eq!(reply.text().await.unwrap(), "x");
    });
}

#[test]
fn a_priority_is_a_field_of_the_request() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let urgent = Priority::new(1).unwrap().incremental(true);
        client.get(server.url("/")).priority(urgent).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(server.last_request().unwrap().field("Priority"), Some("u=1, i"));
        client.get(server.url("/")).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(server.last_request().unwrap().field("Priority"), None);
    });
}
