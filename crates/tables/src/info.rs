//! Infos: one row per `CURLINFO_` value that curl_easy_getinfo(3) answers.

/// The type that the pointer given to curl_easy_getinfo points to; the number's upper bits encode it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum InfoKind {
    /// `char **`
    String = 0x10_0000,
    /// `long *`
    Long = 0x20_0000,
    /// `double *`
    Double = 0x30_0000,
    /// `struct curl_slist **`; shares its number with `Ptr`.
    SList = 0x40_0000,
    /// A pointer to a structure that stays the library's.
    Ptr = 0x40_0001,
    /// `curl_socket_t *`
    Socket = 0x50_0000,
    /// `curl_off_t *`
    OffT = 0x60_0000,
}

macro_rules! infos {
    ($($variant:ident, $name:literal, $id:literal, $kind:ident, $since:literal, $deprecated:literal;)*) => {
        /// A fact about a transfer; the discriminant is its `CURLINFO_` number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum Info {
            $(
                #[doc = concat!(
                    "[`CURLINFO_", $name, "`](https://curl.se/libcurl/c/CURLINFO_", $name, ".html), ",
                    "since curl ", $since, "."
                )]
                $variant = $id,
            )*
        }

        impl Info {
            pub const ALL: &'static [Info] = &[$(Info::$variant,)*];

            /// The info with this `CURLINFO_` number.
            pub const fn from_id(id: i32) -> Option<Self> {
                match id {
                    $($id => Some(Info::$variant),)*
                    _ => None,
                }
            }

            /// The name without `CURLINFO_`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Info::$variant => $name,)*
                }
            }

            pub const fn kind(self) -> InfoKind {
                match self {
                    $(Info::$variant => InfoKind::$kind,)*
                }
            }

            /// The curl version that introduced it.
            pub const fn since(self) -> &'static str {
                match self {
                    $(Info::$variant => $since,)*
                }
            }

            /// The curl version that deprecated it, or "".
            pub const fn deprecated(self) -> &'static str {
                match self {
                    $(Info::$variant => $deprecated,)*
                }
            }
        }
    };
}

impl Info {
    /// The `CURLINFO_` number.
    pub const fn id(self) -> i32 {
        self as i32
    }
}

/// Old names: name without `CURLINFO_`, info, first version, version that deprecated the name.
pub const ALIASES: &[(&str, Info, &str, &str)] = &[("HTTP_CODE", Info::ResponseCode, "7.4.1", "7.10.8")];

