//! A server that stops, resets or falls silent after every byte of a dialogue, its own and the client's, with
//! the multi handle driven in each way: the code is correct, soon; and no partial file is reported as
//! complete. For datagrams there is silence after each.
//!
//! Each dialogue runs completely once and is recorded; then it is cut. A normal run alternates the four ways
//! and has few silences, as each takes its time; a deep one uses all ways at every byte.

use std::any::Any;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

use testkit::body::{fnv1a, pattern};
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Recording, Side};
use testkit::frames::{FramePeer, Talk as Talking};
use testkit::ftp::{Config, FtpServer};
use testkit::launch::{Http2Kind, Http2Server, SSH_USER, Sshd};
use testkit::lossy::LossyPath;
use testkit::raw::{RawPeer, Script, Step, expect, send};

use super::{deep, ours};
use crate::runner::{Case, Context};

/// The four ways to drive a multi handle.
const WAYS: [&str; 4] = ["perform", "poll", "fdset", "event"];
/// Time limits, for transfers that end by themselves and for silence, in milliseconds.
const AMPLE: u32 = 20_000;
const SHORT: u32 = 150;
/// How many silences there are on each side in a usual run.
const SILENCES: usize = 4;

const TIMED_OUT: i32 = 28;
/// A reset that comes before the client has looked at its new connection (CURLE_COULDNT_CONNECT).
const UNCONNECTED: i32 = 7;
/// Codes for a connection lost while sending or receiving (CURLE_SEND_ERROR, CURLE_RECV_ERROR).
const LOST: [i32; 2] = [55, 56];

/// A whole exchange with a server, and the allowed results when it is cut.
struct Conversation {
    server: SocketAddr,
    _keeps: Box<dyn Any>,
    /// `%p` is the port.
    url: String,
    /// Options as `conversation` takes them.
    words: Vec<String>,
    /// The received body.
    body: Vec<u8>,
    upload: Option<&'static str>,
    /// An upload has succeeded when the server has received these bytes, and has sent those.
    taken: Option<(&'static [u8], &'static [u8])>,
    /// The data that the server itself received on its last connection, if the relay sees only TLS.
    heard: Option<Box<dyn Fn() -> Vec<u8>>>,
    /// Codes of a dialogue that was cut before the server had sent this; the last ones apply to the rest.
    codes: Vec<(&'static [u8], Vec<i32>)>,
    /// FTP's data connection is cut as well.
    has_data: bool,
    /// From where the server has said the first until it has said the second, the end of the connection is
    /// the reply's end.
    ends_by_closing: Option<(&'static [u8], &'static [u8])>,
    /// The server's side is a few bytes longer or shorter each time: a signature by ECDSA has no fixed
    /// length.
    length_varies: bool,
    /// Every so many bytes, in a usual run; in a deep one five times as often.
    stride: usize,
}

impl Conversation {
    fn with(server: SocketAddr, keeps: impl Any, url: &str, body: &[u8]) -> Conversation {
        Conversation {
            server,
            _keeps: Box::new(keeps),
            url: url.to_owned(),
            words: Vec::new(),
            body: body.to_vec(),
            upload: None,
            taken: None,
            heard: None,
            codes: Vec::new(),
            has_data: false,
            ends_by_closing: None,
            length_varies: false,
            stride: 1,
        }
    }

    /// A dialogue with a scripted peer.
    fn scripted(script: Script, url: &str, body: &str) -> Conversation {
        let peer = RawPeer::start(vec![script.into_iter().chain([Step::ReadAll]).collect()]);
        Conversation::with(peer.address(), peer, url, body.as_bytes())
    }

    fn brings(self, body: Vec<u8>) -> Conversation {
        Conversation { body, ..self }
    }

    fn set(mut self, words: &[&str]) -> Conversation {
        self.words.extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// An upload, which has been taken when the server has the first bytes and has said the others.
    fn puts(mut self, upload: &'static str, had: &'static str, said: &'static str) -> Conversation {
        self.upload = Some(upload);
        self.taken(had, said)
    }

    fn taken(self, had: &'static str, said: &'static str) -> Conversation {
        Conversation { taken: Some((had.as_bytes(), said.as_bytes())), ..self }
    }

    fn ends_by_closing(self, from: &'static str, until: &'static str) -> Conversation {
        Conversation { ends_by_closing: Some((from.as_bytes(), until.as_bytes())), ..self }
    }

    fn code(mut self, before: &'static str, codes: &[i32]) -> Conversation {
        self.codes.push((before.as_bytes(), codes.to_vec()));
        self
    }

    fn length_varies(self) -> Conversation {
        Conversation { length_varies: true, ..self }
    }

    fn stride(self, stride: usize) -> Conversation {
        Conversation { stride, ..self }
    }
}

/// `conversation`, which runs one transfer after the other.
struct Client {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// How one transfer ended.
#[derive(Debug)]
struct Answer {
    code: i32,
    bytes: usize,
    sum: String,
    ms: u32,
}

impl Client {
    fn start(run: &Context, conversation: &Conversation, port: u16) -> Client {
        let mut command = Command::new(run.world.program("conversation"));
        run.choose(&mut command);
        let place = |text: &str| text.replace("%p", &port.to_string());
        for word in &conversation.words {
            command.args(["-o", &place(word)]);
        }
        if let Some(upload) = conversation.upload {
            command.args(["-u", upload]);
        }
        command.arg(place(&conversation.url)).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let asks = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Client { child, asks, answers }
    }

