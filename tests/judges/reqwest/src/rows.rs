//! Behaviours that reqwest's documentation describes, a row each. main.rs compiles this file twice.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::reqwest;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Method, StatusCode, Version};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Step, expect, send};

type Row = fn() -> Pin<Box<dyn Future<Output = String>>>;

macro_rules! rows {
    ($($name:ident)*) => {
        /// All rows: name, and what a client does.
        pub const ROWS: &[(&str, Row)] =
            &[$((stringify!($name), || Box::pin($name(HttpServer::plain())))),*];
    };
}

rows! {
    get_has_status_version_and_length
    get_sends_no_body_fields
    all_codings_are_announced
    head_has_a_length_and_no_body
    remote_addr_is_the_servers
    query_is_encoded
    query_of_a_struct
    spaces_and_letters_of_a_path_are_encoded
    form_has_a_type
    json_both_ways
    json_keeps_a_type_that_is_set
    bad_json_is_a_decode_error
    a_body_has_no_type
    a_post_without_body
    a_stream_is_chunked
    methods_of_any_name
    multipart_has_names_and_types
    basic_auth
    basic_auth_without_password
    a_login_in_the_url
    bearer_auth
    default_headers_are_overridden
    headers_replaces_header_adds
    an_invalid_header_is_a_builder_error
    an_invalid_url_is_a_builder_error
    ten_redirects_are_followed
    eleven_redirects_are_an_error
    a_limit_of_redirects
    no_redirect_is_followed
    redirect_sends_referer
    post_becomes_get_at_301_302_303
    post_stays_at_307_308
    put_stays_at_301_302
    another_host_gets_no_secrets
    another_host_gets_no_login
    the_same_host_keeps_secrets
    cookies_are_kept
    cookies_are_not_kept_by_default
    cookies_of_a_response
    gzip_is_decoded
    gzip_is_announced_unless_a_range_is_wanted
    coded_bodies_stay_coded_without_gzip
    chunked_bodies_have_no_length
    chunks_and_streams
    empty_bodies
    text_in_a_charset
    an_error_status_is_no_error
    success_and_redirect_are_no_error_status
    a_refused_connection
    a_name_that_does_not_resolve
    a_limit_of_the_whole_request
    a_requests_limit_replaces_its_clients
    a_limit_includes_the_body
    a_limit_of_reading
    a_connection_that_closes_at_once
    a_cut_body
    bodies_that_fail_behind_their_head
    a_proxy_gets_the_whole_url
    a_proxy_with_a_login
    a_proxy_and_its_exceptions
    each_scheme_has_its_proxy
    a_redirect_changes_the_proxy
    a_url_that_no_proxy_is_for
    a_part_from_a_stream
    a_part_from_a_stream_with_a_length
    a_request_with_a_streamed_part_has_no_copy
    a_host_is_resolved_by_hand
    http_1_0_replies
    interim_replies_are_skipped
    fields_of_a_response_keep_all_values
    connections_are_kept
    a_request_is_built_and_changed
    a_builder_is_copied
    only_https
}

/// The request as the server saw it: request line, the named fields, body.
fn seen(server: &HttpServer, fields: &[&str]) -> String {
    let request = server.last_request().expect("a request has come");
    let values: Vec<_> = fields.iter().map(|name| format!("{name}={:?}", request.field(name))).collect();
    let body = String::from_utf8_lossy(&request.body);
    format!("{} {} {} {body:?}", request.method, request.target, values.join(" "))
}

/// The predicates of an error.
fn kinds(error: &reqwest::Error) -> String {
    let all = [
        ("timeout", error.is_timeout()),
        ("connect", error.is_connect()),
        ("status", error.is_status()),
        ("redirect", error.is_redirect()),
        ("builder", error.is_builder()),
    ];
    let names: Vec<_> = all.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    format!("{} status={:?}", names.join("+"), error.status())
}

fn outcome(result: Result<reqwest::Response, reqwest::Error>) -> String {
    match result {
        Ok(response) => format!("{} {:?}", response.status(), response.version()),
        Err(error) => kinds(&error),
    }
}

fn peer(text: &str) -> (RawPeer, String) {
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(text), Step::ReadAll]]);
    let url = format!("http://{}/", peer.address());
    (peer, url)
}

