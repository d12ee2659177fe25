//! Downloads of the crate: segments, mirrors, resume and checksums, in both faces.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::{Config, HttpServer, Request, Response, ranged};
use testkit::launch::Nginx;
use testkit::temp::TempDir;
use warmwire::blocking::Client;
use warmwire::{Code, EasyOption, ErrorKind, tls};

const SIZE: usize = 9_000_001;

fn body() -> Arc<Vec<u8>> {
    static BODY: std::sync::OnceLock<Arc<Vec<u8>>> = std::sync::OnceLock::new();
    BODY.get_or_init(|| Arc::new(pattern(SIZE))).clone()
}

/// A server of the file; `change` is applied to its n-th answer.
fn server(change: impl Fn(usize, &Request, Response) -> Response + Send + Sync + 'static) -> HttpServer {
    let (body, count) = (body(), AtomicUsize::new(0));
    HttpServer::with(move |request| {
        let answer = ranged(request, body.to_vec()).with("ETag", "\"one\"");
        Some(change(count.fetch_add(1, Ordering::SeqCst), request, answer))
    })
}

fn good() -> HttpServer {
    server(|_, _, answer| answer)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new("download").unwrap();
    let file = folder.path().join("f");
    (folder, file)
}

/// Checks that the file is there, and nothing else.
fn is_whole(file: &Path) {
    assert!(fs::read(file).unwrap() == *body());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

fn sum() -> String {
    let digest = <sha2::Sha256 as sha2::Digest>::digest(&*body());
    digest.iter().fold("sha256=".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

#[test]
fn pieces_come_over_several_connections() {
    let server = good();
    let (_folder, file) = folder();
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let client = Client::builder().user_agent("ours/1").build().unwrap();
    let download =
        client.download(server.url("/f")).to(&file).segments(4).checksum(&sum()).header("x-a", "1");
    let got =
        download.progress(move |now, _| _ = seen.fetch_max(now as usize, Ordering::SeqCst)).send().unwrap();
    is_whole(&file);
    assert_eq!((got.size(), got.received(), got.path()), (SIZE as u64, SIZE as u64, &*file));
    assert_eq!(most.load(Ordering::SeqCst), SIZE);
    assert!(server.accepts() > 1, "{} connections", server.accepts());
    for request in server.requests() {
        assert_eq!((request.field("x-a"), request.field("user-agent")), (Some("1"), Some("ours/1")));
        assert!(request.field("range").is_some() && request.field("accept-encoding").is_none());
    }
}

#[test]
fn futures_of_any_executor_download_at_once() {
    let server = Arc::new(good());
    let client = warmwire::Client::new();
    let (folder, _) = folder();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let file = folder.path().join(number.to_string());
                tokio::spawn(client.download(server.url("/f")).to(file).send())
            })
            .collect();
        for task in tasks {
            let got = task.await.unwrap().unwrap();
            assert!(fs::read(got.path()).unwrap() == *body());
        }
    });
}

#[test]
fn nginx_and_ftp_send_pieces() {
    let nginx = Nginx::start(&Authority::new().good(), &[SIZE]).unwrap();
    let (_folder, file) = folder();
    let url = nginx.http(&format!("/bytes-{SIZE}"));
    let got = Client::new().download(&*url).to(&file).segments(3).send().unwrap();
    assert_eq!((got.size(), fs::read(&file).unwrap().len()), (SIZE as u64, SIZE));
    let ftp = FtpServer::with_file("/f", &**body());
    Client::new().download(ftp.url("/f")).to(&file).segments(3).send().unwrap();
    assert!(fs::read(&file).unwrap() == *body());
}

#[test]
fn mirrors_share_the_work_and_learn_nothing_about_the_user() {
    let (first, mirror, lame) = (good(), good(), server(|_, _, _| Response::status(404)));
    let (_folder, file) = folder();
    let client = Client::builder().cookie_store(true).build().unwrap();
    let url = first.url("/f").replace("http://", "http://user:secret@");
    let download = client.download(&*url).to(&file).segments(4).header("x-key", "secret");
    let got = download.mirror(mirror.url("/m")).mirror(lame.url("/l")).send().unwrap();
    is_whole(&file);
    assert!(mirror.served() > 0);
    assert_eq!(got.warnings().len(), 1, "{:?}", got.warnings());
    assert!(got.warnings()[0].contains(&lame.url("/l")));
    for request in [mirror.requests(), lame.requests()].concat() {
        let head = String::from_utf8(request.head.clone()).unwrap().to_lowercase();
        assert!(!head.contains("secret") && !head.contains("authorization"), "{head}");
    }
    assert!(first.requests().iter().all(|request| request.field("x-key") == Some("secret")));
}

