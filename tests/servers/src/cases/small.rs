//! The small protocols, with third-party servers: slapd, Mosquitto, tftpd-hpa, dictd, Gophernicus, GNU's
//! telnetd, Perl's RTSP::Server, by Debian's curl on either library. Its output on ours must be that on its
//! own.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::body::pattern;
use testkit::launch::{
    Dictd, Echo, EchoKind, Gopher, Mosquitto, RtspServer, Slapd, StreamEchoKind, Telnetd, Tftpd,
};
use testkit::temp::TempDir;

use super::{case, ours};
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        case("slapd-searches", searches),
        case("slapd-logins", logins),
        case("mosquitto-messages", messages),
        case("mosquitto-big-messages", big_messages),
        // Debian's library sends a broker no pings.
        ours("mosquitto-long-subscription", kept_up),
        case("tftpd-files", files),
        case("dictd-words", words),
        case("gophernicus-selectors", selectors),
        case("telnetd-terminal", terminal),
        case("rtsp-server-media", media),
        // Debian's library speaks no WebSocket.
        ours("echoes", echoes),
        ours("echoes-tool", echoes_tool),
        ours("echoes-compressed", echoes_compressed),
        ours("echoes-on-streams", echoes_on_streams),
    ]
}

fn curl(run: &Context, arguments: &[&str]) -> Output {
    run.run(Command::new("/usr/bin/curl").args(["-q", "-sS", "--max-time", "60"]).args(arguments))
}

/// Runs the case after a check that the distribution's library gives the same result.
fn same(run: &Context, arguments: &[&str]) -> Output {
    let theirs = curl(&Context::new(run.world, &Subject::Distribution), arguments);
    let output = curl(run, arguments);
    let facts = |output: &Output| (output.status, String::from_utf8_lossy(output.bytes()).into_owned());
    assert_eq!(facts(&output), facts(&theirs), "{arguments:?}: {output:?}");
    output
}

/// Every form of query: scopes, attributes, filters; base64 where it is needed; an entry longer than any
/// buffer.
fn searches(run: &Context) {
    let slapd = Slapd::start(&run.world.authority.good()).expect("slapd starts");
    let base = "dc=example,dc=org";
    for rest in [
        base,
        "dc=example,dc=org?dc",
        "dc=example,dc=org?*?sub?(uid=p7)",
        "dc=example,dc=org?cn,sn?sub?(&(uid=p1*)(!(uid=p11*)))",
        "dc=example,dc=org?mail?sub?(|(uid=p299)(cn=Person%20298))",
        "dc=example,dc=org??one?(objectClass=*)",
        "ou=people,dc=example,dc=org?uid?sub?(uid>=p29)",
        "ou=people,dc=example,dc=org?uid?sub?(uid=*99*)",
        "ou=odd,dc=example,dc=org?description,jpegPhoto,labeledURI?sub?(sn=odd)",
        "ou=odd,dc=example,dc=org?cn?sub?(cn=Gr%5cc3%5cbc%5cc3%5c9fe)",
        "dc=example,dc=org?1.1?sub?(uid=p1)",
        "dc=example,dc=org?%2B?base",
        "dc=example,dc=org?uid?sub?(uid=nobody)",
        "?namingContexts?base",
    ] {
        // Without times of creation and the like, which both print alike.
        let output = same(run, &[&slapd.ldap(rest)]);
        assert_eq!(output.status, Some(0), "{rest}");
    }
    let all = same(run, &[&slapd.ldap("ou=people,dc=example,dc=org??sub?(uid=*)")]);
    assert_eq!(all.stdout.matches("DN: uid=p").count(), Slapd::PEOPLE);
    let odd = same(run, &[&slapd.ldap("ou=odd,dc=example,dc=org??sub?(cn=blanks)")]).stdout;
    assert!(
        odd.contains("\tdescription:: IGxlYWRpbmc=\n") && odd.contains("\tjpegPhoto:: AAECA/8=\n"),
        "{odd}"
    );
    for rest in ["dc=nowhere", "dc=example,dc=org??sub?(uid=p1", "dc=example,dc=org??wrong", "a?b?sub?c?d?e"]
    {
        assert_ne!(same(run, &[&slapd.ldap(rest)]).status, Some(0), "{rest}");
    }
    let ca = run.world.ca();
    let (secured, plain) = (slapd.ldaps("dc=example,dc=org?dc"), slapd.ldap("dc=example,dc=org?dc"));
    for trust in [&["--cacert", &ca][..], &["-k"]] {
        let output = same(run, &[trust, &[&secured]].concat());
        assert!(output.stdout.contains("DN: dc=example,dc=org"), "{output:?}");
        // Here 7.88 says CURLE_RECV_ERROR: it cannot.
        if run.ours() {
            let output = curl(run, &[trust, &["--ssl-reqd", &plain]].concat());
            assert!(output.stdout.contains("DN: dc=example,dc=org"), "{output:?}");
        }
    }
    assert_ne!(curl(run, &[&slapd.ldaps(base)]).status, Some(0), "an unknown authority");
}