async fn get_has_status_version_and_length(s: HttpServer) -> String {
    let response = Client::new().get(s.url("/bytes/10")).send().await.unwrap();
    format!(
        "{} {:?} {:?} {}",
        response.status(),
        response.version(),
        response.content_length(),
        response.bytes().await.unwrap().len()
    )
}

async fn get_sends_no_body_fields(s: HttpServer) -> String {
    reqwest::get(s.url("/bytes/10")).await.unwrap();
    seen(&s, &["accept", "user-agent", "content-length", "content-type", "connection"])
}

async fn all_codings_are_announced(s: HttpServer) -> String {
    Client::new().get(s.url("/bytes/10")).send().await.unwrap();
    let request = s.last_request().unwrap();
    let mut codings: Vec<_> =
        request.field("accept-encoding").unwrap_or_default().split(',').map(str::trim).collect();
    codings.sort();
    codings.join(" ")
}

async fn head_has_a_length_and_no_body(s: HttpServer) -> String {
    let response = Client::new().head(s.url("/bytes/77")).send().await.unwrap();
    let length = response.headers().get("content-length").cloned();
    format!("{length:?} {}", response.bytes().await.unwrap().len())
}

async fn remote_addr_is_the_servers(s: HttpServer) -> String {
    let response = Client::new().get(s.url("/bytes/1")).send().await.unwrap();
    format!("{}", response.remote_addr() == Some(s.address()))
}

async fn query_is_encoded(s: HttpServer) -> String {
    let client = Client::new();
    client
        .get(s.url("/body?a=1"))
        .query(&[("b", "x y"), ("c", "ü&=")])
        .query(&[("n", 3)])
        .send()
        .await
        .unwrap();
    seen(&s, &[])
}

async fn query_of_a_struct(s: HttpServer) -> String {
    #[derive(serde::Serialize)]
    struct Page {
        page: u32,
        tag: Option<&'static str>,
        word: String,
    }
    let page = Page { page: 2, tag: None, word: "a/b".into() };
    Client::new().get(s.url("/body")).query(&page).send().await.unwrap();
    seen(&s, &[])
}

async fn spaces_and_letters_of_a_path_are_encoded(s: HttpServer) -> String {
    Client::new().get(s.url("/body/a b/ü")).send().await.unwrap();
    seen(&s, &[])
}

async fn form_has_a_type(s: HttpServer) -> String {
    Client::new().post(s.url("/body")).form(&[("a b", "ü"), ("c", "")]).send().await.unwrap();
    seen(&s, &["content-type", "content-length"])
}

async fn json_both_ways(s: HttpServer) -> String {
    let value = serde_json::json!({"a": [1, 2], "b": null});
    let response = Client::new().post(s.url("/body")).json(&value).send().await.unwrap();
    format!("{} {}", response.json::<serde_json::Value>().await.unwrap(), seen(&s, &["content-type"]))
}

async fn json_keeps_a_type_that_is_set(s: HttpServer) -> String {
    let request = Client::new().post(s.url("/body")).header("content-type", "application/x-own").json(&1);
    request.send().await.unwrap();
    seen(&s, &["content-type"])
}

async fn bad_json_is_a_decode_error(s: HttpServer) -> String {
    let response = Client::new().post(s.url("/body")).body("{").send().await.unwrap();
    format!("{}", response.json::<u8>().await.unwrap_err().is_decode())
}

async fn a_body_has_no_type(s: HttpServer) -> String {
    Client::new().put(s.url("/body")).body("text").send().await.unwrap();
    seen(&s, &["content-type", "content-length"])
}

async fn a_post_without_body(s: HttpServer) -> String {
    Client::new().post(s.url("/body")).send().await.unwrap();
    seen(&s, &["content-type", "content-length"])
}

async fn a_stream_is_chunked(s: HttpServer) -> String {
    let pieces = ["one ", "two"].map(|piece| Ok::<_, std::io::Error>(piece));
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    Client::new().post(s.url("/body")).body(body).send().await.unwrap();
    seen(&s, &["transfer-encoding", "content-length"])
}

async fn methods_of_any_name(s: HttpServer) -> String {
    let method = Method::from_bytes(b"PURGE").unwrap();
    Client::new().request(method, s.url("/body")).send().await.unwrap();
    seen(&s, &["content-length"])
}

