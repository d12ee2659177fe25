//! Behaviour of curl 8.22 that its manual leaves open, found by running random command lines with both.

use super::{curl, curl_in, folder_with};
use testkit::http::{HttpServer, Response};
use testkit::raw::{RawPeer, Step, expect, send};

// covers: --use-ascii, --crlf
#[test]
fn text_goes_out_with_ends_of_lines_as_the_net_has_them() {
    let server = HttpServer::plain();
    for flag in ["--use-ascii", "--crlf"] {
        let folder = folder_with("text", "a\nb\r\nc");
        curl_in(folder, &[flag, "--data-binary", "@text", &server.url("/echo")]).text();
        let request = server.last_request().unwrap();
        assert_eq!(request.body, b"a\r\nb\r\nc", "{flag}");
        // The size is unknown before reading, but small: there is no Expect.
        assert_eq!(request.field("Transfer-Encoding"), Some("chunked"), "{flag}");
        assert_eq!(request.field("Expect"), None, "{flag}");
    }
}

// covers: --path-as-is
#[test]
fn encoded_octets_of_the_path_are_sent_in_upper_case() {
    let server = HttpServer::plain();
    let sent = |words: &[&str]| {
        curl(words);
        server.last_request().unwrap().target
    };
    assert_eq!(sent(&[&server.url("/bytes%2f1%aa?b=%aa")]), "/bytes%2F1%AA?b=%aa");
    assert_eq!(sent(&["--path-as-is", &server.url("/%zz/../%aa")]), "/%zz/../%AA");
    let effective = curl(&["-w", "%{url_effective}", "-o", "x", &server.url("/%aa")]).stdout;
    assert!(effective.ends_with("/%aa"), "{effective}");
}

// covers: --continue-at
#[test]
fn a_reply_without_a_body_is_no_part_that_was_asked_for() {
    for status in [204, 304] {
        let server = HttpServer::with(move |_| Some(Response::status(status)));
        let ran = curl(&["-C", "5", &server.url("/")]);
        assert_eq!(ran.code, 33, "{status}: {}", ran.stderr);
    }
}

