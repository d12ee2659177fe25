//! An application that uses its handle from inside every callback: options, infos, cookies. Nothing is
//! borrowed during any call; a debug build checks every one.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::rc::{Rc, Weak};

use crate::common::long;
use tables::constant::CURLAUTH_ANY;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::http::{HttpServer, Response};
use testkit::temp::TempDir;
use warmwire_engine::callbacks::{
    Callbacks, CloseHook, DebugKind, OpenSocketAnswer, ProgressCounts, Purpose, SocketCallbacks,
    SockoptAnswer, Target, Transport, WriteAnswer,
};
use warmwire_engine::transfer::auth::Memory;
use warmwire_engine::{Easy, Multi, easy::EasyState};

#[derive(Default)]
struct Meddler {
    easy: RefCell<Option<Easy>>,
    called: Cell<u32>,
    debug_text: RefCell<String>,
}

impl Meddler {
    /// Everything that an application may do inside a callback.
    fn meddle(&self) {
        self.called.set(self.called.get() + 1);
        let Some(easy) = self.easy.borrow().clone() else { return };
        let state: &EasyState = easy.state();
        easy.set_text(O::UserAgent, Some(self.called.get().to_string().as_bytes())).unwrap();
        easy.set_text(O::CookieList, Some(b"Set-Cookie: a=b; domain=localhost")).unwrap();
        long(&easy, O::LowSpeedTime, 1000);
        state.info.borrow_mut().rare.retry_after += 0;
        state.memories.of::<Memory>().borrow_mut();
        drop(state.headers.borrow_mut());
        drop(state.connected.borrow_mut());
        drop(easy.cookies());
    }
}

struct Shared(Rc<Meddler>);

impl Callbacks for Shared {
    fn write(&self, _: &[u8]) -> WriteAnswer {
        self.0.meddle();
        WriteAnswer::All
    }

    fn header(&self, _: &[u8]) -> Option<WriteAnswer> {
        self.0.meddle();
        Some(WriteAnswer::All)
    }

    fn wants_progress(&self) -> bool {
        true
    }

    fn progress(&self, _: ProgressCounts) -> bool {
        self.0.meddle();
        true
    }

    fn wants_debug(&self) -> bool {
        true
    }

    fn traces(&self, _: &str) -> bool {
        true
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        if kind == DebugKind::Text {
            self.0.debug_text.borrow_mut().push_str(&String::from_utf8_lossy(data));
        }
        self.0.meddle();
    }
}

fn meddler(url: &str) -> (Easy, Rc<Meddler>) {
    let meddler = Rc::new(Meddler::default());
    let easy = Easy::new(Rc::new(Shared(meddler.clone())));
    easy.set_text(O::Url, Some(url.as_bytes())).unwrap();
    *meddler.easy.borrow_mut() = Some(easy.clone());
    (easy, meddler)
}

/// Breaks the cycle of the two, and checks the expected output.
fn end(easy: &Easy, meddler: &Meddler, wanted: &str) {
    easy.close();
    assert!(meddler.debug_text.borrow().contains(wanted), "{}", meddler.debug_text.borrow());
    meddler.easy.take();
}

#[test]
fn a_challenge_that_cannot_be_met() {
    let server = HttpServer::with(|_| {
        Some(Response::status(401).with("WWW-Authenticate", "Digest realm=\"x\", algorithm=unknown"))
    });
    let (easy, meddler) = meddler(&server.url("/"));
    easy.set_text(O::UserPwd, Some(b"u:p")).unwrap();
    long(&easy, O::HttpAuth, CURLAUTH_ANY as i64);
    assert_eq!(easy.perform(), Code::Ok);
    end(&easy, &meddler, "Authentication problem");
}

#[test]
fn cookie_files_and_jars() {
    let server = HttpServer::with(|_| Some(Response::status(200).with("Set-Cookie", "c=d")));
    let (easy, meddler) = meddler(&server.url("/"));
    easy.set_text(O::CookieFile, Some(b"/no/such/file")).unwrap();
    easy.set_text(O::CookieJar, Some(b"/no/such/folder/jar")).unwrap();
    assert_eq!(easy.perform(), Code::Ok);
    end(&easy, &meddler, "failed to open cookie file");
    assert!(meddler.debug_text.borrow().contains("failed to save cookies"));
}

