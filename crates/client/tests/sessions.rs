//! Files by FTP and SFTP, mailboxes by IMAP and mail by SMTP, against servers of other projects.

use std::io::ErrorKind;
use std::time::{Duration, SystemTime};

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::launch::{Dovecot, Exim, Ftpd, FtpdKind, SSH_USER, Sshd, Vsftpd};
use warmwire::blocking::{Client, ClientBuilder, Files};
use warmwire::{Body, Code, EasyOption as O, Entry, EntryKind, Envelope, tls};

fn builder() -> ClientBuilder {
    Client::builder().timeout(Duration::from_secs(60))
}

/// Returns a client that trusts the authority.
fn trusting(authority: &Authority) -> Client {
    let root = tls::Certificate::from_pem(authority.ca_pem().as_bytes()).unwrap();
    builder().add_root_certificate(root).build().unwrap()
}

/// Returns a server that needs root, or leaves the test out.
fn started<S>(server: std::io::Result<S>) -> S {
    match server {
        Ok(server) => server,
        Err(e) if e.kind() == ErrorKind::PermissionDenied => testkit::left_out("the server needs root"),
        Err(e) => panic!("{e}"),
    }
}

fn names(entries: &[Entry]) -> Vec<&str> {
    let mut names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    names.sort_unstable();
    names
}

/// Goes through all requests, in a folder that is empty.
fn work_with(files: &Files) {
    assert_eq!(files.list("").unwrap(), []);
    files.put("a file;1", pattern(70_000)).unwrap();
    assert!(files.get("a file;1").unwrap().bytes().unwrap() == pattern(70_000));
    files.mkdir("sub \"x\"").unwrap();
    files.put("sub \"x\"/inner", Body::sized(&b"streamed"[..], 8)).unwrap();
    assert_eq!(names(&files.list("").unwrap()), ["a file;1", "sub \"x\""]);
    let entries = files.list("sub \"x\"").unwrap();
    assert_eq!(
        (names(&entries), entries[0].kind, entries[0].size),
        (vec!["inner"], EntryKind::File, Some(8))
    );
    files.rename("a file;1", "sub \"x\"/moved").unwrap();
    assert_eq!(names(&files.list("sub \"x\"/").unwrap()), ["inner", "moved"]);
    assert!(files.rmdir("sub \"x\"").is_err(), "it is not empty");
    files.delete("sub \"x\"/moved").unwrap();
    files.delete("sub \"x\"/inner").unwrap();
    let listed = files.list("").unwrap();
    assert_eq!((names(&listed), listed[0].kind), (vec!["sub \"x\""], EntryKind::Folder));
    files.rmdir("sub \"x\"").unwrap();
    assert_eq!(files.list("").unwrap(), []);
    // Failures name their kind and leave the next request alone.
    assert_eq!(files.delete("none").unwrap_err().code(), Code::QuoteError);
    assert!(files.list("none").is_err());
    assert!(files.get("none").and_then(|response| response.bytes()).is_err());
    assert!(files.get("../x").unwrap_err().is_builder());
    assert_eq!(files.list("").unwrap(), []);
}

#[test]
fn files_by_ftp_with_lists_for_people() {
    let server = started(Vsftpd::start(&[2000]));
    let client = builder().build().unwrap();
    let files = client.ftp(server.url("/"));
    assert_eq!(files.get("bytes-2000").unwrap().bytes().unwrap(), pattern(2000));
    let entries = files.list("").unwrap();
    assert_eq!(names(&entries), ["bytes-2000", "up"]);
    let file = entries.iter().find(|entry| entry.name == "bytes-2000").unwrap();
    assert_eq!((file.kind, file.size, file.modified), (EntryKind::File, Some(2000), None));
    assert_eq!(file.permissions.map(|bits| bits & 0o400), Some(0o400));
    files.put("up/new", "text").unwrap();
    assert_eq!(server.file("/up/new").unwrap(), b"text");
    assert_eq!(names(&files.list("up").unwrap()), ["new"]);
}

#[test]
fn files_by_ftp_with_lists_for_programs() {
    let server = Ftpd::start(FtpdKind::Pyftpdlib, &Authority::new().good(), &[2000]).unwrap();
    let client = builder().build().unwrap();
    let root = client.ftp(server.url("")).login("user", "secret");
    let now = SystemTime::now();
    root.mkdir("work").unwrap();
    let entries = root.list("").unwrap();
    let made = entries.iter().find(|entry| entry.name == "work").unwrap();
    let distance = made.modified.unwrap().duration_since(now).unwrap_or_else(|early| early.duration());
    assert!(made.kind == EntryKind::Folder && distance < Duration::from_secs(60), "{made:?}");
    work_with(&client.ftp(server.url("/work")).login("user", "secret"));
    let wrong = client.ftp(server.url("")).login("user", "wrong");
    assert_eq!(wrong.list("").unwrap_err().code(), Code::LoginDenied);
    assert!(client.ftp("sftp://localhost/").list("").unwrap_err().is_builder());
}

