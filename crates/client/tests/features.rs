//! The features of the crate: a protocol that is left out is refused by name, and HTTP needs none of them.

use std::time::Duration;

use testkit::certs::Authority;
use testkit::http::HttpServer;
use warmwire::blocking::Client;
use warmwire::{Code, schemes, tls};

/// Each feature that may be off, whether it is on, and a scheme of it.
const PROTOCOLS: [(&str, bool, &str); 12] = [
    ("dict", cfg!(feature = "dict"), "dict"),
    ("file", cfg!(feature = "file"), "file"),
    ("ftp", cfg!(feature = "ftp"), "ftps"),
    ("gopher", cfg!(feature = "gopher"), "gopher"),
    ("ldap", cfg!(feature = "ldap"), "ldap"),
    ("mail", cfg!(feature = "mail"), "imap"),
    ("mail", cfg!(feature = "mail"), "smtp"),
    ("mqtt", cfg!(feature = "mqtt"), "mqtt"),
    ("rtsp", cfg!(feature = "rtsp"), "rtsp"),
    ("ssh", cfg!(feature = "ssh"), "sftp"),
    ("telnet", cfg!(feature = "telnet"), "telnet"),
    ("tftp", cfg!(feature = "tftp"), "tftp"),
];

fn code_of(client: &Client, url: &str) -> Option<Code> {
    let response = client.get(url).send().and_then(|response| response.bytes());
    response.err().map(|error| error.code())
}

#[test]
fn a_protocol_that_is_left_out_is_refused() {
    let client = Client::builder().timeout(Duration::from_secs(10)).build().unwrap();
    for (feature, on, scheme) in PROTOCOLS {
        let place = if scheme == "file" { "" } else { "127.0.0.1:1" };
        assert_eq!(schemes().contains(&scheme), on, "{feature}");
        let refused = code_of(&client, &format!("{scheme}://{place}/x")) == Some(Code::UnsupportedProtocol);
        assert_eq!(refused, !on, "{scheme}");
    }
}

#[test]
fn http_needs_no_feature() {
    let authority = Authority::new();
    let root = tls::Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let client = Client::builder().add_root_certificate(root).build().unwrap();
    let servers = [HttpServer::plain(), HttpServer::tls(authority.good().server_config().unwrap())];
    for server in servers {
        let response = client.get(server.url("/bytes/1000")).send().unwrap();
        assert_eq!(response.bytes().unwrap(), testkit::body::pattern(1000), "{}", server.url("/"));
    }
}

#[test]
fn http3_is_refused_where_it_is_required_and_left_out() {
    let on = cfg!(feature = "http3");
    assert_eq!(warmwire::features().contains(&"HTTP3"), on);
    let server = HttpServer::tls(Authority::new().good().server_config().unwrap());
    let limit = Duration::from_secs(1);
    let strict = Client::builder().http3_prior_knowledge().timeout(limit).build().unwrap();
    assert_eq!(code_of(&strict, &server.url("/")) == Some(Code::NotBuiltIn), !on);
    // Where it is only preferred, TCP serves.
    let lenient = Client::builder().http3().danger_accept_invalid_certs(true).build().unwrap();
    assert_eq!(code_of(&lenient, &server.url("/bytes/1")), None);
    let proxy = Client::builder().proxy(warmwire::Proxy::all(&server.url("")).unwrap());
    let by_http3 = warmwire::constant::CURLPROXY_HTTPS3;
    let proxied = proxy.option(warmwire::EasyOption::ProxyType, by_http3).timeout(limit).build().unwrap();
    let scheme_less = proxied.get("http://127.0.0.1:1/").option(warmwire::EasyOption::Proxy, "127.0.0.1:1");
    let code = scheme_less.send().err().map(|error| error.code());
    assert_eq!(code == Some(Code::NotBuiltIn), !on, "{code:?}");
}
