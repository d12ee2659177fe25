//! Connecting: refused, black-holed, one family dead, unix sockets, deadlines, callbacks.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::common::{black_hole, block_on, dead_port, dial, listener, runtime};
use runtime::CloseHook;
use runtime::fd::{AsRawFd, BorrowedFd, OwnedFd};
use warmwire_net::connect::{ConnectRequest, at_once, connect, connect_unix};
use warmwire_net::filter::open::{
    LocalBinding, OpenSocketAnswer, Purpose, SocketCallbacks, SocketOptions, SockoptAnswer, Target,
    Transport, UnixAddress,
};
use warmwire_net::resolver::Candidates;
use warmwire_net::{NetError, NetErrorKind};

fn loopback(list: &str) -> SocketAddr {
    list.parse().unwrap()
}

#[test]
fn connected_and_bytes_flow() {
    let (listener, address) = listener();
    let rt = runtime();
    let made = block_on(&rt, dial(rt.reactor().clone(), vec![address], None)).unwrap();
    assert_eq!(made.endpoints.remote, Some(address));
    let (mut peer, from) = listener.accept().unwrap();
    assert_eq!(made.endpoints.local, Some(from));
    assert!(!made.private);
    peer.write_all(b"hello").unwrap();
    let mut filter: Box<dyn warmwire_net::Filter> =
        Box::new(warmwire_net::filter::SocketFilter::new(made.socket));
    let got = block_on(&rt, async move {
        filter.write_all(b"hi").await.unwrap();
        let mut buf = [0; 5];
        filter.read_exact(&mut buf).await.unwrap();
        buf
    });
    assert_eq!(&got, b"hello");
    let mut two = [0; 2];
    peer.read_exact(&mut two).unwrap();
    assert_eq!(&two, b"hi");
}

#[test]
fn a_refused_connection_fails_at_once_with_curls_message() {
    let rt = runtime();
    let to = dead_port();
    let start = Instant::now();
    let error = block_on(&rt, dial(rt.reactor().clone(), vec![to], None)).err().unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(error.kind, NetErrorKind::CouldntConnect);
    assert_eq!(error.os_errno, rustix::io::Errno::CONNREFUSED.raw_os_error());
    let (head, tail) = ("Failed to connect to host.test after ", " ms: Could not connect to server");
    assert!(error.message.starts_with(head) && error.message.ends_with(tail), "{error}");
    assert_eq!(rt.reactor().registrations(), 0);
}

#[test]
fn a_refused_family_gives_way_at_once_to_the_other() {
    let (listener, address) = listener();
    let rt = runtime();
    let dead = SocketAddr::new(loopback("[::1]:0").ip(), address.port());
    let start = Instant::now();
    let made = block_on(&rt, dial(rt.reactor().clone(), vec![address, dead], None)).unwrap();
    assert_eq!(made.endpoints.remote, Some(address));
    assert!(start.elapsed() < Duration::from_millis(190), "no waiting after a refusal");
    drop(listener);
}

#[test]
fn a_silent_family_gives_way_after_the_delay_and_is_closed() {
    let (_hole, _fill, silent) = black_hole(loopback("[::1]:0"));
    let Ok(_listener) = TcpListener::bind(("127.0.0.1", silent.port())) else { return };
    let alive = SocketAddr::from(([127, 0, 0, 1], silent.port()));
    let rt = runtime();
    let start = Instant::now();
    let made = block_on(&rt, dial(rt.reactor().clone(), vec![alive, silent], None)).unwrap();
    assert_eq!(made.endpoints.remote, Some(alive));
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(195) && took < Duration::from_secs(2), "{took:?}");
    assert_eq!(rt.reactor().registrations(), 1, "the loser is gone");
}

#[test]
fn nobody_answers_until_the_deadline() {
    let (_hole, _fill, silent) = black_hole(loopback("127.0.0.1:0"));
    let rt = runtime();
    let deadline = Some(Duration::from_millis(300));
    let error = block_on(&rt, dial(rt.reactor().clone(), vec![silent], deadline)).err().unwrap();
    assert_eq!(error.kind, NetErrorKind::OperationTimedout);
    assert!(error.message.starts_with("Connection timed out after 3"), "{error}");
    assert!(error.message.ends_with(" milliseconds"), "{error}");
    assert_eq!(rt.reactor().registrations(), 0);
}