#[test]
fn an_alternative_service() {
    let authority = Authority::new();
    let folder = TempDir::new("meddling").unwrap();
    let there = HttpServer::tls(authority.good().server_config().unwrap());
    let lines = format!("h1 localhost 1 h1 localhost {} \"20990101 00:00:00\" 0 0\n", there.port());
    let file = folder.write("altsvc", &lines).unwrap();
    let (easy, meddler) = meddler("https://localhost:1/bytes/5");
    easy.set_text(O::CaInfoBlob, Some(authority.ca_pem().as_bytes())).unwrap();
    easy.set_text(O::AltSvc, Some(file.to_str().unwrap().as_bytes())).unwrap();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    end(&easy, &meddler, "Alt-svc connecting from [h1]localhost:1 to [h1]localhost:");
}

/// A second connection of the application replaces the first one, whose close is reported.
#[test]
fn connections_of_the_applications_own() {
    let server = HttpServer::plain();
    let (easy, meddler) = meddler(&server.url("/"));
    long(&easy, O::ConnectOnly, 1);
    long(&easy, O::FreshConnect, 1);
    assert_eq!((easy.perform(), easy.perform()), (Code::Ok, Code::Ok));
    end(&easy, &meddler, "");
}

/// One callback panics: its transfer is over, the others go on, and the handle serves again.
#[test]
fn a_panic_ends_its_transfer_alone() {
    struct Panics(Cell<bool>);
    impl Callbacks for Panics {
        fn write(&self, _: &[u8]) -> WriteAnswer {
            assert!(!self.0.get(), "on purpose");
            WriteAnswer::All
        }
    }
    let server = HttpServer::plain();
    let multi = Multi::default();
    let app = Rc::new(Panics(Cell::new(true)));
    let panics = Easy::new(app.clone());
    let (other, _meddler) = crate::common::handle(&server.url("/bytes/5"));
    panics.set_text(O::Url, Some(server.url("/bytes/10").as_bytes())).unwrap();
    multi.add(&panics);
    multi.add(&other);
    let mut thrown = 0;
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| multi.perform()));
        thrown += i32::from(run.is_err());
        multi.wait(&mut [], std::time::Duration::from_secs(1), false).unwrap();
        while let Some((message, _)) = multi.next_message() {
            ended.push((std::ptr::eq(message.easy.state(), panics.state()), message.code));
        }
    }
    ended.sort_by_key(|(first, _)| *first);
    assert_eq!((thrown, ended), (1, vec![(false, Code::Ok), (true, Code::FailedInit)]));
    assert_eq!(multi.running(), 0);
    multi.remove(&panics);
    app.0.set(false);
    assert_eq!(panics.perform(), Code::Ok);
    // Now the callback panics on the caller's stack.
    app.0.set(true);
    let run = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| panics.perform()));
    assert!(run.is_err());
    app.0.set(false);
    assert_eq!(panics.perform(), Code::Ok);
}

/// The library holds no handle that its application has closed.
#[test]
fn a_closed_handle_is_released() {
    let (easy, meddler) = meddler("http://localhost:1/");
    let weak: Weak<Meddler> = Rc::downgrade(&meddler);
    end(&easy, &meddler, "");
    drop((easy, meddler));
    assert!(weak.upgrade().is_none());
}

/// A limit that was lowered closes connections at the beginning of a transfer: the application closes them
/// itself.
#[test]
fn connections_too_many_are_closed_by_the_application() {
    struct Closes;
    impl Callbacks for Closes {
        fn sockets(&self) -> Option<&dyn SocketCallbacks> {
            Some(self)
        }
    }
    impl SocketCallbacks for Closes {
        fn open(&self, _: Purpose, _: &mut Target, _: Transport) -> OpenSocketAnswer {
            OpenSocketAnswer::BySystem
        }
        fn configure(&self, _: BorrowedFd<'_>, _: Purpose) -> SockoptAnswer {
            SockoptAnswer::Ok
        }
        fn close_hook(&self) -> Option<CloseHook> {
            Some(Box::new(drop))
        }
    }
    let servers = [HttpServer::plain(), HttpServer::plain()];
    let easy = Easy::new(Rc::new(Closes));
    for (server, kept_next) in [(&servers[0], 5), (&servers[1], 1), (&servers[1], 1)] {
        easy.set_text(O::Url, Some(server.url("/bytes/5").as_bytes())).unwrap();
        assert_eq!(easy.perform(), Code::Ok);
        long(&easy, O::MaxConnects, kept_next);
    }
    easy.close();
    assert_eq!(servers[1].accepts(), 1);
}