    /// Returns `None` if the program ended in its middle, as it does when a transfer hangs.
    fn ask(&mut self, way: &str, limit: u32) -> Option<Answer> {
        writeln!(self.asks, "{way} {limit}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let fact = |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name));
        if fact("ends=")? != "1" {
            return None;
        }
        Some(Answer {
            code: fact("code=")?.parse().ok()?,
            bytes: fact("bytes=")?.parse().ok()?,
            sum: fact("sum=")?.to_owned(),
            ms: fact("ms=")?.parse().ok()?,
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

/// Which connection is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Control,
    Data,
}

struct Trial<'a> {
    conversation: &'a Conversation,
    cutter: Cutter,
    client: Client,
    /// The bytes of an uncut run.
    whole: [Recording; 2],
    faults: Vec<String>,
    /// Code by code, for who wants to see them (`CUTS_SHOW`).
    codes: Vec<(String, i32, usize, usize)>,
}

/// Cuts a conversation everywhere.
fn cut_everywhere(run: &Context, conversation: &Conversation, all: bool) {
    let cutter = Cutter::open(conversation.server);
    let mut client = Client::start(run, conversation, cutter.port());
    cutter.set(Plan { cut: None, data: conversation.has_data.then_some(None) });
    let answer = client.ask("poll", AMPLE).expect("it ends");
    let whole = [cutter.talk(), cutter.data_talk()];
    let mut trial = Trial { conversation, cutter, client, whole, faults: Vec::new(), codes: Vec::new() };
    assert!(answer.code == 0 && trial.is_whole(&answer, &trial.whole), "{answer:?}: {:?}", trial.whole);
    let data = conversation.has_data.then_some(Connection::Data);
    let mut turn = 0;
    for connection in [Connection::Control].into_iter().chain(data) {
        for side in [Side::Server, Side::Client] {
            let talk = &trial.whole[connection as usize];
            let length = if side == Side::Server { talk.server.len() } else { talk.client.len() };
            let stride = if all { conversation.stride.div_ceil(5) } else { conversation.stride };
            let silent = if all { stride * 8 } else { (length / SILENCES).max(1) };
            for after in (0..=length).step_by(stride) {
                for cut in [Cut::Finish, Cut::Reset, Cut::Silence] {
                    if cut == Cut::Silence && after % silent / stride != 0 {
                        continue;
                    }
                    let ways = if all { WAYS.len() } else { 1 };
                    for _ in 0..ways {
                        trial.once(connection, CutPoint { side, after, cut }, WAYS[turn % WAYS.len()]);
                        turn += 1;
                    }
                    turn += usize::from(all);
                }
                if trial.faults.len() > 20 {
                    break;
                }
            }
        }
    }
    if std::env::var_os("CUTS_SHOW").is_some() {
        trial.codes.sort();
        trial.codes.iter().for_each(|(what, code, from, to)| println!("      {what}: {code} {from}..={to}"));
    }
    assert!(trial.faults.is_empty(), "{}", trial.faults.join("\n"));
}

impl Trial<'_> {
    fn once(&mut self, connection: Connection, fault: CutPoint, way: &str) {
        let data = self.conversation.has_data.then_some(None);
        self.cutter.set(match connection {
            Connection::Control => Plan { cut: Some(fault), data },
            Connection::Data => Plan { cut: None, data: Some(Some(fault)) },
        });
        let limit = if fault.cut == Cut::Silence { SHORT } else { AMPLE };
        let Some(answer) = self.client.ask(way, limit) else {
            panic!("{connection:?} {fault:?} {way}: the program has ended; before: {:?}", self.faults);
        };
        let passed = [self.cutter.talk(), self.cutter.data_talk()];
        self.add_code(format!("{connection:?} {:?} {:?}", fault.side, fault.cut), answer.code, fault.after);
        if let Err(why) = self.judge(connection, fault, &answer, &passed) {
            let said = String::from_utf8_lossy(&passed[0].server).into_owned();
            self.faults.push(format!("{connection:?} {fault:?} {way}: {why}: {answer:?}, said {said:?}"));
        }
    }

    fn add_code(&mut self, what: String, code: i32, at: usize) {
        match self.codes.iter_mut().rfind(|row| row.0 == what) {
            Some(row) if row.1 == code => row.3 = at,
            _ => self.codes.push((what, code, at, at)),
        }
    }

    fn judge(
        &self,
        connection: Connection,
        fault: CutPoint,
        answer: &Answer,
        passed: &[Recording; 2],
    ) -> Result<(), &'static str> {
        let begun = self.conversation.body.get(..answer.bytes).ok_or("more came than there is")?;
        if answer.sum != format!("{:016x}", fnv1a(begun)) {
            return Err("other bytes came");
        }
        if answer.ms > AMPLE / 2 {
            return Err("late");
        }
        if answer.code == 0 {
            let whole = self.is_whole(answer, passed);
            let said = &passed[0].server;
            let ends = self.conversation.ends_by_closing;
            let ends = ends.is_some_and(|(from, until)| holds(said, from) && !holds(said, until));
            let may_end = ends && fault.cut == Cut::Finish;
            return if whole || may_end { Ok(()) } else { Err("a short one is called whole") };
        }
        let all = &self.whole[connection as usize];
        match fault.cut {
            Cut::Silence if answer.code == TIMED_OUT => Ok(()),
            Cut::Silence => Err("an error that is none"),
            Cut::Finish
                if fault.side == Side::Server
                    && fault.after == all.server.len()
                    && !self.conversation.length_varies =>
            {
                Err("a whole one is called short")
            }
            _ => {
                let now = self.conversation.codes.iter();
                let phase = now.clone().find(|(before, _)| !holds(&passed[0].server, before)).or(now.last());
                let codes = phase.map_or(&LOST[..], |(_, codes)| codes);
                let unheard = answer.code == UNCONNECTED && passed[0].client.is_empty();
                let lost = fault.cut == Cut::Reset && (unheard || LOST.contains(&answer.code));
                if lost || codes.contains(&answer.code) { Ok(()) } else { Err("another code") }
            }
        }
    }

    fn is_whole(&self, answer: &Answer, passed: &[Recording; 2]) -> bool {
        let taken = self.conversation.taken.is_none_or(|(had, said)| {
            let heard = match &self.conversation.heard {
                Some(heard) => holds(&heard(), had),
                None => passed.iter().any(|talk| holds(&talk.client, had)),
            };
            heard && holds(&passed[0].server, said)
        });
        taken && answer.bytes == self.conversation.body.len()
    }
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}

macro_rules! cuts {
    ($($name:literal, $full:literal, $conversation:expr;)*) => {
        pub fn cases() -> Vec<Case> {
            vec![ours("cuts-http3", |run| dead_after_each_datagram(run, &http3(run))), $(
                ours($name, |run| cut_everywhere(run, &$conversation(run), false)),
                deep(ours($full, |run| cut_everywhere(run, &$conversation(run), true))),
            )*]
        }
    };
}

cuts! {
    "cuts-http", "cuts-http-full", |_| http(LENGTH, "plain\r\nContent-Length: 20\r\n");
    "cuts-http-chunked", "cuts-http-chunked-full", |_| http(CHUNKED, "chunked\r\n");
    "cuts-http-put", "cuts-http-put-full", |_| put();
    "cuts-https", "cuts-https-full", https;
    "cuts-http-proxy", "cuts-http-proxy-full", |_| proxy();
    "cuts-https-proxy", "cuts-https-proxy-full", https_proxy;
    "cuts-socks4", "cuts-socks4-full", |_| socks4();
    "cuts-socks5", "cuts-socks5-full", |_| socks5();
    "cuts-http2", "cuts-http2-full", |_| http2();
    "cuts-websocket", "cuts-websocket-full", |_| websocket();
    "cuts-rtsp", "cuts-rtsp-full", |_| rtsp();
    "cuts-ftp", "cuts-ftp-full", |_| ftp();
    "cuts-ftp-upload", "cuts-ftp-upload-full", |_| ftp_upload();
    "cuts-pop3", "cuts-pop3-full", |_| pop3();
    "cuts-imap", "cuts-imap-full", |_| imap();
    "cuts-smtp", "cuts-smtp-full", |_| smtp();
    "cuts-pop3-stls", "cuts-pop3-stls-full", pop3_stls;
    "cuts-imap-starttls", "cuts-imap-starttls-full", imap_starttls;
    "cuts-smtp-starttls", "cuts-smtp-starttls-full", smtp_starttls;
    "cuts-ftps", "cuts-ftps-full", ftps;
    "cuts-http2-tls", "cuts-http2-tls-full", http2_tls;
    "cuts-mqtt-publish", "cuts-mqtt-publish-full", |_| mqtt_publish();
    "cuts-gopher", "cuts-gopher-full", |_| gopher();
    "cuts-telnet", "cuts-telnet-full", |_| telnet();
    "cuts-dict", "cuts-dict-full", |_| dict();
    "cuts-ldap", "cuts-ldap-full", |_| ldap();
    "cuts-mqtt", "cuts-mqtt-full", |_| mqtt();
    "cuts-sftp", "cuts-sftp-full", |_| ssh("sftp");
    "cuts-scp", "cuts-scp-full", |_| ssh("scp");
}

/// How many datagrams are enough for a small file by QUIC, and more.
const DATAGRAMS: usize = 32;

/// Datagrams have no end and no reset: after each of them the path is dead. A file that was complete by then
/// is complete, all other transfers time out; and if nothing is lost, they succeed.
fn dead_after_each_datagram(run: &Context, conversation: &Conversation) {
    let ask = |most: usize, way: &str, limit| {
        let path = LossyPath::dead_after(conversation.server, most).expect("a relay starts");
        let answer = Client::start(run, conversation, path.port()).ask(way, limit);
        answer.unwrap_or_else(|| panic!("after {most}, {way}: the program has ended"))
    };
    let mut timed_out = 0;
    for most in 0..DATAGRAMS {
        let way = WAYS[most % WAYS.len()];
        let answer = ask(most, way, 2 * SHORT);
        let begun = &conversation.body[..answer.bytes.min(conversation.body.len())];
        let context = || format!("after {most}, {way}: {answer:?}");
        assert_eq!(answer.sum, format!("{:016x}", fnv1a(begun)), "{}", context());
        assert!(matches!(answer.code, 0 | TIMED_OUT) && answer.ms < AMPLE / 2, "{}", context());
        assert!(answer.code != 0 || answer.bytes == conversation.body.len(), "{}", context());
        timed_out += usize::from(answer.code == TIMED_OUT);
    }
    assert!(timed_out > 3, "all is through with {timed_out} datagrams");
    for way in WAYS {
        let answer = ask(usize::MAX, way, AMPLE);
        assert!(answer.code == 0 && answer.bytes == conversation.body.len(), "{way}: {answer:?}");
    }
}

fn http3(run: &Context) -> Conversation {
    const SIZE: usize = 3000;
    let server = Http2Server::start(Http2Kind::CaddyQuic, &run.world.authority.good(), &[SIZE]);
    let server = server.expect("caddy starts");
    let port = server.https("").rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let ca = format!("CAINFO={}", run.world.ca());
    let url = format!("https://localhost:%p/bytes-{SIZE}");
    Conversation::with((Ipv4Addr::LOCALHOST, port).into(), server, &url, &pattern(SIZE)).set(&[
        &ca,
        "RESOLVE=localhost:%p:127.0.0.1",
        "HTTP_VERSION=31",
    ])
}

const BODY: &str = "0123456789abcdefghij";
const LENGTH: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\n0123456789abcdefghij";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n\
    c;x=y\r\n89abcdefghij\r\n0\r\nSum: 1\r\n\r\n";

/// As in curl, complete lines count as a head if the connection ends in it, because some servers omit the
/// empty line. Its framing of a body applies.
fn http(reply: &'static str, last_field: &'static str) -> Conversation {
    let script = vec![expect("\r\n\r\n"), send(reply)];
    Conversation::scripted(script, "http://127.0.0.1:%p/", BODY)
        .ends_by_closing("200 OK\r\n", last_field)
        .code("200 OK\r\n", &[52, 56])
        .code("", &[18, 56])
}

fn put() -> Conversation {
    let script = vec![
        expect("\r\n\r\n"),
        send("HTTP/1.1 100 Continue\r\n\r\n"),
        expect(BODY),
        send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
    ];
    Conversation::scripted(script, "http://127.0.0.1:%p/x", "")
        .set(&["HTTPHEADER=Expect: 100-continue"])
        .puts(BODY, BODY, "Created\r\n")
        .code("", &[52, 55, 56])
}

fn https(run: &Context) -> Conversation {
    let script = vec![expect("\r\n\r\n"), send(LENGTH), Step::Finish];
    let config = run.world.authority.good().server_config().expect("a usable pair");
    let peer = RawPeer::tls(vec![script], config);
    let ca = format!("CAINFO={}", run.world.ca());
    Conversation::with(peer.address(), peer, "https://localhost:%p/", BODY.as_bytes())
        .set(&[&ca, "RESOLVE=localhost:%p:127.0.0.1"])
        .code("", &[35, 52, 56, 18])
        .length_varies()
        .stride(5)
}

fn proxy() -> Conversation {
    let script =
        vec![expect("\r\n\r\n"), send("HTTP/1.1 200 ok\r\nX: y\r\n\r\n"), expect("\r\n\r\n"), send(LENGTH)];
    Conversation::scripted(script, "http://nowhere.test/", BODY)
        .set(&["PROXY=http://127.0.0.1:%p", "HTTPPROXYTUNNEL=1"])
        .code("y\r\n\r\n", &[56])
        .ends_by_closing("200 OK\r\n", "Length: 20\r\n")
        .code("200 OK\r\n", &[52, 56])
        .code("", &[18, 56])
}

/// Messages to the proxy are in TLS; those through it are not.
fn https_proxy(run: &Context) -> Conversation {
    let script =
        vec![expect("\r\n\r\n"), send("HTTP/1.1 200 ok\r\nX: y\r\n\r\n"), expect("\r\n\r\n"), send(LENGTH)];
    let config = run.world.authority.good().server_config().expect("a usable pair");
    let peer = RawPeer::tls(vec![script], config);
    let ca = format!("PROXY_CAINFO={}", run.world.ca());
    Conversation::with(peer.address(), peer, "http://nowhere.test/", BODY.as_bytes())
        .set(&[&ca, "PROXY=https://localhost:%p", "HTTPPROXYTUNNEL=1", "RESOLVE=localhost:%p:127.0.0.1"])
        .code("", &[18, 35, 52, 56])
        .length_varies()
        .stride(5)
}

fn socks4() -> Conversation {
    let script = vec![
        Step::ExpectBytes(9),
        Step::Send(b"\0\x5a\0\0\0\0\0\0".to_vec()),
        expect("\r\n\r\n"),
        send(LENGTH),
    ];
    Conversation::scripted(script, "http://10.0.0.1/", BODY)
        .set(&["PROXY=socks4://127.0.0.1:%p"])
        .code("H", &[97, 52])
        .ends_by_closing("200 OK\r\n", "Length: 20\r\n")
        .code("200 OK\r\n", &[52, 56])
        .code("", &[18, 56])
}

fn socks5() -> Conversation {
    let script = vec![
        Step::ExpectBytes(4),
        Step::Send(b"\x05\x02".to_vec()),
        Step::Expect(b"\x01\x01u\x01p".to_vec()),
        Step::Send(b"\x01\0".to_vec()),
        Step::Expect(b"\x05\x01\0\x03\x0cnowhere.test\0P".to_vec()),
        Step::Send(b"\x05\0\0\x01\0\0\0\0\0\0".to_vec()),
        expect("\r\n\r\n"),
        send(LENGTH),
    ];
    Conversation::scripted(script, "http://nowhere.test/", BODY)
        .set(&["PROXY=socks5h://u:p@127.0.0.1:%p"])
        .code("H", &[97, 52])
        .ends_by_closing("200 OK\r\n", "Length: 20\r\n")
        .code("200 OK\r\n", &[52, 56])
        .code("", &[18, 56])
}

/// Answers each request.
fn answer(talk: &mut Talking) -> io::Result<()> {
    talk.greet(&[])?;
    loop {
        let stream = talk.request()?;
        talk.answer(stream, 200, BODY.as_bytes())?;
    }
}

fn http2() -> Conversation {
    let peer = FramePeer::start(answer);
    let address = (Ipv4Addr::LOCALHOST, peer.port()).into();
    Conversation::with(address, peer, "http://127.0.0.1:%p/", BODY.as_bytes())
        .set(&["HTTP_VERSION=5"])
        .code("", &[16, 18, 56])
}

fn http2_tls(run: &Context) -> Conversation {
    let mut config = (*run.world.authority.good().server_config().expect("a usable pair")).clone();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let peer = FramePeer::tls(config.into(), answer);
    let address = (Ipv4Addr::LOCALHOST, peer.port()).into();
    let ca = format!("CAINFO={}", run.world.ca());
    Conversation::with(address, peer, "https://localhost:%p/", BODY.as_bytes())
        .set(&[&ca, "RESOLVE=localhost:%p:127.0.0.1"])
        .code("", &[16, 18, 35, 56])
        .length_varies()
        .stride(5)
}

fn websocket() -> Conversation {
    let frames = b"\x81\x0801234567\x01\x0689abcd\x80\x06efghij\x88\x02\x03\xe8".to_vec();
    let head = "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n";
    let script = vec![expect("\r\n\r\n"), send(head), Step::Send(frames), Step::Finish];
    // The payload of the last frame is compared, too.
    Conversation::scripted(script, "ws://127.0.0.1:%p/", "")
        .brings([BODY.as_bytes(), b"\x03\xe8"].concat())
        // As in curl an end is accepted wherever no frame's head is incomplete: the application knows the
        // missing length.
        .ends_by_closing("\r\n\r\n", "nothing tells the end before it")
        .code("H", &[52, 56])
        .code("\r\n\r\n", &[52, 56, 22])
        .code("", &[52, 56, 18])
}

fn rtsp() -> Conversation {
    let reply = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 20\r\n\r\n0123456789abcdefghij";
    Conversation::scripted(vec![expect("\r\n\r\n"), send(reply)], "rtsp://127.0.0.1:%p/", BODY)
        .set(&["RTSP_REQUEST=2"])
        .ends_by_closing("CSeq: 1\r\n", "Length: 20\r\n")
        .code("200 OK\r\n", &[52, 56])
        .code("CSeq: 1\r\n", &[85])
        .code("", &[18, 56])
}

fn ftp() -> Conversation {
    let server = FtpServer::with_file("/dir/file", BODY);
    let conversation =
        Conversation::with(server.address(), server, "ftp://127.0.0.1:%p/dir/file", BODY.as_bytes())
            .code("", &[18, 56]);
    Conversation { has_data: true, ..conversation }
}

fn ftp_upload() -> Conversation {
    let server = FtpServer::start(Config::default()).expect("loopback has a free port");
    // Only the server knows what became of the data connection's contents.
    Conversation::with(server.address(), server, "ftp://127.0.0.1:%p/file", b"")
        .puts(BODY, "STOR file\r\n", "226 ")
        .code("", &[56])
}

fn exchanges(talk: &[(&str, &str)]) -> impl Iterator<Item = Step> {
    talk.iter().flat_map(|(hear, say)| [expect(hear), send(say)])
}

fn lines(talk: &[(&str, &str)]) -> Script {
    exchanges(talk).skip(1).collect() // the server greets
}

fn pop3() -> Conversation {
    let script = lines(&[
        ("", "+OK hi\r\n"),
        ("CAPA\r\n", "+OK\r\nUSER\r\n.\r\n"),
        ("USER u\r\n", "+OK\r\n"),
        ("PASS p\r\n", "+OK in\r\n"),
        ("RETR 1\r\n", "+OK 24\r\n0123456789\r\nabcdefghij\r\n.\r\n"),
        ("QUIT\r\n", "+OK bye\r\n"),
    ]);
    Conversation::scripted(script, "pop3://u:p@127.0.0.1:%p/1", "0123456789\r\nabcdefghij\r\n")
        .code("in\r\n", &[8, 56, 55, 67])
        .code("", &[8, 18, 56, 55])
}

/// A server whose TLS starts when the script says so.
fn upgraded(run: &Context, script: Script, url: &str, body: &str) -> Conversation {
    let config = run.world.authority.good().server_config().expect("a usable pair");
    let peer =
        Rc::new(RawPeer::upgradable(vec![script.into_iter().chain([Step::ReadAll]).collect()], config));
    let ca = format!("CAINFO={}", run.world.ca());
    let mut conversation = Conversation::with(peer.address(), peer.clone(), url, body.as_bytes());
    conversation.heard = Some(Box::new(move || peer.received().pop().unwrap_or_default()));
    conversation.set(&[&ca, "RESOLVE=localhost:%p:127.0.0.1", "USE_SSL=3"]).length_varies().stride(5)
}

fn pop3_stls(run: &Context) -> Conversation {
    let begins = lines(&[
        ("", "+OK hi\r\n"),
        ("CAPA\r\n", "+OK\r\nUSER\r\nSTLS\r\n.\r\n"),
        ("STLS\r\n", "+OK go\r\n"),
    ]);
    let goes_on = [
        ("CAPA\r\n", "+OK\r\nUSER\r\n.\r\n"),
        ("USER u\r\n", "+OK\r\n"),
        ("PASS p\r\n", "+OK in\r\n"),
        ("RETR 1\r\n", "+OK 24\r\n0123456789\r\nabcdefghij\r\n.\r\n"),
    ];
    let script = begins.into_iter().chain([Step::StartTls]).chain(exchanges(&goes_on));
    upgraded(run, script.collect(), "pop3://u:p@localhost:%p/1", "0123456789\r\nabcdefghij\r\n")
        .code("go\r\n", &[56, 64])
        .code("", &[8, 18, 35, 56, 67])
}

/// Without a data connection: the properties of a file are requested on the control connection.
fn ftps(run: &Context) -> Conversation {
    let begins = lines(&[("", "220 hi\r\n"), ("AUTH SSL\r\n", "234 go\r\n")]);
    let goes_on = [
        ("USER u\r\n", "331 p\r\n"),
        ("PASS p\r\n", "230 in\r\n"),
        ("PBSZ 0\r\n", "200 none\r\n"),
        ("PROT P\r\n", "200 private\r\n"),
        ("PWD\r\n", "257 \"/\"\r\n"),
        ("TYPE I\r\n", "200 image\r\n"),
        ("SIZE file\r\n", "213 20\r\n"),
        ("REST 0\r\n", "350 from there\r\n"),
    ];
    let script = begins.into_iter().chain([Step::StartTls]).chain(exchanges(&goes_on));
    let head = "Content-Length: 20\r\nAccept-ranges: bytes\r\n";
    upgraded(run, script.collect(), "ftp://u:p@localhost:%p/file", head)
        .set(&["NOBODY=1"])
        .code("go\r\n", &[56, 64])
        .code("", &[35, 56])
}

fn imap() -> Conversation {
    let script = lines(&[
        ("", "* OK hi\r\n"),
        ("A001 CAPABILITY\r\n", "* CAPABILITY IMAP4rev1\r\nA001 OK\r\n"),
        ("A002 LOGIN u p\r\n", "A002 OK in\r\n"),
        ("A003 SELECT INBOX\r\n", "* 1 EXISTS\r\nA003 OK\r\n"),
        ("BODY[]\r\n", "* 1 FETCH (BODY[] {20}\r\n0123456789abcdefghij)\r\nA004 OK\r\n"),
        ("LOGOUT\r\n", "* BYE\r\nA005 OK\r\n"),
    ]);
    Conversation::scripted(script, "imap://u:p@127.0.0.1:%p/INBOX/;MAILINDEX=1", BODY)
        .code("in\r\n", &[8, 56, 55, 67])
        .code("", &[8, 18, 56, 55])
}

fn smtp() -> Conversation {
    let script = lines(&[
        ("", "220 hi\r\n"),
        ("\r\n", "250-me\r\n250 SIZE\r\n"),
        ("MAIL FROM:<me@b> SIZE=20\r\n", "250 one\r\n"),
        ("RCPT TO:<a@b>\r\n", "250 two\r\n"),
        ("DATA\r\n", "354 go\r\n"),
        ("\r\n.\r\n", "250 taken\r\n"),
        ("QUIT\r\n", "221 bye\r\n"),
    ]);
    Conversation::scripted(script, "smtp://127.0.0.1:%p/client", "")
        .set(&["MAIL_FROM=me@b", "MAIL_RCPT=a@b"])
        .puts(BODY, "abcdefghij\r\n.\r\n", "taken\r\n")
        .code("", &[8, 55, 56, 67])
}

fn imap_starttls(run: &Context) -> Conversation {
    let begins = lines(&[
        ("", "* OK hi\r\n"),
        ("A001 CAPABILITY\r\n", "* CAPABILITY IMAP4rev1 STARTTLS\r\nA001 OK\r\n"),
        ("A002 STARTTLS\r\n", "A002 OK go\r\n"),
    ]);
    let goes_on = [
        ("A003 CAPABILITY\r\n", "* CAPABILITY IMAP4rev1\r\nA003 OK\r\n"),
        ("A004 LOGIN u p\r\n", "A004 OK in\r\n"),
        ("A005 SELECT INBOX\r\n", "* 1 EXISTS\r\nA005 OK\r\n"),
        ("BODY[]\r\n", "* 1 FETCH (BODY[] {20}\r\n0123456789abcdefghij)\r\nA006 OK\r\n"),
    ];
    let script = begins.into_iter().chain([Step::StartTls]).chain(exchanges(&goes_on));
    upgraded(run, script.collect(), "imap://u:p@localhost:%p/INBOX/;MAILINDEX=1", BODY)
        .code("go\r\n", &[56, 64])
        .code("", &[8, 18, 35, 56, 67])
}

fn smtp_starttls(run: &Context) -> Conversation {
    let begins = lines(&[
        ("", "220 hi\r\n"),
        ("EHLO client\r\n", "250-me\r\n250 STARTTLS\r\n"),
        ("STARTTLS\r\n", "220 go\r\n"),
    ]);
    let goes_on = [
        ("EHLO client\r\n", "250-me\r\n250 SIZE\r\n"),
        ("MAIL FROM:<me@b> SIZE=20\r\n", "250 one\r\n"),
        ("RCPT TO:<a@b>\r\n", "250 two\r\n"),
        ("DATA\r\n", "354 go\r\n"),
        ("\r\n.\r\n", "250 taken\r\n"),
    ];
    let script = begins.into_iter().chain([Step::StartTls]).chain(exchanges(&goes_on));
    upgraded(run, script.collect(), "smtp://localhost:%p/client", "")
        .set(&["MAIL_FROM=me@b", "MAIL_RCPT=a@b"])
        .puts(BODY, "abcdefghij\r\n.\r\n", "220 go\r\n")
        .code("go\r\n", &[56, 64])
        .code("", &[8, 35, 55, 56, 67])
}

/// A server that asks for the terminal type, reads a line and sends one.
fn telnet() -> Conversation {
    let script = vec![
        Step::Send(b"\xff\xfd\x18\xff\xfa\x18\x01\xff\xf0".to_vec()),
        expect("hello\r\n"),
        send(BODY),
        Step::Finish,
    ];
    Conversation::scripted(script, "telnet://127.0.0.1:%p/", BODY)
        .set(&["TELNETOPTIONS=TTYPE=vt100"])
        .puts("hello\r\n", "hello\r\n", "")
        .ends_by_closing("", "nothing tells the end before it")
        .code("", &[56])
}

fn dict() -> Conversation {
    let all = "220 hi\r\n250 ok\r\n150 1\r\n151 w\r\nword\r\n.\r\n250 ok\r\n221 bye\r\n";
    let script = vec![expect("QUIT\r\n"), send(all), Step::Finish];
    Conversation::scripted(script, "dict://127.0.0.1:%p/d:word", all)
        .ends_by_closing("", "nothing tells the end before it")
        .code("", &[56])
}

/// An LDAP message (RFC 4511) with a number and one element; nothing here is longer than 127 bytes.
fn ber(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag, content.len() as u8][..], content].concat()
}

fn ldap() -> Conversation {
    let message = |id: u8, tag: u8, content: &[u8]| ber(0x30, &[ber(2, &[id]), ber(tag, content)].concat());
    let done = [ber(10, &[0]), ber(4, b""), ber(4, b"")].concat();
    let attribute = ber(0x30, &[ber(4, b"cn"), ber(0x31, &ber(4, b"value"))].concat());
    let entry = message(2, 0x64, &[ber(4, b"dc=x"), ber(0x30, &attribute)].concat());
    let script = vec![
        Step::ExpectBytes(14),
        Step::Send(message(1, 0x61, &done)),
        Step::Expect(b"\x87\x0bobjectClass\x30\0".to_vec()),
        Step::Send([entry, message(2, 0x65, &done)].concat()),
    ];
    Conversation::scripted(script, "ldap://127.0.0.1:%p/dc=x??sub", "DN: dc=x\n\tcn: value\n\n\n")
        .code("", &[56])
}

fn mqtt() -> Conversation {
    let script = vec![
        Step::ExpectBytes(26),
        Step::Send(b"\x20\x02\0\0".to_vec()),
        Step::Expect(b"\x82\x06\0\x01\0\x01t\0".to_vec()),
        Step::Send(b"\x90\x03\0\x01\0\x30\x17\0\x01t0123456789abcdefghij\xe0\0".to_vec()),
        Step::Finish,
    ];
    Conversation::scripted(script, "mqtt://127.0.0.1:%p/t", "")
        .brings([b"\0\x01t", BODY.as_bytes()].concat()) // as curl does
        .code("", &[8, 18, 52, 55, 56])
}

fn mqtt_publish() -> Conversation {
    let message = [b"\x30\x17\0\x01t", BODY.as_bytes()].concat();
    let script = vec![
        Step::ExpectBytes(26),
        Step::Send(b"\x20\x02\0\0".to_vec()),
        Step::Expect(message),
        Step::Expect(b"\xe0\0".to_vec()),
    ];
    Conversation::scripted(script, "mqtt://127.0.0.1:%p/t", "")
        .set(&["POSTFIELDS=0123456789abcdefghij"])
        .taken("", "\x20\x02\0\0") // there is no acknowledgement
        .code("", &[18, 56])
}

fn gopher() -> Conversation {
    Conversation::scripted(
        vec![expect("\r\n"), send(BODY), Step::Finish],
        "gopher://127.0.0.1:%p/0file",
        BODY,
    )
    .ends_by_closing("", "nothing tells the end before it")
    .code("", &[56])
}

fn ssh(scheme: &str) -> Conversation {
    let server = Sshd::start("").expect("OpenSSH's server starts");
    server.write("file", BODY).expect("a file is written");
    let key = format!("SSH_PRIVATE_KEYFILE={}", server.path("user_ed25519").display());
    let url = format!("{scheme}://{SSH_USER}@127.0.0.1:%p{}", server.path("file").display());
    let target = (Ipv4Addr::LOCALHOST, server.port).into();
    Conversation::with(target, server, &url, BODY.as_bytes())
        .set(&[&key])
        .code("", &[2, 55, 56, 67, 79])
        .length_varies()
        .stride(211)
}
