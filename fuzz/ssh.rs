//! SSH data of servers and files, as one function of bytes each, with the properties that hold for
//! any input. The fuzz targets run them under libFuzzer, crates/ssh/tests/mutations.rs on mutated seeds.

#[path = "../crates/ssh/tests/common/mod.rs"]
mod common;

use std::rc::Rc;

use common::{agree, to_client, to_server};
use ssh::auth::{AgentKey, AuthMethod, Login, Outcome};
use ssh::keys::{self, PrivateKey};
use ssh::known_hosts::{KnownHosts, Verdict};
use ssh::sftp::{Answer, Client, EarlyRead, Reads, Reply, Request, Writes};
use ssh::{Config, Session, State, Transport, agent, public, scp};
use testkit::ssh::{CURVE25519, Peer};

type Parser = (&'static str, fn(&[u8]));

/// Name (also that of its directory of seeds) and function.
pub const PARSERS: &[Parser] = &[
    ("ssh_keys", keys),
    ("ssh_known_hosts", known_hosts),
    ("ssh_packets", packets),
    ("ssh_scp", scp_lines),
    ("ssh_session", session),
    ("ssh_sftp", sftp_replies),
];

/// Most output that a client may hold for a server that does not read.
const MAX_OUTPUT: usize = 5 << 20;

/// A transport that receives any bytes: the first octet decides whether they arrive in plain text or after a
/// key exchange (so that no packet authenticates), and how many octets arrive at once.
pub fn packets(input: &[u8]) {
    let Some((&first, bytes)) = input.split_first() else { return };
    let mut transport = Transport::new(Config::default()).expect("there is randomness");
    if first & 1 == 1 {
        handshake(&mut transport, &mut Peer::new(CURVE25519, first & 2 == 2));
    }
    for piece in bytes.chunks(1 + usize::from(first >> 2)) {
        let Ok(steps) = feed(&mut transport, piece) else { return };
        assert_eq!(steps, 0, "nothing that was not proved is acted upon");
        assert!(transport.output().len() < 64 << 10);
    }
}

/// Passes bytes to a transport and returns how many messages it read.
fn feed(transport: &mut Transport, bytes: &[u8]) -> Result<usize, ssh::Error> {
    to_client(transport, bytes);
    let mut steps = 0;
    while transport.step()?.is_some() {
        steps += 1;
    }
    Ok(steps)
}

/// The first exchange of keys, with a good server.
fn handshake(transport: &mut Transport, peer: &mut Peer) {
    peer.offer();
    agree(transport, peer).expect("the server is good");
}

/// After a key exchange: the input is messages, each after a length of two octets. They reach a login and
/// then a session, whose first channel uses SFTP and whose second runs a command.
pub fn session(input: &[u8]) {
    let mut transport = Transport::new(Config::default()).expect("there is randomness");
    let mut peer = Peer::new(CURVE25519, true);
    handshake(&mut transport, &mut peer);
    let mut messages = Messages(input);
    let secret = Rc::new(b"secret".to_vec().into());
    let ways = [AuthMethod::Password(Rc::clone(&secret)), AuthMethod::Agent, AuthMethod::Keyboard(secret)];
    let mut login = Login::new(b"user", ways);
    login.begin(&mut transport, None).expect("it is the first");
    loop {
        let Some(message) = messages.next() else { return };
        peer.send(message);
        to_client(&mut transport, &peer.output());
        match transport.step() {
            Ok(Some(_)) => {}
            Ok(None) => {
                to_server(&mut transport, &mut peer);
                continue;
            }
            Err(_) => return,
        }
        let mut outcome = login.take(&mut transport);
        loop {
            outcome = match outcome {
                Err(_) | Ok(Some(Outcome::Denied)) => return,
                Ok(Some(Outcome::Methods(_))) => login.go_on(&mut transport),
                Ok(Some(Outcome::AskAgent)) => {
                    login.agent_keys(&mut transport, vec![AgentKey { blob: vec![0, 0, 0, 1, b'k'] }])
                }
                Ok(Some(Outcome::AgentSign(_))) => login.agent_signed(&mut transport, Some(vec![1])),
                _ => break,
            };
        }
        to_server(&mut transport, &mut peer);
        if matches!(outcome, Ok(Some(Outcome::LoggedIn(_)))) {
            break;
        }
    }
    let mut session = Session::new(transport);
    let channels = [session.open().expect("there is room"), session.open().expect("there is room")];
    let mut client = Client::new();
    let mut asked = false;
    for message in messages {
        peer.send(message);
        to_client(session.transport(), &peer.output());
        if session.take_in().is_err() {
            return;
        }
        for id in session.news() {
            assert!(channels.contains(&id), "news of what is there");
        }
        if !asked && session.channel(channels[0]).is_some_and(|channel| channel.state() == &State::Open) {
            asked = true;
            session.request(channels[0], "subsystem", b"sftp").expect("it is open");
        }
        let sent = session.send(channels[0], client.output()).expect("it may be sent");
        client.sent(sent);
        let length = session.channel(channels[0]).map_or(Ok(None), |channel| {
            assert!(channel.data().len() <= 2 << 20, "no more than the window");
            client.reply(channel.data()).map(|taken| taken.map(|taken| taken.length))
        });
        match length {
            Ok(length) => session.consume(channels[0], length.unwrap_or(0)).expect("the window may grow"),
            Err(_) => session.leave(channels[0]).expect("the channel may close"),
        }
        let n = session.channel(channels[1]).map_or(0, |channel| channel.data().len());
        session.consume(channels[1], n / 2).expect("the window may grow");
        assert!(session.transport().output().len() <= MAX_OUTPUT);
        to_server(session.transport(), &mut peer);
    }
}

/// Two octets of length and a message, again and again; none is empty, as no packet is.
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<2>()?;
        let n = usize::from(u16::from_be_bytes(*length)).clamp(1, rest.len().max(1));
        let (message, rest) = rest.split_at_checked(n)?;
        self.0 = rest;
        Some(message)
    }
}