/// The login decides what is returned; a wrong password is CURLE_LOGIN_DENIED.
fn logins(run: &Context) {
    let slapd = Slapd::start(&run.world.authority.good()).expect("slapd starts");
    let url = slapd.ldap("dc=example,dc=org?dn?sub?(uid=p5)");
    let (user, password) = Slapd::USER;
    for (login, status) in [
        (format!("{user}:{password}"), 0),
        ("uid=p5,ou=people,dc=example,dc=org:pass5".to_owned(), 0),
        ("uid=p5,ou=people,dc=example,dc=org:wrong".to_owned(), 67),
        ("uid=nobody,dc=example,dc=org:x".to_owned(), 67),
    ] {
        let output = same(run, &["-u", &login, &url]);
        assert_eq!(output.status, Some(status), "{login}: {output:?}");
    }
    // Debian's library knows no SCRAM, and loses its way where the last challenge comes with the success
    // (DIGEST-MD5).
    let newer = ["DIGEST-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256"];
    for mechanism in ["PLAIN", "CRAM-MD5"].into_iter().chain(newer.into_iter().filter(|_| run.ours())) {
        let options = format!("AUTH={mechanism}");
        for (login, status) in [("p5:pass5", 0), ("p5:wrong", 67)] {
            let words = ["--login-options", &options, "-u", login, &url];
            let output = if newer.contains(&mechanism) { curl(run, &words) } else { same(run, &words) };
            assert_eq!(output.status, Some(status), "{mechanism} {login}: {output:?}");
            assert_eq!(output.stdout.contains("uid=p5"), status == 0, "{mechanism} {login}: {output:?}");
        }
    }
    // Two on one command line.
    let two =
        same(run, &["-u", &format!("{user}:{password}"), &url, &slapd.ldap("ou=odd,dc=example,dc=org?ou")]);
    assert!(two.stdout.contains("uid=p5") && two.stdout.contains("ou: odd"), "{two:?}");
}

/// A retained message is delivered to later subscribers. A subscription ends only by the time limit.
fn subscribed(run: &Context, arguments: &[&str], url: &str) -> Vec<u8> {
    let output = curl(run, &[&["--max-time", "2"], arguments, &[url]].concat());
    assert_eq!(output.status, Some(28), "{output:?}");
    output.bytes().to_vec()
}

fn messages(run: &Context) {
    let mosquitto = Mosquitto::start(&run.world.authority.good()).expect("mosquitto starts");
    let ca = run.world.ca();
    // $SYS topics are retained by the broker.
    let version = subscribed(run, &[], &mosquitto.mqtt("$SYS/broker/version"));
    assert!(String::from_utf8_lossy(&version).contains("mosquitto version"), "{version:?}");
    let publish = |arguments: &[&str]| curl(run, &[&["-d", "message"], arguments].concat()).status;
    assert_eq!(publish(&[&mosquitto.mqtt("a/topic")]), Some(0));
    let login = |who: &str| publish(&["-u", who, &mosquitto.guarded("a/topic")]);
    assert_eq!(login("user:secret"), Some(0));
    assert_ne!(login("user:wrong"), Some(0));
    assert_ne!(publish(&[&mosquitto.guarded("a/topic")]), Some(0));
    if run.ours() {
        assert_eq!(
            tool(run, &["--cacert", &ca, "-d", "message", &mosquitto.mqtts("a/topic")]).status,
            Some(0)
        );
    }
}

/// Our own command line tool: Debian's knows no mqtts.
fn tool(run: &Context, arguments: &[&str]) -> Output {
    run.run(Command::new(run.world.tool()).args(["-q", "-sS", "--max-time", "60"]).args(arguments))
}