async fn multipart_has_names_and_types(s: HttpServer) -> String {
    let part = reqwest::multipart::Part::bytes(vec![b'x'; 3])
        .file_name("f.bin")
        .mime_str("application/x-f")
        .unwrap();
    let form = reqwest::multipart::Form::new().text("a", "1").part("f", part);
    Client::new().post(s.url("/body")).multipart(form).send().await.unwrap();
    let request = s.last_request().unwrap();
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let has = [
        "name=\"a\"\r\n\r\n1\r\n",
        "name=\"f\"; filename=\"f.bin\"\r\nContent-Type: application/x-f\r\n\r\nxxx\r\n",
    ];
    format!("{:?}", has.map(|part| text.contains(part)))
}

async fn basic_auth(s: HttpServer) -> String {
    Client::new().get(s.url("/body")).basic_auth("user", Some("pass:word")).send().await.unwrap();
    seen(&s, &["authorization"])
}

async fn basic_auth_without_password(s: HttpServer) -> String {
    Client::new().get(s.url("/body")).basic_auth("user", None::<&str>).send().await.unwrap();
    seen(&s, &["authorization"])
}

async fn a_login_in_the_url(s: HttpServer) -> String {
    Client::new().get(s.url("/body").replace("http://", "http://u:p%40@")).send().await.unwrap();
    seen(&s, &["authorization"])
}

async fn bearer_auth(s: HttpServer) -> String {
    Client::new().get(s.url("/body")).bearer_auth("token").send().await.unwrap();
    seen(&s, &["authorization"])
}

async fn default_headers_are_overridden(s: HttpServer) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("x-a", HeaderValue::from_static("client"));
    headers.insert("x-b", HeaderValue::from_static("client"));
    let client = Client::builder().default_headers(headers).user_agent("judge/1").build().unwrap();
    client.get(s.url("/body")).header("X-A", "request").send().await.unwrap();
    seen(&s, &["x-a", "x-b", "user-agent"])
}

async fn headers_replaces_header_adds(s: HttpServer) -> String {
    let mut headers = HeaderMap::new();
    headers.insert("x-a", HeaderValue::from_static("new"));
    let request =
        Client::new().get(s.url("/body")).header("x-a", "old").header("x-b", "1").header("x-b", "2");
    request.headers(headers).send().await.unwrap();
    let head = String::from_utf8(s.last_request().unwrap().head).unwrap().to_lowercase();
    format!(
        "{} {} {}",
        head.matches("x-a: new").count(),
        head.matches("x-a:").count(),
        head.matches("x-b:").count()
    )
}

async fn an_invalid_header_is_a_builder_error(s: HttpServer) -> String {
    kinds(&Client::new().get(s.url("/body")).header("x\n", "1").send().await.unwrap_err())
}

async fn an_invalid_url_is_a_builder_error(_: HttpServer) -> String {
    kinds(&Client::new().get("no url").send().await.unwrap_err())
}

async fn ten_redirects_are_followed(s: HttpServer) -> String {
    let response = Client::new().get(s.url("/redirect/10")).send().await.unwrap();
    format!("{} {}", response.status(), response.url().path())
}

async fn eleven_redirects_are_an_error(s: HttpServer) -> String {
    kinds(&Client::new().get(s.url("/redirect/11")).send().await.unwrap_err())
}

async fn a_limit_of_redirects(s: HttpServer) -> String {
    let client = Client::builder().redirect(reqwest::redirect::Policy::limited(2)).build().unwrap();
    let two = client.get(s.url("/redirect/2")).send().await;
    format!("{} {}", outcome(two), outcome(client.get(s.url("/redirect/3")).send().await))
}

async fn no_redirect_is_followed(s: HttpServer) -> String {
    let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let response = client.get(s.url("/redirect/2")).send().await.unwrap();
    format!("{} {:?}", response.status(), response.headers().get("location"))
}

async fn redirect_sends_referer(s: HttpServer) -> String {
    Client::new().get(s.url("/redirect/1")).send().await.unwrap();
    format!("{}", s.last_request().unwrap().field("referer").is_some())
}

