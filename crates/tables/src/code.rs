//! Result codes: numbers, names and the texts of the strerror functions.
//!
//! Programs print and match the texts, so they are exactly curl's (libcurl-errors(3) explains the meanings).
//! Numbers that curl retired keep a row, so that no number is ever reused.

use std::ffi::CStr;

/// Returns a text that ends with its only zero as a C string.
const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => c"",
    }
}

macro_rules! codes {
    ($(#[$doc:meta])* $type:ident, $prefix:literal, $c_type:literal, $unknown:literal:
     $($variant:ident, $name:literal, $id:literal, $since:literal, $text:literal;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum $type { $($variant = $id,)* }

        impl $type {
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];
            /// The prefix of the C names.
            pub const PREFIX: &'static str = $prefix;
            /// The C enumeration.
            pub const C_TYPE: &'static str = $c_type;
            /// The text for numbers that are no code.
            pub const UNKNOWN: &'static str = $unknown;

            pub const fn from_id(id: i32) -> Option<Self> {
                match id {
                    $($id => Some($type::$variant),)*
                    _ => None,
                }
            }

            pub const fn id(self) -> i32 {
                self as i32
            }

            /// The name without its prefix.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }

            /// The curl version that introduced it, or "" for retired numbers.
            pub const fn since(self) -> &'static str {
                match self {
                    $($type::$variant => $since,)*
                }
            }

            pub const fn text(self) -> &'static str {
                match self {
                    $($type::$variant => $text,)*
                }
            }

            /// Returns the text for a number that came from C, as a static C string.
            pub const fn c_text_of(id: i32) -> &'static CStr {
                match id {
                    $($id => terminated(concat!($text, "\0")),)*
                    _ => terminated(concat!($unknown, "\0")),
                }
            }

            /// Returns the text for a number that came from C.
            pub const fn text_of(id: i32) -> &'static str {
                match Self::from_id(id) {
                    Some(code) => code.text(),
                    None => $unknown,
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    };
}

impl std::error::Error for Code {}

/// Old names of `CURLE_` numbers that the headers still define: name, number, first version.
pub const ALIASES: &[(&str, i32, &str)] = &[
    ("CURLE_URL_MALFORMAT_USER", 4, "7.1"),
    ("CURLE_FTP_WEIRD_SERVER_REPLY", 8, "7.1"),
    ("CURLE_FTP_ACCESS_DENIED", 9, "7.1"),
    ("CURLE_FTP_USER_PASSWORD_INCORRECT", 10, "7.1"),
    ("CURLE_OBSOLETE10", 10, ""),
    ("CURLE_FTP_WEIRD_USER_REPLY", 12, "7.1"),
    ("CURLE_OBSOLETE12", 12, ""),
    ("CURLE_FTP_CANT_RECONNECT", 16, "7.1"),
    ("CURLE_OBSOLETE16", 16, ""),
    ("CURLE_FTP_COULDNT_SET_BINARY", 17, "7.1"),
    ("CURLE_FTP_PARTIAL_FILE", 18, "7.1"),
    ("CURLE_FTP_WRITE_ERROR", 20, "7.1"),
    ("CURLE_FTP_QUOTE_ERROR", 21, "7.1"),
    ("CURLE_HTTP_NOT_FOUND", 22, "7.1"),
    ("CURLE_MALFORMAT_USER", 24, "7.1"),
    ("CURLE_FTP_COULDNT_STOR_FILE", 25, "7.1"),
    ("CURLE_OPERATION_TIMEOUTED", 28, "7.1"),
    ("CURLE_FTP_COULDNT_SET_ASCII", 29, "7.1"),
    ("CURLE_FTP_COULDNT_GET_SIZE", 32, "7.1"),
    ("CURLE_HTTP_RANGE_ERROR", 33, "7.1"),
    ("CURLE_HTTP_POST_ERROR", 34, "7.1"),
    ("CURLE_FTP_BAD_DOWNLOAD_RESUME", 36, "7.1"),
    ("CURLE_LIBRARY_NOT_FOUND", 40, "7.1"),
    ("CURLE_FUNCTION_NOT_FOUND", 41, "7.1"),
    ("CURLE_BAD_CALLING_ORDER", 44, "7.1"),
    ("CURLE_HTTP_PORT_FAILED", 45, "7.3"),
    ("CURLE_BAD_PASSWORD_ENTERED", 46, "7.4.2"),
    ("CURLE_UNKNOWN_TELNET_OPTION", 48, "7.7"),
    ("CURLE_TELNET_OPTION_SYNTAX", 49, "7.7"),
    ("CURLE_OBSOLETE", 50, ""),
    ("CURLE_SHARE_IN_USE", 57, "7.9.6"),
    ("CURLE_SSL_CACERT", 60, "7.10"),
    ("CURLE_SSL_PEER_CERTIFICATE", 60, "7.8"),
    ("CURLE_LDAP_INVALID_URL", 62, "7.10.8"),
    ("CURLE_FTP_SSL_FAILED", 64, "7.11.0"),
    ("CURLE_TFTP_DISKFULL", 70, "7.15.0"),
    ("CURLE_TFTP_EXISTS", 73, "7.15.0"),
    ("CURLE_CONV_FAILED", 75, "7.15.4"),
    ("CURLE_CONV_REQD", 76, "7.15.4"),
    ("CURLE_ALREADY_COMPLETE", 99999, "7.7.2"),
];