#[test]
fn files_by_ftp_with_tls() {
    let authority = Authority::new();
    let server = Ftpd::start(FtpdKind::Pyftpdlib, &authority.good(), &[2000]).unwrap();
    let files = trusting(&authority).ftp(server.url("")).login("user", "secret").require_tls();
    assert_eq!(files.get("bytes-2000").unwrap().bytes().unwrap(), pattern(2000));
    let strange = builder().build().unwrap().ftp(server.url("")).login("user", "secret").require_tls();
    assert_eq!(strange.list("").unwrap_err().code(), Code::PeerFailedVerification);
}

#[test]
fn files_by_sftp() {
    let server = Sshd::start("").unwrap();
    std::fs::create_dir(server.path("a folder")).unwrap();
    let client = builder().build().unwrap();
    let url = server.url("sftp", &server.path("a folder").display().to_string());
    let key = server.path("user_ed25519").display().to_string();
    let files = client.sftp(url.replace(' ', "%20")).option(O::SshPrivateKeyFile, key.as_str());
    let files = files.option(O::Username, SSH_USER).option(O::SshKnownHosts, "");
    work_with(&files);
    std::os::unix::fs::symlink("/there", server.path("a folder/link")).unwrap();
    let entries = files.list("").unwrap();
    let found = (entries[0].kind, entries[0].target.as_deref(), entries[0].name.as_str());
    assert_eq!(found, (EntryKind::Link, Some("/there"), "link"));
}

const MAIL: &str = "From: a@example.com\r\nSubject: News\r\n\r\nNothing new.\r\n";

#[test]
fn mailboxes_by_imap() {
    let authority = Authority::new();
    let server = started(Dovecot::start(&authority.good(), &authority));
    let client = trusting(&authority);
    let imap = client.imap(format!("imap://localhost:{}", server.imap)).login("user", "secret").require_tls();
    assert!(imap.search("INBOX", "ALL").unwrap().is_empty());
    imap.append("INBOX", MAIL).unwrap();
    imap.append("INBOX", Body::sized(MAIL.as_bytes(), MAIL.len() as u64)).unwrap();
    let uids = imap.search("INBOX", "SUBJECT \"News\"").unwrap();
    assert_eq!(uids.len(), 2);
    assert!(imap.search("INBOX", "SUBJECT \"100%20\"").unwrap().is_empty());
    assert_eq!(imap.fetch("INBOX", uids[1]).unwrap(), MAIL);
    let mailboxes = imap.list().unwrap();
    let inbox = mailboxes.iter().find(|mailbox| mailbox.name == "INBOX").unwrap();
    assert!(inbox.delimiter.is_some(), "{mailboxes:?}");
    assert_eq!(imap.fetch("INBOX", 99_999).unwrap_err().code(), Code::RemoteFileNotFound);
    assert!(imap.append("none", MAIL).is_err());
    assert!(imap.search("INBOX", "ALL\r\nA1 LOGOUT").unwrap_err().is_builder());
    let secured = client.imap(format!("imaps://localhost:{}", server.imaps)).login("user", "secret");
    assert_eq!(secured.search("INBOX", "ALL").unwrap(), uids);
    let wrong = client.imap(format!("imaps://localhost:{}", server.imaps)).login("user", "wrong");
    assert_eq!(wrong.list().unwrap_err().code(), Code::LoginDenied);
}

#[test]
fn mail_by_smtp() {
    let authority = Authority::new();
    let server = started(Exim::start(&authority.good(), None));
    let smtp = trusting(&authority).smtp(format!("smtp://localhost:{}", server.port)).require_tls();
    let envelope = Envelope::new("a@localhost", ["b@localhost", "c@localhost"]);
    smtp.send(&envelope, MAIL.replace("\r\n", "\n")).unwrap();
    smtp.send(&envelope, format!("{MAIL}.dots\r\n..\r\n")).unwrap();
    let mut bodies = server.bodies();
    bodies.sort_unstable();
    assert_eq!(bodies, [&b"Nothing new.\n"[..], b"Nothing new.\n.dots\n..\n"]);
    let refused = smtp.send(&Envelope::new("a@localhost", ["nobody@localhost"]), MAIL).unwrap_err();
    assert_eq!(refused.code(), Code::SendError);
    for bad in [Envelope::new("a@localhost", [] as [&str; 0]), Envelope::new("a", ["b>\r\nRCPT TO:<c"])] {
        assert!(smtp.send(&bad, MAIL).unwrap_err().is_builder());
    }
    assert_eq!(server.count(), 2);
}

#[test]
fn futures_have_the_same_requests() {
    let server = Ftpd::start(FtpdKind::Pyftpdlib, &Authority::new().good(), &[2000]).unwrap();
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let files = warmwire::Client::new().ftp(server.url("")).login("user", "secret");
    // The futures may move to other threads.
    let task = async move {
        files.put("x", vec![1, 2, 3]).await?;
        let entries = files.list("").await?;
        let body = files.get("x").await?.bytes().await?;
        files.delete("x").await.map(|()| (entries.len(), body))
    };
    let (count, body) = tokio.block_on(tokio.spawn(task)).unwrap().unwrap();
    assert_eq!((count, &body[..]), (3, &[1, 2, 3][..]));
    assert_eq!(server.file("/x"), None);
}
