//! The columns `impersonal` and `reply_neutral` of the options: which of them go to hosts that a document
//! names, and which part no kept replies.

use warmwire_tables::easy_option::EasyOption;
use warmwire_tables::option_rule::Bound;

/// Parts of names of options that may say who the user is.
const PERSONAL: [&str; 19] = [
    "AUTH",
    "BEARER",
    "CERT",
    "COOKIE",
    "DATA",
    "DELEGATION",
    "FIELDS",
    "FUNCTION",
    "HEADER",
    "HTTPSIG",
    "KEY",
    "LOGIN",
    "MAIL",
    "NETRC",
    "PASS",
    "QUOTE",
    "SERVICE",
    "SIGV4",
    "USER",
];

/// Both columns are allow lists: an option that proves or says who the user is has neither, whatever was
/// written for others. What is on a list in spite of its name is written out here.
#[test]
fn personal_options_are_on_no_allow_list() {
    let is_personal = |option: &EasyOption| {
        let named = PERSONAL.iter().any(|part| option.name().contains(part));
        named || option.is_secret() || option.bound() == Bound::Login
    };
    let listed = |is_on: fn(EasyOption) -> bool| -> Vec<&str> {
        let personal = EasyOption::ALL.iter().filter(|option| is_personal(option));
        personal.filter(|option| is_on(**option)).map(|option| option.name()).collect()
    };
    // The proxy is the user's own, on the way to any host; a pin is a check of the peer.
    let impersonal = [
        "PROXYUSERPWD",
        "USERAGENT",
        "PINNEDPUBLICKEY",
        "PROXY_SERVICE_NAME",
        "PROXY_SSLCERT",
        "PROXY_SSLCERTTYPE",
        "PROXY_SSLKEY",
        "PROXY_SSLKEYTYPE",
        "PROXY_KEYPASSWD",
        "PROXY_PINNEDPUBLICKEY",
        "SUPPRESS_CONNECT_HEADERS",
        "SOCKS5_AUTH",
    ];
    assert_eq!(listed(EasyOption::is_impersonal), impersonal);
    // The fields that these make part kept replies themselves.
    let neutral = [
        "USERAGENT",
        "COOKIE",
        "HTTPHEADER",
        "COOKIEFILE",
        "COOKIEJAR",
        "COOKIESESSION",
        "CERTINFO",
        "SUPPRESS_CONNECT_HEADERS",
    ];
    assert_eq!(listed(EasyOption::is_reply_neutral), neutral);
}