codes! {
    /// The result of a function on an easy handle; texts of curl_easy_strerror(3).
    Code, "CURLE_", "CURLcode", "Unknown error":
    Ok, "OK", 0, "7.1", "No error";
    UnsupportedProtocol, "UNSUPPORTED_PROTOCOL", 1, "7.1", "Unsupported protocol";
    FailedInit, "FAILED_INIT", 2, "7.1", "Failed initialization";
    UrlMalformat, "URL_MALFORMAT", 3, "7.1", "URL using bad/illegal format or missing URL";
    NotBuiltIn, "NOT_BUILT_IN", 4, "7.21.5", "A requested feature, protocol or option was not found built-in in this libcurl due to a build-time decision.";
    CouldntResolveProxy, "COULDNT_RESOLVE_PROXY", 5, "7.1", "Could not resolve proxy name";
    CouldntResolveHost, "COULDNT_RESOLVE_HOST", 6, "7.1", "Could not resolve hostname";
    CouldntConnect, "COULDNT_CONNECT", 7, "7.1", "Could not connect to server";
    WeirdServerReply, "WEIRD_SERVER_REPLY", 8, "7.51.0", "Weird server reply";
    RemoteAccessDenied, "REMOTE_ACCESS_DENIED", 9, "7.17.0", "Access denied to remote resource";
    FtpAcceptFailed, "FTP_ACCEPT_FAILED", 10, "7.24.0", "FTP: The server failed to connect to data port";
    FtpWeirdPassReply, "FTP_WEIRD_PASS_REPLY", 11, "7.1", "FTP: unknown PASS reply";
    FtpAcceptTimeout, "FTP_ACCEPT_TIMEOUT", 12, "7.24.0", "FTP: Accepting server connect has timed out";
    FtpWeirdPasvReply, "FTP_WEIRD_PASV_REPLY", 13, "7.1", "FTP: unknown PASV reply";
    FtpWeird227Format, "FTP_WEIRD_227_FORMAT", 14, "7.1", "FTP: unknown 227 response format";
    FtpCantGetHost, "FTP_CANT_GET_HOST", 15, "7.1", "FTP: cannot figure out the host in the PASV response";
    Http2, "HTTP2", 16, "7.38.0", "Error in the HTTP2 framing layer";
    FtpCouldntSetType, "FTP_COULDNT_SET_TYPE", 17, "7.17.0", "FTP: could not set file type";
    PartialFile, "PARTIAL_FILE", 18, "7.1", "Transferred a partial file";
    FtpCouldntRetrFile, "FTP_COULDNT_RETR_FILE", 19, "7.1", "FTP: could not retrieve (RETR failed) the specified file";
    Obsolete20, "OBSOLETE20", 20, "", "Unknown error";
    QuoteError, "QUOTE_ERROR", 21, "7.17.0", "Quote command returned error";
    HttpReturnedError, "HTTP_RETURNED_ERROR", 22, "7.10.3", "HTTP response code said error";
    WriteError, "WRITE_ERROR", 23, "7.1", "Failed writing received data to disk/application";
    Obsolete24, "OBSOLETE24", 24, "", "Unknown error";
    UploadFailed, "UPLOAD_FAILED", 25, "7.16.3", "Upload failed (at start/before it took off)";
    ReadError, "READ_ERROR", 26, "7.1", "Failed to open/read local data from file/application";
    OutOfMemory, "OUT_OF_MEMORY", 27, "7.1", "Out of memory";
    OperationTimedout, "OPERATION_TIMEDOUT", 28, "7.10.2", "Timeout was reached";
    Obsolete29, "OBSOLETE29", 29, "", "Unknown error";
    FtpPortFailed, "FTP_PORT_FAILED", 30, "7.1", "FTP: command PORT failed";
    FtpCouldntUseRest, "FTP_COULDNT_USE_REST", 31, "7.1", "FTP: command REST failed";
    Obsolete32, "OBSOLETE32", 32, "", "Unknown error";
    RangeError, "RANGE_ERROR", 33, "7.17.0", "Requested range was not delivered by the server";
    Obsolete34, "OBSOLETE34", 34, "", "Unknown error";
    SslConnectError, "SSL_CONNECT_ERROR", 35, "7.1", "SSL connect error";
    BadDownloadResume, "BAD_DOWNLOAD_RESUME", 36, "7.10", "Could not resume download";
    FileCouldntReadFile, "FILE_COULDNT_READ_FILE", 37, "7.1", "Could not read a file:// file";
    LdapCannotBind, "LDAP_CANNOT_BIND", 38, "7.1", "LDAP: cannot bind";
    LdapSearchFailed, "LDAP_SEARCH_FAILED", 39, "7.1", "LDAP: search failed";
    Obsolete40, "OBSOLETE40", 40, "", "Unknown error";
    Obsolete41, "OBSOLETE41", 41, "", "Unknown error";
    AbortedByCallback, "ABORTED_BY_CALLBACK", 42, "7.1", "Operation was aborted by an application callback";
    BadFunctionArgument, "BAD_FUNCTION_ARGUMENT", 43, "7.1", "A libcurl function was given a bad argument";
    Obsolete44, "OBSOLETE44", 44, "", "Unknown error";
    InterfaceFailed, "INTERFACE_FAILED", 45, "7.12.0", "Failed binding local connection end";
    Obsolete46, "OBSOLETE46", 46, "", "Unknown error";
    TooManyRedirects, "TOO_MANY_REDIRECTS", 47, "7.5", "Number of redirects hit maximum amount";
    UnknownOption, "UNKNOWN_OPTION", 48, "7.21.5", "An unknown option was passed in to libcurl";
    SetoptOptionSyntax, "SETOPT_OPTION_SYNTAX", 49, "7.78.0", "Malformed option provided in a setopt";
    Obsolete50, "OBSOLETE50", 50, "", "Unknown error";
    Obsolete51, "OBSOLETE51", 51, "", "Unknown error";
    GotNothing, "GOT_NOTHING", 52, "7.9.1", "Server returned nothing (no headers, no data)";
    SslEngineNotfound, "SSL_ENGINE_NOTFOUND", 53, "7.9.3", "SSL crypto engine not found";
    SslEngineSetfailed, "SSL_ENGINE_SETFAILED", 54, "7.9.3", "Can not set SSL crypto engine as default";
    SendError, "SEND_ERROR", 55, "7.10", "Failed sending data to the peer";
    RecvError, "RECV_ERROR", 56, "7.10", "Failure when receiving data from the peer";
    Obsolete57, "OBSOLETE57", 57, "", "Unknown error";
    SslCertproblem, "SSL_CERTPROBLEM", 58, "7.10", "Problem with the local SSL certificate";
    SslCipher, "SSL_CIPHER", 59, "7.10", "Could not use specified SSL cipher";
    PeerFailedVerification, "PEER_FAILED_VERIFICATION", 60, "7.17.1", "SSL peer certificate or SSH remote key was not OK";
    BadContentEncoding, "BAD_CONTENT_ENCODING", 61, "7.10", "Unrecognized or bad HTTP Content or Transfer-Encoding";
    Obsolete62, "OBSOLETE62", 62, "", "Unknown error";
    FilesizeExceeded, "FILESIZE_EXCEEDED", 63, "7.10.8", "Maximum file size exceeded";
    UseSslFailed, "USE_SSL_FAILED", 64, "7.17.0", "Requested SSL level failed";
    SendFailRewind, "SEND_FAIL_REWIND", 65, "7.12.3", "Send failed since rewinding of the data stream failed";
    SslEngineInitfailed, "SSL_ENGINE_INITFAILED", 66, "7.12.3", "Failed to initialize SSL crypto engine";
    LoginDenied, "LOGIN_DENIED", 67, "7.13.1", "Login denied";
    TftpNotfound, "TFTP_NOTFOUND", 68, "7.15.0", "TFTP: File Not Found";
    TftpPerm, "TFTP_PERM", 69, "7.15.0", "TFTP: Access Violation";
    RemoteDiskFull, "REMOTE_DISK_FULL", 70, "7.17.0", "Disk full or allocation exceeded";
    TftpIllegal, "TFTP_ILLEGAL", 71, "7.15.0", "TFTP: Illegal operation";
    TftpUnknownid, "TFTP_UNKNOWNID", 72, "7.15.0", "TFTP: Unknown transfer ID";
    RemoteFileExists, "REMOTE_FILE_EXISTS", 73, "7.17.0", "Remote file already exists";
    TftpNosuchuser, "TFTP_NOSUCHUSER", 74, "7.15.0", "TFTP: No such user";
    Obsolete75, "OBSOLETE75", 75, "", "Unknown error";
    Obsolete76, "OBSOLETE76", 76, "", "Unknown error";
    SslCacertBadfile, "SSL_CACERT_BADFILE", 77, "7.16.0", "Problem with the SSL CA cert (path? access rights?)";
    RemoteFileNotFound, "REMOTE_FILE_NOT_FOUND", 78, "7.16.1", "Remote file not found";
    Ssh, "SSH", 79, "7.16.1", "Error in the SSH layer";
    SslShutdownFailed, "SSL_SHUTDOWN_FAILED", 80, "7.16.1", "Failed to shut down the SSL connection";
    Again, "AGAIN", 81, "7.18.2", "Socket not ready for send/recv";
    SslCrlBadfile, "SSL_CRL_BADFILE", 82, "7.19.0", "Failed to load CRL file (path? access rights?, format?)";
    SslIssuerError, "SSL_ISSUER_ERROR", 83, "7.19.0", "Issuer check against peer certificate failed";
    FtpPretFailed, "FTP_PRET_FAILED", 84, "7.20.0", "FTP: The server did not accept the PRET command.";
    RtspCseqError, "RTSP_CSEQ_ERROR", 85, "7.20.0", "RTSP CSeq mismatch or invalid CSeq";
    RtspSessionError, "RTSP_SESSION_ERROR", 86, "7.20.0", "RTSP session error";
    FtpBadFileList, "FTP_BAD_FILE_LIST", 87, "7.21.0", "Unable to parse FTP file list";
    ChunkFailed, "CHUNK_FAILED", 88, "7.21.0", "Chunk callback failed";
    NoConnectionAvailable, "NO_CONNECTION_AVAILABLE", 89, "7.30.0", "The max connection limit is reached";
    SslPinnedpubkeynotmatch, "SSL_PINNEDPUBKEYNOTMATCH", 90, "7.39.0", "SSL public key does not match pinned public key";
    SslInvalidcertstatus, "SSL_INVALIDCERTSTATUS", 91, "7.41.0", "SSL server certificate status verification FAILED";
    Http2Stream, "HTTP2_STREAM", 92, "7.49.0", "Stream error in the HTTP/2 framing layer";
    RecursiveApiCall, "RECURSIVE_API_CALL", 93, "7.59.0", "API function called from within callback";
    AuthError, "AUTH_ERROR", 94, "7.66.0", "An authentication function returned an error";
    Http3, "HTTP3", 95, "7.68.0", "HTTP/3 error";
    QuicConnectError, "QUIC_CONNECT_ERROR", 96, "7.69.0", "QUIC connection error";
    Proxy, "PROXY", 97, "7.73.0", "proxy handshake error";
    SslClientcert, "SSL_CLIENTCERT", 98, "7.77.0", "SSL Client Certificate required";
    UnrecoverablePoll, "UNRECOVERABLE_POLL", 99, "7.84.0", "Unrecoverable error in select/poll";
    TooLarge, "TOO_LARGE", 100, "8.6.0", "A value or data field grew larger than allowed";
    EchRequired, "ECH_REQUIRED", 101, "8.8.0", "ECH attempted but failed";
}