/// A server's SFTP replies to a client that reads a file, writes another and has asked for attributes;
/// nothing is delivered that did not arrive.
pub fn sftp_replies(input: &[u8]) {
    let mut client = Client::new();
    let stat = client.ask(&Request::Stat { path: b"f" });
    let mut reads = Reads::new(b"r", 5, Some(3 << 20));
    client.expect_handle(b"r");
    if let Some(ahead) = EarlyRead::ask(&mut client, 5) {
        reads.take(&mut client, ahead);
    }
    let mut writes = Writes::new(b"w", 0);
    (0..4).for_each(|_| writes.write(&mut client, b"some bytes"));
    reads.ask(&mut client);
    let mut handed_out = 0;
    let mut rest = input;
    while let Ok(Some(taken)) = client.reply(rest) {
        let packet = &rest[..taken.length];
        rest = &rest[taken.length..];
        let Some((id, reply)) = taken.wanted else { continue };
        let _ = reply.statvfs();
        let done = match &reply {
            Reply::Data(bytes) => reads.data(&mut client, id, bytes).map(|answer| {
                handed_out += if answer == Answer::Next { bytes.len() } else { 0 };
            }),
            Reply::Status(status, _) if reads.status(&mut client, id, *status).is_ok() => Ok(()),
            Reply::Status(status, _) => writes.answered(id, *status).map(drop),
            _ if id == stat => client.keep(id, packet),
            _ => Ok(()),
        };
        while let Some(kept) = reads.kept() {
            handed_out += kept.len();
        }
        assert!(handed_out <= input.len());
        if done.is_err() || reads.is_done() {
            break;
        }
        reads.ask(&mut client);
        assert!(client.waiting() < 1 << 20);
        client.sent(usize::MAX);
    }
    let _ = client.kept(stat, |reply| format!("{reply:?}"));
    reads.leave(&mut client);
    writes.leave(&mut client);
}

