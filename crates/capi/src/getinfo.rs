//! curl_easy_getinfo: what the last transfer found out, in the type that the info's row has.
//! Texts belong to the handle and live until the same info is asked again.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::time::Instant;

use engine::info::{Nanos, TransferInfo};
use tables::constant::CURLSSLBACKEND_OPENSSL;
use tables::{Code, EasyOption as O, Entry, Info as I, InfoKind};

use crate::easy::outputs::{TlsSession, TlsSessionInfo};
use crate::easy::{self, EasyHandle};
use crate::slist::{self, Slist};
use crate::sys;

/// The shim's `curl_easy_getinfo`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_easy_getinfo(
    handle: *mut c_void,
    info: c_int,
    out: *mut c_void,
) -> c_int {
    easy::run(handle, Entry::EasyGetinfo, |easy, _| {
        let info = I::from_id(info).ok_or(Code::UnknownOption)?;
        if out.is_null() {
            return Err(Code::UnknownOption); // what libcurl answers
        }
        // SAFETY: `out` points to what the info's kind says, as the manual demands.
        unsafe {
            match info.kind() {
                InfoKind::String => *out.cast() = easy.text(info),
                InfoKind::Long => *out.cast() = sys::to_long(easy.number(info)),
                InfoKind::Double => *out.cast() = easy.real(info),
                InfoKind::OffT => *out.cast() = easy.number(info),
                InfoKind::Socket => *out.cast() = easy.number(info) as sys::RawSocket,
                InfoKind::SList => *out.cast() = easy.list(info),
                InfoKind::Ptr => *out.cast() = easy.object(info),
            }
        }
        if matches!(info, I::TlsSession | I::TlsSslPtr) && easy.uses_tls() && easy.native_tls().is_none() {
            return Err(Code::UnknownOption);
        }
        Ok(())
    })
}

impl EasyHandle {
    fn text(&self, info: I) -> *const c_char {
        if info == I::Private {
            return self.app.pointers.private().cast();
        }
        let Some(text) = self.text_bytes(info) else { return ptr::null() };
        let text = CString::new(text).unwrap_or_default();
        let mut texts = self.outputs().texts.borrow_mut();
        texts.insert(info.id(), text);
        texts[&info.id()].as_ptr()
    }

    fn text_bytes(&self, info: I) -> Option<Vec<u8>> {
        let state = self.easy.state();
        let found = state.info.borrow();
        let copy = |text: &Option<std::rc::Rc<[u8]>>| text.as_ref().map(|text| text.to_vec());
        let asked = |option| state.settings.borrow().text(option).map(|text| text.to_vec());
        match info {
            I::EffectiveUrl => Some(state.effective_url()),
            I::ContentType => copy(&found.content_type),
            I::FtpEntryPath => copy(&found.rare.ftp_entry_path),
            I::RedirectUrl => copy(&found.rare.redirect_url),
            I::PrimaryIp => Some(found.ends.primary_ip().into_bytes()),
            I::LocalIp => Some(found.ends.local_ip().into_bytes()),
            I::Scheme => (!found.scheme.is_empty()).then(|| found.scheme.as_bytes().to_vec()),
            I::EffectiveMethod => Some(self.easy.state().effective_method()),
            I::Referer => copy(&found.rare.referer).or_else(|| asked(O::Referer)),
            I::Cainfo => crate::version::CAINFO.map(|path| path.as_bytes().to_vec()),
            I::Capath => crate::version::CAPATH.map(|path| path.as_bytes().to_vec()),
            I::RtspSessionId => asked(O::RtspSessionId),
            _ => None,
        }
    }