#[test]
fn a_login_goes_to_the_url_alone() {
    let (first, mirror) = (good(), good());
    for bearer in [false, true] {
        let (_folder, file) = folder();
        let download = Client::new().download(first.url("/f")).to(&file).segments(4).mirror(mirror.url("/m"));
        let download = match bearer {
            false => download.basic_auth("user", Some("secret")),
            true => download.bearer_auth("secret"),
        };
        download.send().unwrap();
        is_whole(&file);
        let sent = if bearer { "Bearer secret" } else { "Basic dXNlcjpzZWNyZXQ=" };
        let last = first.last_request().unwrap();
        assert_eq!(last.field("authorization"), Some(sent));
    }
    assert!(first.requests().iter().all(|request| request.field("authorization").is_some()));
    assert!(mirror.served() > 0);
    assert!(mirror.requests().iter().all(|request| request.field("authorization").is_none()));
}

/// Files of cookies and of HSTS learn from the URL that the user has chosen, and from no mirror.
#[test]
fn a_mirror_writes_no_file_of_the_user() {
    let authority = Authority::new();
    let of = |name: &'static str| {
        let handler = move |request: &Request| {
            let answer = ranged(request, body().to_vec()).with("ETag", "\"one\"");
            let answer = answer.with("Set-Cookie", format!("from-{name}=1; Max-Age=1000"));
            Some(answer.with("Strict-Transport-Security", "max-age=1000"))
        };
        let tls = Some(authority.for_names(&[&format!("{name}.example")]).server_config().unwrap());
        HttpServer::start(Config { tls, handler: Some(Arc::new(handler)), ..Config::default() }).unwrap()
    };
    let (own, mirror) = (of("own"), of("mirror"));
    let root = tls::Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    let client = Client::builder()
        .add_root_certificate(root)
        .resolve("own.example", own.address())
        .resolve("mirror.example", mirror.address());
    let (_folder, file) = folder();
    let files = TempDir::new("download-files").unwrap();
    let place = |name: &str| files.path().join(name);
    let url = |name: &str, server: &HttpServer| format!("https://{name}.example:{}/f", server.port());
    let download = client.build().unwrap().download(url("own", &own)).to(&file).segments(4);
    let download = download
        .mirror(url("mirror", &mirror))
        .option(EasyOption::CookieJar, &*place("jar").display().to_string())
        .option(EasyOption::Hsts, &*place("hsts").display().to_string())
        .option(EasyOption::HstsCtrl, 1);
    let got = download.send().unwrap();
    is_whole(&file);
    assert!(mirror.served() > 0, "{:?}", got.warnings());
    let [jar, hsts] = ["jar", "hsts"].map(|name| fs::read_to_string(place(name)).unwrap());
    assert!(jar.contains("from-own") && !jar.contains("mirror"), "{jar}");
    assert!(hsts.contains("own.example") && !hsts.contains("mirror"), "{hsts}");
    assert_eq!(fs::read_dir(files.path()).unwrap().count(), 2);
}

#[test]
fn requests_have_times_sizes_and_reasons() {
    let (first, mirror) = (good(), good());
    let (_folder, file) = folder();
    let url = first.url("/f").replace("http://", "http://user:secret@");
    let download = || Client::new().download(&*url).to(&file).segments(2).mirror(mirror.url("/m"));
    let got = download().explain(true).send().unwrap();
    let requests = got.requests();
    assert!(requests.len() > 2, "{requests:?}");
    let sum: u64 = requests.iter().map(|request| request.timings().downloaded).sum();
    assert!((SIZE as u64 - (2 << 20)..=SIZE as u64).contains(&sum), "{sum}");
    for request in requests {
        assert!([first.url("/f"), mirror.url("/m")].contains(&request.url().to_owned()), "{request:?}");
        assert!(request.timings().total > Duration::ZERO);
        assert!(request.why().unwrap().json().contains("\"connection"), "{}", request.why().unwrap().json());
    }
    assert!(requests.iter().any(|request| request.url() == mirror.url("/m")));
    assert!(requests[0].timings().connects == 1 && requests[0].timings().remote == Some(first.address()));
    assert!(download().send().unwrap().requests().iter().all(|request| request.why().is_none()));
    let gone = server(|_, _, _| Response::status(404));
    let error = Client::new().download(gone.url("/f")).to(file.with_extension("gone")).explain(true).send();
    let error = error.unwrap_err();
    assert_eq!(error.timings().unwrap().remote, Some(gone.address()));
    assert!(error.why().is_some());
}

