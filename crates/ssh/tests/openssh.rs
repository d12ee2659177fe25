//! The state machine against OpenSSH's own server, over a blocking socket: every key exchange, cipher, type
//! of key and method of login, and channels while keys change.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ssh::auth::{AuthMethod, Login, Outcome};
use ssh::keys::{self, PrivateKey};
use ssh::sftp::{self, Answer, Client, Reads, Reply, Request, Status};
use ssh::{Config, Error, Session, State, Step, Transport};
use testkit::launch::{SSH_PASSWORD, SSH_USER, Sshd, keygen};
use warmwire_ssh as ssh;
use zeroize::Zeroizing;

struct Wire {
    socket: TcpStream,
    transport: Option<Transport>,
}

impl Wire {
    fn connect(server: &Sshd, config: Config) -> Wire {
        let socket = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Wire { socket, transport: Some(Transport::new(config).unwrap()) }
    }

    fn transport(&mut self) -> &mut Transport {
        self.transport.as_mut().unwrap()
    }

    /// Writes output, and processes steps until one is relevant.
    fn step(&mut self) -> Result<Step, Error> {
        let transport = self.transport.as_mut().unwrap();
        loop {
            if let Some(step) = transport.step()? {
                return Ok(step);
            }
            exchange(&mut self.socket, transport);
        }
    }

    fn handshake(&mut self) -> Result<(), Error> {
        assert_eq!(self.step()?, Step::HostKey);
        self.transport().accept_host()
    }

    fn log_in(&mut self, ways: Vec<AuthMethod>) -> Result<Outcome, Error> {
        let mut login = Login::new(SSH_USER.as_bytes(), ways);
        login.begin(self.transport(), None)?;
        loop {
            assert_eq!(self.step()?, Step::Message);
            let outcome = login.take(self.transport.as_mut().unwrap())?;
            let outcome = match outcome {
                Some(Outcome::Methods(_)) => login.go_on(self.transport.as_mut().unwrap())?,
                other => other,
            };
            match outcome {
                Some(Outcome::Banner(_)) | None => {}
                Some(outcome) => return Ok(outcome),
            }
        }
    }

    fn session(mut self) -> (TcpStream, Session) {
        (self.socket, Session::new(self.transport.take().unwrap()))
    }
}

fn exchange(socket: &mut TcpStream, transport: &mut Transport) {
    let out = transport.output().to_vec();
    socket.write_all(&out).unwrap();
    transport.sent(out.len());
    if !out.is_empty() && transport.pending() > 0 {
        return;
    }
    let n = socket.read(transport.space()).expect("the server answers in time");
    assert!(n > 0, "the server has closed");
    transport.received(n);
}

fn pump(socket: &mut TcpStream, session: &mut Session) {
    exchange(socket, session.transport());
    session.take_in().unwrap();
}

/// A private key as a program finds it in a file.
fn load(path: &Path, passphrase: &str) -> Result<PrivateKey, keys::KeyError> {
    let text = std::fs::read_to_string(path).unwrap();
    let body: String = text.lines().filter(|line| !line.starts_with('-') && !line.contains(':')).collect();
    let body = wire::base64::decode_unpadded(body.as_bytes()).unwrap();
    match keys::is_openssh(&body) {
        true => PrivateKey::from_openssh(&body, passphrase.as_bytes()),
        false => PrivateKey::from_der(&body),
    }
}

fn user_key(server: &Sshd) -> AuthMethod {
    AuthMethod::Key(Rc::new(load(&server.path("user_ed25519"), "").unwrap()))
}

fn logged_in(server: &Sshd, config: Config) -> (TcpStream, Session) {
    let mut wire = Wire::connect(server, config);
    wire.handshake().unwrap();
    let key = user_key(server);
    assert_eq!(wire.log_in(vec![key]).unwrap(), Outcome::LoggedIn("publickey"), "{}", server.log());
    wire.session()
}

fn channel(socket: &mut TcpStream, session: &mut Session) -> usize {
    let id = session.open().unwrap();
    while session.channel(id).unwrap().state() == &State::Opening {
        pump(socket, session);
    }
    assert_eq!(session.channel(id).unwrap().state(), &State::Open);
    id
}

/// Returns a command's output.
fn run(socket: &mut TcpStream, session: &mut Session, command: &str) -> Vec<u8> {
    let id = channel(socket, session);
    session.request(id, "exec", command.as_bytes()).unwrap();
    let mut out = Vec::new();
    loop {
        let data = session.channel(id).unwrap().data().to_vec();
        session.consume(id, data.len()).unwrap();
        out.extend(data);
        if session.channel(id).unwrap().has_ended() {
            break;
        }
        pump(socket, session);
    }
    session.leave(id).unwrap();
    out
}

