//! EPSV for the next file while a server confirms the last one late, as vsftpd does: what the server
//! receives, what the application sees, and what may go wrong.

use std::time::Duration;

use crate::common::{App, eventually, fetch, ftp_handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::{Config, Faults, FtpServer};
use warmwire_engine::{Easy, FtpPipelining};

const VSFTPD: &str = "(vsFTPd 3.0.3)";
const LIMIT: Duration = Duration::from_millis(300);

fn server(greeting: &str, faults: Faults) -> FtpServer {
    let files = ["/file", "/a/file"].map(|path| (path.to_owned(), pattern(2048))).into();
    FtpServer::start(Config { files, faults, greeting: Some(greeting.into()), ..Config::default() }).unwrap()
}

fn late() -> Faults {
    Faults { confirm_behind_command: Some(LIMIT), ..Faults::default() }
}

fn default_handle(server: &FtpServer) -> (Easy, std::rc::Rc<App>) {
    ftp_handle(FtpPipelining::Together, &server.url("/file"))
}

fn fetch_all(server: &FtpServer, count: usize) -> (Easy, std::rc::Rc<App>) {
    let (easy, app) = default_handle(server);
    for round in 0..count {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)), "{round}");
        assert_eq!(easy.state().info.borrow().response_code, 226, "{round}");
    }
    (easy, app)
}

#[test]
fn the_next_port_is_asked_for_before_the_confirmation_of_a_file_that_follows_another() {
    let server = server(VSFTPD, late());
    let _kept = fetch_all(&server, 4);
    // The first file shows nothing; the second follows it.
    assert_eq!(server.before_confirmation(), 3);
    // The server confirms the last file before it reads the EPSV behind it.
    eventually(|| server.commands().len() >= 17);
    let file = ["EPSV", "SIZE file", "RETR file"];
    let commands = server.commands();
    assert_eq!(commands[..4], ["USER anonymous", "PASS ftp@example.com", "PWD", "EPSV"]);
    assert_eq!(commands[4..7], ["TYPE I", "SIZE file", "RETR file"]);
    assert_eq!(commands[7..], [&file[..], &file, &file, &["EPSV"]].concat());
    assert_eq!((server.accepts(), server.data_accepts()), (1, 4));
}

#[test]
fn servers_that_confirm_at_once_or_are_unknown_get_curls_commands() {
    for greeting in ["pyftpdlib 2.0.1 ready.", "Welcome"] {
        let server = server(greeting, Faults::default());
        let _kept = fetch_all(&server, 4);
        assert_eq!(server.commands().iter().filter(|command| *command == "EPSV").count(), 4, "{greeting}");
        assert_eq!(server.commands().last().map(String::as_str), Some("RETR file"), "{greeting}");
    }
}

#[test]
fn the_application_sees_the_replies_of_each_file_in_its_own_transfer() {
    let server = server(VSFTPD, Faults::default());
    let (easy, app) = fetch_all(&server, 3);
    for _ in 0..3 {
        app.headers.borrow_mut().clear();
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
        let headers = app.headers.borrow();
        let codes: Vec<_> = headers.split(|b| *b == b'\n').filter_map(|line| line.get(..3)).collect();
        assert_eq!(codes, [b"229", b"213", b"150", b"226"]);
        assert_eq!(easy.state().info.borrow().header_size, headers.len() as i64);
    }
}

