//! Which options do something in this build. What does nothing says so with curl's own codes; an
//! option changes its row here in the commit that builds what it asks for.

use tables::constant::{
    CURLAUTH_AWS_SIGV4, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_DIGEST_IE,
    CURLAUTH_NEGOTIATE, CURLAUTH_NTLM, CURLAUTH_ONLY,
};
use tables::{Code, EasyOption as O};

/// The schemes of HTTP authentication that this build speaks.
pub const SCHEMES_BUILT: u64 = CURLAUTH_BASIC
    | CURLAUTH_DIGEST
    | if tables::feature::is_built("SPNEGO") { CURLAUTH_NEGOTIATE } else { 0 }
    | CURLAUTH_DIGEST_IE
    | CURLAUTH_BEARER
    | CURLAUTH_NTLM
    | CURLAUTH_AWS_SIGV4;

/// Whether HTTP/2 is spoken at all.
pub const HTTP2_BUILT: bool = tables::feature::is_built("HTTP2");

/// Whether there are sockets with names in the file system.
const UNIX_SOCKETS_BUILT: bool = tables::feature::is_built("UnixSockets");

/// What a want consists of. CURLAUTH_ONLY stays in it: beside one scheme it makes two, so that nothing is sent unasked.
pub const SCHEMES_KNOWN: u64 = SCHEMES_BUILT | CURLAUTH_ONLY;

/// How an option is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Stored, and honoured.
    Yes,
    /// The same where the system has an OpenSSL that can be loaded, NOT_BUILT_IN elsewhere.
    WithOpenSsl,
    /// CURLE_NOT_BUILT_IN: curl knows it, this build lacks what it asks for.
    NotBuiltIn,
    /// CURLE_UNKNOWN_OPTION: curl took it out.
    Unknown,
}

impl Support {
    /// What setopt answers. What this build lacks may be taken back with NULL: programs that reset every option of a reused
    /// handle so (PHP's pecl_http) ask for nothing, and a libcurl with everything built in takes it.
    pub fn answer(self, nothing: bool) -> Result<(), Code> {
        match self {
            Support::Yes => Ok(()),
            Support::NotBuiltIn | Support::WithOpenSsl if nothing => Ok(()),
            Support::WithOpenSsl if net::tls::openssl::is_there() => Ok(()),
            Support::WithOpenSsl => Err(Code::NotBuiltIn),
            Support::NotBuiltIn => Err(Code::NotBuiltIn),
            Support::Unknown => Err(Code::UnknownOption),
        }
    }
}

