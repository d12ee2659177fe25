//! Flags for proxies, HTTP and SOCKS.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;
use crate::options::Key::Lib;
use crate::raw::EasyOption as O;

pub const FLAGS: &[Declaration] = &[
    Declaration {
        name: "dump-ca-embed",
        arg: Arg::None,
        categories: &["http", "proxy", "tls"],
        protocols: "TLS",
        since: "8.10.0",
        help: "Print the built-in certificate bundle",
        about: "Writes the certificate authorities compiled into the program, if there are any, and \
            ends.",
        set: Set::Mark(act::dump_ca),
        ..FLAG
    },
    Declaration {
        name: "haproxy-clientip",
        arg: Arg::Text("<ip>"),
        multi: Multi::Single,
        categories: &["http", "proxy"],
        protocols: "HTTP",
        since: "8.2.0",
        help: "Client address for the HAProxy header",
        about: "Implies that the PROXY protocol header is sent, with this address.",
        set: Set::Text(Lib(O::HaProxyClientIp)),
        ..FLAG
    },
    Declaration {
        name: "haproxy-protocol",
        categories: &["http", "proxy"],
        protocols: "HTTP",
        since: "7.60.0",
        help: "Send a HAProxy PROXY v1 header first",
        about: "Tells a server behind a load balancer which address the client has.",
        set: Set::On(Lib(O::HaProxyProtocol)),
        ..FLAG
    },
    Declaration {
        name: "noproxy",
        arg: Arg::Text("<no-proxy-list>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.19.4",
        help: "Hosts to reach without a proxy",
        about: "Names, domains, addresses and networks separated by commas; * stands for all. It \
            goes before the variable no_proxy.",
        set: Set::AnyText(Lib(O::NoProxy)),
        ..FLAG
    },
    Declaration {
        name: "preproxy",
        arg: Arg::Text("<[protocol://]host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.52.0",
        help: "SOCKS proxy to go through before the other proxy",
        about: "The HTTP proxy of --proxy is then reached through it.",
        set: Set::Text(Lib(O::PreProxy)),
        ..FLAG
    },
    Declaration {
        name: "proxy-anyauth",
        multi: Multi::Custom,
        categories: &["proxy", "auth"],
        since: "7.13.2",
        help: "Choose the proxy login by what it offers",
        about: "May need one more round trip.",
        set: Set::Field(|r| &mut r.proxy_auth.any),
        ..FLAG
    },
    Declaration {
        name: "proxy-basic",
        categories: &["proxy", "auth"],
        since: "7.12.0",
        help: "Log in to the proxy with Basic",
        about: "The default.",
        set: Set::Field(|r| &mut r.proxy_auth.basic),
        ..FLAG
    },
    Declaration {
        name: "proxy-cacert",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Certificate authorities for the HTTPS proxy",
        about: "As --cacert.",
        set: Set::ExistingFile(Lib(O::ProxyCaInfo)),
        ..FLAG
    },
    Declaration {
        name: "proxy-capath",
        arg: Arg::File("<dir>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Certificate directory for the HTTPS proxy",
        about: "As --capath.",
        set: Set::Text(Lib(O::ProxyCaPath)),
        ..FLAG
    },
    Declaration {
        name: "proxy-cert-type",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Format of the client certificate for the proxy",
        about: "As --cert-type.",
        set: Set::Text(Lib(O::ProxySslCertType)),
        ..FLAG
    },
    Declaration {
        name: "proxy-cert",
        arg: Arg::File("<cert[:passwd]>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Client certificate for the HTTPS proxy",
        about: "As --cert.",
        secret: true,
        set: Set::Act(act::proxy_cert),
        ..FLAG
    },
    Declaration {
        name: "proxy-ciphers",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        protocols: "TLS",
        since: "7.52.0",
        help: "Cipher suites for the HTTPS proxy",
        about: "As --ciphers.",
        set: Set::Text(Lib(O::ProxySslCipherList)),
        ..FLAG
    },
    Declaration {
        name: "proxy-crlfile",
        arg: Arg::File("<file>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Revocation list for the HTTPS proxy",
        about: "As --crlfile.",
        set: Set::ExistingFile(Lib(O::ProxyCrlFile)),
        ..FLAG
    },
    Declaration {
        name: "proxy-digest",
        categories: &["proxy", "tls"],
        since: "7.12.0",
        help: "Log in to the proxy with Digest",
        about: "The password does not travel in the clear.",
        set: Set::Field(|r| &mut r.proxy_auth.digest),
        ..FLAG
    },
    Declaration {
        name: "proxy-header",
        arg: Arg::Text("<header/@file>"),
        multi: Multi::Append,
        categories: &["proxy", "http"],
        protocols: "HTTP",
        since: "7.37.0",
        help: "Add or change a header to the proxy",
        about: "As --header, for CONNECT requests only.",
        set: Set::Act(act::proxy_header),
        ..FLAG
    },
    Declaration {
        name: "proxy-http2",
        categories: &["http", "proxy"],
        protocols: "HTTP",
        since: "8.1.0",
        help: "Speak HTTP 2 to an HTTPS proxy",
        about: "Falls back to HTTP 1.1 when the proxy does not know it.",
        set: Set::Toggle(act::proxy_http2),
        ..FLAG
    },
    Declaration {
        name: "proxy-http3",
        categories: &["http", "proxy"],
        protocols: "HTTP",
        since: "8.21.0",
        help: "Speak HTTP 3 to an HTTPS proxy",
        about: "Fails when the proxy does not know it. With --http3 the proxy carries datagrams, too.",
        set: Set::Toggle(act::proxy_http3),
        ..FLAG
    },
    Declaration {
        name: "proxy-insecure",
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Do not verify the HTTPS proxy",
        about: "As --insecure.",
        set: Set::Field(|r| &mut r.proxy_insecure),
        ..FLAG
    },
    Declaration {
        name: "proxy-key-type",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Format of the private key for the proxy",
        about: "As --key-type.",
        set: Set::Text(Lib(O::ProxySslKeyType)),
        ..FLAG
    },
    Declaration {
        name: "proxy-key",
        arg: Arg::File("<key>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Private key for the HTTPS proxy",
        about: "As --key.",
        set: Set::AnyText(Lib(O::ProxySslKey)),
        ..FLAG
    },
    Declaration {
        name: "proxy-negotiate",
        multi: Multi::Mutex,
        categories: &["proxy", "auth"],
        since: "7.17.1",
        help: "Log in to the proxy with Negotiate",
        about: "Needs GSS-API.",
        needs: "SPNEGO",
        set: Set::Field(|r| &mut r.proxy_auth.negotiate),
        ..FLAG
    },
    Declaration {
        name: "proxy-ntlm",
        categories: &["proxy", "auth"],
        since: "7.10.7",
        help: "Log in to the proxy with NTLM",
        about: "See --ntlm.",
        needs: "NTLM",
        set: Set::Field(|r| &mut r.proxy_auth.ntlm),
        ..FLAG
    },
    Declaration {
        name: "proxy-pass",
        arg: Arg::Text("<phrase>"),
        multi: Multi::Single,
        categories: &["proxy", "tls", "auth"],
        since: "7.52.0",
        help: "Pass phrase of the proxy's client key",
        about: "As --pass.",
        secret: true,
        set: Set::AnyText(Lib(O::ProxyKeyPasswd)),
        ..FLAG
    },
    Declaration {
        name: "proxy-pinnedpubkey",
        arg: Arg::Text("<hashes>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        protocols: "TLS",
        since: "7.59.0",
        help: "Accept this public key of the proxy only",
        about: "As --pinnedpubkey.",
        set: Set::Text(Lib(O::ProxyPinnedPublicKey)),
        ..FLAG
    },
    Declaration {
        name: "proxy-service-name",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        since: "7.43.0",
        help: "Service name for Negotiate with the proxy",
        about: "Instead of HTTP, or rcmd for SOCKS.",
        set: Set::Text(Lib(O::ProxyServiceName)),
        ..FLAG
    },
    Declaration {
        name: "proxy-ssl-allow-beast",
        categories: &["proxy", "tls"],
        since: "7.52.0",
        help: "Leave out a TLS 1.0 safeguard with the proxy",
        about: "As --ssl-allow-beast.",
        set: Set::Bits(Lib(O::ProxySslOptions), 1),
        ..FLAG
    },
    Declaration {
        name: "proxy-ssl-auto-client-cert",
        categories: &["proxy", "tls"],
        since: "7.77.0",
        help: "Let the system pick a client certificate for the proxy",
        about: "As --ssl-auto-client-cert.",
        set: Set::Bits(Lib(O::ProxySslOptions), 32),
        ..FLAG
    },
    Declaration {
        name: "proxy-tls13-ciphers",
        arg: Arg::Text("<list>"),
        multi: Multi::Single,
        categories: &["proxy", "tls"],
        protocols: "TLS",
        since: "7.61.0",
        help: "TLS 1.3 cipher suites for the HTTPS proxy",
        about: "As --tls13-ciphers.",
        set: Set::Text(Lib(O::ProxyTls13Ciphers)),
        ..FLAG
    },
    Declaration {
        name: "proxy-tlsauthtype",
        arg: Arg::Text("<type>"),
        multi: Multi::Single,
        categories: &["proxy", "tls", "auth"],
        since: "7.52.0",
        help: "TLS-SRP login type for the proxy (without effect)",
        about: "Kept so that old command lines work.",
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "proxy-tlspassword",
        arg: Arg::Text("<string>"),
        multi: Multi::Single,
        categories: &["proxy", "tls", "auth"],
        since: "7.52.0",
        help: "TLS-SRP password for the proxy (without effect)",
        about: "Kept so that old command lines work.",
        secret: true,
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "proxy-tlsuser",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["proxy", "tls", "auth"],
        since: "7.52.0",
        help: "TLS-SRP user name for the proxy (without effect)",
        about: "Kept so that old command lines work.",
        secret: true,
        set: Set::Gone,
        ..FLAG
    },
    Declaration {
        name: "proxy-tlsv1",
        arg: Arg::None,
        multi: Multi::Mutex,
        categories: &["proxy", "tls", "auth"],
        since: "7.52.0",
        help: "TLS 1.0 or later with the HTTPS proxy",
        about: "As --tlsv1.",
        set: Set::Fixed(Lib(O::ProxySslVersion), 1),
        ..FLAG
    },
    Declaration {
        name: "proxy-user",
        short: 'U',
        arg: Arg::Text("<user:password>"),
        multi: Multi::Single,
        categories: &["proxy", "auth"],
        since: "4.0",
        help: "Name and password for the proxy",
        about: "With a name alone the password is asked for.",
        secret: true,
        set: Set::AnyText(Lib(O::ProxyUserPwd)),
        ..FLAG
    },
    Declaration {
        name: "proxy",
        short: 'x',
        arg: Arg::Text("<[protocol://]host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "4.0",
        help: "Go through this proxy",
        about: "The scheme says which kind: http (the default), https, socks4, socks4a, socks5 or \
            socks5h. The port is 1080 if not given. An empty text overrides the variables \
            http_proxy and so on. Several with spaces between them are tried in their order: the next \
            one when one cannot be reached. The word direct stands for none. The word auto stands \
            for the proxies of the system: those of GNOME's settings, or else of the variables. \
            For a proxy with that name, give its scheme: http://auto.",
        set: Set::Act(act::proxy),
        ..FLAG
    },
    Declaration {
        name: "proxy1.0",
        arg: Arg::Text("<host[:port]>"),
        multi: Multi::Mutex,
        categories: &["proxy"],
        since: "7.19.4",
        help: "Go through this HTTP 1.0 proxy",
        about: "As --proxy, but CONNECT is sent with HTTP 1.0.",
        set: Set::Act(act::proxy10),
        ..FLAG
    },
    Declaration {
        name: "proxytunnel",
        short: 'p',
        categories: &["proxy"],
        since: "7.3",
        help: "Tunnel through the HTTP proxy with CONNECT",
        about: "For all schemes, not just those that need it.",
        set: Set::On(Lib(O::HttpProxyTunnel)),
        ..FLAG
    },
    Declaration {
        name: "socks4",
        arg: Arg::Text("<host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.15.2",
        help: "SOCKS4 proxy",
        about: "The name is looked up here.",
        set: Set::Act(act::socks4),
        ..FLAG
    },
    Declaration {
        name: "socks4a",
        arg: Arg::Text("<host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.18.0",
        help: "SOCKS4a proxy",
        about: "The proxy looks the name up.",
        set: Set::Act(act::socks4a),
        ..FLAG
    },
    Declaration {
        name: "socks5-basic",
        multi: Multi::Mutex,
        categories: &["proxy", "auth"],
        since: "7.55.0",
        help: "Name and password for SOCKS5",
        about: "The login method of --proxy-user.",
        set: Set::Bits(Lib(O::Socks5Auth), 1),
        ..FLAG
    },
    Declaration {
        name: "socks5-gssapi-nec",
        categories: &["proxy", "auth"],
        protocols: "GSS/kerberos",
        since: "7.19.4",
        help: "GSS-API negotiation as NEC's server wants it",
        about: "Unprotected protection mode.",
        set: Set::On(Lib(O::Socks5GssapiNec)),
        ..FLAG
    },
    Declaration {
        name: "socks5-gssapi-service",
        arg: Arg::Text("<name>"),
        multi: Multi::Single,
        categories: &["proxy", "auth"],
        since: "7.19.4",
        help: "Service name of a SOCKS5 GSS-API proxy",
        about: "The default is rcmd and the host name.",
        set: Set::Text(Lib(O::ProxyServiceName)),
        ..FLAG
    },
    Declaration {
        name: "socks5-gssapi",
        categories: &["proxy", "auth"],
        protocols: "GSS/kerberos",
        since: "7.55.0",
        help: "GSS-API login for SOCKS5",
        about: "It is allowed anyway, unless --socks5-basic stands alone.",
        set: Set::Bits(Lib(O::Socks5Auth), 4),
        ..FLAG
    },
    Declaration {
        name: "socks5-hostname",
        arg: Arg::Text("<host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.18.0",
        help: "SOCKS5 proxy that looks names up",
        about: "The proxy gets the name.",
        set: Set::Act(act::socks5h),
        ..FLAG
    },
    Declaration {
        name: "socks5",
        arg: Arg::Text("<host[:port]>"),
        multi: Multi::Single,
        categories: &["proxy"],
        since: "7.18.0",
        help: "SOCKS5 proxy",
        about: "The name is looked up here.",
        set: Set::Act(act::socks5),
        ..FLAG
    },
    Declaration {
        name: "suppress-connect-headers",
        categories: &["proxy"],
        since: "7.54.0",
        help: "Hide the proxy's CONNECT headers",
        about: "With --show-headers and --dump-header.",
        set: Set::On(Lib(O::SuppressConnectHeaders)),
        ..FLAG
    },
];
