//! Flags about HTTP requests and other schemes that become HTTP requests.

use super::{curl, curl_in, folder_with};
use testkit::http::HttpServer;

// covers: --request
#[test]
fn a_method_goes_out_as_it_was_given() {
    let server = HttpServer::plain();
    curl(&["-X", "IN SANE", &server.url("/bytes/1")]);
    assert_eq!(server.last_request().map(|request| request.method), Some("IN".to_string()));
}

// covers: --aws-sigv4
#[test]
fn requests_are_signed() {
    let server = HttpServer::plain();
    curl(&["--aws-sigv4", "aws:amz:eu-west-1:s3", "-u", "name:key", &server.url("/bytes/1?b=2&a=1")]).text();
    let request = server.last_request().unwrap();
    let signed = request.field("Authorization").unwrap();
    assert!(signed.starts_with("AWS4-HMAC-SHA256 Credential=name/"), "{signed}");
    assert!(signed.contains("/eu-west-1/s3/aws4_request, SignedHeaders=host;x-amz-"), "{signed}");
    let signature = signed.rsplit("Signature=").next().unwrap();
    assert!(signature.len() == 64 && signature.bytes().all(|letter| letter.is_ascii_hexdigit()), "{signed}");
    assert!(request.field("X-Amz-Date").unwrap().ends_with('Z'));
    assert!(!signed.contains("key"), "{signed}");
}

// covers: --httpsig-key, --httpsig-keyid, --httpsig-algo, --httpsig-headers
// covers: CURLOPT_HTTPSIG_KEY, CURLOPT_HTTPSIG_KEYID, CURLOPT_HTTPSIG_ALGORITHM, CURLOPT_HTTPSIG_HEADERS
#[test]
fn messages_are_signed() {
    let server = HttpServer::plain();
    let folder = folder_with("key", "9f8362f87a484a954e6e740c5b4c0e84229139a20aa8ab56ff66586f6a7d29c5\n");
    let url = server.url("/bytes/1?a=b");
    let signed = |words: &[&str]| {
        let words = [&["--httpsig-key", "@key", "--httpsig-keyid", "me"], words, &[&url, "-o", "x"]].concat();
        curl_in(folder.clone(), &words).text();
        let request = server.last_request().unwrap();
        let signature = request.field("Signature").unwrap().to_string();
        (request.field("Signature-Input").unwrap().to_string(), signature.len())
    };
    // 64 bytes by Ed25519, 32 by HMAC; in base64, between colons.
    let (input, length) = signed(&[]);
    assert!(input.starts_with("sig1=(\"@method\" \"@authority\" \"@path\" \"@query\");created="), "{input}");
    assert!(input.ends_with(";keyid=\"me\";alg=\"ed25519\"") && length == 88 + 7, "{input} {length}");
    let (input, length) =
        signed(&["--httpsig-algo", "hmac-sha256", "--httpsig-headers", "method X-One:", "-H", "X-One: 1"]);
    assert!(
        input.starts_with("sig1=(\"@method\" \"x-one\");created=") && length == 44 + 7,
        "{input} {length}"
    );
    assert_eq!(curl(&["--httpsig-keyid", "me", &url]).code, 2);
    assert_eq!(curl(&["--httpsig-algo", "nonsense", &url]).code, 2);
    assert_eq!(curl(&["--httpsig-key", "@missing", &url]).code, 26);
    assert_eq!(curl(&["--httpsig-key", "xyz", "--httpsig-keyid", "me", &url]).code, 43);
}

// covers: --ipfs-gateway
#[test]
fn ipfs_by_way_of_a_gateway() {
    let server = HttpServer::plain();
    let gateway = server.url("/gate");
    curl(&["--ipfs-gateway", &gateway, "ipfs://bafybei/dir/file?x=y", "ipns://name/"]).text();
    let asked: Vec<String> = server.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(asked, ["/gate/ipfs/bafybei/dir/file?x=y", "/gate/ipns/name"]);
    assert_eq!(curl(&["--ipfs-gateway", "http://x/?query", "ipfs://bafybei"]).code, 3);
}

// covers: --alt-svc
#[test]
fn alternative_services_are_remembered() {
    let server = HttpServer::with(|_| {
        Some(testkit::http::Response::ok("x").with("Alt-Svc", "h2=\"elsewhere.example:443\"; ma=600"))
    });
    let ran = curl(&["--alt-svc", "services", &server.url("/")]);
    if ran.stderr.contains("does not support this") {
        return; // not in this build
    }
    // Over plain HTTP it is not trusted.
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!ran.file("services").contains("elsewhere"));
}

// covers: --sslv2, --sslv3, --ntlm-wb, --egd-file, --random-file, --no-npn, --krb, --false-start
#[test]
fn obsolete_flags_warn_and_have_no_effect() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/1");
    let switches = ["--sslv2", "--sslv3", "--ntlm-wb", "--no-npn", "--false-start"].map(|flag| vec![flag]);
    let arguments = ["--egd-file", "--random-file", "--krb"].map(|flag| vec![flag, "x"]);
    for words in switches.iter().chain(&arguments) {
        let ran =
            curl(&[&["--no-silent", "--no-progress-meter"], words.as_slice(), &["-o", "x", &url]].concat());
        let name = words[0].trim_start_matches("--").trim_start_matches("no-");
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.stderr);
        let warning = format!("Warning: --{name} is deprecated and has no function anymore\n");
        assert_eq!(ran.stderr, warning, "{words:?}");
    }
}

// covers: --dump-ca-embed
#[test]
fn no_certificates_are_built_in() {
    let ran = curl(&["--dump-ca-embed"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
}
