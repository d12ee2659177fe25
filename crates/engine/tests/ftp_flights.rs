//! FTP commands that leave before the reply to the one before them, on new connections and after a change of
//! directory: what the server receives, and what it may do wrong.

use crate::common::{fetch, ftp_handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::{Config, Faults, FtpServer, PipelinedCommands};
use warmwire_engine::{Easy, FtpPipelining};

const LEVELS: [FtpPipelining; 2] = [FtpPipelining::Wait, FtpPipelining::Together];

fn server(together: PipelinedCommands) -> FtpServer {
    let files = ["/file", "/a/file", "/a/b/file"].map(|path| (path.to_owned(), pattern(2048))).into();
    let faults = Faults { together, ..Faults::default() };
    let greeting = Some("pyftpdlib 2.0.1 ready.".into());
    FtpServer::start(Config { files, faults, greeting, ..Config::default() }).unwrap()
}

type Fetched = Result<Vec<u8>, Code>;

/// Fetches these paths one after the other with one handle; returns the results, the commands, and how many
/// of these arrived together with others.
fn seen(level: FtpPipelining, paths: &[&str], set: &dyn Fn(&Easy)) -> (Vec<Fetched>, Vec<String>, usize) {
    let server = server(PipelinedCommands::Served);
    let (easy, app) = ftp_handle(level, &server.url("/file"));
    set(&easy);
    let fetched = paths.iter().map(|path| {
        text(&easy, O::Url, &server.url(path));
        let result = fetch(&easy, &app);
        let code = easy.state().info.borrow().response_code;
        assert!(result.is_err() || code == 226 || code == 213 || code == 350, "{path}: {code}");
        result
    });
    let results = fetched.collect();
    assert_eq!(server.accepts(), 1, "{paths:?}");
    (results, server.commands(), server.together())
}

#[test]
fn the_commands_and_their_order_are_those_of_curl() {
    type Set = &'static dyn Fn(&Easy);
    let rows: [(&str, &[&str], Set); 11] = [
        ("a file", &["/file", "/file"], &|_| ()),
        ("another folder each time", &["/a/b/file", "/a/file", "/file"], &|_| ()),
        ("one CWD", &["/a/b/file"], &|easy| long(easy, O::FtpFileMethod, 3)),
        ("without CWD", &["/a/b/file", "/file"], &|easy| long(easy, O::FtpFileMethod, 2)),
        ("PASV", &["/a/file", "/file"], &|easy| long(easy, O::FtpUseEpsv, 0)),
        ("with its time", &["/a/file"], &|easy| long(easy, O::FileTime, 1)),
        ("a part", &["/a/file"], &|easy| text(easy, O::Range, "100-")),
        ("its size alone", &["/a/file"], &|easy| long(easy, O::NoBody, 1)),
        ("its size and its time alone", &["/a/file", "/a/file"], &|easy| {
            long(easy, O::NoBody, 1);
            long(easy, O::FileTime, 1);
        }),
        ("with a limit", &["/a/file"], &|easy| long(easy, O::MaxFileSize, 10_000)),
        ("as a text", &["/file;type=a", "/file"], &|_| ()),
    ];
    for (name, paths, set) in rows {
        let (waiting, commands, _) = seen(FtpPipelining::Wait, paths, set);
        let (results, same, together) = seen(FtpPipelining::Together, paths, set);
        assert_eq!(results, waiting, "{name}");
        assert_eq!(same, commands, "{name}");
        assert!(together > 0, "{name}");
    }
}

#[test]
fn a_missing_folder_keeps_the_connection_and_its_replies_in_order() {
    for level in LEVELS {
        let paths = ["/a/file", "/none/file", "/a/b/file", "/none/b/file", "/file"];
        let (results, ..) = seen(level, &paths, &|_| ());
        let codes: Vec<Option<Code>> = results.into_iter().map(|result| result.err()).collect();
        let denied = Some(Code::RemoteAccessDenied);
        assert_eq!(codes, [None, denied, None, denied, None], "{level:?}");
    }
}

#[test]
fn servers_that_do_not_read_a_stream_serve_new_connections_too() {
    for together in [PipelinedCommands::Discarded, PipelinedCommands::Refused, PipelinedCommands::Cut] {
        for path in ["/file", "/a/file", "/a/b/file"] {
            let server = server(together);
            let (easy, app) = ftp_handle(FtpPipelining::Together, &server.url(path));
            for round in 0..4 {
                assert_eq!(fetch(&easy, &app), Ok(pattern(2048)), "{together:?} {path} {round}");
            }
            assert!(server.accepts() <= 3, "{together:?} {path}: {}", server.accepts());
        }
    }
}

/// A refused command in the middle of a flight changes the next one.
#[test]
fn refused_commands_are_replaced() {
    for (command, reply) in [("EPSV", "500 no"), ("SIZE", "502 no"), ("TYPE", "504 no"), ("PWD", "500 no")] {
        let of = |level| {
            let replies = [(command.to_owned(), reply.to_owned())].into();
            let files = [("/a/file".to_owned(), pattern(2048))].into();
            let greeting = Some("(vsFTPd 3.0.3)".into());
            let faults = Faults { replies, ..Faults::default() };
            let server = FtpServer::start(Config { files, faults, greeting, ..Config::default() }).unwrap();
            let (easy, app) = ftp_handle(level, &server.url("/a/file"));
            [fetch(&easy, &app), fetch(&easy, &app)]
        };
        assert_eq!(of(FtpPipelining::Together), of(FtpPipelining::Wait), "{command}");
    }
}

#[test]
fn commands_that_depend_on_a_reply_wait_for_it() {
    let server = server(PipelinedCommands::Served);
    let (easy, app) = ftp_handle(FtpPipelining::Together, &server.url("/new/file"));
    long(&easy, O::FtpCreateMissingDirs, 1);
    assert!(fetch(&easy, &app).is_err());
    assert_eq!(server.together(), 0, "{:?}", server.commands());
}