infos! {
    EffectiveUrl, "EFFECTIVE_URL", 1048577, String, "7.4", "";
    ResponseCode, "RESPONSE_CODE", 2097154, Long, "7.10.8", "";
    TotalTime, "TOTAL_TIME", 3145731, Double, "7.4.1", "";
    NameLookupTime, "NAMELOOKUP_TIME", 3145732, Double, "7.4.1", "";
    ConnectTime, "CONNECT_TIME", 3145733, Double, "7.4.1", "";
    PreTransferTime, "PRETRANSFER_TIME", 3145734, Double, "7.4.1", "";
    SizeUpload, "SIZE_UPLOAD", 3145735, Double, "7.4.1", "7.55.0";
    SizeUploadT, "SIZE_UPLOAD_T", 6291463, OffT, "7.55.0", "";
    SizeDownload, "SIZE_DOWNLOAD", 3145736, Double, "7.4.1", "7.55.0";
    SizeDownloadT, "SIZE_DOWNLOAD_T", 6291464, OffT, "7.55.0", "";
    SpeedDownload, "SPEED_DOWNLOAD", 3145737, Double, "7.4.1", "7.55.0";
    SpeedDownloadT, "SPEED_DOWNLOAD_T", 6291465, OffT, "7.55.0", "";
    SpeedUpload, "SPEED_UPLOAD", 3145738, Double, "7.4.1", "7.55.0";
    SpeedUploadT, "SPEED_UPLOAD_T", 6291466, OffT, "7.55.0", "";
    HeaderSize, "HEADER_SIZE", 2097163, Long, "7.4.1", "";
    RequestSize, "REQUEST_SIZE", 2097164, Long, "7.4.1", "";
    SslVerifyResult, "SSL_VERIFYRESULT", 2097165, Long, "7.5", "";
    FileTime, "FILETIME", 2097166, Long, "7.5", "";
    FileTimeT, "FILETIME_T", 6291470, OffT, "7.59.0", "";
    ContentLengthDownload, "CONTENT_LENGTH_DOWNLOAD", 3145743, Double, "7.6.1", "7.55.0";
    ContentLengthDownloadT, "CONTENT_LENGTH_DOWNLOAD_T", 6291471, OffT, "7.55.0", "";
    ContentLengthUpload, "CONTENT_LENGTH_UPLOAD", 3145744, Double, "7.6.1", "7.55.0";
    ContentLengthUploadT, "CONTENT_LENGTH_UPLOAD_T", 6291472, OffT, "7.55.0", "";
    StartTransferTime, "STARTTRANSFER_TIME", 3145745, Double, "7.9.2", "";
    ContentType, "CONTENT_TYPE", 1048594, String, "7.9.4", "";
    RedirectTime, "REDIRECT_TIME", 3145747, Double, "7.9.7", "";
    RedirectCount, "REDIRECT_COUNT", 2097172, Long, "7.9.7", "";
    Private, "PRIVATE", 1048597, String, "7.10.3", "";
    HttpConnectCode, "HTTP_CONNECTCODE", 2097174, Long, "7.10.7", "";
    HttpAuthAvail, "HTTPAUTH_AVAIL", 2097175, Long, "7.10.8", "";
    ProxyAuthAvail, "PROXYAUTH_AVAIL", 2097176, Long, "7.10.8", "";
    OsErrno, "OS_ERRNO", 2097177, Long, "7.12.2", "";
    NumConnects, "NUM_CONNECTS", 2097178, Long, "7.12.3", "";
    SslEngines, "SSL_ENGINES", 4194331, SList, "7.12.3", "";
    CookieList, "COOKIELIST", 4194332, SList, "7.14.1", "";
    LastSocket, "LASTSOCKET", 2097181, Long, "7.15.2", "7.45.0";
    FtpEntryPath, "FTP_ENTRY_PATH", 1048606, String, "7.15.4", "";
    RedirectUrl, "REDIRECT_URL", 1048607, String, "7.18.2", "";
    PrimaryIp, "PRIMARY_IP", 1048608, String, "7.19.0", "";
    AppConnectTime, "APPCONNECT_TIME", 3145761, Double, "7.19.0", "";
    CertInfo, "CERTINFO", 4194338, Ptr, "7.19.1", "";
    ConditionUnmet, "CONDITION_UNMET", 2097187, Long, "7.19.4", "";
    RtspSessionId, "RTSP_SESSION_ID", 1048612, String, "7.20.0", "";
    RtspClientCseq, "RTSP_CLIENT_CSEQ", 2097189, Long, "7.20.0", "";
    RtspServerCseq, "RTSP_SERVER_CSEQ", 2097190, Long, "7.20.0", "";
    RtspCseqRecv, "RTSP_CSEQ_RECV", 2097191, Long, "7.20.0", "";
    PrimaryPort, "PRIMARY_PORT", 2097192, Long, "7.21.0", "";
    LocalIp, "LOCAL_IP", 1048617, String, "7.21.0", "";
    LocalPort, "LOCAL_PORT", 2097194, Long, "7.21.0", "";
    TlsSession, "TLS_SESSION", 4194347, Ptr, "7.34.0", "7.48.0";
    ActiveSocket, "ACTIVESOCKET", 5242924, Socket, "7.45.0", "";
    TlsSslPtr, "TLS_SSL_PTR", 4194349, Ptr, "7.48.0", "";
    HttpVersion, "HTTP_VERSION", 2097198, Long, "7.50.0", "";
    ProxySslVerifyResult, "PROXY_SSL_VERIFYRESULT", 2097199, Long, "7.52.0", "";
    Protocol, "PROTOCOL", 2097200, Long, "7.52.0", "7.85.0";
    Scheme, "SCHEME", 1048625, String, "7.52.0", "";
    TotalTimeT, "TOTAL_TIME_T", 6291506, OffT, "7.61.0", "";
    NameLookupTimeT, "NAMELOOKUP_TIME_T", 6291507, OffT, "7.61.0", "";
    ConnectTimeT, "CONNECT_TIME_T", 6291508, OffT, "7.61.0", "";
    PreTransferTimeT, "PRETRANSFER_TIME_T", 6291509, OffT, "7.61.0", "";
    StartTransferTimeT, "STARTTRANSFER_TIME_T", 6291510, OffT, "7.61.0", "";
    RedirectTimeT, "REDIRECT_TIME_T", 6291511, OffT, "7.61.0", "";
    AppConnectTimeT, "APPCONNECT_TIME_T", 6291512, OffT, "7.61.0", "";
    RetryAfter, "RETRY_AFTER", 6291513, OffT, "7.66.0", "";
    EffectiveMethod, "EFFECTIVE_METHOD", 1048634, String, "7.72.0", "";
    ProxyError, "PROXY_ERROR", 2097211, Long, "7.73.0", "";
    Referer, "REFERER", 1048636, String, "7.76.0", "";
    CaInfo, "CAINFO", 1048637, String, "7.84.0", "";
    CaPath, "CAPATH", 1048638, String, "7.84.0", "";
    XferId, "XFER_ID", 6291519, OffT, "8.2.0", "";
    ConnId, "CONN_ID", 6291520, OffT, "8.2.0", "";
    QueueTimeT, "QUEUE_TIME_T", 6291521, OffT, "8.6.0", "";
    UsedProxy, "USED_PROXY", 2097218, Long, "8.7.0", "";
    PostTransferTimeT, "POSTTRANSFER_TIME_T", 6291523, OffT, "8.10.0", "";
    EarlyDataSentT, "EARLYDATA_SENT_T", 6291524, OffT, "8.11.0", "";
    HttpAuthUsed, "HTTPAUTH_USED", 2097221, Long, "8.12.0", "";
    ProxyAuthUsed, "PROXYAUTH_USED", 2097222, Long, "8.12.0", "";
    SizeDelivered, "SIZE_DELIVERED", 6291527, OffT, "8.20.0", "";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_says_the_type() {
        for &info in Info::ALL {
            assert_eq!(Info::from_id(info.id()), Some(info));
            assert_eq!(info.id() & 0xf0_0000, info.kind() as i32 & 0xf0_0000, "{}", info.name());
        }
        assert_eq!(Info::ALL.len(), 78);
    }
}