/// A subscriber receives what a publisher sends, of any length and in order.
fn big_messages(run: &Context) {
    let mosquitto = Mosquitto::start(&run.world.authority.good()).expect("mosquitto starts");
    let folder = TempDir::new("mqtt").unwrap();
    let file = folder.write("message", pattern(3_000_000)).unwrap();
    let got = folder.path().join("got");
    let mut subscriber = Command::new("/usr/bin/curl");
    run.subject.choose(&mut subscriber);
    subscriber.args(["-q", "-sSN", "--max-time", "30", &mosquitto.mqtt("big"), "-o"]).arg(&got);
    let mut subscriber = subscriber.stderr(Stdio::null()).spawn().expect("curl starts");
    let expected = 2 * (2 + "big".len() + 3_000_000);
    let data = format!("@{}", file.display());
    // The time of the subscription is unknown: earlier messages are lost.
    let limit = Instant::now() + Duration::from_secs(25);
    let size = || std::fs::metadata(&got).map_or(0, |file| file.len()) as usize;
    while size() < expected && Instant::now() < limit {
        let before = size();
        let sent = curl(run, &["--data-binary", &data, &mosquitto.mqtt("big")]);
        assert_eq!(sent.status, Some(0), "{sent:?}");
        let patience = Instant::now() + Duration::from_secs(1);
        while size() < before + expected / 2 && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let _ = subscriber.kill();
    let _ = subscriber.wait();
    let received = std::fs::read(&got).unwrap();
    let message = [b"\0\x03big", &pattern(3_000_000)[..]].concat();
    assert!(received.len() >= expected, "{} of {expected}", received.len());
    assert!(received[..expected] == [&message[..], &message[..]].concat(), "a message was changed");
}

/// A long subscription sends pings to the broker, and receives late messages.
// covers: CURLOPT_UPKEEP_INTERVAL_MS
fn kept_up(run: &Context) {
    let mosquitto = Mosquitto::start(&run.world.authority.good()).expect("mosquitto starts");
    let output = run.program("subscribed", &[&mosquitto.mqtt("late/news")]);
    let heard = (2 + "late/news".len() + "late".len()).to_string();
    assert_eq!((output.fact("heard"), output.fact("published")), (&*heard, "0"), "{output:?}");
    let count = |text: &str| mosquitto.log().matches(text).count();
    let (asked, answered) = (count("Received PINGREQ"), count("Sending PINGRESP"));
    assert!(asked >= 3 && answered == asked, "{asked} {answered}\n{}", mosquitto.log());
}

fn files(run: &Context) {
    const SIZES: [usize; 8] = [0, 1, 511, 512, 513, 100_000, MANY_BLOCKS, 2_000_000];
    // More blocks of 8 bytes than there are numbers.
    const MANY_BLOCKS: usize = 8 * 66_000 + 3;
    let tftpd = Tftpd::start(&SIZES).expect("tftpd starts");
    for size in SIZES {
        let url = tftpd.url(&format!("/bytes-{size}"));
        for more in
            [&[][..], &["--tftp-blksize", "1400"], &["--tftp-blksize", "8192"], &["--tftp-no-options"]]
        {
            if size > 1_000_000 && more.is_empty() {
                continue; // 4000 packets there and back say no more
            }
            let output = curl(run, &[more, &["-w", "|%{size_download}", &url]].concat());
            let wanted = [&pattern(size)[..], format!("|{size}").as_bytes()].concat();
            assert!(output.bytes() == wanted, "{size} {more:?}: {:?} {}", output.status, output.stderr);
        }
    }
    let many = tftpd.url(&format!("/bytes-{MANY_BLOCKS}"));
    let output = curl(run, &["--tftp-blksize", "8", &many]);
    assert!(output.bytes() == pattern(MANY_BLOCKS), "{:?} {}", output.status, output.stderr);
    assert_eq!(same(run, &[&tftpd.url("/missing")]).status, Some(68));
    let folder = TempDir::new("tftp").unwrap();
    let name = if run.ours() { "ours" } else { "theirs" };
    for (number, size) in [0, 512, 70_001].into_iter().enumerate() {
        let file = folder.write("sent", pattern(size)).unwrap();
        let file = file.to_str().unwrap();
        for (more, at) in [(&[][..], "plain"), (&["--tftp-blksize", "1024"], "blocks")] {
            let stored = format!("{name}-{at}-{number}");
            let output = curl(run, &[more, &["-T", file, &tftpd.url(&format!("/{stored}"))]].concat());
            assert_eq!(output.status, Some(0), "{output:?}");
            assert!(tftpd.file(&stored).is_some_and(|stored| stored == pattern(size)), "{stored}");
        }
    }
    let (file, stored) = (folder.write("many", pattern(MANY_BLOCKS)).unwrap(), format!("{name}-many"));
    let words = ["--tftp-blksize", "8", "-T", file.to_str().unwrap(), &tftpd.url(&format!("/{stored}"))];
    let output = curl(run, &words);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(tftpd.file(&stored).is_some_and(|stored| stored == pattern(MANY_BLOCKS)));
}

fn words(run: &Context) {
    let dictd = Dictd::start().expect("dictd starts");
    for path in [
        "/d:house",
        "/define:house:eng-fra",
        "/m:hous*:eng-fra:re",
        "/match:house::exact",
        "/d:nosuchword",
        "/show:db",
    ] {
        let without_times = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with("220 ") && !line.starts_with("221 "));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let theirs = curl(&Context::new(run.world, &Subject::Distribution), &[&dictd.url(path)]);
        let ours = curl(run, &[&dictd.url(path)]);
        assert_eq!(without_times(&ours.stdout), without_times(&theirs.stdout), "{path}");
        assert_eq!(ours.status, theirs.status, "{path}");
    }
    let house = curl(run, &[&dictd.url("/d:house")]).stdout;
    assert!(house.contains("151 \"house\"") && house.contains("maison"), "{house}");
}

