//! SFTP and SCP with OpenSSH's server: files both ways, part of them, folders, commands, and who may log in
//! where.
//!
//! covers: CURLOPT_SSH_AUTH_TYPES, CURLOPT_SSH_PRIVATE_KEYFILE, CURLOPT_SSH_PUBLIC_KEYFILE,
//! CURLOPT_KEYPASSWD,
//! CURLOPT_SSH_COMPRESSION, CURLOPT_SSH_KNOWNHOSTS, CURLOPT_SSH_HOST_PUBLIC_KEY_MD5,
//! CURLOPT_SSH_HOST_PUBLIC_KEY_SHA256, CURLOPT_NEW_DIRECTORY_PERMS, CURLOPT_NEW_FILE_PERMS,
//! CURLOPT_DIRLISTONLY, CURLOPT_QUOTE, CURLOPT_POSTQUOTE

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use crate::common::{App, handle, long, text};
use tables::constant::{
    CURLSSH_AUTH_AGENT, CURLSSH_AUTH_GSSAPI, CURLSSH_AUTH_HOST, CURLSSH_AUTH_PASSWORD, CURLSSH_AUTH_PUBLICKEY,
};
use tables::{Code, EasyOption as O, MultiCode};
use testkit::body::pattern;
use testkit::launch::{SSH_PASSWORD, SSH_USER, Sshd, keygen};
use warmwire_engine::multi::Limits;
use warmwire_engine::{Clock, Easy, Multi};

fn transfer(server: &Sshd, scheme: &str, path: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&server.url(scheme, &server.path(path).display().to_string()));
    text(&easy, O::SshPrivateKeyFile, &server.path("user_ed25519").display().to_string());
    (easy, app)
}

