//! Pipelined FTP commands, against the embedded server: what it receives, and its possible faults.

use crate::common::{App, fetch, ftp_handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::{Config, Faults, FtpServer, PipelinedCommands};
use warmwire_engine::FtpPipelining;

const LEVELS: [FtpPipelining; 4] =
    [FtpPipelining::Wait, FtpPipelining::Together, FtpPipelining::Ahead, FtpPipelining::InTurn];

#[test]
fn by_default_the_commands_are_those_of_curl() {
    let seen = |level| {
        let server = FtpServer::with_file("/file", pattern(2048));
        let (easy, app) = ftp_handle(level, &server.url("/file"));
        for _ in 0..4 {
            assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
            assert_eq!(easy.state().info.borrow().response_code, 226);
        }
        text(&easy, O::Url, &server.url("/none"));
        assert_eq!(fetch(&easy, &app), Err(Code::RemoteFileNotFound));
        text(&easy, O::Url, &server.url("/file"));
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
        assert_eq!(server.accepts(), 1);
        // RETR was sent for the missing file, too: the reply to SIZE was not awaited.
        let commands = server.commands();
        commands.into_iter().filter(|command| command != "RETR none").collect::<Vec<_>>()
    };
    assert_eq!(seen(FtpPipelining::Together), seen(FtpPipelining::Wait));
}

#[test]
fn ahead_the_next_port_is_asked_for_at_the_end_of_a_file() {
    let server = FtpServer::with_file("/file", pattern(2048));
    let (easy, app) = ftp_handle(FtpPipelining::Ahead, &server.url("/file"));
    for _ in 0..5 {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
        assert_eq!(easy.state().info.borrow().download_total, 2048);
    }
    let commands = server.commands();
    assert_eq!(
        commands[3..12],
        ["TYPE I", "EPSV", "SIZE file", "RETR file", "EPSV", "RETR file", "EPSV", "RETR file", "EPSV"]
    );
    assert_eq!((server.accepts(), server.data_accepts()), (1, 5));

    // The next command finds the connection in step.
    let (text_of, size) = (|app: &App| String::from_utf8_lossy(&app.headers.take()).into_owned(), 2048);
    text_of(&app);
    long(&easy, O::NoBody, 1);
    assert_eq!(fetch(&easy, &app).map(|_| ()), Ok(()));
    assert!(text_of(&app).contains(&format!("Content-Length: {size}")));
    long(&easy, O::NoBody, 0);
    text(&easy, O::Url, &server.url("/none"));
    assert_eq!(fetch(&easy, &app), Err(Code::RemoteFileNotFound));
    text(&easy, O::Url, &server.url("/"));
    assert_eq!(fetch(&easy, &app).map(|list| list.is_empty()), Ok(false));
    text(&easy, O::Url, &server.url("/new"));
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = pattern(9000);
    assert_eq!(fetch(&easy, &app).map(|_| ()), Ok(()));
    assert_eq!(server.file("/new").unwrap(), pattern(9000));
    long(&easy, O::Upload, 0);
    long(&easy, O::ResumeFromLarge, 8000);
    assert_eq!(fetch(&easy, &app), Ok(pattern(9000)[8000..].to_vec()));
    assert_eq!(server.accepts(), 1);
}

#[test]
fn in_turn_at_most_four_connections() {
    let server = FtpServer::with_file("/file", pattern(2048));
    let (easy, app) = ftp_handle(FtpPipelining::InTurn, &server.url("/file"));
    for _ in 0..50 {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
    }
    assert!((1..=4).contains(&server.accepts()), "{}", server.accepts());

    // If the server refuses a second connection, no third one is tried.
    let faults = Faults { most_clients: Some(1), ..Faults::default() };
    let server = FtpServer::with_faults("/file", pattern(2048), faults);
    let (easy, app) = ftp_handle(FtpPipelining::InTurn, &server.url("/file"));
    for _ in 0..50 {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
    }
    assert!(server.accepts() <= 2, "{}", server.accepts());
    assert_eq!(server.logins(), 1);
}

#[test]
fn commands_sent_ahead_outlive_their_handle() {
    warmwire_engine::process_pool::enable(true);
    let server = FtpServer::with_file("/file", pattern(2048));
    for _ in 0..10 {
        let (easy, app) = ftp_handle(FtpPipelining::Ahead, &server.url("/file"));
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
        easy.close();
    }
    assert_eq!(server.accepts(), 1);
    assert_eq!(server.commands().iter().filter(|c| c.starts_with("SIZE")).count(), 1);
}

fn served_by(greeting: &str, together: PipelinedCommands, level: FtpPipelining) -> FtpServer {
    let faults = Faults { together, ..Faults::default() };
    let files = [("/file".to_owned(), pattern(2048))].into();
    let server =
        FtpServer::start(Config { files, faults, greeting: Some(greeting.into()), ..Config::default() });
    let server = server.unwrap();
    let (easy, app) = ftp_handle(level, &server.url("/file"));
    for round in 0..20 {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)), "{greeting} {together:?} {level:?} {round}");
    }
    server
}