async fn post_becomes_get_at_301_302_303(s: HttpServer) -> String {
    let mut all = Vec::new();
    for code in [301, 302, 303] {
        Client::new().post(s.url(&format!("/redirect/1/{code}"))).body("x").send().await.unwrap();
        all.push(seen(&s, &["content-length", "content-type"]));
    }
    all.join(" ")
}

async fn post_stays_at_307_308(s: HttpServer) -> String {
    let mut all = Vec::new();
    for code in [307, 308] {
        Client::new().post(s.url(&format!("/redirect/1/{code}"))).body("x").send().await.unwrap();
        all.push(seen(&s, &["content-length"]));
    }
    all.join(" ")
}

async fn put_stays_at_301_302(s: HttpServer) -> String {
    let mut all = Vec::new();
    for code in [301, 302] {
        Client::new().put(s.url(&format!("/redirect/1/{code}"))).body("x").send().await.unwrap();
        all.push(seen(&s, &[]));
    }
    all.join(" ")
}

async fn another_host_gets_no_secrets(other: HttpServer) -> String {
    let target = other.url("/body");
    let (_peer, url) =
        peer(&format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"));
    let request =
        Client::new().get(url).header("authorization", "secret").header("cookie", "a=b").header("x-a", "1");
    request.send().await.unwrap();
    seen(&other, &["authorization", "cookie", "x-a"])
}

async fn another_host_gets_no_login(other: HttpServer) -> String {
    let target = other.url("/body");
    let (_peer, url) =
        peer(&format!("HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"));
    Client::new().get(url).basic_auth("user", Some("pass")).send().await.unwrap();
    seen(&other, &["authorization"])
}

async fn the_same_host_keeps_secrets(s: HttpServer) -> String {
    let request =
        Client::new().get(s.url("/redirect/1")).header("authorization", "secret").header("cookie", "a=b");
    request.send().await.unwrap();
    seen(&s, &["authorization", "cookie"])
}

async fn cookies_are_kept(s: HttpServer) -> String {
    let client = Client::builder().cookie_store(true).build().unwrap();
    client.get(s.url("/cookies/set/a/b")).send().await.unwrap();
    client.get(s.url("/cookies")).send().await.unwrap().text().await.unwrap()
}

async fn cookies_are_not_kept_by_default(s: HttpServer) -> String {
    let client = Client::new();
    client.get(s.url("/cookies/set/a/b")).send().await.unwrap();
    client.get(s.url("/cookies")).send().await.unwrap().text().await.unwrap()
}

async fn cookies_of_a_response(_: HttpServer) -> String {
    let (_peer, url) = peer(
        "HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/x; Secure; Max-Age=5\r\n\
         Set-Cookie: c=d; HttpOnly; SameSite=Lax\r\nContent-Length: 0\r\n\r\n",
    );
    let response = reqwest::get(url).await.unwrap();
    let all: Vec<_> = response
        .cookies()
        .map(|c| {
            format!(
                "{}={} {:?} {:?} {} {} {}",
                c.name(),
                c.value(),
                c.path(),
                c.max_age(),
                c.secure(),
                c.http_only(),
                c.same_site_lax()
            )
        })
        .collect();
    all.join(" ")
}

async fn gzip_is_decoded(s: HttpServer) -> String {
    let response =
        Client::builder().gzip(true).build().unwrap().get(s.url("/gzip/5000")).send().await.unwrap();
    let fields = ["content-encoding", "content-length"].map(|name| response.headers().contains_key(name));
    format!("{:?} {:?} {}", fields, response.content_length(), response.bytes().await.unwrap().len())
}

async fn gzip_is_announced_unless_a_range_is_wanted(s: HttpServer) -> String {
    let client = Client::builder().gzip(true).brotli(false).deflate(false).zstd(false).build().unwrap();
    client.get(s.url("/bytes/100")).send().await.unwrap();
    let whole = seen(&s, &["accept-encoding"]);
    client.get(s.url("/bytes/100")).header("range", "bytes=0-4").send().await.unwrap();
    format!("{whole} {}", seen(&s, &["accept-encoding", "range"]))
}

async fn coded_bodies_stay_coded_without_gzip(s: HttpServer) -> String {
    let client = Client::builder().gzip(false).brotli(false).deflate(false).zstd(false).build().unwrap();
    let response = client.get(s.url("/gzip/5000")).send().await.unwrap();
    format!(
        "{:?} {}",
        response.headers().get("content-encoding").cloned(),
        response.bytes().await.unwrap().len() < 5000
    )
}

async fn chunked_bodies_have_no_length(s: HttpServer) -> String {
    let response = Client::new().get(s.url("/chunked/1000/10")).send().await.unwrap();
    format!("{:?} {}", response.content_length(), response.bytes().await.unwrap().len())
}

async fn chunks_and_streams(s: HttpServer) -> String {
    use futures_util::StreamExt;
    let mut response = Client::new().get(s.url("/chunked/1000/10")).send().await.unwrap();
    let mut length = 0;
    while let Some(chunk) = response.chunk().await.unwrap() {
        length += chunk.len();
    }
    let mut stream = Client::new().get(s.url("/chunked/1000/10")).send().await.unwrap().bytes_stream();
    while let Some(chunk) = stream.next().await {
        length += chunk.unwrap().len();
    }
    length.to_string()
}

async fn empty_bodies(_: HttpServer) -> String {
    let mut all = Vec::new();
    for head in ["204 No Content\r\n", "304 Not Modified\r\n", "200 OK\r\nContent-Length: 0\r\n"] {
        let (_peer, url) = peer(&format!("HTTP/1.1 {head}\r\n"));
        let response = reqwest::get(url).await.unwrap();
        all.push(format!(
            "{} {:?} {:?}",
            response.status(),
            response.content_length(),
            response.text().await.unwrap()
        ));
    }
    all.join(" ")
}

async fn text_in_a_charset(_: HttpServer) -> String {
    let mut all = String::new();
    for (charset, body) in
        [("\"x-unknown\"", &b"a"[..]), ("iso-8859-1", b"a\xfcb"), ("UTF-8", b"\xc3\xbc\xff")]
    {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset={charset}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = Step::Send([head.as_bytes(), body].concat());
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), answer, Step::ReadAll]]);
        let response = reqwest::get(format!("http://{}/", peer.address())).await.unwrap();
        all += &response.text().await.unwrap();
    }
    all
}