fn selectors(run: &Context) {
    let gopher = Gopher::start(&run.world.authority.good(), &[0, 1_000_000]).expect("gophernicus starts");
    let ca = run.world.ca();
    for place in [|g: &Gopher, path: &str| g.gopher(path), |g: &Gopher, path: &str| g.gophers(path)] {
        let get = |path: &str| curl(run, &["--cacert", &ca, &place(&gopher, path)]);
        let menu = get("/").stdout;
        assert!(menu.contains("folder\t/folder/\t") && menu.contains("bytes-0.bin"), "{menu}");
        assert!(get("/9/bytes-1000000.bin").bytes() == pattern(1_000_000));
        assert_eq!(get("/9/bytes-0.bin").bytes(), b"");
        assert!(
            get("/0/folder/two%20words.txt").stdout.starts_with("content"),
            "{:?}",
            get("/0/folder/two%20words.txt")
        );
        assert!(get("/1/missing").stdout.contains("Error: "), "{:?}", get("/1/missing"));
    }
}

/// TELNET's options set the variables of the terminal; typed text is echoed.
fn terminal(run: &Context) {
    let script = "stty -echo\nread word\necho \"$TERM $DISPLAY $OWN $word\"\nstty size\nexit 0\n";
    let telnetd = Telnetd::start(script).expect("telnetd starts");
    let command = format!(
        "(sleep 1; echo typed; sleep 2) | /usr/bin/curl -q -sS --max-time 20 -t TTYPE=vt77 -t XDISPLOC=far:1 -t NEW_ENV=OWN,mine {}",
        telnetd.url()
    );
    let output = run.run(Command::new("sh").args(["-c", &command]));
    assert!(output.stdout.contains("vt77 far:1"), "{output:?}");
    assert!(output.stdout.contains("typed"), "{output:?}");
    let command = command.replace("-t NEW_ENV=OWN,mine", "-t WS=77x33");
    let output = run.run(Command::new("sh").args(["-c", &command]));
    assert!(output.stdout.contains("33 77"), "{output:?}");
}

/// A stream is announced, recorded, described and played, and its data arrives. Both libraries report the
/// same.
fn media(run: &Context) {
    let server = RtspServer::start().expect("the server starts");
    let paths = |name: &str| (server.publish(name), server.play(name));
    let (publish, play) = paths("/first");
    let output = run.program("media", &[&publish, &play]);
    assert_eq!(
        (output.fact("end"), output.fact("described"), output.fact("heard")),
        ("1", "1", "1"),
        "{output:?}"
    );
    for (name, wanted) in [
        ("options", "0/200/"),
        ("nothing", "0/404/"),
        ("again", "0/403/"),
        ("record", "0/200/"),
        ("play", "0/200/"),
        ("pause", "0/405/"),
        ("teardown", "28/"),
    ] {
        assert!(output.fact(name).starts_with(wanted), "{name}: {output:?}");
    }
    let (publish, play) = paths("/second");
    let theirs = Context::new(run.world, &Subject::Distribution);
    assert_eq!(theirs.program("media", &[&publish, &play]).stdout, output.stdout);
}

/// Messages of all sizes, whole and in fragments, are echoed by Python's websockets and Node's ws: plain,
/// plain from one that could compress, and compressed, with and without context takeover.
fn echoes(run: &Context) {
    for kind in EchoKind::ALL {
        for (agrees, words) in
            [(false, ""), (true, ""), (false, "deflate"), (true, "deflate"), (true, "deflate,forget")]
        {
            let echo = Echo::start(kind, agrees).expect("the echo starts");
            let program = run.world.program("echoes");
            let output = run.run(Command::new(program).arg(echo.url("/")).env("WARMWIRE_WS", words));
            assert_eq!(output.status, Some(0), "{kind:?} {agrees} {words} {output:?}");
            assert_eq!(output.facts("echoed").len(), 25, "{kind:?} {words} {output:?}");
            assert_eq!(output.number("end"), 52, "{kind:?}");
        }
    }
}