/// A server that claims to read a stream, but processes one command of each read: lost commands are sent
/// again on the same connection, and no more are sent together.
#[test]
fn a_server_that_loses_commands_keeps_its_connection() {
    for greeting in ["(vsFTPd 3.0.3)", "testkit"] {
        for level in LEVELS {
            let started = std::time::Instant::now();
            let server = served_by(greeting, PipelinedCommands::Discarded, level);
            let most = if level == FtpPipelining::InTurn { 4 } else { 1 };
            assert!(server.accepts() <= most, "{greeting} {level:?}: {}", server.accepts());
            assert!(started.elapsed().as_secs() < 8, "{greeting} {level:?}: {:?}", started.elapsed());
        }
    }
}

/// An unknown server gets no pipelined commands before it is worth it, and never for the first file.
#[test]
fn an_unknown_server_is_not_tried_at_once() {
    let together = |server: &FtpServer| server.together();
    let server = FtpServer::with_file("/file", pattern(2048));
    let (easy, app) = ftp_handle(FtpPipelining::Together, &server.url("/file"));
    for round in 0..12 {
        assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
        assert_eq!(together(&server) > 0, round > 7, "{round}");
    }
    let server = served_by("ProFTPD Server", PipelinedCommands::Served, FtpPipelining::Together);
    assert!(together(&server) > 15, "{}", together(&server));
}

#[test]
fn a_server_that_objects_is_served_as_ever() {
    for together in [PipelinedCommands::Discarded, PipelinedCommands::Refused, PipelinedCommands::Cut] {
        for level in LEVELS {
            let faults = Faults { together, ..Faults::default() };
            let server = FtpServer::with_faults("/file", pattern(2048), faults);
            let (easy, app) = ftp_handle(level, &server.url("/file"));
            for round in 0..20 {
                assert!(fetch(&easy, &app) == Ok(pattern(2048)), "{together:?} {level:?} {round}");
            }
            let most = if level == FtpPipelining::InTurn { 8 } else { 3 };
            assert!(server.accepts() <= most, "{together:?} {level:?}: {} connections", server.accepts());
        }
    }
}

#[test]
fn cut_or_silent_after_each_line_no_short_file_is_whole() {
    let mut expected = Vec::new();
    for level in LEVELS {
        for lines in 0..16 {
            for silent in [false, true] {
                let mut faults = Faults::default();
                match silent {
                    true => faults.silent_after_lines = Some(lines),
                    false => faults.cut_after_lines = Some(lines),
                }
                let server = FtpServer::with_faults("/file", pattern(2048), faults);
                let (easy, app) = ftp_handle(level, &server.url("/file"));
                long(&easy, O::ServerResponseTimeoutMs, 150);
                for round in 0..3 {
                    let got = fetch(&easy, &app);
                    if let Ok(body) = &got {
                        assert!(*body == pattern(2048), "{level:?} {lines} {silent} {round}: a short file");
                    }
                    let code = got.err();
                    if level == FtpPipelining::Wait {
                        expected.push(((lines, silent), code));
                    } else if code.is_some() {
                        // Fetching again over a fresh connection may move a failure to another round, and no
                        // more.
                        let as_ever = expected.contains(&((lines, silent), code));
                        assert!(as_ever, "{level:?} {lines} {silent} {round}: {code:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn cut_data_is_a_partial_file_at_every_level() {
    for level in LEVELS {
        for claim_success in [false, true] {
            for at in [0, 1, 1000, 2047] {
                let server = FtpServer::with_file("/whole", pattern(2048));
                let (easy, app) = ftp_handle(level, &server.url("/whole"));
                assert_eq!(fetch(&easy, &app), Ok(pattern(2048)));
                let faults = Faults { cut_data_at: Some(at), claim_success, ..Faults::default() };
                let server = FtpServer::with_faults("/file", pattern(2048), faults);
                text(&easy, O::Url, &server.url("/file"));
                for _ in 0..3 {
                    assert_eq!(fetch(&easy, &app), Err(Code::PartialFile), "{level:?} {at} {claim_success}");
                }
            }
        }
    }
}