async fn an_error_status_is_no_error(s: HttpServer) -> String {
    let mut all = Vec::new();
    for status in [399, 400, 404, 500, 599] {
        let response = Client::new().get(s.url(&format!("/status/{status}"))).send().await.unwrap();
        all.push(match response.error_for_status() {
            Ok(response) => response.status().to_string(),
            Err(error) => format!("{} {}", kinds(&error), error.url().unwrap().path()),
        });
    }
    all.join(" ")
}

async fn success_and_redirect_are_no_error_status(s: HttpServer) -> String {
    let response = Client::new().get(s.url("/status/204")).send().await.unwrap();
    format!("{} {}", response.error_for_status_ref().is_ok(), response.status() == StatusCode::NO_CONTENT)
}

async fn a_refused_connection(_: HttpServer) -> String {
    kinds(&reqwest::get(format!("http://127.0.0.1:{}/", RawPeer::refused_port())).await.unwrap_err())
}

async fn a_name_that_does_not_resolve(_: HttpServer) -> String {
    kinds(&reqwest::get("http://does-not-exist.invalid/").await.unwrap_err())
}

async fn a_limit_of_the_whole_request(_: HttpServer) -> String {
    let (_peer, url) = peer("");
    let client = Client::builder().timeout(Duration::from_millis(200)).build().unwrap();
    kinds(&client.get(&url).send().await.unwrap_err())
}

async fn a_requests_limit_replaces_its_clients(s: HttpServer) -> String {
    let client = Client::builder().timeout(Duration::from_millis(100)).build().unwrap();
    let slow = client.get(s.url("/delay/300/bytes/1")).timeout(Duration::from_secs(20)).send().await;
    outcome(slow)
}

async fn a_limit_includes_the_body(_: HttpServer) -> String {
    let (_peer, url) = peer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    let client = Client::builder().timeout(Duration::from_millis(300)).build().unwrap();
    let response = client.get(&url).send().await.unwrap();
    format!("{}", response.bytes().await.unwrap_err().is_timeout())
}