#[test]
fn dropping_the_future_closes_the_attempts() {
    let (_hole, _fill, silent) = black_hole(loopback("127.0.0.1:0"));
    let rt = runtime();
    let reactor = rt.reactor().clone();
    let id = rt.spawn(Box::pin(async move {
        let _ = dial(reactor, vec![silent], None).await;
    }));
    rt.run().unwrap();
    assert_eq!(rt.reactor().registrations(), 1);
    rt.cancel(id);
    assert_eq!((rt.reactor().registrations(), rt.reactor().next_deadline()), (0, None));
}

/// Variations of a request.
#[derive(Default)]
struct Try<'a> {
    options: SocketOptions,
    callbacks: Option<&'a dyn SocketCallbacks>,
    unix: Option<UnixAddress>,
}

/// Runs a request with borrowed parts, by leaking them.
fn attempt(
    rt: &runtime::Runtime,
    to: SocketAddr,
    what: Try<'static>,
) -> Result<warmwire_net::connect::Connected, NetError> {
    let reactor = rt.reactor().clone();
    block_on(rt, async move {
        let numeric = |name: &str| SocketAddr::new(name.parse().unwrap(), 0);
        let local_hosts: Vec<_> = what.options.local.host_name().map(numeric).into_iter().collect();
        let request = ConnectRequest {
            place: &"host.test",
            protocols: &[],
            needs_record: false,
            local_hosts: &local_hosts,
            transport: Transport::Tcp,
            options: &what.options,
            callbacks: what.callbacks,
            attempt_delay: Duration::from_millis(200),
            favourite: None,
            report: None,
            started: reactor.now(),
            deadline: Some(reactor.now() + Duration::from_secs(5)),
            owner: 1,
        };
        match &what.unix {
            Some(address) => connect_unix(&reactor, &request, address, &at_once).await,
            None => {
                connect(&reactor, &request, &mut Candidates::known(&[to], request.started), &at_once).await
            }
        }
    })
}