codes! {
    /// The result of a function on a multi handle; texts of curl_multi_strerror(3).
    MultiCode, "CURLM_", "CURLMcode", "Unknown error":
    CallMultiPerform, "CALL_MULTI_PERFORM", -1, "7.9.6", "Please call curl_multi_perform() soon";
    Ok, "OK", 0, "7.9.6", "No error";
    BadHandle, "BAD_HANDLE", 1, "7.9.6", "Invalid multi handle";
    BadEasyHandle, "BAD_EASY_HANDLE", 2, "7.9.6", "Invalid easy handle";
    OutOfMemory, "OUT_OF_MEMORY", 3, "7.9.6", "Out of memory";
    InternalError, "INTERNAL_ERROR", 4, "7.9.6", "Internal error";
    BadSocket, "BAD_SOCKET", 5, "7.15.4", "Invalid socket argument";
    UnknownOption, "UNKNOWN_OPTION", 6, "7.15.4", "Unknown option";
    AddedAlready, "ADDED_ALREADY", 7, "7.33.0", "The easy handle is already added to a multi handle";
    RecursiveApiCall, "RECURSIVE_API_CALL", 8, "7.59.0", "API function called from within callback";
    WakeupFailure, "WAKEUP_FAILURE", 9, "7.68.0", "Wakeup is unavailable or failed";
    BadFunctionArgument, "BAD_FUNCTION_ARGUMENT", 10, "7.69.0", "A libcurl function was given a bad argument";
    AbortedByCallback, "ABORTED_BY_CALLBACK", 11, "7.81.0", "Operation was aborted by an application callback";
    UnrecoverablePoll, "UNRECOVERABLE_POLL", 12, "7.84.0", "Unrecoverable error in select/poll";
}