/// Lines of SCP, one after the other: heads, and replies. Texts for the user are printable.
pub fn scp_lines(input: &[u8]) {
    let mut rest = input;
    while let Ok(Some((length, message))) = scp::head_line(rest) {
        rest = &rest[length..];
        if let scp::ControlMessage::File(head) = message {
            assert!(i64::try_from(head.size).is_ok());
            assert_eq!(head.line(rest).iter().filter(|octet| **octet == b'\n').count(), 1);
        }
    }
    let mut rest = input;
    while let Ok(Some(length)) = scp::answer(rest) {
        rest = &rest[length..];
    }
    for fault in [scp::head_line(rest).err(), scp::answer(rest).err()].into_iter().flatten() {
        if let scp::ScpError::Server(text) = fault {
            assert!(!text.chars().any(char::is_control));
        }
    }
    assert_eq!(word(scp::fetch_command(input, true).strip_prefix(b"scp -pf ")), input);
    assert_eq!(word(scp::store_command(input).strip_prefix(b"scp -t ")), input);
}

/// A shell's result for one quoted word.
fn word(quoted: Option<&[u8]>) -> Vec<u8> {
    let (mut out, mut inside) = (Vec::new(), false);
    let mut octets = quoted.expect("the command comes first").iter();
    while let Some(&octet) = octets.next() {
        match octet {
            b'\'' => inside = !inside,
            b'\\' if !inside => out.extend(octets.next()),
            octet => {
                assert!(inside, "all is in quotes");
                out.push(octet);
            }
        }
    }
    assert!(!inside, "all that was opened is closed");
    out
}

/// A file of known hosts. A host that is added is known by that key from then on, unless it is revoked, and
/// is not once it was forgotten.
pub fn known_hosts(input: &[u8]) {
    let key = [b"\0\0\0\x0bssh-ed25519\0\0\0\x20".as_slice(), &[9; 32]].concat();
    let mut hosts = KnownHosts::parse(input);
    for port in [22, 2222] {
        let before = hosts.check("host.example", port, &key);
        let _ = hosts.preferred("host.example", port);
        hosts.add("host.example", port, &key);
        let mut after = hosts.check("host.example", port, &key);
        let expected = if before == Verdict::Revoked { Verdict::Revoked } else { Verdict::Known };
        assert_eq!(after, expected);
        let again = KnownHosts::parse(&hosts.to_bytes());
        assert_eq!(again.check("host.example", port, &key), after);
        let mut other = key.clone();
        other[30] ^= 1;
        after = hosts.check("host.example", port, &other);
        if let Verdict::Other(known) = after {
            hosts.forget("host.example", port, &known);
        }
        if let Ok(certificate) = public::Certificate::parse(input) {
            let _ = hosts.vouches("host.example", port, &certificate, 1_700_000_000);
        }
    }
}

/// A private key file without its line structure, under one passphrase; also the files next to it: `.pub`
/// keys, certificates, an agent's replies.
pub fn keys(input: &[u8]) {
    if !takes_long(input) {
        let read = [PrivateKey::from_openssh(input, b"phrase"), PrivateKey::from_der(input)];
        for mut key in read.into_iter().flatten() {
            let (algorithm, _) = key.algorithm(&[]);
            // A damaged key signs nothing rather than wrongly.
            if let Some(signature) = key.sign(algorithm, b"message") {
                assert!(key.public().verify(algorithm, b"message", &signature));
            }
            let _ = key.show(input);
        }
    }
    let _ = keys::public_file_blob(input);
    let _ = public::Certificate::parse(input).map(|certificate| certificate.is_for("host", 1_700_000_000));
    let _ = public::PublicKey::parse(input).map(|key| key.verify("ssh-ed25519", b"message", input));
    let _ = (agent::size(input), agent::keys(input), agent::signature(input));
}

/// More than a few rounds of bcrypt: each takes milliseconds by design.
fn takes_long(input: &[u8]) -> bool {
    let Some(rest) = input.strip_prefix(b"openssh-key-v1\0") else { return false };
    let mut rest = rest;
    let mut next = || {
        let (length, behind) = rest.split_first_chunk::<4>()?;
        let (value, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        rest = behind;
        Some(value)
    };
    let options = next().and_then(|_| next()).and_then(|_| next());
    let rounds = options.and_then(|options| options.last_chunk::<4>());
    rounds.is_some_and(|rounds| u32::from_be_bytes(*rounds) > 2)
}