#[cfg(unix)]
#[test]
fn unix_sockets_by_path_and_abstract() {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    use std::os::unix::net::UnixListener;

    let rt = runtime();
    let dir = std::env::temp_dir().join(format!("warmwire-net-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("s");
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let unix = |address| Try { unix: Some(address), ..Try::default() };
    let bytes = path.to_str().unwrap().as_bytes().to_vec();
    let made = attempt(&rt, loopback("127.0.0.1:80"), unix(UnixAddress::Path(bytes.clone()))).unwrap();
    assert_eq!(made.endpoints.remote, None);
    drop(listener);
    let refused = attempt(&rt, loopback("127.0.0.1:80"), unix(UnixAddress::Path(bytes))).err().unwrap();
    assert_eq!(refused.kind, NetErrorKind::CouldntConnect);
    std::fs::remove_dir_all(&dir).unwrap();

    let name = format!("warmwire-net-{}", std::process::id()).into_bytes();
    let listener = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&listener, &rustix::net::SocketAddrUnix::new_abstract_name(&name).unwrap()).unwrap();
    listen(&listener, 1).unwrap();
    attempt(&rt, loopback("127.0.0.1:80"), unix(UnixAddress::Abstract(name))).unwrap();

    let long =
        attempt(&rt, loopback("127.0.0.1:80"), unix(UnixAddress::Path(vec![b'x'; 200]))).err().unwrap();
    assert!(long.message.starts_with("Unix socket path too long: 'xxx"), "{long}");
}

#[test]
fn options_reach_the_socket() {
    let (_listener, address) = listener();
    let rt = runtime();
    let keepalive = warmwire_net::filter::open::KeepAlive {
        idle: Duration::from_secs(61),
        interval: Duration::from_secs(62),
        count: 5,
    };
    let options = SocketOptions { keepalive: Some(keepalive), ..SocketOptions::default() };
    let made = attempt(&rt, address, Try { options, ..Try::default() }).unwrap();
    use rustix::net::sockopt;
    assert!(sockopt::tcp_nodelay(&made.socket).unwrap());
    assert!(sockopt::socket_keepalive(&made.socket).unwrap());
    if cfg!(unix) {
        // Wine can query neither.
        assert_eq!(sockopt::tcp_keepidle(&made.socket).unwrap(), Duration::from_secs(61));
        assert_eq!(sockopt::tcp_keepcnt(&made.socket).unwrap(), 5);
    }
}

#[test]
fn the_local_end_is_bound_as_asked() {
    let (_listener, address) = listener();
    let rt = runtime();
    let local =
        |local| Try { options: SocketOptions { local, ..SocketOptions::default() }, ..Try::default() };
    let made = attempt(&rt, address, local(LocalBinding::parse("host!127.0.0.7").unwrap())).unwrap();
    assert_eq!(made.endpoints.local.unwrap().ip().to_string(), "127.0.0.7");
    let made = attempt(&rt, address, local(LocalBinding::parse("127.0.0.8").unwrap())).unwrap();
    assert_eq!(made.endpoints.local.unwrap().ip().to_string(), "127.0.0.8");
    if cfg!(unix) {
        // Windows knows no interfaces by name.
        attempt(&rt, address, local(LocalBinding::parse("lo").unwrap())).unwrap();
    }

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let range =
        |n| LocalBinding { host: Some("127.0.0.1".into()), port, port_range: n, ..LocalBinding::default() };
    let error = attempt(&rt, address, local(range(1))).err().unwrap();
    assert_eq!(error.kind, NetErrorKind::InterfaceFailed);
    // Wine knows the number, and no text for it.
    let text =
        if cfg!(windows) { "bind failed with errno 10048: " } else { "bind failed with errno 98: Address" };
    assert!(error.message.starts_with(text), "{error}");
    let made = attempt(&rt, address, local(range(50))).unwrap();
    assert!(made.endpoints.local.unwrap().port() > port);

    let error = attempt(&rt, address, local(LocalBinding::parse("if!nonesuch0").unwrap())).err().unwrap();
    assert_eq!(error.kind, NetErrorKind::InterfaceFailed);
    assert!(error.message.starts_with("Could not bind to interface 'nonesuch0' with errno"), "{error}");
    assert_eq!(LocalBinding::parse("if!"), None);
    assert_eq!(LocalBinding::parse("ifhost!a"), None);
}

#[derive(Default)]
struct Callbacks {
    redirect: Option<SocketAddr>,
    give: RefCell<Option<OwnedFd>>,
    say: Cell<Option<SockoptAnswer>>,
    refuse: bool,
    closed: Arc<AtomicUsize>,
}

impl SocketCallbacks for Callbacks {
    fn open(&self, purpose: Purpose, target: &mut Target, transport: Transport) -> OpenSocketAnswer {
        assert_eq!((purpose, transport), (Purpose::Connection, Transport::Tcp));
        if let Some(to) = self.redirect {
            *target = Target::Ip(to);
        }
        match self.give.take() {
            _ if self.refuse => OpenSocketAnswer::Refused,
            Some(fd) => OpenSocketAnswer::Socket(fd),
            None => OpenSocketAnswer::BySystem,
        }
    }

    fn configure(&self, fd: BorrowedFd<'_>, _: Purpose) -> SockoptAnswer {
        assert_ne!(fd.as_raw_fd(), !0);
        self.say.get().unwrap_or(SockoptAnswer::Ok)
    }

    fn close_hook(&self) -> Option<CloseHook> {
        let closed = self.closed.clone();
        Some(Box::new(move |fd| {
            drop(fd);
            closed.fetch_add(1, SeqCst);
        }))
    }
}

fn leaked(callbacks: Callbacks) -> &'static Callbacks {
    Box::leak(Box::new(callbacks))
}

#[test]
fn callbacks_redirect_give_close_and_refuse() {
    let (_listener, address) = listener();
    let rt = runtime();
    let with = |callbacks: &'static Callbacks| Try { callbacks: Some(callbacks), ..Try::default() };

    let redirecting = leaked(Callbacks { redirect: Some(address), ..Callbacks::default() });
    let made = attempt(&rt, dead_port(), with(redirecting)).unwrap();
    assert_eq!(made.endpoints.remote, Some(address));
    assert!(made.private);
    drop(made);
    assert_eq!(redirecting.closed.load(SeqCst), 1);

    let ready = TcpStream::connect(address).unwrap();
    let giving = Callbacks { give: RefCell::new(Some(ready.into())), ..Callbacks::default() };
    giving.say.set(Some(SockoptAnswer::AlreadyConnected));
    let made = attempt(&rt, dead_port(), with(leaked(giving))).unwrap();
    assert_eq!(made.endpoints.remote, Some(address));

    let aborting = leaked(Callbacks::default());
    aborting.say.set(Some(SockoptAnswer::Abort));
    let error = attempt(&rt, address, with(aborting)).err().unwrap();
    assert_eq!(error.kind, NetErrorKind::AbortedByCallback);
    assert_eq!(aborting.closed.load(SeqCst), 1);

    let refusing = leaked(Callbacks { refuse: true, ..Callbacks::default() });
    let error = attempt(&rt, address, with(refusing)).err().unwrap();
    assert_eq!(error.kind, NetErrorKind::CouldntConnect);
}