// covers: --time-cond
#[test]
fn a_file_changed_at_the_given_time_is_not_older() {
    const WHEN: &str = "Tue, 09 Nov 2010 14:49:00 GMT";
    let server = HttpServer::with(|_| Some(Response::ok("new").with("Last-Modified", WHEN)));
    let asked = |condition: &str| curl(&["-z", condition, "-w", "%{http_code}", &server.url("/")]).text();
    assert_eq!(asked(&format!("-{WHEN}")), "304");
    assert_eq!(asked("-Tue, 09 Nov 2010 14:49:01 GMT"), "new200");
    let ran = curl(&["--no-silent", "--no-progress-meter", "-z", "no such file", &server.url("/")]);
    assert!(
        ran.stderr.starts_with("Warning: Failed to get filetime: No such file or directory\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_failed_preparation_prints_its_code() {
    let folder = folder_with("file", "");
    let cases: [(&[&str], i32, &str); 5] = [
        (&["-C", "5", "-d", "x", "http://h/"], 2, "curl: (2) Failed initialization\n"),
        (&["-O", "http://h/a b"], 3, "curl: (3) URL using bad/illegal format or missing URL\n"),
        (&["-D", "none/x", "http://h/"], 23, "curl: (23) Failed writing received data to disk/application\n"),
        (
            &["-T", "none", "http://h/"],
            26,
            "curl: (26) Failed to open/read local data from file/application\n",
        ),
        (&["--proto", "=https", "http://h/"], 1, "curl: (1) Protocol \"http\" is disabled\n"),
    ];
    for (words, code, line) in cases {
        let ran = curl_in(folder.clone(), words);
        assert!(ran.code == code && ran.stderr.ends_with(line), "{words:?}: {} {}", ran.code, ran.stderr);
    }
}

// covers: --connect-to, --unix-socket, --proxytunnel
#[test]
fn a_failed_connection_names_host_and_proxies() {
    let port = RawPeer::refused_port();
    let refused = format!("127.0.0.1:{port}");
    let proxy = format!("http://{refused}");
    let cases: [(&[&str], String); 6] = [
        (&[&format!("http://{refused}/")], refused.clone()),
        (&["--connect-to", &format!("::{refused}"), "http://a.test/"], format!("a.test:80 via {refused}")),
        (&["-x", &proxy, "http://a.test/"], format!("{refused} over proxy 127.0.0.1")),
        (&["-p", "-x", &proxy, "http://a.test/"], "a.test:80 over proxy 127.0.0.1".into()),
        (&["-x", &format!("socks5h://{refused}"), "ftp://a.test/"], "a.test:21 over proxy 127.0.0.1".into()),
        (&["--unix-socket", "none", "http://a.test/"], "a.test:80 over unix://none".into()),
    ];
    for (words, place) in cases {
        let ran = curl(words);
        let head = format!("curl: (7) Failed to connect to {place} after ");
        assert!(ran.code == 7 && ran.stderr.starts_with(&head), "{words:?}: {}", ran.stderr);
    }
}

// covers: --write-out
#[test]
fn a_file_that_cannot_be_opened_keeps_no_text() {
    let server = HttpServer::plain();
    let words = ["-o", "x", "-w", "%output{none/x}a%output{f}b%output{}c", &server.url("/bytes/1")];
    let ran = curl(&words);
    assert_eq!((ran.file("f").as_str(), ran.stdout.as_str()), ("bc", "a"));
    let none = curl(&["-w", "%{conn_id}", "--proto", "=https", &server.url("/")]);
    assert_eq!(none.stdout, "-1");
}

// covers: --get
#[test]
fn data_for_a_query_ends_at_a_nul() {
    let server = HttpServer::plain();
    let folder = folder_with("data", "ab\0cd");
    curl_in(folder, &["-G", "--data-binary", "@data", "-o", "x", &server.url("/bytes/1")]).text();
    assert_eq!(server.last_request().unwrap().target, "/bytes/1?ab");
}

// covers: --max-filesize, --head
#[test]
fn files_and_folders_of_this_machine() {
    let folder = folder_with("file", "0123456789");
    let url = |name: &str| format!("file://{}/{name}", folder.display());
    let ran = curl(&["--max-filesize", "3", &url("file")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (63, "012"));
    let heads = curl(&["-I", &url("")]).text();
    assert!(heads.starts_with("Last-Modified: ") && heads.ends_with(" GMT\r\n\r\n"), "{heads}");
    assert_eq!(heads.lines().count(), 2);
    let listed = curl(&["-i", &url("")]).text();
    assert!(listed.starts_with("Last-Modified: ") && listed.ends_with("\r\n\r\nfile\n"), "{listed}");
}

// covers: --proxy-user
#[test]
fn a_login_in_the_url_of_a_proxy_goes_first() {
    let server = HttpServer::plain();
    let shown = |login: &str| {
        let proxy = format!("http://{login}127.0.0.1:{}", server.port());
        curl(&["-x", &proxy, "-U", "a:b", "http://far.test/"]);
        server.last_request().unwrap().field("Proxy-Authorization").map(str::to_owned)
    };
    assert_eq!(shown("").as_deref(), Some("Basic YTpi"));
    assert_eq!(shown("u:p@").as_deref(), Some("Basic dTpw"));
    assert_eq!(shown("u@").as_deref(), Some("Basic dTo="));
    assert_eq!(shown("@"), None);
}

/// A request to a server, and its reply.
type Turn<'a> = (&'a str, &'a str);

/// A server that sends a greeting, and each reply after its request.
fn talk(greeting: &str, turns: &[Turn]) -> RawPeer {
    let mut script = vec![send(greeting)];
    for (asked, answer) in turns {
        script.extend([expect(asked), send(answer)]);
    }
    script.push(Step::ReadAll);
    RawPeer::start(vec![script])
}

// covers: --quote, --ftp-port, --disable-epsv
#[test]
fn odd_replies_of_ftp_have_the_texts_of_curl() {
    const IN: [Turn; 2] = [("USER", "331 x\r\n"), ("PASS", "230 x\r\n")];
    const FOLDER: Turn = ("PWD", "257 \"/\"\r\n");
    let cases: [(&[&str], &[Turn], i32, &str); 5] = [
        (&[], &[("PWD", "257 \"open\r\n")], 8, "Weird server reply"),
        (&[], &[FOLDER, ("EPSV", "421 x\r\n")], 28, "Timeout was reached"),
        (
            &["--disable-epsv"],
            &[FOLDER, ("PASV", "227 (1,2,3)\r\n")],
            14,
            "Could not interpret the 227-response",
        ),
        (
            &["-I", "-Q", "-X"],
            &[
                FOLDER,
                ("MDTM", "550 x\r\n"),
                ("TYPE", "200 x\r\n"),
                ("SIZE", "213 1\r\n"),
                ("REST", "350 x\r\n"),
                ("X", "500 x\r\n"),
            ],
            21,
            "QUOT string not accepted: X",
        ),
        (&["-I"], &[FOLDER, ("MDTM", "550 x\r\n"), ("TYPE", "500 x\r\n")], 17, "Could not set desired mode"),
    ];
    for (flags, turns, code, text) in cases {
        let peer = talk("220 x\r\n", &[&IN, turns].concat());
        let url = format!("ftp://127.0.0.1:{}/f", peer.port());
        let flags: Vec<&str> = [flags, &[&url]].concat();
        let ran = curl(&flags);
        assert_eq!((ran.code, ran.stderr), (code, format!("curl: ({code}) {text}\n")), "{flags:?}");
    }
    let peer = talk("220 x\r\n", &[&IN[..], &[FOLDER]].concat());
    let ran = curl(&["-P", "none.invalid", &format!("ftp://127.0.0.1:{}/f", peer.port())]);
    assert!(ran.code == 6 && ran.stderr.contains("Could not resolve host: none.invalid"), "{}", ran.stderr);
}

// covers: --mail-from, --mail-rcpt, --upload-flags
#[test]
fn addresses_with_line_breaks_are_not_sent() {
    for address in ["a\nb", "a\r\nb"] {
        for (from, to) in [(address, "x"), ("x", address)] {
            let peer = talk("220 x\r\n", &[("EHLO", "250 x\r\n"), ("QUIT", "221 x\r\n")]);
            let url = format!("smtp://127.0.0.1:{}/me", peer.port());
            let words = ["--mail-from", from, "--mail-rcpt", to, "-T", "mail", &url];
            let ran = curl_in(folder_with("mail", "text\n"), &words);
            let line = "curl: (43) Refusing to send email address with a CR or LF\n";
            assert_eq!((ran.code, ran.stderr.as_str()), (43, line));
        }
    }
    let refused = "A001 OK\r\n";
    let peer = talk("* OK x\r\n", &[("CAPABILITY", &format!("* CAPABILITY LOGINDISABLED\r\n{refused}"))]);
    let ran = curl(&["-v", "-u", "a:b", &format!("imap://127.0.0.1:{}/", peer.port())]);
    assert!(ran.stderr.contains("* SASL: no auth mechanism was offered or recognized\n"), "{}", ran.stderr);
    assert!(ran.code == 67 && ran.stderr.ends_with("curl: (67) Login denied\n"), "{}", ran.stderr);

    // An explicit request without \Seen differs from the default.
    for (flags, sent) in [("seen", "APPEND box (\\Seen) {5}\r\n"), ("-seen", "APPEND box {5}\r\n")] {
        let peer = talk(
            "* OK x\r\n",
            &[
                ("CAPABILITY", "A001 OK\r\n"),
                ("LOGIN", "A002 OK\r\n"),
                (sent, "+ go\r\n"),
                ("mail\n\r\n", "A003 OK\r\n"),
                ("LOGOUT", "A004 OK\r\n"),
            ],
        );
        let url = format!("imap://127.0.0.1:{}/box", peer.port());
        let words = ["-m", "60", "-u", "a:b", "--upload-flags", flags, "-T", "mail", &url];
        assert_eq!(curl_in(folder_with("mail", "mail\n"), &words).text(), "", "{flags}");
    }
}

#[test]
fn a_proxys_scheme_is_none_for_transfers() {
    for scheme in ["socks", "socks4", "socks4a", "socks5", "socks5h"] {
        let ran = curl(&[&format!("{scheme}://127.0.0.1:1/")]);
        let line = format!("curl: (1) Protocol \"{scheme}\" is not for transfers\n");
        assert_eq!((ran.code, ran.stderr), (1, line));
    }
}

/// A failed preparation is reported to --write-out like any other failure.
// covers: --write-out, --upload-file
#[test]
fn write_out_reports_a_failed_preparation() {
    let server = HttpServer::plain();
    let url = server.url("/");
    let format = "%{exitcode}|%{errormsg}|%{url_effective}|%{filename_effective}\n";
    let asked = |words: &[&str]| {
        let ran = curl(&[&["-w", format], words].concat());
        let fields: Vec<String> = ran.stdout.trim_end().split('|').map(str::to_owned).collect();
        assert_eq!(fields[0], ran.code.to_string(), "{words:?}: {}", ran.stdout);
        fields
    };
    let named = format!("{url}none");
    let report = asked(&["-T", "none", &url]);
    assert_eq!(report[1..], ["Failed to open/read local data from file/application", &named, ""]);
    assert_eq!(asked(&["-F", "a=@none", "-o", "out", &url])[2..], [url.as_str(), "out"]);
    assert_eq!(asked(&["-C", "5", "-d", "x", &url])[1], "Failed initialization");
    assert_eq!(asked(&["-D", "/", &url])[0], "23");
    assert_eq!(asked(&["-T", "none", "http://127.0.0.1:99999/"])[2..], ["", ""]);
    assert!(server.last_request().is_none());
}

// covers: --retry, --continue-at
#[test]
fn a_retry_that_goes_on_says_how_much_is_kept() {
    let part = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabcde";
    let rest = "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-8/9\r\nContent-Length: 4\r\n\r\nfghi";
    let peer = RawPeer::start(vec![
        vec![expect("\r\n\r\n"), send(part), Step::Finish],
        vec![expect("Range: bytes=5-"), send(rest), Step::Finish],
    ]);
    let url = format!("http://127.0.0.1:{}/", peer.port());
    // Notes are shown only in traces.
    let flags = ["--no-silent", "--trace-ascii", "log", "-C", "-", "--retry", "1", "--retry-delay", "1"];
    let ran = curl(&[&flags[..], &["--retry-all-errors", "-o", "out", &url]].concat());
    assert!(ran.code == 0 && ran.stderr.contains("Note: Keeping 5 bytes\n"), "{}: {}", ran.code, ran.stderr);
}

// covers: --upload-file, --anyauth
#[test]
fn standard_input_and_an_open_choice_of_schemes_go_badly_together() {
    let server = HttpServer::plain();
    let message_of = |words: &[&str]| {
        curl(&[&["--no-silent", "--no-progress-meter", "-u", "a:b", "-T", "-"], words].concat()).stderr
    };
    assert!(
        message_of(&["--anyauth", &server.url("/")])
            .starts_with("Warning: Using --anyauth or --proxy-anyauth")
    );
    assert!(!message_of(&["--digest", &server.url("/")]).contains("Warning"));
}

/// Those fields are for the proxy, and the request keeps its own.
// covers: --proxy-header
#[test]
fn a_proxys_fields_replace_none_of_the_requests() {
    let proxy = HttpServer::plain();
    curl(&[
        "-x",
        &proxy.url("/"),
        "-A",
        "own",
        "--proxy-header",
        "User-Agent: proxy",
        "http://host.invalid/",
    ]);
    let request = proxy.last_request().unwrap();
    let agents: Vec<&str> = request
        .fields
        .iter()
        .filter(|(name, _)| name == "User-Agent")
        .map(|(_, value)| value.as_str())
        .collect();
    assert_eq!(agents, ["own", "proxy"]);
}

// covers: --url-query
#[test]
fn a_query_for_a_scheme_that_nobody_speaks() {
    assert_eq!(curl(&["--url-query", "a=b", "bogus://host/"]).code, 1);
    assert_eq!(curl(&["--url-query", "a=b", "http://host:99999/"]).code, 3);
}
