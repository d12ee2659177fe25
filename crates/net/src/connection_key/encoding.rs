//! The canonical encoding of a [`ConnectionKey`]: bytes that are equal when the values are, and different
//! when they are not.
//!
//! Every value delimits itself. Numbers have their full width in network order; texts, lists and secrets
//! stand behind their length in eight bytes; an option and the variant of an enum begin with one byte. Blocks
//! in memory (certificates, keys) stand as their SHA-256. So the fields need no names, and no two different
//! values have one encoding but by a collision of SHA-256. Each type is taken apart field by field: a new
//! field does not compile until it is written here.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ring::digest;
use tables::Scheme;
use tables::scheme::Family;
use wire::policy::{Guard, Policy};
use zeroize::Zeroizing;

use super::{
    ConnectionAuth, ConnectionKey, DohTerms, FtpTerms, HaproxyAddress, HostKeyJudge, HttpStart, Login,
    Origin, Owner, Protocol, ProxyKind, ProxyTerms, RequestLogin, ResolverTerms, ServerLogin, SessionLogin,
    SshTerms, StartTls, TicketTerms, TunnelMethod, TunnelTerms, UserPassword, Zone,
};
use crate::filter::open::{KeepAlive, LocalBinding, SocketOptions, Transport, UnixSocket};
use crate::named_file::FileStamp;
use crate::resolver::IpVersion;
use crate::tls::{Backend, CaSource, CertSource, ClientCert, Ech, Module, PinnedKey, TlsConfig, TlsVersion};
use crate::{NamedFile, SecretBytes};

/// First bytes of every encoding. Another format has another name.
const FORM: &[u8] = b"warmwire connection 1\0";

/// Takes an encoding in, piece by piece.
pub trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

/// A value with a canonical encoding.
pub trait Canonical {
    fn encode(&self, out: &mut dyn Sink);
}

impl ConnectionKey {
    /// Returns the canonical encoding, which holds the secrets in clear and is wiped.
    pub fn canonical_bytes(&self) -> Zeroizing<Vec<u8>> {
        canonical_bytes(FORM, self)
    }
}

/// Returns the encoding of any value behind the name of its form.
pub fn canonical_bytes(form: &[u8], value: &dyn Canonical) -> Zeroizing<Vec<u8>> {
    // Room for all of it at once: a buffer that grows leaves copies behind.
    let mut length = Length(form.len());
    value.encode(&mut length);
    let mut bytes = Bytes(Zeroizing::new(Vec::with_capacity(length.0)));
    bytes.put(form);
    value.encode(&mut bytes);
    bytes.0
}

struct Length(usize);

