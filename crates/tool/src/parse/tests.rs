//! Command lines, good, bad and odd.

use super::*;
use crate::message::Messages;
use crate::raw::EasyOption as O;
use crate::request::Resume;
use crate::world::fake::Fake;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use testkit::dice::Dice;

#[derive(Clone, Default)]
struct SharedOutput(Rc<RefCell<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn bytes(words: &[&str]) -> Vec<Bytes> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

fn read(words: &[&str]) -> (Result<Vec<Request>, Stop>, String) {
    let messages = SharedOutput::default();
    let mut world = Fake::with(&[("file", "content\n"), ("urls", "http://a/1\n#no\nhttp://a/2\n")]);
    let mut reader = Reader::new(&mut world, Messages::new(Box::new(messages.clone()), None));
    let done = reader.words(&bytes(words)).map(|()| reader.parser.requests.clone());
    drop(reader);
    let text = String::from_utf8(messages.0.borrow().clone()).unwrap();
    (done, text)
}

fn good(words: &[&str]) -> Vec<Request> {
    let (done, messages) = read(words);
    done.unwrap_or_else(|stop| panic!("{words:?}: {stop:?} {messages}"))
}

fn wrong(words: &[&str]) -> (Wrong, String) {
    match read(words) {
        (Err(Stop::Wrong(wrong)), messages) => (wrong, messages),
        (other, _) => panic!("{words:?}: {other:?}"),
    }
}

#[test]
fn every_word_that_shells_offer_is_accepted() {
    use crate::doc::values::{Values, values};
    // The world of these tests has fewer schemes than the build, and no ECH.
    let known = |flag: &&crate::flags::Flag| !flag.name.starts_with("proto") && flag.name != "ech";
    for flag in crate::flags::all().filter(known) {
        let Values::Words(words) = values(flag) else { continue };
        for word in words {
            let name = format!("--{}", flag.name);
            let with_word = format!("{name}={word}");
            let words = if flag.may_take_argument() {
                vec![with_word.as_str()]
            } else {
                vec![name.as_str(), word.as_str()]
            };
            let (done, messages) = read(&words);
            let refused = matches!(done, Err(Stop::Wrong(_) | Stop::Next));
            assert!(!refused && messages.is_empty(), "{words:?}: {done:?} {messages}");
        }
    }
}

#[test]
fn bundles_and_arguments() {
    let request = &good(&["-sSfLo", "out", "http://x", "-m5", "-XPUT"])[0];
    assert_eq!(request.targets.len(), 1);
    assert_eq!(request.targets[0].output.as_deref(), Some(b"out".as_slice()));
    assert_eq!(request.options.long(O::TimeoutMs), Some(5000));
    assert_eq!(request.options.text(O::CustomRequest), Some(b"PUT".as_slice()));
    assert_eq!(request.follow, 1);
}

#[test]
fn long_options_with_an_equals_sign() {
    let request = &good(&["--max-time=2.5", "--url=http://x", "--no-location"])[0];
    assert_eq!(request.options.long(O::TimeoutMs), Some(2500));
    assert_eq!(request.follow, 0);
}

#[test]
fn negations() {
    let request = &good(&["--no-alpn", "--no-keepalive", "-N", "--epsv", "--no-eprt", "x"])[0];
    assert_eq!(request.options.long(O::SslEnableAlpn), Some(0));
    assert_eq!(request.options.long(O::TcpKeepAlive), Some(0));
    assert_eq!(request.options.long(O::FtpUseEpsv), Some(1));
    assert_eq!(request.options.long(O::FtpUseEprt), Some(0));
    assert!(request.no_buffer);
}

#[test]
fn wrong_uses_are_reported_in_curls_words() {
    let cases: &[(&[&str], Wrong, &str)] = &[
        (&["--never"], Wrong::Unknown, "curl: option --never: is unknown\n"),
        (&["--max-tim", "5"], Wrong::Unknown, "curl: option --max-tim: is unknown\n"),
        (&["-o"], Wrong::NeedsArgument, "curl: option -o: requires parameter\n"),
        (&["--no-max-time", "1"], Wrong::NoPrefix, "cannot be reversed"),
        (&["-m", "x"], Wrong::NotNumeric, "expected a proper numerical parameter"),
        (&["--retry", "-1"], Wrong::Negative, "expected a positive numerical parameter"),
        (&["--interface", ""], Wrong::Blank, "blank argument where content is expected"),
        (&["--cacert", ""], Wrong::BadUse, "The file '' provided to --cacert does not exist"),
        (&["--crlfile", "none"], Wrong::BadUse, "The file 'none' provided to --crlfile does not exist"),
        (&["--proxy-cacert", "none"], Wrong::BadUse, "The file 'none' provided to --proxy-cacert does not"),
        (&["--proxy-crlfile", "none"], Wrong::BadUse, "The file 'none' provided to --proxy-crlfile does not"),
        (&["--expand-silent", "x"], Wrong::Expansion, "variable expansion failure"),
        (&["--next", "x"], Wrong::BadUse, "curl: missing URL before --next\n"),
        (&["--proto-default", "nope"], Wrong::SchemeNotSupported, "unsupported by libcurl"),
        (&["-d", "@none"], Wrong::Unreadable, "Failed to open none"),
        (&["-F", "x"], Wrong::BadUse, "Illegally formatted input field"),
        (&["--netrc-file", "none"], Wrong::BadUse, "The file 'none' provided to --netrc-file does not exist"),
        (&["-n", "--knownhosts", "none"], Wrong::BadUse, "The file 'none' provided to --knownhosts does not"),
        (&["--netrc-file", ""], Wrong::BadUse, "The file '' provided to --netrc-file does not exist"),
        (&["-I", "-F", "a=b"], Wrong::BadUse, "You can only select one HTTP request method!"),
        (&["-C", "1", "-r", "2-3"], Wrong::BadUse, "mutually exclusive"),
        (&["-OJC", "-", "x"], Wrong::NameAndResume, "curl: --continue-at and --remote-header-name"),
        (&["--ssl-sessions", "1"], Wrong::NotSupported, "does not support this"),
    ];
    for (words, expected, text) in cases {
        let (wrong, messages) = wrong(words);
        assert_eq!(wrong, *expected, "{words:?}");
        assert!(messages.contains(text), "{words:?}: {messages}");
        assert!(messages.ends_with("for more information\n"), "{messages}");
    }
}

#[test]
fn groups_and_targets() {
    let requests = good(&["-o", "1", "a", "b", "-O", "--next", "-d", "x", "c", "-:", "d"]);
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[0].targets.len(), 2);
    assert!(requests[0].targets[1].remote_name);
    assert_eq!(requests[1].targets[0].number, 2);
    assert!(requests[2].post.is_none());
}