/// Looks an option up. Whoever adds one to the tables must say here whether it is honoured.
// exhaustive: options
#[rustfmt::skip]
pub fn support(option: O) -> Support {
    match option {
        // Data and callbacks of every transfer, kept by the C boundary or the Rust API.
        O::WriteData | O::ReadData | O::HeaderData | O::XferinfoData | O::DebugData | O::IoctlData
        | O::SockoptData | O::OpensocketData | O::SeekData | O::ClosesocketData | O::ResolverStartData
        | O::TrailerData | O::PrereqData | O::WriteFunction | O::ReadFunction | O::ProgressFunction
        | O::HeaderFunction | O::DebugFunction | O::IoctlFunction | O::SockoptFunction
        | O::OpensocketFunction | O::SeekFunction | O::ClosesocketFunction | O::XferinfoFunction
        | O::ResolverStartFunction | O::TrailerFunction | O::PrereqFunction | O::Errorbuffer | O::Stderr
        | O::Private | O::Share | O::Curlu => Support::Yes,
        // What is fetched, and how much of it.
        O::Url | O::Port | O::DefaultProtocol | O::ProtocolsStr | O::RedirProtocolsStr | O::Protocols
        | O::RedirProtocols | O::Range | O::ResumeFrom | O::ResumeFromLarge | O::Nobody | O::Header
        | O::Failonerror | O::Upload | O::Put | O::Infilesize | O::InfilesizeLarge | O::Maxfilesize
        | O::MaxfilesizeLarge | O::Filetime | O::Timecondition | O::Timevalue | O::TimevalueLarge
        | O::PathAsIs | O::DisallowUsernameInUrl | O::Crlf => Support::Yes,
        // HTTP.
        O::Httpget | O::Post | O::Postfields | O::Copypostfields | O::Postfieldsize
        | O::PostfieldsizeLarge | O::Mimepost | O::Httppost | O::MimeOptions | O::Customrequest
        | O::Httpheader | O::Proxyheader | O::Headeropt | O::Referer | O::Autoreferer | O::Useragent
        | O::AcceptEncoding | O::TransferEncoding | O::Cookie | O::Cookiefile | O::Cookiejar
        | O::Cookielist | O::Cookiesession | O::Followlocation | O::Maxredirs | O::Postredir
        | O::UnrestrictedAuth | O::Http200aliases | O::HttpVersion | O::Http09Allowed
        | O::IgnoreContentLength | O::HttpTransferDecoding | O::HttpContentDecoding
        | O::Hsts | O::HstsCtrl | O::HstsreadFunction | O::HstsreadData | O::HstswriteFunction
        | O::HstswriteData | O::Altsvc | O::AltsvcCtrl | O::Expect100TimeoutMs | O::KeepSendingOnError | O::RequestTarget => Support::Yes,
        // Who is asking.
        O::Userpwd | O::Username | O::Password | O::Httpauth | O::Xoauth2Bearer | O::Netrc | O::NetrcFile
        | O::LoginOptions | O::AwsSigv4 | O::HttpsigAlgorithm | O::HttpsigKey | O::HttpsigKeyid
        | O::HttpsigHeaders => Support::Yes,
        // Proxies.
        O::Proxy | O::Proxyport | O::Proxytype | O::Proxyuserpwd | O::Proxyusername | O::Proxypassword
        | O::Proxyauth | O::Httpproxytunnel | O::Noproxy | O::SuppressConnectHeaders | O::PreProxy
        | O::ProxyCainfo | O::ProxyCapath | O::ProxyCainfoBlob | O::ProxySslVerifypeer
        | O::ProxySslVerifyhost | O::ProxySslversion | O::ProxySslcert | O::ProxySslcerttype
        | O::ProxySslkey | O::ProxySslkeytype | O::ProxyKeypasswd | O::ProxySslcertBlob
        | O::ProxySslkeyBlob | O::ProxySslCipherList | O::ProxyTls13Ciphers | O::ProxyCrlfile
        | O::ProxyPinnedpublickey | O::ProxyIssuercert | O::ProxyIssuercertBlob | O::ProxySslOptions
        | O::Socks5Auth | O::Haproxyprotocol | O::HaproxyClientIp | O::ProxyTransferMode => Support::Yes,
        // TLS.
        O::SslVerifypeer | O::SslVerifyhost | O::Cainfo | O::Capath | O::CainfoBlob | O::CaCacheTimeout
        | O::Crlfile | O::Sslcert | O::Sslcerttype | O::SslcertBlob | O::Sslkey | O::Sslkeytype
        | O::SslkeyBlob | O::Keypasswd | O::Sslversion | O::SslCipherList | O::Tls13Ciphers
        | O::SslEcCurves | O::SslSignatureAlgorithms | O::Pinnedpublickey | O::Issuercert
        | O::IssuercertBlob | O::Ech | O::SslOptions | O::SslSessionidCache | O::SslEnableAlpn | O::Certinfo
        | O::UseSsl => Support::Yes,
        // The network.
        O::Connecttimeout | O::ConnecttimeoutMs | O::Timeout | O::TimeoutMs | O::ServerResponseTimeout
        | O::ServerResponseTimeoutMs | O::LowSpeedLimit | O::LowSpeedTime | O::MaxSendSpeedLarge
        | O::MaxRecvSpeedLarge | O::Interface | O::Localport | O::Localportrange | O::Ipresolve
        | O::AddressScope | O::TcpNodelay | O::TcpKeepalive | O::TcpKeepidle | O::TcpKeepintvl
        | O::TcpKeepcnt | O::TcpFastopen | O::Resolve
        | O::ConnectTo | O::DnsCacheTimeout | O::DnsShuffleAddresses | O::HappyEyeballsTimeoutMs
        | O::Maxconnects | O::MaxageConn | O::MaxlifetimeConn | O::FreshConnect | O::ForbidReuse
        | O::ConnectOnly | O::UpkeepIntervalMs | O::Buffersize | O::UploadBuffersize | O::Nosignal
        | O::QuickExit | O::DohUrl | O::DohSslVerifypeer | O::DohSslVerifyhost
        | O::DohSslVerifystatus | O::DnsServers | O::DnsInterface | O::DnsLocalIp4 | O::DnsLocalIp6 => Support::Yes,
        // As curl answers where it was built without.
        O::UnixSocketPath | O::AbstractUnixSocket if !UNIX_SOCKETS_BUILT => Support::Unknown,
        O::UnixSocketPath | O::AbstractUnixSocket => Support::Yes,
        // Messages.
        O::Verbose | O::Noprogress => Support::Yes,
        // FTP.
        O::Ftpport | O::FtpUseEprt | O::FtpUseEpsv | O::FtpSkipPasvIp | O::FtpFilemethod
        | O::FtpCreateMissingDirs | O::FtpAccount | O::FtpAlternativeToUser | O::FtpUsePret | O::FtpSslCcc
        | O::Ftpsslauth | O::Quote | O::Postquote | O::Prequote | O::Dirlistonly | O::Append
        | O::Transfertext | O::AccepttimeoutMs | O::NewFilePerms | O::NewDirectoryPerms | O::Wildcardmatch
        | O::ChunkBgnFunction | O::ChunkEndFunction | O::ChunkData | O::FnmatchFunction
        | O::FnmatchData | O::SslVerifystatus => Support::Yes,
        // TELNET.
        O::Telnetoptions => Support::Yes,
        // TFTP.
        O::TftpBlksize | O::TftpNoOptions => Support::Yes,
        // RTSP.
        O::RtspRequest | O::RtspSessionId | O::RtspStreamUri | O::RtspTransport | O::RtspClientCseq
        | O::RtspServerCseq | O::InterleaveFunction | O::InterleaveData => Support::Yes,
        // SFTP and SCP. Of the log-ins that CURLOPT_SSH_AUTH_TYPES may name, CURLSSH_AUTH_HOST and CURLSSH_AUTH_GSSAPI are
        // accepted and let nobody in, as in a libcurl with libssh2.
        O::SshAuthTypes | O::SshPublicKeyfile | O::SshPrivateKeyfile | O::SshHostPublicKeyMd5
        | O::SshHostPublicKeySha256 | O::SshKnownhosts | O::SshKeyFunction | O::SshKeyData
        | O::SshHostkeyFunction | O::SshHostkeyData | O::SshCompression => Support::Yes,
        // WebSocket.
        O::WsOptions => Support::Yes,
        // GSS-API.
        O::ServiceName | O::ProxyServiceName | O::Socks5GssapiService | O::Socks5GssapiNec
        | O::GssapiDelegation => Support::Yes,
        // Accepted and without effect in curl 8.22 itself.
        O::RandomFile | O::Egdsocket | O::DnsUseGlobalCache | O::SslEnableNpn
        | O::Pipewait | O::StreamDepends | O::StreamDependsE | O::StreamWeight => Support::Yes,
        // Mail.
        O::MailFrom | O::MailRcpt | O::MailAuth | O::MailRcptAllowfails | O::SaslIr
        | O::SaslAuthzid | O::UploadFlags => Support::Yes,
        // OpenSSL's own.
        O::SslCtxFunction | O::SslCtxData | O::Sslengine | O::SslengineDefault => Support::WithOpenSsl,
        // Taken out of curl with 8.15, 8.17 and 8.22.
        O::SslFalsestart | O::Krblevel | O::TlsauthUsername | O::TlsauthPassword | O::TlsauthType
        | O::ProxyTlsauthUsername | O::ProxyTlsauthPassword | O::ProxyTlsauthType => Support::NotBuiltIn,
        // Obsolete in curl 8.22.
        O::ConvFromNetworkFunction | O::ConvFromUtf8Function | O::ConvToNetworkFunction => Support::Unknown,
    }
}
