//! Requests to servers that the user has not chosen: mirrors, URLs in Link fields, and the URLs of a Metalink
//! (CVE-2021-22923). Nothing that identifies the user is sent there. A setting is kept only if it is listed,
//! so that a new one applies only to the user's own URL until somebody decides otherwise.

use crate::options::{Options, Value};
use crate::raw::EasyOption as O;
use crate::request::Request;

/// CURLSSLOPT_AUTO_CLIENT_CERT: a certificate of the user's is looked for and shown to the server.
const AUTO_CLIENT_CERT: i64 = 1 << 5;

/// The request without everything that is the user's.
pub fn stripped(request: &Request) -> Request {
    Request {
        options: options(&request.options),
        clobber: request.clobber,
        create_dirs: request.create_dirs,
        deadline_ms: request.deadline_ms,
        doh_insecure: request.doh_insecure,
        fail: request.fail,
        fail_on: request.fail_on.clone(),
        follow: request.follow,
        ftp_ccc: request.ftp_ccc,
        insecure: request.insecure,
        mptcp: request.mptcp,
        no_buffer: request.no_buffer,
        proxy_auth: request.proxy_auth.clone(),
        proxy_insecure: request.proxy_insecure,
        remote_time: request.remote_time,
        ssl_control: request.ssl_control,
        ssl_required: request.ssl_required,
        ssl_try: request.ssl_try,
        tls_max: request.tls_max,
        tls_min: request.tls_min,
        verify_digest: request.verify_digest,
        ..Request::new()
    }
}

fn options(all: &Options) -> Options {
    let mut kept = Options::default();
    for (key, value) in all.iter().filter(|(key, _)| key.is_impersonal()) {
        kept.set(*key, value.clone());
    }
    if let Some(bits) = all.long(O::SslOptions) {
        kept.set_long(O::SslOptions, bits & !AUTO_CLIENT_CERT);
    }
    // A proxy forwards other fields to the server; it keeps this one (RFC 9110, section 11.7.2).
    let login = |line: &&Vec<u8>| {
        let name = b"Proxy-Authorization:";
        line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
    };
    let for_proxy: Vec<_> = all.list(O::ProxyHeader).iter().filter(login).cloned().collect();
    if !for_proxy.is_empty() {
        kept.set(O::ProxyHeader, Value::List(for_proxy));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, Set};
    use crate::options::{Key, ToolOption};

    /// Returns all options that flags set by declaration alone.
    fn declared() -> Vec<Key> {
        let named = flags::all().filter_map(|flag| match flag.set() {
            Set::Text(name) | Set::ExistingFile(name) | Set::AnyText(name) | Set::List(name) => Some(name),
            Set::On(name) | Set::Off(name) | Set::Millis(name) | Set::Number(name) => Some(name),
            Set::Bits(name, _) | Set::Fixed(name, _) => Some(name),
            _ => None,
        });
        named.collect()
    }

    #[test]
    fn unknown_settings_stay_with_the_user() {
        let mut request = Request::new();
        let more = [O::HttpHeader, O::SslCert, O::Xoauth2Bearer].map(Key::from);
        for key in declared().into_iter().chain(more) {
            request.options.set_text(key, b"x");
        }
        request
            .options
            .set(O::ProxyHeader, Value::List(vec![b"X-Key: 1".into(), b"proxy-authorization: 2".into()]));
        request.options.set_long(O::SslOptions, AUTO_CLIENT_CERT | 1);
        (request.netrc, request.post, request.query) = (true, Some(b"x".into()), Some(b"y".into()));
        request.cookies.push(b"a=b".into());
        request.cookie_files.push(b"jar".into());
        let kept = stripped(&request);
        let personal = [
            O::UserPwd,
            O::HttpAuth,
            O::HttpHeader,
            O::SslCert,
            O::KeyPasswd,
            O::Xoauth2Bearer,
            O::Referer,
            O::CookieJar,
            O::NetrcFile,
            O::LoginOptions,
            O::SaslAuthzId,
            O::HttpSigKeyId,
            O::FtpAccount,
            O::FtpAlternativeToUser,
            O::Quote,
            O::UnixSocketPath,
            O::SshPublicKeyFile,
            O::HaProxyClientIp,
            O::GssapiDelegation,
            O::ServiceName,
        ];
        let own = [ToolOption::Key, ToolOption::EtagCompare].map(Key::from);
        for key in personal.map(Key::from).into_iter().chain(own) {
            assert!(kept.options.get(key).is_none(), "{key:?}");
        }
        for option in [O::Proxy, O::ProxyUserPwd, O::CaInfo, O::TimeoutMs, O::UserAgent] {
            assert!(
                kept.options.get(option).is_some() == request.options.get(option).is_some(),
                "{option:?}"
            );
        }
        assert_eq!(kept.options.list(O::ProxyHeader), [b"proxy-authorization: 2".to_vec()]);
        assert_eq!(kept.options.long(O::SslOptions), Some(1));
        assert!(!kept.netrc && kept.post.is_none() && kept.query.is_none());
        assert!(kept.cookies.is_empty() && kept.cookie_files.is_empty());
    }
}
