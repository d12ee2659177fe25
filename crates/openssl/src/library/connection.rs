//! SSL: a connection over memory buffers.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};
use std::sync::PoisonError;

use super::{Context, Functions, Handle, NewSessions, constant};
use crate::numbers::*;
use crate::{Failure, Progress, Session};

/// SSL: one connection, on memory.
pub struct Connection {
    pub(super) f: &'static Functions,
    pub(super) ssl: Handle,
    pub(super) input: Handle,
    pub(super) output: Handle,
    pub(super) given: Box<NewSessions>,
    /// The context, whose functions it calls.
    pub(super) context: Context,
}

// SAFETY: as for `Context`.
unsafe impl Send for Connection {}

impl Connection {
    /// The addresses of the SSL_CTX and of the SSL, for the program to look at.
    pub fn addresses(&self) -> [usize; 2] {
        [self.context.address(), self.ssl as usize]
    }

    /// Puts in received bytes.
    pub fn put(&mut self, bytes: &[u8]) {
        // SAFETY: a memory BIO takes and copies all of it.
        unsafe { (self.f.write_bio)(self.input, bytes.as_ptr().cast(), length(bytes)) };
    }

    /// Whether something that was put in has not been looked at.
    pub fn has_input(&self) -> bool {
        // SAFETY: the BIO is alive.
        unsafe { (self.f.pending_bio)(self.input) > 0 }
    }

    /// Whether something is to be sent.
    pub fn has_output(&self) -> bool {
        // SAFETY: the BIO is alive.
        unsafe { (self.f.pending_bio)(self.output) > 0 }
    }

    /// Records that the peer sends nothing more.
    pub fn end_input(&mut self) {
        // SAFETY: a number: the result of reading an empty BIO.
        unsafe { (self.f.ctrl_bio)(self.input, BIO_C_SET_BUF_MEM_EOF_RETURN, 0, null_mut()) };
    }

    /// Appends pending output.
    pub fn take(&mut self, out: &mut Vec<u8>) {
        // SAFETY: the BIO is alive.
        let n = unsafe { (self.f.pending_bio)(self.output) };
        if n > 0 {
            let start = out.len();
            out.resize(start + n, 0);
            // SAFETY: there is room for the announced bytes.
            let got = unsafe { (self.f.read_bio)(self.output, out[start..].as_mut_ptr().cast(), n as c_int) };
            out.truncate(start + usize::try_from(got).unwrap_or(0));
        }
    }

    /// Continues the handshake.
    pub fn handshake(&mut self) -> Result<Progress, Failure> {
        self.f.forget_errors();
        // SAFETY: the connection is our own.
        let done = unsafe { (self.f.handshake)(self.ssl) };
        self.progress(done, 0)
    }

    /// Reads decrypted data.
    pub fn read(&mut self, buf: &mut [u8]) -> Result<Progress, Failure> {
        self.f.forget_errors();
        // SAFETY: the buffer is as long as said.
        let n = unsafe { (self.f.read)(self.ssl, buf.as_mut_ptr().cast(), length(buf)) };
        self.progress(n, usize::try_from(n).unwrap_or(0))
    }

    /// Enciphers; not more than fits into a record at once.
    pub fn write(&mut self, bytes: &[u8]) -> Result<Progress, Failure> {
        self.f.forget_errors();
        // SAFETY: the buffer is as long as said.
        let n = unsafe { (self.f.write)(self.ssl, bytes.as_ptr().cast(), length(bytes)) };
        self.progress(n, usize::try_from(n).unwrap_or(0))
    }

    fn progress(&self, result: c_int, moved: usize) -> Result<Progress, Failure> {
        if result > 0 {
            return Ok(Progress::Done(moved));
        }
        // SAFETY: called right behind the call that it asks about.
        match unsafe { (self.f.why)(self.ssl, result) } {
            SSL_ERROR_WANT_READ => Ok(Progress::NeedsInput),
            SSL_ERROR_WANT_RETRY_VERIFY => Ok(Progress::Unjudged),
            SSL_ERROR_ZERO_RETURN => Ok(Progress::Closed),
            _ => Err(self.f.failure()),
        }
    }

    /// Requests new TLS 1.3 keys for sending; the next write announces them. `ask`: the peer must update its
    /// own, too.
    pub fn renew_keys(&mut self, ask: bool) {
        // SAFETY: the connection belongs to us and its handshake is complete; before TLS 1.3 nothing happens.
        unsafe { (self.f.renew_keys)(self.ssl, ask.into()) };
        self.f.forget_errors();
    }

    /// Says goodbye.
    pub fn shut_down(&mut self) {
        // SAFETY: the connection belongs to us; the result does not matter.
        unsafe { (self.f.shutdown)(self.ssl) };
        self.f.forget_errors();
    }