#[test]
fn urls_from_a_file_are_saved_under_their_names() {
    let request = &good(&["--url", "@urls"])[0];
    assert_eq!(request.url_count(), 2);
    assert!(request.targets.iter().all(|target| target.remote_name && target.no_glob));
}

#[test]
fn after_two_dashes_everything_is_a_url() {
    let request = &good(&["--", "-s"])[0];
    assert_eq!(request.targets[0].url.as_deref(), Some(b"-s".as_slice()));
}

/// CVE-2024-2004: an empty set is not all of them.
#[test]
fn schemes() {
    let list = |text: &str| {
        let request = &good(&["--proto", text, "x"])[0];
        String::from_utf8(request.options.text(O::ProtocolsStr).unwrap().to_vec()).unwrap()
    };
    assert_eq!(list("=http,https"), "http,https");
    assert_eq!(list("-all,ftp"), "ftp");
    assert_eq!(list("-ftp"), "file,ftps,http,https");
    for none in ["-all", "-all,-http", "nope", "http,-nope"] {
        assert_eq!(wrong(&["--proto", none]).0, Wrong::BadUse);
    }
}

#[test]
fn resuming_and_ranges() {
    assert_eq!(good(&["-C", "12", "x"])[0].resume, Some(Resume::At(12)));
    assert_eq!(good(&["-C-", "x"])[0].resume, Some(Resume::Current));
    assert_eq!(good(&["-r", "5", "x"])[0].options.text(O::Range), Some(b"5-".as_slice()));
    assert!(read(&["-r", "5", "x"]).1.contains("Appending"));
}

#[test]
fn help_and_version_stop_the_reading() {
    assert_eq!(read(&["-h"]).0.unwrap_err(), Stop::Help(None));
    assert_eq!(read(&["--help", "all"]).0.unwrap_err(), Stop::Help(Some(b"all".to_vec())));
    assert_eq!(read(&["-sV", "--nonsense"]).0.unwrap_err(), Stop::Version);
    assert_eq!(read(&["-M"]).0.unwrap_err(), Stop::Manual);
}