#[test]
fn every_key_exchange_and_cipher_that_the_server_has() {
    let kex = "sntrup761x25519-sha512@openssh.com,curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,\
               ecdh-sha2-nistp521,diffie-hellman-group16-sha512,diffie-hellman-group18-sha512,\
               diffie-hellman-group14-sha256";
    let server = Sshd::start(&format!("KexAlgorithms {kex}")).unwrap();
    let all = Config::default().offer;
    let one = |name: &str| vec![name.to_owned()];
    let mut offers = Vec::new();
    for name in kex.split(',') {
        offers.push(ssh::Offer { methods: one(name), ..all.clone() });
    }
    for name in &all.ciphers {
        offers.push(ssh::Offer { ciphers: one(name), ..all.clone() });
    }
    for name in &all.macs {
        offers.push(ssh::Offer { ciphers: one("aes256-ctr"), macs: one(name), ..all.clone() });
    }
    for name in ["ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-256", "rsa-sha2-512"] {
        offers.push(ssh::Offer { host_keys: one(name), ..all.clone() });
    }
    offers.push(ssh::Offer { compression: true, ..all.clone() });
    for offer in offers {
        println!("{offer:?}");
        let (mut socket, mut session) = logged_in(&server, Config { offer, ..Config::default() });
        assert_eq!(run(&mut socket, &mut session, "seq 20000").len(), 108_894);
    }
}

#[test]
fn without_anything_in_common_nothing_is_agreed_on() {
    let server = Sshd::start("KexAlgorithms ecdh-sha2-nistp256").unwrap();
    let offer = ssh::Offer { methods: vec!["curve25519-sha256".into()], ..ssh::Offer::default() };
    let mut wire = Wire::connect(&server, Config { offer, ..Config::default() });
    assert_eq!(wire.handshake(), Err(Error::NothingInCommon("key exchange method")));
}

#[test]
fn keys_change_while_data_flows() {
    for (theirs, ours) in [("RekeyLimit 1M", 1 << 30), ("", 1 << 20), ("RekeyLimit 700K", 1 << 20)] {
        let server = Sshd::start(theirs).unwrap();
        let (mut socket, mut session) = logged_in(&server, Config { rekey_bytes: ours, ..Config::default() });
        let out = run(&mut socket, &mut session, "head -c 9000000 /dev/zero");
        assert_eq!(out.len(), 9_000_000, "{theirs}");
        assert!(out.iter().all(|b| *b == 0));
    }
}