/// In one process as in two: one download has the file, the other one fails, and no bytes are mixed.
#[test]
fn two_downloads_at_once_do_not_mix_one_file() {
    let other: Arc<Vec<u8>> = Arc::new(body().iter().rev().copied().collect());
    let reversed = other.clone();
    let slow = |answer: Response| {
        std::thread::sleep(Duration::from_millis(50));
        Some(answer.with("ETag", "\"one\""))
    };
    let servers = [
        HttpServer::with(move |request| slow(ranged(request, body().to_vec()))),
        HttpServer::with(move |request| slow(ranged(request, reversed.to_vec()))),
    ];
    let (_folder, file) = folder();
    let client = Client::new();
    let results = std::thread::scope(|scope| {
        let start = |server: &HttpServer| client.download(server.url("/f")).to(&file).segments(2);
        let running = [start(&servers[0]), start(&servers[1])].map(|one| scope.spawn(|| one.send()));
        running.map(|one| one.join().unwrap())
    });
    let winners: Vec<usize> = (0..2).filter(|at| results[*at].is_ok()).collect();
    let [winner] = winners[..] else { panic!("{results:?}") };
    let error = results[1 - winner].as_ref().unwrap_err();
    assert!(error.message().contains("is being fetched by another process"), "{error}");
    assert!(fs::read(&file).unwrap() == [body(), other][winner].to_vec());
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_wrong_checksum_leaves_no_file() {
    let server = good();
    let (folder, file) = folder();
    let wrong = format!("sha256={}", "0".repeat(64));
    let error = Client::new().download(server.url("/f")).to(&file).checksum(&wrong).send().unwrap_err();
    assert!(error.message().starts_with("Checksum mismatch: sha256 is "), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_dropped_download_is_continued() {
    let (_folder, file) = folder();
    let slow = server(|number, _, answer| {
        std::thread::sleep(Duration::from_millis(if number < 4 { 0 } else { 300 }));
        answer
    });
    let client = warmwire::Client::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let part = file.with_extension("part");
    runtime.block_on(async {
        let download = client.download(slow.url("/f")).to(&file).segments(2).send();
        let ended = tokio::time::timeout(Duration::from_millis(400), download).await;
        assert!(ended.is_err(), "the download was quicker than the test");
    });
    // Its thread ends soon, and writes the journal last.
    let began = Instant::now();
    let again = || client.download(slow.url("/f")).to(&file).segments(2).send();
    let got = loop {
        match runtime.block_on(again()) {
            Ok(got) => break got,
            Err(error) if error.message().contains("by another process") => {}
            Err(error) => panic!("{error:?}"),
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{} is held", part.display());
        std::thread::sleep(Duration::from_millis(20));
    };
    is_whole(&file);
    assert!(got.received() < SIZE as u64, "all was fetched again");
    assert!(slow.requests().iter().any(|request| request.field("if-range") == Some("\"one\"")));
}

#[test]
fn a_part_is_removed_on_demand() {
    let (_folder, file) = folder();
    let failing = server(|number, _, answer| if number < 3 { answer } else { Response::status(404) });
    let error = Client::new().download(failing.url("/f")).to(&file).segments(1).send().unwrap_err();
    assert_eq!((error.code(), error.kind()), (Code::HttpReturnedError, ErrorKind::Status), "{error:?}");
    let part = file.with_extension("part");
    assert!(part.exists() && !file.exists());
    let server = good();
    // The part is of another URL.
    let error = Client::new().download(server.url("/f")).to(&file).send().unwrap_err();
    assert!(error.message().contains("is of another URL"), "{error}");
    let got = Client::new().download(server.url("/f")).to(&file).resume(false).send().unwrap();
    is_whole(&file);
    assert_eq!(got.received(), SIZE as u64);
}

#[test]
fn what_cannot_be_done_is_refused() {
    let client = Client::new();
    let at = |url: &str| client.download(url);
    for (download, why) in [
        (at("http://h/f"), "a download needs a file"),
        (at("http://h/f").to("f").segments(0), "1 to 64 segments"),
        (at("http://h/f").to("f").segments(65), "1 to 64 segments"),
        (at("http://h/f").to("f").checksum("md5=00"), "A md5 sum has 32"),
        (at("http://h/f").to("f").mirror("no url"), "no url"),
        (at("dict://h/f").to("f"), "cannot be downloaded in pieces"),
    ] {
        let error = download.send().unwrap_err();
        assert!(error.is_builder() && error.message().contains(why), "{error:?}");
    }
    let server = good();
    let error = client.download(server.url("/f")).to("/dev/null").send().unwrap_err();
    assert!(error.message().contains("not a regular file"), "{error}");
    let error = client.download(server.url("/f")).to("/nowhere/f").send().unwrap_err();
    assert!(error.message().contains("No such file or directory"), "{error}");
    let silent = server_that_is_silent();
    let (_folder, file) = folder();
    let limit = Duration::from_millis(300);
    let error = client.download(silent.url("/f")).to(&file).timeout(limit).send().unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
}

fn server_that_is_silent() -> HttpServer {
    server(|_, _, answer| {
        std::thread::sleep(Duration::from_secs(2));
        answer
    })
}