#[test]
fn odd_command_lines_never_panic() {
    let scraps: Vec<&[u8]> = vec![
        b"",
        b"-",
        b"--",
        b"@",
        b"@file",
        b"@-",
        b"=",
        b"a=b",
        b"{a,b}[1-",
        b"\xff\xfe",
        b"\xe2\x80\x9c",
        b"1",
        b"-1",
        b"99999999999999999999",
        b"1.5.5",
        b"0/0",
        b"9/s",
        b"name=@file;type=a/b;filename=\"",
        b"x=(",
        b"=)",
        b"%{",
        b"{{a:b}}",
        b"%HOME",
        b"=http,-all,,",
        b"http://x/",
        b"no-",
        b"--no-",
        b"--expand-",
        b"--=",
        b"--url=",
        b"file",
        b"a=;headers=@file",
        b"%a[1-2]@file",
        b":",
        b";",
        b"+",
        b"*",
    ];
    let flags: Vec<&'static Flag> = flags::all().collect();
    let mut dice = Dice::new(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let words: Vec<Bytes> = (0..dice.roll(6)).map(|_| odd_word(&mut dice, &flags, &scraps)).collect();
        let mut world =
            Fake::with(&[("file", "url=a\n-K file\n\"\n-o\nform = \"a=b;type=\n"), ("-", "\0\n")]);
        let mut reader = Reader::new(&mut world, Messages::new(Box::new(io::sink()), Some(30)));
        if let Err(Stop::Wrong(wrong)) = reader.words(&words) {
            assert!([1, 2, 26].contains(&wrong.exit_code()));
        }
    }
}

fn odd_word(dice: &mut Dice, flags: &[&'static Flag], scraps: &[&[u8]]) -> Bytes {
    let flag = flags[dice.roll(flags.len())];
    let scrap = scraps[dice.roll(scraps.len())];
    let mut word = match dice.roll(6) {
        0 => [b"--", flag.key().as_bytes()].concat(),
        1 => [b"--", flag.key().as_bytes(), b"=", scrap].concat(),
        2 => [b"--expand-", flag.key().as_bytes()].concat(),
        3 => [b"-", flag.short.to_string().as_bytes(), scrap].concat(),
        4 => [b"--no-", flag.key().as_bytes()].concat(),
        _ => scrap.to_vec(),
    };
    if dice.roll(8) == 0 && !word.is_empty() {
        let at = dice.roll(word.len());
        word[at] ^= 1 << dice.roll(8);
    }
    if dice.roll(8) == 0 {
        let length = dice.roll(word.len() + 1);
        word.truncate(length);
    }
    word
}

fn config(content: &str) -> Result<usize, Stop> {
    let mut world = Fake::with(&[("c", content)]);
    let mut reader = Reader::new(&mut world, Messages::new(Box::new(io::sink()), None));
    reader.read_config(b"c")?;
    Ok(reader.parser.requests.len())
}

#[test]
fn config_files_are_applied() {
    assert_eq!(config("url = a\nnext\nurl = b\n"), Ok(2));
    assert_eq!(config("--next\nurl = b\n"), Ok(1));
    assert_eq!(config("--url=a\n"), Ok(1));
    assert_eq!(config("nonsense\n"), Err(Wrong::UnknownInConfig.into()));
    assert_eq!(config("/ no comment\n"), Err(Wrong::UnknownInConfig.into()));
    assert_eq!(config("silent yes\n"), Err(Wrong::Garbage.into()));
    assert_eq!(config("config = c\n"), Err(Wrong::BadUse.into()));
    assert_eq!(config("config = none\n"), Err(Wrong::Unreadable.into()));
    assert_eq!(config("url = a\0b\n\0nonsense\n"), Ok(1));
}

/// Absurd files: they are read to their end or refused with a code of curl's.
#[test]
fn odd_config_files() {
    const SCRAPS: [&str; 26] = [
        "\n",
        "\r\n",
        " ",
        "\t",
        "=",
        ":",
        "\"",
        "\\",
        "\\t",
        "#",
        "-",
        "--",
        "url",
        "data",
        "-o",
        "config",
        "c",
        "next",
        "form",
        "a=b;type=",
        "referer",
        "expand-url",
        "{{x:url}}",
        "variable",
        "%HOME=1",
        "\u{e4}\0",
    ];
    let mut dice = Dice::new(0x2545_F491_4F6C_DD1D);
    for _ in 0..20_000 {
        let content: String = (0..dice.roll(24)).map(|_| SCRAPS[dice.roll(SCRAPS.len())]).collect();
        if let Err(Stop::Wrong(wrong)) = config(&content) {
            assert!([1, 2, 26].contains(&wrong.exit_code()), "{content:?}");
        }
    }
}