async fn a_limit_of_reading(_: HttpServer) -> String {
    let (_peer, url) = peer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
    let client = Client::builder().read_timeout(Duration::from_millis(300)).build().unwrap();
    let response = client.get(&url).send().await.unwrap();
    format!("{}", response.bytes().await.unwrap_err().is_timeout())
}

async fn a_connection_that_closes_at_once(_: HttpServer) -> String {
    let peer = RawPeer::start(vec![vec![expect("\r\n\r\n")]]);
    let error = reqwest::get(format!("http://{}/", peer.address())).await.unwrap_err();
    format!("{} {}", kinds(&error), error.is_request())
}

async fn a_cut_body(s: HttpServer) -> String {
    let response = reqwest::get(s.url("/cut/500/bytes/1000")).await.unwrap();
    let error = response.bytes().await.unwrap_err();
    format!("{} {}", kinds(&error), error.is_decode() || error.is_body())
}

async fn bodies_that_fail_behind_their_head(_: HttpServer) -> String {
    let mut all = Vec::new();
    for rest in [
        "Content-Length: 10\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nno size\r\n",
        "Content-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip",
    ] {
        let answer = format!("HTTP/1.1 404 Not Found\r\n{rest}");
        let peer = RawPeer::start(vec![vec![expect("\r\n\r\n"), send(&answer), Step::Cut]]);
        let response = reqwest::get(format!("http://{}/", peer.address())).await.unwrap();
        let status = response.status();
        all.push(format!("{status} {}", kinds(&response.bytes().await.unwrap_err())));
    }
    all.join(" ")
}

async fn a_proxy_gets_the_whole_url(_: HttpServer) -> String {
    let peer = RawPeer::start(vec![vec![
        expect("GET http://far.example/x HTTP/1.1\r\n"),
        send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ]]);
    let proxy = reqwest::Proxy::all(&format!("http://{}", peer.address())).unwrap();
    let client = Client::builder().proxy(proxy).build().unwrap();
    client.get("http://far.example/x").send().await.unwrap().text().await.unwrap()
}

async fn a_proxy_with_a_login(_: HttpServer) -> String {
    let peer = RawPeer::start(vec![vec![
        expect("dXNlcjpwYXNz\r\n"),
        send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ]]);
    let proxy =
        reqwest::Proxy::all(&format!("http://{}", peer.address())).unwrap().basic_auth("user", "pass");
    let client = Client::builder().proxy(proxy).build().unwrap();
    client.get("http://far.example/x").send().await.unwrap().text().await.unwrap()
}

async fn a_proxy_and_its_exceptions(s: HttpServer) -> String {
    let proxy = reqwest::Proxy::all(&format!("http://127.0.0.1:{}", RawPeer::refused_port())).unwrap();
    let proxy = proxy.no_proxy(reqwest::NoProxy::from_string("127.0.0.1"));
    outcome(Client::builder().proxy(proxy).build().unwrap().get(s.url("/bytes/1")).send().await)
}

async fn a_host_is_resolved_by_hand(s: HttpServer) -> String {
    let client = Client::builder().no_proxy().resolve("by-hand.example", s.address()).build().unwrap();
    let response = client.get("http://by-hand.example/bytes/1").send().await.unwrap();
    format!("{} {}", response.status(), seen(&s, &["host"]))
}