codes! {
    /// The result of a function on a share handle; texts of curl_share_strerror(3).
    ShareCode, "CURLSHE_", "CURLSHcode", "CURLSHcode unknown":
    Ok, "OK", 0, "7.10.3", "No error";
    BadOption, "BAD_OPTION", 1, "7.10.3", "Unknown share option";
    InUse, "IN_USE", 2, "7.10.3", "Share currently in use";
    Invalid, "INVALID", 3, "7.10.3", "Invalid share handle";
    Nomem, "NOMEM", 4, "7.12.0", "Out of memory";
    NotBuiltIn, "NOT_BUILT_IN", 5, "7.23.0", "Feature not enabled in this library";
}

codes! {
    /// The result of a function on a URL handle; texts of curl_url_strerror(3).
    UrlCode, "CURLUE_", "CURLUcode", "CURLUcode unknown":
    Ok, "OK", 0, "7.62.0", "No error";
    BadHandle, "BAD_HANDLE", 1, "7.62.0", "An invalid CURLU pointer was passed as argument";
    BadPartpointer, "BAD_PARTPOINTER", 2, "7.62.0", "An invalid 'part' argument was passed as argument";
    MalformedInput, "MALFORMED_INPUT", 3, "7.62.0", "Malformed input to a URL function";
    BadPortNumber, "BAD_PORT_NUMBER", 4, "7.62.0", "Port number was not a decimal number between 0 and 65535";
    UnsupportedScheme, "UNSUPPORTED_SCHEME", 5, "7.62.0", "Unsupported URL scheme";
    Urldecode, "URLDECODE", 6, "7.62.0", "URL decode error, most likely because of rubbish in the input";
    OutOfMemory, "OUT_OF_MEMORY", 7, "7.62.0", "A memory function failed";
    UserNotAllowed, "USER_NOT_ALLOWED", 8, "7.62.0", "Credentials was passed in the URL when prohibited";
    UnknownPart, "UNKNOWN_PART", 9, "7.62.0", "An unknown part ID was passed to a URL API function";
    NoScheme, "NO_SCHEME", 10, "7.62.0", "No scheme present";
    NoUser, "NO_USER", 11, "7.62.0", "No user present";
    NoPassword, "NO_PASSWORD", 12, "7.62.0", "No password present";
    NoOptions, "NO_OPTIONS", 13, "7.62.0", "No options present";
    NoHost, "NO_HOST", 14, "7.62.0", "No host present";
    NoPort, "NO_PORT", 15, "7.62.0", "No port number present";
    NoQuery, "NO_QUERY", 16, "7.62.0", "No query present";
    NoFragment, "NO_FRAGMENT", 17, "7.62.0", "No fragment present";
    NoZoneid, "NO_ZONEID", 18, "7.81.0", "No zoneid present";
    BadFileUrl, "BAD_FILE_URL", 19, "7.81.0", "Bad file:// URL";
    BadFragment, "BAD_FRAGMENT", 20, "7.81.0", "Bad fragment";
    BadHostname, "BAD_HOSTNAME", 21, "7.81.0", "Bad hostname";
    BadIpv6, "BAD_IPV6", 22, "7.81.0", "Bad IPv6 address";
    BadLogin, "BAD_LOGIN", 23, "7.81.0", "Bad login";
    BadPassword, "BAD_PASSWORD", 24, "7.81.0", "Bad password";
    BadPath, "BAD_PATH", 25, "7.81.0", "Bad path";
    BadQuery, "BAD_QUERY", 26, "7.81.0", "Bad query";
    BadScheme, "BAD_SCHEME", 27, "7.81.0", "Bad scheme";
    BadSlashes, "BAD_SLASHES", 28, "7.81.0", "Unsupported number of slashes following scheme";
    BadUser, "BAD_USER", 29, "7.81.0", "Bad user";
    LacksIdn, "LACKS_IDN", 30, "7.88.0", "libcurl lacks IDN support";
    TooLarge, "TOO_LARGE", 31, "8.6.0", "A value or data field is larger than allowed";
    Backslash, "BACKSLASH", 32, "8.22.0", "Found a backslash where a forward slash was expected";
}