    fn number(&self, info: I) -> i64 {
        let state = self.easy.state();
        let found = state.info.borrow();
        match info {
            I::ResponseCode => found.response_code,
            I::HttpConnectcode => found.rare.connect_code,
            I::HeaderSize => found.header_size,
            I::RequestSize => found.request_size,
            I::SslVerifyresult => found.rare.verify_result,
            I::ProxySslVerifyresult => found.rare.proxy_verify_result,
            I::Filetime | I::FiletimeT => found.file_time,
            I::RedirectCount => found.redirect_count,
            I::HttpauthAvail => found.rare.auth_available,
            I::ProxyauthAvail => found.rare.proxy_auth_available,
            I::HttpauthUsed => found.rare.auth_used,
            I::ProxyauthUsed => found.rare.proxy_auth_used,
            I::OsErrno => state.os_errno.get(),
            I::NumConnects => found.connects,
            I::Lastsocket | I::Activesocket => found.open_socket(),
            I::ConditionUnmet => found.condition_unmet.into(),
            I::PrimaryPort => found.ends.primary_port().into(),
            I::LocalPort => found.ends.local_port().into(),
            I::HttpVersion => found.http_version,
            I::Protocol => found.protocol,
            I::ProxyError => found.rare.proxy_error,
            I::UsedProxy => found.used_proxy.into(),
            I::RetryAfter => found.rare.retry_after,
            I::XferId => state.transfer_id.get(),
            I::ConnId => found.attempted_connection,
            I::RtspClientCseq => state.settings.borrow().long(O::RtspClientCseq),
            I::RtspServerCseq => state.settings.borrow().long(O::RtspServerCseq),
            I::RtspCseqRecv => state.rtsp_received.get(),
            _ => self.amount(info, &found).unwrap_or_else(|| micros(self.time(info, &found))),
        }
    }

    /// Sizes and speeds, which have a type of old and one of new.
    fn amount(&self, info: I, found: &TransferInfo) -> Option<i64> {
        Some(match info {
            I::SizeUpload | I::SizeUploadT => found.uploaded,
            I::SizeDownload | I::SizeDownloadT => found.downloaded,
            I::SizeDelivered => found.delivered,
            I::SpeedDownload | I::SpeedDownloadT => found.speed(found.downloaded),
            I::SpeedUpload | I::SpeedUploadT => found.speed(found.uploaded),
            I::ContentLengthDownload | I::ContentLengthDownloadT => found.download_total,
            I::ContentLengthUpload | I::ContentLengthUploadT => found.upload_total,
            I::EarlyDataSentT => found.rare.early_data,
            _ => return None,
        })
    }

    fn real(&self, info: I) -> f64 {
        let found = self.easy.state().info.borrow();
        match self.amount(info, &found) {
            Some(amount) => amount as f64,
            None => self.time(info, &found).as_secs_f64(),
        }
    }

    fn time(&self, info: I, found: &TransferInfo) -> Nanos {
        match info {
            I::NamelookupTime | I::NamelookupTimeT => found.name_lookup,
            I::ConnectTime | I::ConnectTimeT => found.connect,
            I::AppconnectTime | I::AppconnectTimeT => found.app_connect,
            I::PretransferTime | I::PretransferTimeT => found.pre_transfer,
            I::PosttransferTimeT => found.post_transfer,
            I::StarttransferTime | I::StarttransferTimeT => found.start_transfer,
            I::RedirectTime | I::RedirectTimeT => found.rare.redirect,
            I::QueueTimeT => found.queued,
            // Asked from inside a callback: until now.
            I::TotalTime | I::TotalTimeT if self.easy.in_transfer() => found.since_start(Instant::now()),
            I::TotalTime | I::TotalTimeT => found.total,
            _ => Nanos::default(),
        }
    }

    /// A list that the caller frees.
    fn list(&self, info: I) -> *mut Slist {
        match info {
            I::Cookielist => slist::from_strings(self.easy.cookies()),
            _ => slist::from_strings(engine::engines_of_openssl()),
        }
    }

    /// Whether a transfer is under way on a connection with TLS.
    fn uses_tls(&self) -> bool {
        self.easy.in_transfer() && self.easy.state().info.borrow().secured
    }

    /// OpenSSL's objects of the connection in use.
    fn native_tls(&self) -> Option<[usize; 2]> {
        if self.uses_tls() { self.easy.state().info.borrow().rare.native_tls } else { None }
    }

    fn object(&self, info: I) -> *const c_void {
        match info {
            I::Certinfo => {
                let certificates = &self.easy.state().info.borrow().rare.certificates;
                self.outputs().cert_info.borrow_mut().fill(certificates)
            }
            _ => {
                let native = self.native_tls().map(|[context, connection]| TlsSessionInfo {
                    backend: CURLSSLBACKEND_OPENSSL,
                    internals: if info == I::TlsSession { context } else { connection } as *mut c_void,
                });
                let session = &self.outputs().tls_session.0;
                session.set(native.unwrap_or_else(|| TlsSession::default().0.get()));
                session.as_ptr().cast_const().cast()
            }
        }
    }
}

fn micros(time: Nanos) -> i64 {
    time.as_micros() as i64 // thousandths of a u64 fit
}