    /// "TLSv1.3".
    pub fn version(&self) -> &'static str {
        // SAFETY: a constant text.
        unsafe { constant((self.f.protocol)(self.ssl)) }.unwrap_or_default()
    }

    /// OpenSSL's name of the cipher.
    pub fn cipher(&self) -> &'static str {
        // SAFETY: ciphers and their names are constants; a null cipher has a name, too.
        unsafe { constant((self.f.cipher_name)((self.f.cipher)(self.ssl))) }.unwrap_or_default()
    }

    /// The group of the key exchange; empty where there was none.
    pub fn group(&self) -> &'static str {
        // SAFETY: queries a number and its name, which lives as long as the connection.
        let name = unsafe {
            let group = (self.f.ctrl)(self.ssl, SSL_CTRL_GET_NEGOTIATED_GROUP, 0, null_mut());
            let name = if group > 0 { (self.f.group_name)(self.ssl, group as c_int) } else { null() };
            if name.is_null() { return "" } else { CStr::from_ptr(name).to_string_lossy() }
        };
        interned(&name)
    }

    /// Returns the protocol that ALPN negotiated.
    pub fn alpn(&self) -> Option<String> {
        let (mut name, mut length) = (null(), 0);
        // SAFETY: two places for results; the name lives as long as the connection.
        unsafe {
            (self.f.alpn)(self.ssl, &mut name, &mut length);
            (!name.is_null()).then(|| {
                String::from_utf8_lossy(std::slice::from_raw_parts(name, length as usize)).into_owned()
            })
        }
    }

    /// X509_V_ERR_…, 0 where the chain is good.
    pub fn verdict(&self) -> i64 {
        // SAFETY: the connection is our own.
        unsafe { (self.f.verdict)(self.ssl) }.into()
    }

    /// Returns OpenSSL's text for the verdict.
    pub fn verdict_text(&self) -> &'static str {
        // SAFETY: a constant text.
        unsafe { constant((self.f.verdict_text)((self.f.verdict)(self.ssl))) }.unwrap_or_default()
    }

    /// The server's certificates in DER, its own first.
    pub fn chain(&self) -> Vec<Vec<u8>> {
        let f = self.f;
        // SAFETY: the chain belongs to the connection; null is an empty one. The leaf is ours, and dropped.
        unsafe {
            let all = (f.chain)(self.ssl);
            let chain: Vec<_> = (0..(f.count)(all).min(MAX_CHAIN)).map(|n| f.der((f.nth)(all, n))).collect();
            if !chain.is_empty() {
                return chain;
            }
            let leaf = (f.leaf)(self.ssl); // all that a resumed session knows
            if leaf.is_null() {
                return Vec::new();
            }
            let der = f.der(leaf);
            (f.free_cert)(leaf);
            vec![der]
        }
    }

    /// Returns the stapled OCSP response.
    pub fn status(&self) -> &[u8] {
        let mut answer: *const u8 = null();
        // SAFETY: a place for the answer, which belongs to the connection and has the length that is
        // returned.
        unsafe {
            let place = (&raw mut answer).cast();
            let n = (self.f.ctrl)(self.ssl, SSL_CTRL_GET_TLSEXT_STATUS_REQ_OCSP_RESP, 0, place);
            match usize::try_from(n) {
                Ok(n) if n > 0 && !answer.is_null() => std::slice::from_raw_parts(answer, n),
                _ => &[],
            }
        }
    }

    /// Whether a session was resumed.
    pub fn is_resumed(&self) -> bool {
        // SAFETY: the connection is our own.
        unsafe { (self.f.is_resumed)(self.ssl) == 1 }
    }

    /// A session to be resumed, as [`sessions`](Self::sessions) wrote it down; one that cannot be read is
    /// passed over.
    pub fn resume(&mut self, session: &[u8]) {
        let f = self.f;
        let mut place = session.as_ptr();
        // SAFETY: the buffer has that many bytes; the connection takes its own reference, and ours is
        // dropped.
        unsafe {
            let session = (f.der_session)(null_mut(), &mut place, length(session).into());
            if !session.is_null() {
                (f.set_session)(self.ssl, session);
                (f.free_session)(session);
            }
        }
        f.forget_errors();
    }

    /// Returns the sessions received since the last call.
    pub fn sessions(&mut self) -> Vec<Session> {
        std::mem::take(&mut *self.given.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// RFC 5705, without a context.
    pub fn export(&self, label: &str) -> Option<[u8; 32]> {
        let mut out = [0; 32];
        // SAFETY: as many bytes as said on both sides.
        let done = unsafe {
            let label = (label.as_ptr().cast(), label.len());
            (self.f.export)(self.ssl, out.as_mut_ptr(), out.len(), label.0, label.1, null(), 0, 0)
        };
        self.f.forget_errors();
        (done == 1).then_some(out)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: we own it; its BIOs are freed with it, and its data afterwards.
        unsafe { (self.f.free_ssl)(self.ssl) };
    }
}