codes! {
    /// The result of a header function. C has no function for texts; these are ours.
    HeaderCode, "CURLHE_", "CURLHcode", "Unknown error":
    Ok, "OK", 0, "7.83.0", "No error";
    Badindex, "BADINDEX", 1, "7.83.0", "No header with that index";
    Missing, "MISSING", 2, "7.83.0", "No such header";
    Noheaders, "NOHEADERS", 3, "7.83.0", "No headers recorded";
    Norequest, "NOREQUEST", 4, "7.83.0", "No such request";
    OutOfMemory, "OUT_OF_MEMORY", 5, "7.83.0", "Out of memory";
    BadArgument, "BAD_ARGUMENT", 6, "7.83.0", "A libcurl function was given a bad argument";
    NotBuiltIn, "NOT_BUILT_IN", 7, "7.83.0", "Feature not enabled in this library";
}

codes! {
    /// The value of CURLINFO_PROXY_ERROR. C has no function for texts; these are ours.
    ProxyCode, "CURLPX_", "CURLproxycode", "Unknown error":
    Ok, "OK", 0, "7.73.0", "No error";
    BadAddressType, "BAD_ADDRESS_TYPE", 1, "7.73.0", "The SOCKS proxy used an unknown address type";
    BadVersion, "BAD_VERSION", 2, "7.73.0", "The SOCKS proxy speaks another version";
    Closed, "CLOSED", 3, "7.73.0", "The proxy closed the connection";
    Gssapi, "GSSAPI", 4, "7.73.0", "GSSAPI authentication with the proxy failed";
    GssapiPermsg, "GSSAPI_PERMSG", 5, "7.73.0", "GSSAPI per-message authentication was refused";
    GssapiProtection, "GSSAPI_PROTECTION", 6, "7.73.0", "GSSAPI protection level was refused";
    Identd, "IDENTD", 7, "7.73.0", "The proxy could not reach identd on this machine";
    IdentdDiffer, "IDENTD_DIFFER", 8, "7.73.0", "The proxy and identd know different user names";
    LongHostname, "LONG_HOSTNAME", 9, "7.73.0", "The hostname is too long for the SOCKS proxy";
    LongPasswd, "LONG_PASSWD", 10, "7.73.0", "The password is too long for the SOCKS proxy";
    LongUser, "LONG_USER", 11, "7.73.0", "The user name is too long for the SOCKS proxy";
    NoAuth, "NO_AUTH", 12, "7.73.0", "The proxy accepts none of the offered authentication methods";
    RecvAddress, "RECV_ADDRESS", 13, "7.73.0", "Could not receive the address from the proxy";
    RecvAuth, "RECV_AUTH", 14, "7.73.0", "Could not receive the authentication reply from the proxy";
    RecvConnect, "RECV_CONNECT", 15, "7.73.0", "Could not receive the connect reply from the proxy";
    RecvReqack, "RECV_REQACK", 16, "7.73.0", "Could not receive the request reply from the proxy";
    ReplyAddressTypeNotSupported, "REPLY_ADDRESS_TYPE_NOT_SUPPORTED", 17, "7.73.0", "The proxy does not support the address type";
    ReplyCommandNotSupported, "REPLY_COMMAND_NOT_SUPPORTED", 18, "7.73.0", "The proxy does not support the command";
    ReplyConnectionRefused, "REPLY_CONNECTION_REFUSED", 19, "7.73.0", "The proxy found the connection refused";
    ReplyGeneralServerFailure, "REPLY_GENERAL_SERVER_FAILURE", 20, "7.73.0", "The proxy reported a general failure";
    ReplyHostUnreachable, "REPLY_HOST_UNREACHABLE", 21, "7.73.0", "The proxy cannot reach the host";
    ReplyNetworkUnreachable, "REPLY_NETWORK_UNREACHABLE", 22, "7.73.0", "The proxy cannot reach the network";
    ReplyNotAllowed, "REPLY_NOT_ALLOWED", 23, "7.73.0", "The proxy does not allow the connection";
    ReplyTtlExpired, "REPLY_TTL_EXPIRED", 24, "7.73.0", "The proxy reported an expired TTL";
    ReplyUnassigned, "REPLY_UNASSIGNED", 25, "7.73.0", "The proxy sent an unassigned error number";
    RequestFailed, "REQUEST_FAILED", 26, "7.73.0", "The proxy rejected the request";
    ResolveHost, "RESOLVE_HOST", 27, "7.73.0", "Could not resolve the proxy's target";
    SendAuth, "SEND_AUTH", 28, "7.73.0", "Could not send the authentication to the proxy";
    SendConnect, "SEND_CONNECT", 29, "7.73.0", "Could not send the connect request to the proxy";
    SendRequest, "SEND_REQUEST", 30, "7.73.0", "Could not send the request to the proxy";
    UnknownFail, "UNKNOWN_FAIL", 31, "7.73.0", "The proxy failed for an unknown reason";
    UnknownMode, "UNKNOWN_MODE", 32, "7.73.0", "The proxy asked for an unknown authentication mode";
    UserRejected, "USER_REJECTED", 33, "7.73.0", "The proxy rejected the user";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_run_without_a_gap() {
        for (at, code) in Code::ALL.iter().enumerate() {
            assert_eq!(code.id(), at as i32);
        }
        for (at, code) in MultiCode::ALL.iter().enumerate() {
            assert_eq!(code.id(), at as i32 - 1);
        }
        assert_eq!(Code::ALL.len(), 102);
    }

    #[test]
    fn unknown_numbers_have_the_texts_of_their_functions() {
        assert_eq!(Code::text_of(-1), "Unknown error");
        for id in -1..=200 {
            assert_eq!(Code::c_text_of(id).to_str(), Ok(Code::text_of(id)));
            assert_eq!(MultiCode::c_text_of(id).to_str(), Ok(MultiCode::text_of(id)));
            assert_eq!(ShareCode::c_text_of(id).to_str(), Ok(ShareCode::text_of(id)));
            assert_eq!(UrlCode::c_text_of(id).to_str(), Ok(UrlCode::text_of(id)));
        }
        assert_eq!(Code::text_of(102), "Unknown error");
        assert_eq!(Code::text_of(20), "Unknown error");
        assert_eq!(ShareCode::text_of(6), "CURLSHcode unknown");
        assert_eq!(UrlCode::text_of(33), "CURLUcode unknown");
    }

    #[test]
    fn old_names_are_within_the_numbers() {
        for &(name, id, _) in ALIASES {
            assert!(id == 99_999 || Code::from_id(id).is_some(), "{name}");
        }
    }
}