async fn http_1_0_replies(_: HttpServer) -> String {
    let (_peer, url) = peer("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let response = reqwest::get(url).await.unwrap();
    format!("{} {}", response.version() == Version::HTTP_10, response.text().await.unwrap())
}

async fn interim_replies_are_skipped(_: HttpServer) -> String {
    let (_peer, url) =
        peer("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let response = reqwest::get(url).await.unwrap();
    format!(
        "{} {} {}",
        response.status(),
        response.headers().contains_key("link"),
        response.text().await.unwrap()
    )
}

async fn fields_of_a_response_keep_all_values(_: HttpServer) -> String {
    let (_peer, url) = peer("HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n");
    let response = reqwest::get(url).await.unwrap();
    format!("{:?}", response.headers().get_all("X-A").iter().collect::<Vec<_>>())
}

async fn connections_are_kept(s: HttpServer) -> String {
    let client = Client::new();
    for _ in 0..5 {
        client.get(s.url("/bytes/10")).send().await.unwrap().bytes().await.unwrap();
    }
    format!("{} {}", s.accepts(), s.served())
}

async fn a_request_is_built_and_changed(s: HttpServer) -> String {
    let client = Client::new();
    let mut request = client.get(s.url("/body")).build().unwrap();
    *request.method_mut() = Method::DELETE;
    request.headers_mut().insert("x-a", HeaderValue::from_static("1"));
    client.execute(request).await.unwrap();
    seen(&s, &["x-a"])
}

async fn a_builder_is_copied(s: HttpServer) -> String {
    let builder = Client::new().post(s.url("/body")).body("twice");
    let copy = builder.try_clone().unwrap();
    let (first, second) = (builder.send().await.unwrap(), copy.send().await.unwrap());
    first.text().await.unwrap() + &second.text().await.unwrap()
}

async fn only_https(s: HttpServer) -> String {
    let client = Client::builder().https_only(true).build().unwrap();
    kinds(&client.get(s.url("/bytes/1")).send().await.unwrap_err())
}

/// Returns a proxy for each scheme, which answers with its name.
fn proxies() -> [(HttpServer, String); 2] {
    ["plain", "secure"].map(|name| {
        let proxy = HttpServer::with(move |request| {
            let moved = || Response::status(302).with("Location", "https://far.example/");
            Some(if request.target.ends_with("/moved") { moved() } else { Response::ok(name) })
        });
        let url = format!("http://{}", proxy.address());
        (proxy, url)
    })
}

async fn each_scheme_has_its_proxy(_: HttpServer) -> String {
    let [(_plain, http), (_secure, https)] = proxies();
    let builder = Client::builder().proxy(reqwest::Proxy::https(https.as_str()).unwrap());
    let client = builder.proxy(reqwest::Proxy::http(http.as_str()).unwrap()).build().unwrap();
    client.get("http://far.example/").send().await.unwrap().text().await.unwrap()
}

async fn a_redirect_changes_the_proxy(_: HttpServer) -> String {
    let [(_plain, http), (secure, https)] = proxies();
    let builder = Client::builder().proxy(reqwest::Proxy::https(https.as_str()).unwrap());
    let client = builder.proxy(reqwest::Proxy::http(http.as_str()).unwrap()).build().unwrap();
    // Built without TLS, reqwest sends a plain GET where a tunnel is needed: only the choice is compared.
    let _ = client.get("http://far.example/moved").send().await;
    secure.last_request().is_some().to_string()
}

async fn a_url_that_no_proxy_is_for(s: HttpServer) -> String {
    let proxy = reqwest::Proxy::https("http://127.0.0.1:9").unwrap();
    outcome(Client::builder().proxy(proxy).build().unwrap().get(s.url("/bytes/1")).send().await)
}

/// The lengths that the server sees, and the end of the body.
async fn streamed(s: HttpServer, part: reqwest::multipart::Part) -> String {
    let form = reqwest::multipart::Form::new().text("a", "1").part("f", part.file_name("n"));
    Client::new().post(s.url("/body")).multipart(form).send().await.unwrap();
    let request = s.last_request().unwrap();
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let boundary = body.lines().next().unwrap().to_owned();
    let body = body.replace(&boundary, "--");
    format!("{} {body}", request.field("Content-Length").is_some())
}

/// A body of two pieces, which arrives as a stream.
async fn relayed(s: &HttpServer) -> reqwest::Body {
    Client::new().get(s.url("/bytes/20")).send().await.unwrap().into()
}

async fn a_part_from_a_stream(s: HttpServer) -> String {
    let part = reqwest::multipart::Part::stream(reqwest::Body::from(relayed(&s).await));
    streamed(s, part).await.split(' ').skip(1).collect()
}

async fn a_part_from_a_stream_with_a_length(s: HttpServer) -> String {
    let part = reqwest::multipart::Part::stream_with_length(relayed(&s).await, 20);
    streamed(s, part).await
}

async fn a_request_with_a_streamed_part_has_no_copy(s: HttpServer) -> String {
    let part = reqwest::multipart::Part::stream(relayed(&s).await);
    let form = reqwest::multipart::Form::new().part("f", part);
    Client::new().post(s.url("/body")).multipart(form).try_clone().is_none().to_string()
}