#[test]
fn every_kind_of_key_and_of_file() {
    let server = Sshd::start("").unwrap();
    let folder = server.path("keys");
    std::fs::create_dir(&folder).unwrap();
    let kinds: [(&str, &[&str], &str); 9] = [
        ("ed", &["-t", "ed25519", "-N", ""], ""),
        ("ed_pass", &["-t", "ed25519", "-N", "a phrase", "-a", "4"], "a phrase"),
        ("ed_cbc", &["-t", "ed25519", "-N", "a phrase", "-a", "4", "-Z", "aes256-cbc"], "a phrase"),
        ("rsa", &["-t", "rsa", "-b", "2048", "-N", ""], ""),
        ("rsa_pem", &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", ""], ""),
        ("rsa_p8", &["-t", "rsa", "-b", "3072", "-m", "PKCS8", "-N", ""], ""),
        ("ec256_pem", &["-t", "ecdsa", "-b", "256", "-m", "PEM", "-N", ""], ""),
        ("ec384_p8", &["-t", "ecdsa", "-b", "384", "-m", "PKCS8", "-N", ""], ""),
        ("ec521", &["-t", "ecdsa", "-b", "521", "-N", ""], ""),
    ];
    let mut authorized = String::new();
    for (name, arguments, _) in kinds {
        keygen(&folder, name, arguments).unwrap();
        authorized += &std::fs::read_to_string(folder.join(format!("{name}.pub"))).unwrap();
    }
    server.write("authorized_keys", authorized).unwrap();
    for (name, _, passphrase) in kinds {
        let mut key = load(&folder.join(name), passphrase).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        key.show(&std::fs::read(folder.join(format!("{name}.pub"))).unwrap()).unwrap();
        let mut wire = Wire::connect(&server, Config::default());
        wire.handshake().unwrap();
        let outcome = wire.log_in(vec![AuthMethod::Key(Rc::new(key))]).unwrap();
        assert_eq!(outcome, Outcome::LoggedIn("publickey"), "{name}: {}", server.log());
    }
    let wrong = load(&folder.join("ed_pass"), "another").unwrap_err();
    assert_eq!(wrong, keys::KeyError::Passphrase);
}

#[test]
fn passwords_questions_and_both_together() {
    let server =
        Sshd::start_with_password("KbdInteractiveAuthentication yes\nPasswordAuthentication yes").unwrap();
    let right = || Rc::new(Zeroizing::new(SSH_PASSWORD.as_bytes().to_vec()));
    let wrong = || Rc::new(Zeroizing::new(b"wrong".to_vec()));
    for (ways, expected) in [
        (vec![AuthMethod::Password(right())], Outcome::LoggedIn("password")),
        (vec![AuthMethod::Keyboard(right())], Outcome::LoggedIn("keyboard-interactive")),
        (
            vec![AuthMethod::Password(wrong()), AuthMethod::Keyboard(right())],
            Outcome::LoggedIn("keyboard-interactive"),
        ),
        (vec![AuthMethod::Password(wrong())], Outcome::Denied),
        (vec![], Outcome::Denied),
    ] {
        let mut wire = Wire::connect(&server, Config::default());
        wire.handshake().unwrap();
        assert_eq!(wire.log_in(ways).unwrap(), expected, "{}", server.log());
    }
    drop(server);
    let server = Sshd::start_with_password("AuthenticationMethods publickey,password").unwrap();
    let mut wire = Wire::connect(&server, Config::default());
    wire.handshake().unwrap();
    let key = user_key(&server);
    let outcome = wire.log_in(vec![key, AuthMethod::Password(right())]).unwrap();
    assert_eq!(outcome, Outcome::LoggedIn("password"), "{}", server.log());
}

/// Processes one SFTP packet at a time, waiting for a single reply.
fn ask<T>(
    (socket, session, id): (&mut TcpStream, &mut Session, usize),
    client: &mut Client,
    request: &Request,
    look: impl Fn(&Reply) -> T,
) -> T {
    let number = client.ask(request);
    loop {
        let sent = session.send(id, client.output()).unwrap();
        client.sent(sent);
        let data = session.channel(id).unwrap().data().to_vec();
        if let Some(taken) = client.reply(&data).unwrap() {
            let answer = taken.wanted.filter(|(n, _)| *n == number).map(|(_, reply)| look(&reply));
            session.consume(id, taken.length).unwrap();
            match answer {
                Some(answer) => return answer,
                None => continue, // replies to the client's own requests
            }
        }
        pump(socket, session);
    }
}

#[test]
fn files_go_both_ways_by_sftp() {
    let server = Sshd::start("RekeyLimit 1M").unwrap();
    let (mut socket, mut session) = logged_in(&server, Config::default());
    let id = channel(&mut socket, &mut session);
    session.request(id, "subsystem", b"sftp").unwrap();
    let mut client = Client::new();
    while !client.is_greeted() {
        let sent = session.send(id, client.output()).unwrap();
        client.sent(sent);
        pump(&mut socket, &mut session);
        let data = session.channel(id).unwrap().data().to_vec();
        if let Some(taken) = client.reply(&data).unwrap() {
            session.consume(id, taken.length).unwrap();
        }
    }
    assert!(client.extensions().posix_rename && client.extensions().limits);
    let file: Vec<u8> = (0..5_000_000u32).map(|i| (i / 11) as u8).collect();
    let path = server.path("up");
    let path = path.to_str().unwrap().as_bytes();
    let open = Request::Open { path, flags: sftp::WRITE | sftp::CREATE, attrs: sftp::Attrs::mode(0o600) };
    let handle_of = |reply: &Reply| match reply {
        Reply::Handle(handle) => handle.to_vec(),
        other => panic!("{other:?}"),
    };
    let handle = ask((&mut socket, &mut session, id), &mut client, &open, handle_of);
    for (i, data) in file.chunks(30_000).enumerate() {
        let write = Request::Write { handle: &handle, offset: i as u64 * 30_000, data };
        let ok = |reply: &Reply| assert!(matches!(reply, Reply::Status(Status::OK, _)), "{reply:?}");
        ask((&mut socket, &mut session, id), &mut client, &write, ok);
    }
    client.ask_in_passing(&Request::Close { handle: &handle });
    let open = Request::Open { path, flags: sftp::READ, attrs: sftp::Attrs::default() };
    let number = client.ask(&open);
    let mut reads: Option<Reads> = None;
    let mut out = Vec::new();
    while reads.as_ref().is_none_or(|reads| !reads.is_done()) {
        reads.iter_mut().for_each(|reads| reads.ask(&mut client));
        let sent = session.send(id, client.output()).unwrap();
        client.sent(sent);
        let data = session.channel(id).unwrap().data().to_vec();
        let Some(taken) = client.reply(&data).unwrap() else {
            pump(&mut socket, &mut session);
            continue;
        };
        match taken.wanted {
            Some((n, Reply::Handle(handle))) if n == number => reads = Some(Reads::new(handle, 0, None)),
            Some((n, Reply::Data(bytes))) => {
                let reads = reads.as_mut().unwrap();
                if reads.data(&mut client, n, bytes).unwrap() == Answer::Next {
                    out.extend_from_slice(bytes);
                }
                while let Some(kept) = reads.kept() {
                    out.extend(kept);
                }
            }
            Some((n, Reply::Status(status, _))) => {
                let reads = reads.as_mut().unwrap();
                assert_eq!(reads.status(&mut client, n, status).unwrap(), Answer::Kept);
                while let Some(kept) = reads.kept() {
                    out.extend(kept);
                }
            }
            Some((_, other)) => panic!("{other:?}"),
            None => {}
        }
        session.consume(id, taken.length).unwrap();
    }
    assert!(out == file, "{} bytes", out.len());
    assert_eq!(std::fs::read(server.path("up")).unwrap(), file);
}