/// The next one is a listing, a file of another folder, an upload, a missing file or an active transfer.
#[test]
fn any_transfer_can_follow() {
    type Next<'a> = (&'a str, &'a dyn Fn(&Easy, &App) -> Result<(), Code>, Result<(), Code>);
    let fetched = |easy: &Easy, app: &App| fetch(easy, app).map(|_| ());
    let rows: [Next<'_>; 7] = [
        ("/", &fetched, Ok(())),
        ("/a/file", &fetched, Ok(())),
        ("/none", &fetched, Err(Code::RemoteFileNotFound)),
        ("/none/file", &fetched, Err(Code::RemoteAccessDenied)),
        ("/file;type=a", &fetched, Ok(())),
        (
            "/new",
            &|easy, app| {
                long(easy, O::Upload, 1);
                *app.upload.borrow_mut() = pattern(9000);
                let stored = fetched(easy, app);
                long(easy, O::Upload, 0);
                stored
            },
            Ok(()),
        ),
        (
            "/file",
            &|easy, app| {
                text(easy, O::FtpPort, "-");
                let answer = fetched(easy, app);
                easy.state().settings.borrow_mut().set_text(O::FtpPort, None).unwrap();
                answer
            },
            Err(Code::FtpPortFailed),
        ),
    ];
    for (path, act, wanted) in rows {
        let server = server(VSFTPD, Faults::default());
        let (easy, app) = fetch_all(&server, 3);
        text(&easy, O::Url, &server.url(path));
        assert_eq!(act(&easy, &app), wanted, "{path}");
        text(&easy, O::Url, &server.url("/file"));
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)), "after {path}");
        assert_eq!(server.accepts(), 1, "{path}: {:?}", server.commands());
        assert!(path != "/new" || server.file("/new") == Some(pattern(9000)));
    }
}

/// The connection is cut, or falls silent, after each line that the server sends.
#[test]
fn a_server_that_closes_in_the_middle_is_asked_again_on_a_new_connection() {
    for lines in 1..24 {
        let faults = Faults { cut_after_lines: Some(lines), ..Faults::default() };
        let server = server(VSFTPD, faults);
        let (easy, app) = default_handle(&server);
        for round in 0..8 {
            // A cut between a file's 150 and 226 is a failure, with curl, too; no part counts as a whole.
            match fetch(&easy, &app) {
                Ok(body) => assert_eq!(body, pattern(2048), "{lines} {round}"),
                Err(code) => assert!(
                    matches!(code, Code::RecvError | Code::PartialFile | Code::WeirdServerReply),
                    "{lines} {round}: {code:?}"
                ),
            }
        }
    }
}

#[test]
fn an_idle_connection_that_was_closed_behind_the_port_costs_no_transfer() {
    // Greeting, login and the first file take 9 lines, each other file 4. The third file asks for the port.
    let lines = 9 + 4 + 4 + 1;
    let faults = Faults { cut_after_lines: Some(lines), ..Faults::default() };
    let server = server(VSFTPD, faults);
    let (easy, app) = fetch_all(&server, 3);
    assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
    assert_eq!(server.accepts(), 2);
}

#[test]
fn a_refused_port_is_asked_for_no_more() {
    let faults = Faults { epsv_reply: Some("500 what".into()), ..Faults::default() };
    let server = server(VSFTPD, faults);
    fetch_all(&server, 5);
    let count = |verb: &str| server.commands().iter().filter(|command| command.starts_with(verb)).count();
    assert_eq!((count("EPSV"), count("PASV"), server.accepts()), (1, 5, 1));
}

#[test]
fn data_that_comes_before_its_announcement_is_whole() {
    let server = server(VSFTPD, Faults { announce_late: true, ..Faults::default() });
    fetch_all(&server, 5);
    assert_eq!((server.accepts(), server.data_accepts()), (1, 5));
}

/// pure-ftpd and FileZilla Server name themselves in the first of several lines.
#[test]
fn a_program_that_greets_in_several_lines_is_known() {
    let rows = [
        ("--------- Welcome to Pure-FTPd [TLS] ----------\r\n220 ready", true),
        ("FileZilla Server 1.8.2\r\n220 ready", true),
        ("ready\r\n220 FileZilla Server 1.8.2", false),
    ];
    for (greeting, known) in rows {
        let server = server(greeting, Faults::default());
        fetch_all(&server, 1);
        assert_eq!(server.together() > 2, known, "{greeting}: {}", server.together());
    }
}