/// Data is compressed in both directions: a fraction of the upload and of the output, in whatever window a
/// server requires. Python's allows 4 KiB.
fn echoes_compressed(run: &Context) {
    let folder = TempDir::new("ws").unwrap();
    let text = "What is said twice is compressed once. ".repeat(20_000);
    let file = folder.write("sent", &text).unwrap();
    for kind in EchoKind::ALL {
        let echo = Echo::start(kind, true).expect("the echo starts");
        let mut tool = Command::new(run.world.tool());
        tool.args(["-sS", "-v", "--max-time", "5", "-N", "-w", "\n%{size_download}"]);
        tool.args(["-T", file.to_str().unwrap(), &echo.url("/")]).env("WARMWIRE_WS", "deflate");
        let output = run.run(&mut tool);
        let (body, size) = output.stdout.rsplit_once('\n').expect("the size comes after it");
        assert!(body == text, "{kind:?} {}", output.stderr);
        assert!(output.stderr.contains("[WS] messages are compressed"), "{kind:?} {}", output.stderr);
        let size: usize = size.parse().expect("a number");
        assert!(size < text.len() / 10, "{kind:?}: {size} bytes came");
    }
}

/// The command line tool: an upload is sent as one message per read, received data is the output, and the
/// server's close ends it.
fn echoes_tool(run: &Context) {
    let folder = TempDir::new("ws").unwrap();
    let file = folder.write("sent", "1000 enough").unwrap();
    for kind in EchoKind::ALL {
        let echo = Echo::start(kind, false).expect("the echo starts");
        let text = tool(run, &["-T", file.to_str().unwrap(), &echo.url("/close")]);
        assert_eq!(text.status, Some(0), "{kind:?} {text:?}");
        let size = 100_000;
        let long = folder.write("long", pattern(size)).unwrap();
        let words = ["--max-time", "3", "-N", "-T", long.to_str().unwrap(), &echo.url("/")];
        let output = tool(run, &words);
        assert_eq!(output.bytes(), pattern(size), "{kind:?} {}", output.stderr);
    }
}

/// Twenty WebSockets on one connection of HTTP/2 with hypercorn, plain and compressed. By default, and with a
/// server whose streams do not support it, each has its own connection.
fn echoes_on_streams(run: &Context) {
    const COUNT: &str = "20";
    let authority = &run.world.authority;
    for (kind, words, version, connects) in [
        (StreamEchoKind::Hypercorn, "http2", "3", "1"),
        (StreamEchoKind::Hypercorn, "http2,deflate", "3", "1"),
        (StreamEchoKind::Hypercorn, "", "2", COUNT),
        (StreamEchoKind::Node, "http2", "2", COUNT),
    ] {
        let echo = Echo::secured(kind, &authority.good()).expect("the echo starts");
        let mut program = Command::new(run.world.program("echo_streams"));
        program.args([&echo.url("/"), COUNT]).env("CA", run.world.ca()).env("WARMWIRE_WS", words);
        let output = run.run(&mut program);
        let facts = ["good", "version"].map(|name| output.fact(name));
        assert_eq!(facts, [COUNT, version], "{kind:?} {words} {output:?}");
        assert!(output.facts("code").is_empty(), "{kind:?} {words} {output:?}");
        // One was opened for HTTP/2 before the server had sent its settings.
        let more = if kind == StreamEchoKind::Node { 1 } else { 0 };
        let opened = output.number("connects");
        let least: i64 = connects.parse().expect("a number");
        assert!((least..=least + more).contains(&opened), "{kind:?} {words} {output:?}");
    }
    let echo = Echo::secured(StreamEchoKind::Hypercorn, &authority.good()).expect("the echo starts");
    let ca = run.world.ca();
    let words = ["--http2", "--cacert", &ca, &echo.url("/no")];
    let mut refused = Command::new(run.world.tool());
    let output = run.run(refused.args(["-sS", "--max-time", "20"]).args(words).env("WARMWIRE_WS", "http2"));
    assert_eq!(output.status, Some(22), "{output:?}");
    assert!(output.stderr.contains("Refused WebSocket upgrade: 403"), "{output:?}");
}