impl Sink for Length {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

struct Bytes(Zeroizing<Vec<u8>>);

impl Sink for Bytes {
    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fn length(out: &mut dyn Sink, length: usize) {
    out.put(&(length as u64).to_be_bytes());
}

fn text(out: &mut dyn Sink, bytes: &[u8]) {
    length(out, bytes.len());
    out.put(bytes);
}

/// A block in memory, as its digest.
fn block(out: &mut dyn Sink, bytes: &[u8]) {
    out.put(digest::digest(&digest::SHA256, bytes).as_ref());
}

macro_rules! numbers {
    ($($type:ty),*) => {
        $(impl Canonical for $type {
            fn encode(&self, out: &mut dyn Sink) {
                out.put(&self.to_be_bytes());
            }
        })*
    };
}

numbers!(u8, u16, u32, u64, i64);

impl Canonical for usize {
    fn encode(&self, out: &mut dyn Sink) {
        (*self as u64).encode(out);
    }
}

impl Canonical for bool {
    fn encode(&self, out: &mut dyn Sink) {
        u8::from(*self).encode(out);
    }
}

impl<T: Canonical> Canonical for Option<T> {
    fn encode(&self, out: &mut dyn Sink) {
        self.is_some().encode(out);
        self.iter().for_each(|value| value.encode(out));
    }
}

impl<T: Canonical> Canonical for Vec<T> {
    fn encode(&self, out: &mut dyn Sink) {
        length(out, self.len());
        self.iter().for_each(|value| value.encode(out));
    }
}

impl<T: Canonical, const N: usize> Canonical for [T; N] {
    fn encode(&self, out: &mut dyn Sink) {
        self.iter().for_each(|value| value.encode(out));
    }
}

impl<T: Canonical + ?Sized> Canonical for Arc<T> {
    fn encode(&self, out: &mut dyn Sink) {
        (**self).encode(out);
    }
}

impl<T: Canonical + ?Sized> Canonical for Box<T> {
    fn encode(&self, out: &mut dyn Sink) {
        (**self).encode(out);
    }
}

impl<T: Canonical + ?Sized> Canonical for &T {
    fn encode(&self, out: &mut dyn Sink) {
        (**self).encode(out);
    }
}

impl Canonical for str {
    fn encode(&self, out: &mut dyn Sink) {
        text(out, self.as_bytes());
    }
}

impl Canonical for String {
    fn encode(&self, out: &mut dyn Sink) {
        self.as_str().encode(out);
    }
}

impl Canonical for Path {
    fn encode(&self, out: &mut dyn Sink) {
        text(out, self.as_os_str().as_encoded_bytes());
    }
}

impl Canonical for std::path::PathBuf {
    fn encode(&self, out: &mut dyn Sink) {
        self.as_path().encode(out);
    }
}

impl Canonical for SecretBytes {
    fn encode(&self, out: &mut dyn Sink) {
        text(out, self);
    }
}

impl Canonical for Duration {
    fn encode(&self, out: &mut dyn Sink) {
        self.as_secs().encode(out);
        self.subsec_nanos().encode(out);
    }
}

impl Canonical for NamedFile {
    fn encode(&self, out: &mut dyn Sink) {
        self.path().encode(out);
        self.stamp().encode(out);
    }
}

impl Canonical for Scheme {
    fn encode(&self, out: &mut dyn Sink) {
        self.name().encode(out);
    }
}

impl Canonical for Family {
    fn encode(&self, out: &mut dyn Sink) {
        self.name().encode(out);
    }
}

impl Canonical for Policy {
    fn encode(&self, out: &mut dyn Sink) {
        self.fault().is_some().encode(out);
        block(out, self.source());
    }
}

impl Canonical for Module {
    fn encode(&self, out: &mut dyn Sink) {
        self.is_engine().encode(out);
        self.name().encode(out);
    }
}

/// Fields one after the other; all of them, or it does not compile.
macro_rules! fields {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(impl Canonical for $type {
            fn encode(&self, out: &mut dyn Sink) {
                let $type { $($field),* } = self;
                $($field.encode(out);)*
            }
        })*
    };
}

/// One byte for the variant, and its fields.
macro_rules! variants {
    ($($type:ident { $($tag:literal = $variant:ident $(($($part:ident),*))? $({$($field:ident),*})?),* $(,)? })*) => {
        $(impl Canonical for $type {
            fn encode(&self, out: &mut dyn Sink) {
                match self {
                    $($type::$variant $(($($part),*))? $({$($field),*})? => {
                        out.put(&[$tag]);
                        $($($part.encode(out);)*)?
                        $($($field.encode(out);)*)?
                    })*
                }
            }
        })*
    };
}

fields! {
    ConnectionKey {
        protocol, connect_only, origin, transport, tls, proxies, connect_to, ip_version, pins, zone, resolver, socket,
        unix, haproxy, login, by_ticket, owner,
    }
    FtpTerms { start_tls, clear_command_channel, tls_command }
    SshTerms {
        private_key, public_key, usual_keys, passphrase, agent, known_hosts, host_md5, host_sha256, methods,
        compression, judge,
    }
    Origin { host, port }
    ResolverTerms { servers, interface, local_ip4, local_ip6, over_https }
    DohTerms { url, tls }
    ProxyTerms { kind, origin, unix, tls, tunnel }
    TunnelTerms { to, user, method }
    TicketTerms { service, delegation, cache, user }
    UserPassword { user, password }
    SessionLogin { user, options, account, alternative, bearer, authorization_id, service }
    RequestLogin { server, proxy }
    ServerLogin { scheme, origin, user, method }
    SocketOptions { nodelay, keepalive, local, fast_open, send_buffer, guard }
    Guard { process, own, of_data }
    KeepAlive { idle, interval, count }
    LocalBinding { device, interface, host, port, port_range }
    ClientCert { cert, cert_type, key, key_type, password }
    TlsConfig {
        backend, min_version, max_version, verify_peer, verify_host, verify_status, ca, ca_cache, no_partial_chain,
        crl, issuer, client, pinned_key, alpn, ech, cipher_list, tls13_ciphers, curves, sigalgs, session_cache,
        certinfo, key_log,
    }
}

variants! {
    Protocol {
        0 = Http(start), 1 = WebSocket, 2 = Rtsp, 3 = Ftp(terms), 4 = Ssh(terms), 5 = Imap(terms), 6 = Pop3(terms),
        7 = Smtp(terms), 8 = Ldap(terms), 9 = Other(family),
    }
    HttpStart { 0 = Negotiated, 1 = PriorKnowledge, 2 = Upgrade }
    HostKeyJudge { 0 = Handle(number), 1 = Functions(addresses) }
    Owner { 0 = Handle(number), 1 = Kin(addresses) }
    Zone { 0 = None, 1 = Name(name), 2 = Scope(number) }
    HaproxyAddress { 0 = Own, 1 = Client(address) }
    ProxyKind {
        0 = Http, 1 = Http10, 2 = Https, 3 = Https2, 4 = Https3, 5 = Socks4, 6 = Socks4a, 7 = Socks5, 8 = Socks5h,
    }
    TunnelMethod { 0 = Connect { auth, lines, ticket }, 1 = Socks4, 2 = Socks5 { auth, nec, ticket } }
    Login { 0 = Session(login), 1 = Requests(login) }
    ConnectionAuth { 0 = Ntlm, 1 = Negotiate(ticket) }
    Transport { 0 = Tcp, 1 = Udp }
    IpVersion { 0 = Any, 1 = V4, 2 = V6 }
    UnixSocket { 0 = Path(file), 1 = Abstract(name) }
    FileStamp { 0 = Missing, 1 = File(state), 2 = Folder(state, entries), 3 = Unknown(number) }
    TlsVersion { 0 = Tls10, 1 = Tls11, 2 = Tls12, 3 = Tls13 }
    Backend { 0 = Rustls, 1 = System { hook, module } }
    PinnedKey { 0 = Hashes(hashes), 1 = File(file) }
}

impl Canonical for StartTls {
    fn encode(&self, out: &mut dyn Sink) {
        self.0.encode(out);
    }
}

impl Canonical for CaSource {
    fn encode(&self, out: &mut dyn Sink) {
        match self {
            CaSource::File(file) => (0u8, file).encode(out),
            CaSource::Path(folder) => (1u8, folder).encode(out),
            CaSource::Blob(bytes) => {
                2u8.encode(out);
                block(out, bytes);
            }
            CaSource::System(bundle) => (3u8, bundle).encode(out),
        }
    }
}

impl Canonical for CertSource {
    fn encode(&self, out: &mut dyn Sink) {
        match self {
            CertSource::File(file) => (0u8, file).encode(out),
            CertSource::Blob(bytes) => {
                1u8.encode(out);
                block(out, bytes);
            }
            CertSource::Module(id) => (2u8, id).encode(out),
        }
    }
}

impl Canonical for Ech {
    fn encode(&self, out: &mut dyn Sink) {
        match self {
            Ech::Grease => 0u8.encode(out),
            Ech::Offer { list, outer_name } => {
                1u8.encode(out);
                text(out, list);
                outer_name.encode(out);
            }
            Ech::Published { required, outer_name } => {
                2u8.encode(out);
                (required, outer_name).encode(out);
            }
        }
    }
}

impl<A: Canonical, B: Canonical> Canonical for (A, B) {
    fn encode(&self, out: &mut dyn Sink) {
        self.0.encode(out);
        self.1.encode(out);
    }
}