fn ok(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

fn quote(easy: &Easy, option: O, lines: &[String]) {
    let lines = lines.iter().map(|line| line.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(option, Some(lines)).unwrap();
}

/// Returns how often OpenSSH's server has renewed its keys, from its log with `LogLevel DEBUG1`.
fn renewed(server: &Sshd) -> usize {
    server.log().matches("SSH2_MSG_NEWKEYS received").count()
}

fn connects(easy: &Easy) -> i64 {
    easy.state().info.borrow().connects
}

#[test]
fn files_come_whole_and_in_part() {
    let server = Sshd::start("").unwrap();
    let file = pattern(3_000_000);
    server.write("file", &file).unwrap();
    for scheme in ["sftp", "scp"] {
        let (easy, app) = transfer(&server, scheme, "file");
        ok(&easy);
        assert!(*app.body.borrow() == file, "{scheme}");
        ok(&easy);
        assert_eq!(connects(&easy), 0, "the second has the connection of the first");
    }
    for (range, from, to) in
        [("5-9", 5, 10), ("-7", file.len() - 7, file.len()), ("2999990-", 2_999_990, 3_000_000)]
    {
        let (easy, app) = transfer(&server, "sftp", "file");
        text(&easy, O::Range, range);
        ok(&easy);
        assert_eq!(*app.body.borrow(), file[from..to], "{range}");
    }
    for (from, code, rest) in [(1_000_000, Code::Ok, 2_000_000), (4_000_000, Code::BadDownloadResume, 0)] {
        let (easy, app) = transfer(&server, "sftp", "file");
        long(&easy, O::ResumeFromLarge, from);
        assert_eq!(easy.perform(), code, "{from}");
        assert_eq!(app.body.borrow().len(), rest);
    }
    let (easy, _) = transfer(&server, "sftp", "file");
    text(&easy, O::Range, "99999999-");
    assert_eq!(easy.perform(), Code::RangeError);
    let (easy, app) = transfer(&server, "sftp", "none");
    assert_eq!(easy.perform(), Code::RemoteFileNotFound);
    text(&easy, O::Url, &server.url("sftp", &server.path("file").display().to_string()));
    ok(&easy);
    assert_eq!(
        (app.body.borrow().len(), connects(&easy)),
        (3_000_000, 0),
        "what is missing leaves the channel in step"
    );
    let (easy, _) = transfer(&server, "scp", "none");
    assert_eq!(easy.perform(), Code::RemoteFileNotFound);
    assert!(easy.state().message().contains("No such file"), "{}", easy.state().message());
    let (easy, _) = transfer(&server, "scp", "file");
    long(&easy, O::ResumeFromLarge, 5);
    assert_eq!(easy.perform(), Code::BadDownloadResume, "behind what is there the whole file would come");
    let (easy, _) = transfer(&server, "sftp", "empty");
    server.write("empty", b"").unwrap();
    long(&easy, O::ResumeFromLarge, 5);
    assert_eq!(easy.perform(), Code::BadDownloadResume);
}

#[test]
fn files_are_stored_whole_resumed_and_appended_to() {
    let server = Sshd::start("").unwrap();
    let file = pattern(1_500_000);
    let put = |scheme: &str, path: &str, set: &dyn Fn(&Easy)| {
        let (easy, app) = transfer(&server, scheme, path);
        *app.upload.borrow_mut() = file.clone();
        long(&easy, O::Upload, 1);
        long(&easy, O::InFileSizeLarge, file.len() as i64);
        set(&easy);
        (easy.perform(), easy.state().message())
    };
    for scheme in ["sftp", "scp"] {
        let name = format!("up-{scheme}");
        assert_eq!(put(scheme, &name, &|easy| long(easy, O::NewFilePerms, 0o640)).0, Code::Ok);
        assert!(fs::read(server.path(&name)).unwrap() == file);
        assert_eq!(fs::metadata(server.path(&name)).unwrap().permissions().mode() & 0o777, 0o640);
    }
    server.write("half", &file[..700_000]).unwrap();
    assert_eq!(put("sftp", "half", &|easy| long(easy, O::ResumeFromLarge, -1)).0, Code::Ok);
    assert!(fs::read(server.path("half")).unwrap() == file);
    server.write("more", b"before").unwrap();
    assert_eq!(put("sftp", "more", &|easy| long(easy, O::Append, 1)).0, Code::Ok);
    assert_eq!(fs::read(server.path("more")).unwrap(), [b"before".as_slice(), &file].concat());
    server.write("more", b"before").unwrap();
    let both = |easy: &Easy| {
        long(easy, O::Append, 1);
        long(easy, O::ResumeFromLarge, 3);
    };
    assert_eq!(put("sftp", "more", &both).0, Code::Ok);
    assert_eq!(fs::read(server.path("more")).unwrap(), [b"before".as_slice(), &file].concat(), "all of it");
    assert_eq!(put("sftp", "no/such/folder/file", &|_| {}).0, Code::RemoteFileNotFound);
    assert_eq!(put("scp", "no/such/folder/file", &|_| {}).0, Code::UploadFailed);
    let made = |easy: &Easy| {
        long(easy, O::FtpCreateMissingDirs, 1);
        long(easy, O::NewDirectoryPerms, 0o700);
    };
    assert_eq!(put("sftp", "new/folder/file", &made).0, Code::Ok);
    assert!(fs::read(server.path("new/folder/file")).unwrap() == file);
    assert_eq!(fs::metadata(server.path("new/folder")).unwrap().permissions().mode() & 0o777, 0o700);
    let unknown = put("scp", "x", &|easy| long(easy, O::InFileSizeLarge, -1));
    assert_eq!(unknown, (Code::UploadFailed, "SCP requires a known file size for upload".to_owned()));
}

#[test]
fn folders_are_listed() {
    let server = Sshd::start("").unwrap();
    server.write("folder/a", b"123").unwrap();
    server.write("folder/b", b"").unwrap();
    std::os::unix::fs::symlink("a", server.path("folder/link")).unwrap();
    let (easy, app) = transfer(&server, "sftp", "folder/");
    long(&easy, O::DirListOnly, 1);
    ok(&easy);
    let listing = String::from_utf8(app.body.take()).unwrap();
    let mut names: Vec<&str> = listing.lines().collect();
    names.sort_unstable();
    assert_eq!(names, [".", "..", "a", "b", "link"]);
    long(&easy, O::DirListOnly, 0);
    ok(&easy);
    let listing = String::from_utf8(app.body.take()).unwrap();
    assert!(listing.lines().any(|line| line.starts_with("-rw") && line.ends_with(" a")), "{listing}");
    assert!(listing.lines().any(|line| line.starts_with('l') && line.ends_with(" link -> a")), "{listing}");
    let (easy, _) = transfer(&server, "sftp", "none/");
    assert_eq!(easy.perform(), Code::RemoteFileNotFound);
}

#[test]
fn commands_before_and_after() {
    let server = Sshd::start("").unwrap();
    server.write("file", b"x").unwrap();
    let path = |name: &str| server.path(name).display().to_string();
    let (easy, app) = transfer(&server, "sftp", "file");
    let before = [
        format!("mkdir {}", path("d")),
        format!("chmod 751 {}", path("d")),
        format!("rename {} '{}'", path("d"), path("e e")),
        format!("ln {} {}", path("file"), path("l")),
        format!("mtime \"Feb 3 04:05:06 2001 GMT\" {}", path("file")),
        format!("chgrp 12 {}", path("file")),
        format!("chown 34 {}", path("file")),
        format!("*rm {}", path("none")),
        "pwd".to_owned(),
        format!("statvfs {}", path("file")),
    ];
    quote(&easy, O::Quote, &before);
    quote(&easy, O::PostQuote, &[format!("rm {}", path("l")), format!("rmdir '{}'", path("e e"))]);
    long(&easy, O::FileTime, 1);
    ok(&easy);
    assert_eq!(*app.body.borrow(), b"x");
    let known = fs::metadata(server.path("file")).unwrap();
    assert_eq!((known.uid(), known.gid(), known.mtime()), (34, 12, 981_173_106));
    assert_eq!(easy.state().info.borrow().file_time, 981_173_106);
    assert!(!server.path("e e").exists() && !server.path("l").exists());
    let headers = String::from_utf8(app.headers.take()).unwrap();
    let replies = format!("257 \"{}\" is current directory.\nstatvfs:\nf_bsize: ", path("file"));
    assert!(headers.starts_with(&replies), "{headers}");
    let taken = format!("mkdir {}", path("file"));
    for bad in ["mkdir /tmp/x trailing", "nonsense a", "*nonsense a", "*chmod x /tmp", "*mkdir", &taken] {
        let (easy, _) = transfer(&server, "sftp", "file");
        quote(&easy, O::Quote, &[bad.to_owned()]);
        assert_eq!(easy.perform(), Code::QuoteError, "{bad}");
    }
    let (easy, _) = transfer(&server, "sftp", "file");
    quote(&easy, O::Quote, &[format!("rename {} {}", path("none"), path("other"))]);
    assert_eq!(easy.perform(), Code::QuoteError);
    let why =
        format!("rename \"{}\" to \"{}\" failed: No such file or directory", path("none"), path("other"));
    assert_eq!(easy.state().message(), why);
}

/// CVE-2025-10966, CVE-2025-15079: a server with another key than the known one is refused, whatever it
/// sends.
#[test]
fn a_server_must_be_the_one_that_is_known() {
    let server = Sshd::start("").unwrap();
    server.write("file", b"x").unwrap();
    let known = server.known_hosts().unwrap();
    let try_with = |set: &dyn Fn(&Easy)| {
        let (easy, _) = transfer(&server, "sftp", "file");
        set(&easy);
        (easy.perform(), easy.state().message())
    };
    let by_file = |file: &str| try_with(&|easy| text(easy, O::SshKnownHosts, file));
    assert_eq!(by_file(&known.display().to_string()).0, Code::Ok);
    let (code, why) = by_file("/dev/null");
    assert_eq!(code, Code::PeerFailedVerification);
    assert!(why.contains("not known"), "{why}");
    keygen(&server.path(""), "other", &["-t", "ed25519", "-N", ""]).unwrap();
    let other = fs::read_to_string(server.path("other.pub")).unwrap();
    let changed = server.write("changed", format!("[127.0.0.1]:{} {other}", server.port)).unwrap();
    let (code, why) = by_file(&changed.display().to_string());
    assert_eq!(code, Code::PeerFailedVerification);
    assert!(why.contains("has changed"), "{why}");
    for (option, wrong) in
        [(O::SshHostPublicKeyMd5, "00000000000000000000000000000000"), (O::SshHostPublicKeySha256, "AAAA")]
    {
        assert_eq!(try_with(&|easy| text(easy, option, wrong)).0, Code::PeerFailedVerification);
    }
}

/// The login is part of connecting; such a connection cannot be written or read directly.
#[test]
fn connecting_alone_logs_in() {
    let server = Sshd::start("").unwrap();
    for scheme in ["sftp", "scp"] {
        let (easy, _) = transfer(&server, scheme, "file");
        long(&easy, O::ConnectOnly, 1);
        ok(&easy);
        let mut connected = easy.state().connected.borrow_mut();
        let connection = connected.as_mut().unwrap();
        assert!(connection.raw_fd() >= 0);
        assert_eq!(connection.send(b"x"), Err(Code::Ssh));
        assert_eq!(connection.receive(&mut [0; 8]), Err(Code::Ssh));
    }
    assert_eq!(server.log().matches("Accepted publickey").count(), 2);
    let (easy, _) = transfer(&server, "sftp", "file");
    long(&easy, O::ConnectOnly, 1);
    text(&easy, O::SshPrivateKeyFile, "/none");
    assert_eq!(easy.perform(), Code::LoginDenied);
}

/// CVE-2023-27538: a connection belongs to the key by which it was made.
#[test]
fn another_key_file_makes_another_connection() {
    let server = Sshd::start("").unwrap();
    server.write("file", b"x").unwrap();
    let (easy, _) = transfer(&server, "sftp", "file");
    ok(&easy);
    ok(&easy);
    assert_eq!(connects(&easy), 0);
    fs::copy(server.path("user_ed25519"), server.path("again")).unwrap();
    text(&easy, O::SshPrivateKeyFile, &server.path("again").display().to_string());
    ok(&easy);
    assert_eq!(connects(&easy), 1);
    text(&easy, O::SshPrivateKeyFile, &server.path("none").display().to_string());
    assert_eq!(easy.perform(), Code::LoginDenied);
}

/// CVE-2025-15224: an agent is only used on request.
#[test]
fn an_agent_is_asked_only_where_that_is_wanted() {
    let server = Sshd::start("PasswordAuthentication yes").unwrap();
    for (types, asked) in [
        (CURLSSH_AUTH_PUBLICKEY | CURLSSH_AUTH_PASSWORD, false),
        (CURLSSH_AUTH_PUBLICKEY | CURLSSH_AUTH_AGENT, true),
    ] {
        let (easy, app) = transfer(&server, "sftp", "file");
        text(&easy, O::SshPrivateKeyFile, "/none");
        long(&easy, O::SshAuthTypes, types as i64);
        *app.notes.borrow_mut() = Some(String::new());
        assert_eq!(easy.perform(), Code::LoginDenied);
        let notes = app.notes.take().unwrap();
        assert_eq!(notes.contains("agent"), asked, "{notes}");
    }
}

#[test]
fn passwords_and_keys_under_a_passphrase() {
    let server = Sshd::start_with_password("PasswordAuthentication yes").unwrap();
    let easy = compressed(&server);
    text(&easy, O::UserPwd, &format!("{SSH_USER}:wrong"));
    assert_eq!(easy.perform(), Code::LoginDenied);
    keygen(&server.path(""), "locked", &["-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "a phrase"]).unwrap();
    fs::copy(server.path("locked.pub"), server.path("authorized_keys")).unwrap();
    for (phrase, code) in [("a phrase", Code::Ok), ("wrong", Code::LoginDenied)] {
        let (easy, _) = transfer(&server, "sftp", "file");
        long(&easy, O::SshAuthTypes, CURLSSH_AUTH_PUBLICKEY as i64);
        text(&easy, O::SshPrivateKeyFile, &server.path("locked").display().to_string());
        text(&easy, O::SshPublicKeyFile, &server.path("locked.pub").display().to_string());
        text(&easy, O::KeyPasswd, phrase);
        assert_eq!(easy.perform(), code, "{phrase}: {}", server.log());
    }
}

/// A passphrase is bytes: one that is not UTF-8 opens its key, and no other bytes do, in each form of key
/// file.
#[test]
fn a_passphrase_that_is_not_utf8_opens_its_key() {
    let server = Sshd::start("").unwrap();
    server.write("file", pattern(1000)).unwrap();
    let phrase = OsStr::from_bytes(b"p\xe9\xff word");
    for (name, form) in
        [("openssh", &["-t", "ed25519"][..]), ("pem", &["-t", "rsa", "-b", "2048", "-m", "PEM"])]
    {
        let key = server.path(name);
        let mut command = Command::new("ssh-keygen");
        command.args(["-q", "-C", ""]).args(form).arg("-f").arg(&key).arg("-N").arg(phrase);
        assert!(command.status().unwrap().success());
        fs::copy(server.path(&format!("{name}.pub")), server.path("authorized_keys")).unwrap();
        let with = |phrase: &[u8]| {
            let (easy, app) = transfer(&server, "sftp", "file");
            long(&easy, O::SshAuthTypes, CURLSSH_AUTH_PUBLICKEY as i64);
            text(&easy, O::SshPrivateKeyFile, &key.display().to_string());
            easy.state().settings.borrow_mut().set_text(O::KeyPasswd, Some(phrase)).unwrap();
            (easy.perform(), app.body.borrow().len())
        };
        assert_eq!(with(b"p\xe9\xff word"), (Code::Ok, 1000), "{name}: {}", server.log());
        // Two passphrases that a lossy conversion to UTF-8 would produce, and the octets in another order.
        for other in ["p\u{fffd}\u{fffd} word".as_bytes(), b"p\xff\xe9 word", "p\u{e9}\u{ff} word".as_bytes()]
        {
            assert_eq!(with(other), (Code::LoginDenied, 0), "{name} {other:?}");
        }
    }
}

/// A transfer by password whose packets are compressed.
fn compressed(server: &Sshd) -> Easy {
    server.write("file", pattern(4_000_000)).unwrap();
    let (easy, app) = transfer(server, "sftp", "file");
    text(&easy, O::SshPrivateKeyFile, "/none");
    text(&easy, O::UserPwd, &format!("{SSH_USER}:{SSH_PASSWORD}"));
    long(&easy, O::SshCompression, 1);
    ok(&easy);
    assert!(*app.body.borrow() == pattern(4_000_000));
    easy
}

#[test]
fn keys_change_while_packets_are_compressed() {
    compressed(&Sshd::start_with_password("PasswordAuthentication yes\nRekeyLimit 1M").unwrap());
}

/// Thirty files at once, from a server that accepts four channels per connection: none fails, and one
/// connection, or a few, serve all.
#[test]
fn transfers_share_a_connection() {
    for (limit, most) in [("", 5), ("MaxSessions 4", 12)] {
        let server = Sshd::start(limit).unwrap();
        server.write("file", pattern(50_000)).unwrap();
        let multi = Multi::default();
        let all: Vec<_> = (0..30).map(|_| transfer(&server, "sftp", "file")).collect();
        all.iter().for_each(|(easy, _)| assert_eq!(multi.add(easy), MultiCode::Ok));
        while multi.perform().1 > 0 {
            multi.wait(&mut [], Duration::from_secs(1), false).unwrap();
        }
        for (easy, app) in &all {
            assert!(*app.body.borrow() == pattern(50_000), "{}", easy.state().message());
        }
        let logins = server.log().matches("Accepted publickey").count();
        assert!(logins <= most, "{logins} connections with {limit:?}");
    }
}

/// Requests sent before the server's verdict on a key are lost if it refuses the key, and nothing else is:
/// OpenSSH's server ignores them, dropbear would disconnect.
#[test]
fn a_password_follows_a_key_that_does_not_do() {
    let both = Sshd::start_with_password("AuthenticationMethods publickey,password").unwrap();
    let either = Sshd::start_with_password("PasswordAuthentication yes").unwrap();
    let dropbear = Sshd::dropbear(&[]).unwrap();
    for (server, own_key) in [(&both, true), (&either, false), (&dropbear, false)] {
        server.write("file", pattern(100_000)).unwrap();
        keygen(&server.path(""), "stranger", &["-t", "ed25519", "-N", ""]).unwrap();
        for scheme in ["sftp", "scp"] {
            let (easy, app) = transfer(server, scheme, "file");
            if !own_key {
                text(&easy, O::SshPrivateKeyFile, &server.path("stranger").display().to_string());
            }
            text(&easy, O::UserPwd, &format!("{SSH_USER}:{SSH_PASSWORD}"));
            ok(&easy);
            assert!(*app.body.borrow() == pattern(100_000) && connects(&easy) == 1, "{scheme}");
            text(&easy, O::UserPwd, &format!("{SSH_USER}:wrong"));
            assert_eq!(easy.perform(), Code::LoginDenied, "{scheme}");
        }
    }
}

/// Unsupported methods may be named, as with libssh2: alone they permit no login.
#[test]
fn a_host_and_a_ticket_let_nobody_in() {
    let server = Sshd::start("").unwrap();
    server.write("file", b"x").unwrap();
    for (types, code) in [
        (CURLSSH_AUTH_GSSAPI, Code::LoginDenied),
        (CURLSSH_AUTH_HOST, Code::LoginDenied),
        (CURLSSH_AUTH_GSSAPI | CURLSSH_AUTH_HOST | CURLSSH_AUTH_PUBLICKEY, Code::Ok),
    ] {
        let (easy, _) = transfer(&server, "sftp", "file");
        long(&easy, O::SshAuthTypes, types as i64);
        assert_eq!(easy.perform(), code, "{types}: {}", easy.state().message());
    }
}

/// The keys are renewed when they are an hour old, in the middle of a file and before the next.
#[test]
fn keys_that_are_old_are_renewed() {
    let server = Sshd::start("LogLevel DEBUG1").unwrap();
    // More than twice what may be in transit when the keys are found to be old.
    let file = pattern(24_000_000);
    server.write("file", &file).unwrap();
    for scheme in ["sftp", "scp"] {
        let before = renewed(&server);
        let (clock, hand) = Clock::manual();
        let multi = Multi::new(clock, false);
        let (easy, app) = transfer(&server, scheme, "file");
        let (came, hours) = (Rc::downgrade(&app), Cell::new(0));
        *app.on_write.borrow_mut() = Some(Rc::new(move || {
            let came = came.upgrade().map_or(0, |app| app.body.borrow().len());
            // At the beginning, and in the middle.
            if hours.get() < 2 && came >= hours.get() * 11_000_000 {
                hours.set(hours.get() + 1);
                hand.advance(Duration::from_secs(3601));
            }
        }));
        multi.add(&easy);
        assert_eq!(crate::common::until_done(&multi), Code::Ok, "{scheme}");
        assert!(*app.body.borrow() == file, "{scheme}");
        assert_eq!(renewed(&server) - before, 3, "{scheme}: at the beginning, and after each hour");
        multi.remove(&easy);
    }
}

/// A hundred files over one connection, whose keys are renewed repeatedly.
#[test]
fn a_hundred_files_share_a_connection_whose_keys_change() {
    let server = Sshd::start("LogLevel DEBUG1\nRekeyLimit 2M").unwrap();
    server.write("file", pattern(200_000)).unwrap();
    let multi = Multi::default();
    multi.set_limits(Limits { max_host: 1, ..Limits::default() });
    let all: Vec<_> = (0..100).map(|_| transfer(&server, "sftp", "file")).collect();
    all.iter().for_each(|(easy, _)| assert_eq!(multi.add(easy), MultiCode::Ok));
    while multi.perform().1 > 0 {
        multi.wait(&mut [], Duration::from_secs(1), false).unwrap();
    }
    for (easy, app) in &all {
        assert!(*app.body.borrow() == pattern(200_000), "{}", easy.state().message());
    }
    assert_eq!(server.log().matches("Accepted publickey").count(), 1);
    assert!(renewed(&server) >= 8, "{} times", renewed(&server));
}

/// A file that grows while it is fetched has its size at the time of opening; the rest can be resumed. One
/// that is truncated while it is fetched is an error.
#[test]
fn a_file_that_changes_while_it_is_fetched() {
    let server = Sshd::start("").unwrap();
    let (whole, more) = (pattern(9_000_000), b"what came later");
    let (easy, app) = transfer(&server, "sftp", "file");
    server.write("file", b"short").unwrap();
    let path = server.path("file");
    for round in 0..2 {
        // The second time the first piece is requested before the file's size.
        let content = if round == 0 { &whole[..] } else { &whole[..10_000] };
        fs::write(&path, content).unwrap();
        let (path, grown) = (path.clone(), Cell::new(false));
        *app.on_write.borrow_mut() = Some(Rc::new(move || {
            if !grown.replace(true) {
                let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
                file.write_all(more).unwrap();
            }
        }));
        ok(&easy);
        assert!(app.body.take() == content, "as it was when it was opened");
        long(&easy, O::ResumeFromLarge, content.len() as i64);
        ok(&easy);
        assert_eq!(app.body.take(), more);
        long(&easy, O::ResumeFromLarge, 0);
    }
    fs::write(&path, &whole).unwrap();
    let cut = path.clone();
    *app.on_write.borrow_mut() =
        Some(Rc::new(move || fs::OpenOptions::new().write(true).open(&cut).unwrap().set_len(9).unwrap()));
    assert_eq!(easy.perform(), Code::PartialFile);
    let came = app.body.take();
    assert!(came.len() < whole.len() && whole.starts_with(&came));
}
