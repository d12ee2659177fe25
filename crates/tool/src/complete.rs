//! Completes a request: passwords that are typed, and files that the environment names.

use crate::message;
use crate::raw::EasyOption as O;
use crate::real_world;
use crate::request::Request;
use crate::system;

/// Asks for passwords that are missing.
pub fn ask_passwords(request: &mut Request, at: usize, count: usize) {
    let bearer = request.options.text(O::Xoauth2Bearer).is_some();
    for (option, kind) in [(O::UserPwd, "host"), (O::ProxyUserPwd, "proxy")] {
        let Some(login) = request.options.text(option).map(<[u8]>::to_vec) else { continue };
        if (bearer && kind == "host") || login.contains(&b':') || login.first() == Some(&b';') {
            continue;
        }
        let user = login.split(|byte| *byte == b';').next().unwrap_or_default();
        let user = message::shown(user);
        let place = if count > 1 { format!(" on URL #{}", at + 1) } else { String::new() };
        let password = real_world::ask_password(&format!("Enter {kind} password for user '{user}'{place}:"));
        request.options.set_text(option, &[login.as_slice(), b":", &password].concat());
    }
}

/// Adds the netrc file and the certificates that the environment names.
pub fn from_environment(request: &mut Request) {
    let netrc = request.netrc || request.netrc_optional;
    if let Some(file) =
        system::variable("NETRC").filter(|_| netrc && request.options.text(O::NetrcFile).is_none())
    {
        request.options.set_text(O::NetrcFile, &file);
    }
    let named = request.options.text(O::CaInfo).or(request.options.text(O::CaPath)).is_some();
    if !named && !request.insecure {
        let found = certificates_from_environment(request);
        if system::TRUSTS_SYSTEM && !found {
            trust_system(request);
        }
    }
}

/// Acts as if `--ca-native` and `--proxy-ca-native` had been given.
fn trust_system(request: &mut Request) {
    const NATIVE_CA: i64 = 16;
    for option in [O::SslOptions, O::ProxySslOptions] {
        let bits = request.options.long(option).unwrap_or(0);
        request.options.set_long(option, bits | NATIVE_CA);
    }
}

/// Adds the certificates that the environment names; returns whether it names any.
fn certificates_from_environment(request: &mut Request) -> bool {
    let variable = |name: &str| system::variable(name).filter(|value| !value.is_empty());
    if let Some(bundle) = variable("CURL_CA_BUNDLE") {
        request.options.set_text(O::CaInfo, &bundle);
        return true;
    }
    let mut found = false;
    for (name, option) in [("SSL_CERT_DIR", O::CaPath), ("SSL_CERT_FILE", O::CaInfo)] {
        if let Some(value) = variable(name) {
            request.options.set_text(option, &value);
            found = true;
        }
    }
    found
}
