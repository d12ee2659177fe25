//! Every other constant of the C headers, as Rust constants of the C type's width and as rows.
//!
//! Options, infos and codes have tables of their own; their old names too. Groups are C enumerations ("enum
//! ...") or families of macros that share a prefix.

// The names are those of the C headers, a few of them in mixed case (CURL_SSLVERSION_TLSv1).
#![allow(non_upper_case_globals)]

/// The C type of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CType {
    /// A member of the enumeration that names the group.
    Enum,
    Int,
    Long,
    Ulong,
}

type Enum = i32;
type Int = i32;
type Long = i64;
type Ulong = u64;

/// A constant of the C headers.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    pub name: &'static str,
    pub value: i64,
    /// The C enumeration or the prefix of the family.
    pub group: &'static str,
    pub c_type: CType,
    /// The curl version that introduced it, or "".
    pub since: &'static str,
    /// The curl version that deprecated it, or "".
    pub deprecated: &'static str,
}

macro_rules! constants {
    ($($group:literal, $type:ident: $($name:ident, $value:literal, $since:literal, $deprecated:literal;)*)*) => {
        $($(pub const $name: $type = $value;)*)*

        /// All of them.
        pub const ALL: &[Constant] = &[$($(Constant {
            name: stringify!($name),
            value: $value,
            group: $group,
            c_type: CType::$type,
            since: $since,
            deprecated: $deprecated,
        },)*)*];
    };
}

constants! {
    "enum CURLFORMcode", Enum:
        CURL_FORMADD_OK, 0, "7.9.8", "7.56.0";
        CURL_FORMADD_MEMORY, 1, "7.9.8", "7.56.0";
        CURL_FORMADD_OPTION_TWICE, 2, "7.9.8", "7.56.0";
        CURL_FORMADD_NULL, 3, "7.9.8", "7.56.0";
        CURL_FORMADD_UNKNOWN_OPTION, 4, "7.9.8", "7.56.0";
        CURL_FORMADD_INCOMPLETE, 5, "7.9.8", "7.56.0";
        CURL_FORMADD_ILLEGAL_ARRAY, 6, "7.9.8", "7.56.0";
        CURL_FORMADD_DISABLED, 7, "7.12.1", "7.56.0";
        CURL_FORMADD_LAST, 8, "", "";
    "ends of enumerations", Enum:
        CURLINFO_NONE, 0, "7.4.1", "";
        CURLINFO_LASTONE, 71, "7.4.1", "";
        CURLM_LAST, 13, "", "";
        CURLMOPT_LASTENTRY, 22, "", "";
        CURLSHE_LAST, 6, "", "";
        CURLUE_LAST, 33, "", "";
        CURL_LAST, 102, "", "";
        CURLOPT_LASTENTRY, 10333, "", "";
        CURLPX_LAST, 34, "", "";
    "enum CURLMSG", Enum:
        CURLMSG_NONE, 0, "7.9.6", "";
        CURLMSG_DONE, 1, "7.9.6", "";
        CURLMSG_LAST, 2, "", "";
    "enum CURLMinfo_offt", Enum:
        CURLMINFO_NONE, 0, "8.16.0", "";
        CURLMINFO_XFERS_CURRENT, 1, "8.16.0", "";
        CURLMINFO_XFERS_RUNNING, 2, "8.16.0", "";
        CURLMINFO_XFERS_PENDING, 3, "8.16.0", "";
        CURLMINFO_XFERS_DONE, 4, "8.16.0", "";
        CURLMINFO_XFERS_ADDED, 5, "8.16.0", "";
        CURLMINFO_LASTENTRY, 6, "", "";
    "enum CURLSHoption", Enum:
        CURLSHOPT_NONE, 0, "7.10.3", "";
        CURLSHOPT_SHARE, 1, "7.10.3", "";
        CURLSHOPT_UNSHARE, 2, "7.10.3", "";
        CURLSHOPT_LOCKFUNC, 3, "7.10.3", "";
        CURLSHOPT_UNLOCKFUNC, 4, "7.10.3", "";
        CURLSHOPT_USERDATA, 5, "7.10.3", "";
        CURLSHOPT_LAST, 6, "", "";
    "enum CURLSTScode", Enum:
        CURLSTS_OK, 0, "7.74.0", "";
        CURLSTS_DONE, 1, "7.74.0", "";
        CURLSTS_FAIL, 2, "7.74.0", "";
    "enum CURLUPart", Enum:
        CURLUPART_URL, 0, "7.62.0", "";
        CURLUPART_SCHEME, 1, "7.62.0", "";
        CURLUPART_USER, 2, "7.62.0", "";
        CURLUPART_PASSWORD, 3, "7.62.0", "";
        CURLUPART_OPTIONS, 4, "7.62.0", "";
        CURLUPART_HOST, 5, "7.62.0", "";
        CURLUPART_PORT, 6, "7.62.0", "";
        CURLUPART_PATH, 7, "7.62.0", "";
        CURLUPART_QUERY, 8, "7.62.0", "";
        CURLUPART_FRAGMENT, 9, "7.62.0", "";
        CURLUPART_ZONEID, 10, "7.65.0", "";
    "enum CURL_NETRC_OPTION", Enum:
        CURL_NETRC_LAST, 3, "", "";
    "enum CURL_TLSAUTH", Enum:
        CURL_TLSAUTH_LAST, 2, "", "";
    "enum CURLformoption", Enum:
        CURLFORM_NOTHING, 0, "7.9", "7.56.0";
        CURLFORM_COPYNAME, 1, "7.9", "7.56.0";
        CURLFORM_PTRNAME, 2, "7.9", "7.56.0";
        CURLFORM_NAMELENGTH, 3, "7.9", "7.56.0";
        CURLFORM_COPYCONTENTS, 4, "7.9", "7.56.0";
        CURLFORM_PTRCONTENTS, 5, "7.9", "7.56.0";
        CURLFORM_CONTENTSLENGTH, 6, "7.9", "7.56.0";
        CURLFORM_FILECONTENT, 7, "7.9.1", "7.56.0";
        CURLFORM_ARRAY, 8, "7.9.1", "7.56.0";
        CURLFORM_OBSOLETE, 9, "", "";
        CURLFORM_FILE, 10, "7.9", "7.56.0";
        CURLFORM_BUFFER, 11, "7.9.8", "7.56.0";
        CURLFORM_BUFFERPTR, 12, "7.9.8", "7.56.0";
        CURLFORM_BUFFERLENGTH, 13, "7.9.8", "7.56.0";
        CURLFORM_CONTENTTYPE, 14, "7.9", "7.56.0";
        CURLFORM_CONTENTHEADER, 15, "7.9.3", "7.56.0";
        CURLFORM_FILENAME, 16, "7.9.6", "7.56.0";
        CURLFORM_END, 17, "7.9", "7.56.0";
        CURLFORM_OBSOLETE2, 18, "", "";
        CURLFORM_STREAM, 19, "7.18.2", "7.56.0";
        CURLFORM_CONTENTLEN, 20, "7.46.0", "7.56.0";
        CURLFORM_LASTENTRY, 21, "", "";
    "enum CURLsslset", Enum:
        CURLSSLSET_OK, 0, "7.56.0", "";
        CURLSSLSET_UNKNOWN_BACKEND, 1, "7.56.0", "";
        CURLSSLSET_TOO_LATE, 2, "7.56.0", "";
        CURLSSLSET_NO_BACKENDS, 3, "7.56.0", "";
    "enum CURLversion", Enum:
        CURLVERSION_FIRST, 0, "7.10", "";
        CURLVERSION_SECOND, 1, "7.11.1", "";
        CURLVERSION_THIRD, 2, "7.12.0", "";
        CURLVERSION_FOURTH, 3, "7.16.1", "";
        CURLVERSION_FIFTH, 4, "7.57.0", "";
        CURLVERSION_SIXTH, 5, "7.66.0", "";
        CURLVERSION_SEVENTH, 6, "7.70.0", "";
        CURLVERSION_EIGHTH, 7, "7.72.0", "";
        CURLVERSION_NINTH, 8, "7.75.0", "";
        CURLVERSION_TENTH, 9, "7.77.0", "";
        CURLVERSION_ELEVENTH, 10, "7.87.0", "";
        CURLVERSION_TWELFTH, 11, "8.8.0", "";
        CURLVERSION_LAST, 12, "", "";
    "enum curl_TimeCond", Enum:
        CURL_TIMECOND_LAST, 4, "", "";
    "enum curl_closepolicy", Enum:
        CURLCLOSEPOLICY_NONE, 0, "7.7", "7.16.1";
        CURLCLOSEPOLICY_OLDEST, 1, "7.7", "7.16.1";
        CURLCLOSEPOLICY_LEAST_RECENTLY_USED, 2, "7.7", "7.16.1";
        CURLCLOSEPOLICY_LEAST_TRAFFIC, 3, "7.7", "7.16.1";
        CURLCLOSEPOLICY_SLOWEST, 4, "7.7", "7.16.1";
        CURLCLOSEPOLICY_CALLBACK, 5, "7.7", "7.16.1";
        CURLCLOSEPOLICY_LAST, 6, "", "";
    "enum curl_easytype", Enum:
        CURLOT_LONG, 0, "7.73.0", "";
        CURLOT_VALUES, 1, "7.73.0", "";
        CURLOT_OFF_T, 2, "7.73.0", "";
        CURLOT_OBJECT, 3, "7.73.0", "";
        CURLOT_STRING, 4, "7.73.0", "";
        CURLOT_SLIST, 5, "7.73.0", "";
        CURLOT_CBPTR, 6, "7.73.0", "";
        CURLOT_BLOB, 7, "7.73.0", "";
        CURLOT_FUNCTION, 8, "7.73.0", "";
    "enum curl_ftpauth", Enum:
        CURLFTPAUTH_LAST, 3, "", "";
    "enum curl_ftpccc", Enum:
        CURLFTPSSL_CCC_LAST, 3, "", "";
    "enum curl_ftpcreatedir", Enum:
        CURLFTP_CREATE_DIR_LAST, 3, "", "";
    "enum curl_ftpmethod", Enum:
        CURLFTPMETHOD_LAST, 4, "", "";
    "enum curl_infotype", Enum:
        CURLINFO_TEXT, 0, "7.9.6", "";
        CURLINFO_HEADER_IN, 1, "7.9.6", "";
        CURLINFO_HEADER_OUT, 2, "7.9.6", "";
        CURLINFO_DATA_IN, 3, "7.9.6", "";
        CURLINFO_DATA_OUT, 4, "7.9.6", "";
        CURLINFO_SSL_DATA_IN, 5, "7.12.1", "";
        CURLINFO_SSL_DATA_OUT, 6, "7.12.1", "";
        CURLINFO_END, 7, "7.9.6", "";
    "enum curl_khmatch", Enum:
        CURLKHMATCH_OK, 0, "7.19.6", "";
        CURLKHMATCH_MISMATCH, 1, "7.19.6", "";
        CURLKHMATCH_MISSING, 2, "7.19.6", "";
        CURLKHMATCH_LAST, 3, "", "";
    "enum curl_khstat", Enum:
        CURLKHSTAT_FINE_ADD_TO_FILE, 0, "7.19.6", "";
        CURLKHSTAT_FINE, 1, "7.19.6", "";
        CURLKHSTAT_REJECT, 2, "7.19.6", "";
        CURLKHSTAT_DEFER, 3, "7.19.6", "";
        CURLKHSTAT_FINE_REPLACE, 4, "7.73.0", "";
        CURLKHSTAT_LAST, 5, "", "";
    "enum curl_khtype", Enum:
        CURLKHTYPE_UNKNOWN, 0, "7.19.6", "";
        CURLKHTYPE_RSA1, 1, "7.19.6", "";
        CURLKHTYPE_RSA, 2, "7.19.6", "";
        CURLKHTYPE_DSS, 3, "7.19.6", "";
        CURLKHTYPE_ECDSA, 4, "7.58.0", "";
        CURLKHTYPE_ED25519, 5, "7.58.0", "";
    "enum curl_lock_access", Enum:
        CURL_LOCK_ACCESS_NONE, 0, "7.10.3", "";
        CURL_LOCK_ACCESS_SHARED, 1, "7.10.3", "";
        CURL_LOCK_ACCESS_SINGLE, 2, "7.10.3", "";
        CURL_LOCK_ACCESS_LAST, 3, "", "";
    "enum curl_lock_data", Enum:
        CURL_LOCK_DATA_NONE, 0, "7.10.3", "";
        CURL_LOCK_DATA_SHARE, 1, "7.10.4", "";
        CURL_LOCK_DATA_COOKIE, 2, "7.10.3", "";
        CURL_LOCK_DATA_DNS, 3, "7.10.3", "";
        CURL_LOCK_DATA_SSL_SESSION, 4, "7.10.3", "";
        CURL_LOCK_DATA_CONNECT, 5, "7.10.3", "";
        CURL_LOCK_DATA_PSL, 6, "7.61.0", "";
        CURL_LOCK_DATA_HSTS, 7, "7.88.0", "";
        CURL_LOCK_DATA_LAST, 8, "", "";
    "enum curl_proxytype", Enum:
        CURLPROXY_LAST, 9, "", "";
    "enum curl_sslbackend", Enum:
        CURLSSLBACKEND_NONE, 0, "7.34.0", "";
        CURLSSLBACKEND_OPENSSL, 1, "7.34.0", "";
        CURLSSLBACKEND_GNUTLS, 2, "7.34.0", "";
        CURLSSLBACKEND_NSS, 3, "7.34.0", "8.3.0";
        CURLSSLBACKEND_OBSOLETE4, 4, "", "";
        CURLSSLBACKEND_GSKIT, 5, "7.34.0", "8.3.0";
        CURLSSLBACKEND_POLARSSL, 6, "7.34.0", "7.69.0";
        CURLSSLBACKEND_WOLFSSL, 7, "7.49.0", "";
        CURLSSLBACKEND_SCHANNEL, 8, "7.34.0", "";
        CURLSSLBACKEND_SECURETRANSPORT, 9, "7.64.1", "8.15.0";
        CURLSSLBACKEND_AXTLS, 10, "7.38.0", "7.61.0";
        CURLSSLBACKEND_MBEDTLS, 11, "7.46.0", "";
        CURLSSLBACKEND_MESALINK, 12, "7.62.0", "7.82.0";
        CURLSSLBACKEND_BEARSSL, 13, "7.68.0", "8.15.0";
        CURLSSLBACKEND_RUSTLS, 14, "7.76.0", "";
    "enum curl_usessl", Enum:
        CURLUSESSL_LAST, 4, "", "";
    "enum curlfiletype", Enum:
        CURLFILETYPE_FILE, 0, "7.21.0", "";
        CURLFILETYPE_DIRECTORY, 1, "7.21.0", "";
        CURLFILETYPE_SYMLINK, 2, "7.21.0", "";
        CURLFILETYPE_DEVICE_BLOCK, 3, "7.21.0", "";
        CURLFILETYPE_DEVICE_CHAR, 4, "7.21.0", "";
        CURLFILETYPE_NAMEDPIPE, 5, "7.21.0", "";
        CURLFILETYPE_SOCKET, 6, "7.21.0", "";
        CURLFILETYPE_DOOR, 7, "7.21.0", "";
        CURLFILETYPE_UNKNOWN, 8, "7.21.0", "";
    "enum curliocmd", Enum:
        CURLIOCMD_NOP, 0, "7.12.3", "";
        CURLIOCMD_RESTARTREAD, 1, "7.12.3", "";
        CURLIOCMD_LAST, 2, "", "";
    "enum curlioerr", Enum:
        CURLIOE_OK, 0, "7.12.3", "";
        CURLIOE_UNKNOWNCMD, 1, "7.12.3", "";
        CURLIOE_FAILRESTART, 2, "7.12.3", "";
        CURLIOE_LAST, 3, "", "";
    "enum curlsocktype", Enum:
        CURLSOCKTYPE_IPCXN, 0, "7.16.0", "";
        CURLSOCKTYPE_ACCEPT, 1, "7.28.0", "";
        CURLSOCKTYPE_LAST, 2, "", "";
    "others", Int:
        CURLM_CALL_MULTI_SOCKET, -1, "7.15.5", "";
        CURL_ZERO_TERMINATED, -1, "7.56.0", "";
        LIBCURL_VERSION_PATCH, 0, "7.11.0", "";
        LIBCURL_VERSION_MAJOR, 8, "7.11.0", "";
        CURLVERSION_NOW, 11, "7.10", "";
        LIBCURL_VERSION_MINOR, 22, "7.11.0", "";
        CURL_HET_DEFAULT, 200, "7.59.0", "";
        CURL_ERROR_SIZE, 256, "7.1", "";
        CURL_UPKEEP_INTERVAL_DEFAULT, 60000, "7.62.0", "";
        LIBCURL_VERSION_NUM, 529920, "7.1.1", "";
    "CURL_SOCKET_", Int:
        CURL_SOCKET_BAD, -1, "7.14.0", "";
        CURL_SOCKET_TIMEOUT, -1, "7.14.0", "";
    "CURLAUTH_", Ulong:
        CURLAUTH_NONE, 0, "7.10.6", "";
        CURLAUTH_BASIC, 1, "7.10.6", "";
        CURLAUTH_DIGEST, 2, "7.10.6", "";
        CURLAUTH_GSSAPI, 4, "7.55.0", "";
        CURLAUTH_GSSNEGOTIATE, 4, "7.10.6", "7.38.0";
        CURLAUTH_NEGOTIATE, 4, "7.38.0", "";
        CURLAUTH_NTLM, 8, "7.10.6", "";
        CURLAUTH_DIGEST_IE, 16, "7.19.3", "8.21.0";
        CURLAUTH_NTLM_WB, 32, "7.22.0", "8.8.0";
        CURLAUTH_BEARER, 64, "7.61.0", "";
        CURLAUTH_AWS_SIGV4, 128, "7.75.0", "";
        CURLAUTH_HTTPSIG, 256, "8.22.0", "";
        CURLAUTH_ONLY, 2147483648, "7.21.3", "";
        CURLAUTH_ANYSAFE, 4294967022, "7.10.6", "";
        CURLAUTH_ANY, 4294967023, "7.10.6", "";
    "CURLFTPAUTH_", Long:
        CURLFTPAUTH_DEFAULT, 0, "7.12.2", "";
        CURLFTPAUTH_SSL, 1, "7.12.2", "";
        CURLFTPAUTH_TLS, 2, "7.12.2", "";
    "CURLFTPMETHOD_", Long:
        CURLFTPMETHOD_DEFAULT, 0, "7.15.3", "";
        CURLFTPMETHOD_MULTICWD, 1, "7.15.3", "";
        CURLFTPMETHOD_NOCWD, 2, "7.15.3", "";
        CURLFTPMETHOD_SINGLECWD, 3, "7.15.3", "";
    "CURLFTPSSL_CCC_", Long:
        CURLFTPSSL_CCC_NONE, 0, "7.16.2", "";
        CURLFTPSSL_CCC_PASSIVE, 1, "7.16.1", "";
        CURLFTPSSL_CCC_ACTIVE, 2, "7.16.2", "";
    "CURLFTPSSL_", Long:
        CURLFTPSSL_NONE, 0, "7.11.0", "7.17.0";
        CURLFTPSSL_TRY, 1, "7.11.0", "7.17.0";
        CURLFTPSSL_CONTROL, 2, "7.11.0", "7.17.0";
        CURLFTPSSL_ALL, 3, "7.11.0", "7.17.0";
        CURLFTPSSL_LAST, 4, "", "";
    "CURLFTP_CREATE_DIR", Long:
        CURLFTP_CREATE_DIR_NONE, 0, "7.19.4", "";
        CURLFTP_CREATE_DIR, 1, "7.19.4", "";
        CURLFTP_CREATE_DIR_RETRY, 2, "7.19.4", "";
    "CURLGSSAPI_DELEGATION_", Long:
        CURLGSSAPI_DELEGATION_NONE, 0, "7.22.0", "";
        CURLGSSAPI_DELEGATION_POLICY_FLAG, 1, "7.22.0", "";
        CURLGSSAPI_DELEGATION_FLAG, 2, "7.22.0", "";
    "CURLHEADER_", Long:
        CURLHEADER_UNIFIED, 0, "7.37.0", "";
        CURLHEADER_SEPARATE, 1, "7.37.0", "";
    "CURLHTTPSIG_", Long:
        CURLHTTPSIG_NONE, 0, "8.22.0", "";
        CURLHTTPSIG_ED25519, 1, "8.22.0", "";
        CURLHTTPSIG_HMAC_SHA256, 2, "8.22.0", "";
    "CURLMNOTIFY_", Int:
        CURLMNOTIFY_INFO_READ, 0, "8.17.0", "";
        CURLMNOTIFY_EASY_DONE, 1, "8.17.0", "";
    "CURLOPTTYPE_", Int:
        CURLOPTTYPE_LONG, 0, "7.1", "";
        CURLOPTTYPE_VALUES, 0, "7.73.0", "";
        CURLOPTTYPE_CBPOINT, 10000, "7.73.0", "";
        CURLOPTTYPE_OBJECTPOINT, 10000, "7.1", "";
        CURLOPTTYPE_SLISTPOINT, 10000, "7.65.2", "";
        CURLOPTTYPE_STRINGPOINT, 10000, "7.46.0", "";
        CURLOPTTYPE_FUNCTIONPOINT, 20000, "7.1", "";
        CURLOPTTYPE_OFF_T, 30000, "7.11.0", "";
        CURLOPTTYPE_BLOB, 40000, "7.71.0", "";
    "CURLPAUSE_", Int:
        CURLPAUSE_CONT, 0, "7.18.0", "";
        CURLPAUSE_RECV_CONT, 0, "7.18.0", "";
        CURLPAUSE_SEND_CONT, 0, "7.18.0", "";
        CURLPAUSE_RECV, 1, "7.18.0", "";
        CURLPAUSE_SEND, 4, "7.18.0", "";
        CURLPAUSE_ALL, 5, "7.18.0", "";
    "CURLPIPE_", Long:
        CURLPIPE_NOTHING, 0, "7.43.0", "";
        CURLPIPE_HTTP1, 1, "7.43.0", "";
        CURLPIPE_MULTIPLEX, 2, "7.43.0", "";
    "CURLPROXY_", Long:
        CURLPROXY_HTTP, 0, "7.10", "";
        CURLPROXY_HTTP_1_0, 1, "7.19.4", "";
        CURLPROXY_HTTPS, 2, "7.52.0", "";
        CURLPROXY_HTTPS2, 3, "8.1.0", "";
        CURLPROXY_SOCKS4, 4, "7.10", "";
        CURLPROXY_SOCKS5, 5, "7.10", "";
        CURLPROXY_SOCKS4A, 6, "7.18.0", "";
        CURLPROXY_SOCKS5_HOSTNAME, 7, "7.18.0", "";
        CURLPROXY_HTTPS3, 8, "8.21.0", "";
    "CURLSSH_AUTH_", Ulong:
        CURLSSH_AUTH_NONE, 0, "7.16.1", "";
        CURLSSH_AUTH_PUBLICKEY, 1, "7.16.1", "";
        CURLSSH_AUTH_PASSWORD, 2, "7.16.1", "";
        CURLSSH_AUTH_HOST, 4, "7.16.1", "";
        CURLSSH_AUTH_KEYBOARD, 8, "7.16.1", "";
        CURLSSH_AUTH_AGENT, 16, "7.28.0", "";
        CURLSSH_AUTH_GSSAPI, 32, "7.58.0", "";
        CURLSSH_AUTH_ANY, 4294967295, "7.16.1", "";
        CURLSSH_AUTH_DEFAULT, 4294967295, "7.16.1", "";
    "CURLUSESSL_", Long:
        CURLUSESSL_NONE, 0, "7.17.0", "";
        CURLUSESSL_TRY, 1, "7.17.0", "";
        CURLUSESSL_CONTROL, 2, "7.17.0", "";
        CURLUSESSL_ALL, 3, "7.17.0", "";
    "CURL_BLOB_", Int:
        CURL_BLOB_NOCOPY, 0, "7.71.0", "";
        CURL_BLOB_COPY, 1, "7.71.0", "";
    "CURL_CHUNK_BGN_FUNC_", Int:
        CURL_CHUNK_BGN_FUNC_OK, 0, "7.21.0", "";
        CURL_CHUNK_BGN_FUNC_FAIL, 1, "7.21.0", "";
        CURL_CHUNK_BGN_FUNC_SKIP, 2, "7.21.0", "";
    "CURL_CHUNK_END_FUNC_", Int:
        CURL_CHUNK_END_FUNC_OK, 0, "7.21.0", "";
        CURL_CHUNK_END_FUNC_FAIL, 1, "7.21.0", "";
    "CURL_FNMATCHFUNC_", Int:
        CURL_FNMATCHFUNC_MATCH, 0, "7.21.0", "";
        CURL_FNMATCHFUNC_NOMATCH, 1, "7.21.0", "";
        CURL_FNMATCHFUNC_FAIL, 2, "7.21.0", "";
    "CURL_GLOBAL_", Int:
        CURL_GLOBAL_NOTHING, 0, "7.8", "";
        CURL_GLOBAL_SSL, 1, "7.8", "";
        CURL_GLOBAL_WIN32, 2, "7.8.1", "";
        CURL_GLOBAL_ALL, 3, "7.8", "";
        CURL_GLOBAL_DEFAULT, 3, "7.8", "";
        CURL_GLOBAL_ACK_EINTR, 4, "7.30.0", "";
    "CURL_HTTP_VERSION_", Long:
        CURL_HTTP_VERSION_NONE, 0, "7.9.1", "";
        CURL_HTTP_VERSION_1_0, 1, "7.9.1", "";
        CURL_HTTP_VERSION_1_1, 2, "7.9.1", "";
        CURL_HTTP_VERSION_2, 3, "7.43.0", "";
        CURL_HTTP_VERSION_2_0, 3, "7.33.0", "";
        CURL_HTTP_VERSION_2TLS, 4, "7.47.0", "";
        CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE, 5, "7.49.0", "";
        CURL_HTTP_VERSION_3, 30, "7.66.0", "";
        CURL_HTTP_VERSION_3ONLY, 31, "7.88.0", "";
        CURL_HTTP_VERSION_LAST, 32, "", "";
    "CURL_IPRESOLVE_", Long:
        CURL_IPRESOLVE_WHATEVER, 0, "7.10.8", "";
        CURL_IPRESOLVE_V4, 1, "7.10.8", "";
        CURL_IPRESOLVE_V6, 2, "7.10.8", "";
    "CURL_NETRC_", Long:
        CURL_NETRC_IGNORED, 0, "7.9.8", "";
        CURL_NETRC_OPTIONAL, 1, "7.9.8", "";
        CURL_NETRC_REQUIRED, 2, "7.9.8", "";
    "CURL_POLL_", Int:
        CURL_POLL_NONE, 0, "7.14.0", "";
        CURL_POLL_IN, 1, "7.14.0", "";
        CURL_POLL_OUT, 2, "7.14.0", "";
        CURL_POLL_INOUT, 3, "7.14.0", "";
        CURL_POLL_REMOVE, 4, "7.14.0", "";
    "CURL_PREREQFUNC_", Int:
        CURL_PREREQFUNC_OK, 0, "7.79.0", "";
        CURL_PREREQFUNC_ABORT, 1, "7.79.0", "";
    "CURL_PUSH_", Int:
        CURL_PUSH_OK, 0, "7.44.0", "";
        CURL_PUSH_DENY, 1, "7.44.0", "";
        CURL_PUSH_ERROROUT, 2, "7.72.0", "";
    "CURL_REDIR_", Long:
        CURL_REDIR_GET_ALL, 0, "7.19.1", "";
        CURL_REDIR_POST_301, 1, "7.19.1", "";
        CURL_REDIR_POST_302, 2, "7.19.1", "";
        CURL_REDIR_POST_303, 4, "7.26.0", "";
        CURL_REDIR_POST_ALL, 7, "7.19.1", "";
    "CURL_RTSPREQ_", Long:
        CURL_RTSPREQ_NONE, 0, "7.20.0", "";
        CURL_RTSPREQ_OPTIONS, 1, "7.20.0", "";
        CURL_RTSPREQ_DESCRIBE, 2, "7.20.0", "";
        CURL_RTSPREQ_ANNOUNCE, 3, "7.20.0", "";
        CURL_RTSPREQ_SETUP, 4, "7.20.0", "";
        CURL_RTSPREQ_PLAY, 5, "7.20.0", "";
        CURL_RTSPREQ_PAUSE, 6, "7.20.0", "";
        CURL_RTSPREQ_TEARDOWN, 7, "7.20.0", "";
        CURL_RTSPREQ_GET_PARAMETER, 8, "7.20.0", "";
        CURL_RTSPREQ_SET_PARAMETER, 9, "7.20.0", "";
        CURL_RTSPREQ_RECORD, 10, "7.20.0", "";
        CURL_RTSPREQ_RECEIVE, 11, "7.20.0", "";
        CURL_RTSPREQ_LAST, 12, "", "";
    "CURL_SEEKFUNC_", Int:
        CURL_SEEKFUNC_OK, 0, "7.19.5", "";
        CURL_SEEKFUNC_FAIL, 1, "7.19.5", "";
        CURL_SEEKFUNC_CANTSEEK, 2, "7.19.5", "";
    "CURL_SOCKOPT_", Int:
        CURL_SOCKOPT_OK, 0, "7.21.5", "";
        CURL_SOCKOPT_ERROR, 1, "7.21.5", "";
        CURL_SOCKOPT_ALREADY_CONNECTED, 2, "7.21.5", "";
    "CURL_SSLVERSION_", Long:
        CURL_SSLVERSION_DEFAULT, 0, "7.9.2", "";
        CURL_SSLVERSION_MAX_NONE, 0, "7.54.0", "";
        CURL_SSLVERSION_TLSv1, 1, "7.9.2", "";
        CURL_SSLVERSION_SSLv2, 2, "7.9.2", "";
        CURL_SSLVERSION_SSLv3, 3, "7.9.2", "";
        CURL_SSLVERSION_TLSv1_0, 4, "7.34.0", "";
        CURL_SSLVERSION_TLSv1_1, 5, "7.34.0", "";
        CURL_SSLVERSION_TLSv1_2, 6, "7.34.0", "";
        CURL_SSLVERSION_TLSv1_3, 7, "7.52.0", "";
        CURL_SSLVERSION_LAST, 8, "", "";
        CURL_SSLVERSION_MAX_DEFAULT, 65536, "7.54.0", "";
        CURL_SSLVERSION_MAX_TLSv1_0, 262144, "7.54.0", "";
        CURL_SSLVERSION_MAX_TLSv1_1, 327680, "7.54.0", "";
        CURL_SSLVERSION_MAX_TLSv1_2, 393216, "7.54.0", "";
        CURL_SSLVERSION_MAX_TLSv1_3, 458752, "7.54.0", "";
        CURL_SSLVERSION_MAX_LAST, 524288, "", "";
    "CURL_TIMECOND_", Long:
        CURL_TIMECOND_NONE, 0, "7.9.7", "";
        CURL_TIMECOND_IFMODSINCE, 1, "7.9.7", "";
        CURL_TIMECOND_IFUNMODSINCE, 2, "7.9.7", "";
        CURL_TIMECOND_LASTMOD, 3, "7.9.7", "";
    "CURL_TLSAUTH_", Long:
        CURL_TLSAUTH_NONE, 0, "7.21.4", "8.22.0";
        CURL_TLSAUTH_SRP, 1, "7.21.4", "8.22.0";
    "CURL_TRAILERFUNC_", Int:
        CURL_TRAILERFUNC_OK, 0, "7.64.0", "";
        CURL_TRAILERFUNC_ABORT, 1, "7.64.0", "";
    "CURLFINFOFLAG_", Int:
        CURLFINFOFLAG_KNOWN_FILENAME, 1, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_FILETYPE, 2, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_TIME, 4, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_PERM, 8, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_UID, 16, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_GID, 32, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_SIZE, 64, "7.21.0", "";
        CURLFINFOFLAG_KNOWN_HLINKCOUNT, 128, "7.21.0", "";
    "CURLFOLLOW_", Long:
        CURLFOLLOW_ALL, 1, "8.13.0", "";
        CURLFOLLOW_OBEYCODE, 2, "8.13.0", "";
        CURLFOLLOW_FIRSTONLY, 3, "8.13.0", "";
    "CURLHSTS_", Long:
        CURLHSTS_ENABLE, 1, "7.74.0", "";
        CURLHSTS_READONLYFILE, 2, "7.74.0", "";
    "CURLH_", Int:
        CURLH_HEADER, 1, "7.83.0", "";
        CURLH_TRAILER, 2, "7.83.0", "";
        CURLH_CONNECT, 4, "7.83.0", "";
        CURLH_1XX, 8, "7.83.0", "";
        CURLH_PSEUDO, 16, "7.83.0", "";
    "CURLMIMEOPT_", Long:
        CURLMIMEOPT_FORMESCAPE, 1, "7.81.0", "";
    "CURLMNWC_", Long:
        CURLMNWC_CLEAR_ALL, 1, "8.20.0", "";
        CURLMNWC_CLEAR_CONNS, 2, "8.16.0", "";
        CURLMNWC_CLEAR_DNS, 4, "8.16.0", "";
    "CURLOT_FLAG_", Int:
        CURLOT_FLAG_ALIAS, 1, "7.73.0", "";
    "CURLPROTO_", Ulong:
        CURLPROTO_HTTP, 1, "7.19.4", "";
        CURLPROTO_HTTPS, 2, "7.19.4", "";
        CURLPROTO_FTP, 4, "7.19.4", "";
        CURLPROTO_FTPS, 8, "7.19.4", "";
        CURLPROTO_SCP, 16, "7.19.4", "";
        CURLPROTO_SFTP, 32, "7.19.4", "";
        CURLPROTO_TELNET, 64, "7.19.4", "";
        CURLPROTO_LDAP, 128, "7.19.4", "";
        CURLPROTO_LDAPS, 256, "7.19.4", "";
        CURLPROTO_DICT, 512, "7.19.4", "";
        CURLPROTO_FILE, 1024, "7.19.4", "";
        CURLPROTO_TFTP, 2048, "7.19.4", "";
        CURLPROTO_IMAP, 4096, "7.20.0", "";
        CURLPROTO_IMAPS, 8192, "7.20.0", "";
        CURLPROTO_POP3, 16384, "7.20.0", "";
        CURLPROTO_POP3S, 32768, "7.20.0", "";
        CURLPROTO_SMTP, 65536, "7.20.0", "";
        CURLPROTO_SMTPS, 131072, "7.20.0", "";
        CURLPROTO_RTSP, 262144, "7.20.0", "";
        CURLPROTO_RTMP, 524288, "7.21.0", "8.20.0";
        CURLPROTO_RTMPT, 1048576, "7.21.0", "8.20.0";
        CURLPROTO_RTMPE, 2097152, "7.21.0", "8.20.0";
        CURLPROTO_RTMPTE, 4194304, "7.21.0", "8.20.0";
        CURLPROTO_RTMPS, 8388608, "7.21.0", "8.20.0";
        CURLPROTO_RTMPTS, 16777216, "7.21.0", "8.20.0";
        CURLPROTO_GOPHER, 33554432, "7.21.2", "";
        CURLPROTO_SMB, 67108864, "7.40.0", "";
        CURLPROTO_SMBS, 134217728, "7.40.0", "";
        CURLPROTO_MQTT, 268435456, "7.71.0", "";
        CURLPROTO_GOPHERS, 536870912, "7.75.0", "";
        CURLPROTO_ALL, 4294967295, "7.19.4", "";
    "CURLSSLBACKEND_", Int:
        CURLSSLBACKEND_AWSLC, 1, "8.1.0", "";
        CURLSSLBACKEND_BORINGSSL, 1, "7.49.0", "";
        CURLSSLBACKEND_LIBRESSL, 1, "7.49.0", "";
        CURLSSLBACKEND_CYASSL, 7, "7.34.0", "";
        CURLSSLBACKEND_DARWINSSL, 9, "7.34.0", "7.64.1";
    "CURLSSLOPT_", Long:
        CURLSSLOPT_ALLOW_BEAST, 1, "7.25.0", "";
        CURLSSLOPT_NO_REVOKE, 2, "7.44.0", "";
        CURLSSLOPT_NO_PARTIALCHAIN, 4, "7.68.0", "";
        CURLSSLOPT_REVOKE_BEST_EFFORT, 8, "7.70.0", "";
        CURLSSLOPT_NATIVE_CA, 16, "7.71.0", "";
        CURLSSLOPT_AUTO_CLIENT_CERT, 32, "7.77.0", "";
        CURLSSLOPT_EARLYDATA, 64, "8.11.0", "";
    "CURLULFLAG_", Long:
        CURLULFLAG_ANSWERED, 1, "8.13.0", "";
        CURLULFLAG_DELETED, 2, "8.13.0", "";
        CURLULFLAG_DRAFT, 4, "8.13.0", "";
        CURLULFLAG_FLAGGED, 8, "8.13.0", "";
        CURLULFLAG_SEEN, 16, "8.13.0", "";
    "CURLU_", Int:
        CURLU_DEFAULT_PORT, 1, "7.62.0", "";
        CURLU_NO_DEFAULT_PORT, 2, "7.62.0", "";
        CURLU_DEFAULT_SCHEME, 4, "7.62.0", "";
        CURLU_NON_SUPPORT_SCHEME, 8, "7.62.0", "";
        CURLU_PATH_AS_IS, 16, "7.62.0", "";
        CURLU_DISALLOW_USER, 32, "7.62.0", "";
        CURLU_URLDECODE, 64, "7.62.0", "";
        CURLU_URLENCODE, 128, "7.62.0", "";
        CURLU_APPENDQUERY, 256, "7.62.0", "";
        CURLU_GUESS_SCHEME, 512, "7.62.0", "";
        CURLU_NO_AUTHORITY, 1024, "7.67.0", "";
        CURLU_ALLOW_SPACE, 2048, "7.78.0", "";
        CURLU_PUNYCODE, 4096, "7.88.0", "";
        CURLU_PUNY2IDN, 8192, "8.3.0", "";
        CURLU_GET_EMPTY, 16384, "8.8.0", "";
        CURLU_NO_GUESS_SCHEME, 32768, "8.9.0", "";
    "CURLWS_", Int:
        CURLWS_RAW_MODE, 1, "7.86.0", "";
        CURLWS_TEXT, 1, "7.86.0", "";
        CURLWS_BINARY, 2, "7.86.0", "";
        CURLWS_NOAUTOPONG, 2, "8.14.0", "";
        CURLWS_CONT, 4, "7.86.0", "";
        CURLWS_CLOSE, 8, "7.86.0", "";
        CURLWS_PING, 16, "7.86.0", "";
        CURLWS_OFFSET, 32, "7.86.0", "";
        CURLWS_PONG, 64, "7.86.0", "";
    "CURL_CSELECT_", Int:
        CURL_CSELECT_IN, 1, "7.16.3", "";
        CURL_CSELECT_OUT, 2, "7.16.3", "";
        CURL_CSELECT_ERR, 4, "7.16.3", "";
    "CURL_HTTPPOST_", Int:
        CURL_HTTPPOST_FILENAME, 1, "7.46.0", "";
        CURL_HTTPPOST_READFILE, 2, "7.46.0", "";
        CURL_HTTPPOST_PTRNAME, 4, "7.46.0", "";
        CURL_HTTPPOST_PTRCONTENTS, 8, "7.46.0", "";
        CURL_HTTPPOST_BUFFER, 16, "7.46.0", "";
        CURL_HTTPPOST_PTRBUFFER, 32, "7.46.0", "";
        CURL_HTTPPOST_CALLBACK, 64, "7.46.0", "";
        CURL_HTTPPOST_LARGE, 128, "7.46.0", "";
    "CURL_VERSION_", Int:
        CURL_VERSION_IPV6, 1, "7.10", "";
        CURL_VERSION_KERBEROS4, 2, "7.10", "7.33.0";
        CURL_VERSION_SSL, 4, "7.10", "";
        CURL_VERSION_LIBZ, 8, "7.10", "";
        CURL_VERSION_NTLM, 16, "7.10.6", "";
        CURL_VERSION_GSSNEGOTIATE, 32, "7.10.6", "7.38.0";
        CURL_VERSION_DEBUG, 64, "7.10.6", "";
        CURL_VERSION_ASYNCHDNS, 128, "7.10.7", "";
        CURL_VERSION_SPNEGO, 256, "7.10.8", "";
        CURL_VERSION_LARGEFILE, 512, "7.11.1", "";
        CURL_VERSION_IDN, 1024, "7.12.0", "";
        CURL_VERSION_SSPI, 2048, "7.13.2", "";
        CURL_VERSION_CONV, 4096, "7.15.4", "";
        CURL_VERSION_CURLDEBUG, 8192, "7.19.6", "8.19.0";
        CURL_VERSION_TLSAUTH_SRP, 16384, "7.21.4", "8.22.0";
        CURL_VERSION_NTLM_WB, 32768, "7.22.0", "8.8.0";
        CURL_VERSION_HTTP2, 65536, "7.33.0", "";
        CURL_VERSION_GSSAPI, 131072, "7.38.0", "";
        CURL_VERSION_KERBEROS5, 262144, "7.40.0", "";
        CURL_VERSION_UNIX_SOCKETS, 524288, "7.40.0", "";
        CURL_VERSION_PSL, 1048576, "7.47.0", "";
        CURL_VERSION_HTTPS_PROXY, 2097152, "7.52.0", "";
        CURL_VERSION_MULTI_SSL, 4194304, "7.56.0", "";
        CURL_VERSION_BROTLI, 8388608, "7.57.0", "";
        CURL_VERSION_ALTSVC, 16777216, "7.64.1", "";
        CURL_VERSION_HTTP3, 33554432, "7.66.0", "";
        CURL_VERSION_ZSTD, 67108864, "7.72.0", "";
        CURL_VERSION_UNICODE, 134217728, "7.72.0", "";
        CURL_VERSION_HSTS, 268435456, "7.74.0", "";
        CURL_VERSION_GSASL, 536870912, "7.76.0", "";
        CURL_VERSION_THREADSAFE, 1073741824, "7.84.0", "";
    "CURL_WAIT_POLL", Int:
        CURL_WAIT_POLLIN, 1, "7.28.0", "";
        CURL_WAIT_POLLPRI, 2, "7.28.0", "";
        CURL_WAIT_POLLOUT, 4, "7.28.0", "";
    "CURLALTSVC_", Long:
        CURLALTSVC_READONLYFILE, 4, "7.64.1", "";
        CURLALTSVC_H1, 8, "7.64.1", "";
        CURLALTSVC_H2, 16, "7.64.1", "";
        CURLALTSVC_H3, 32, "7.64.1", "";
    "CURLOPT_", Int:
        CURLOPT_CLOSEPOLICY, 9999, "7.7", "7.16.1";
        CURLOPT_OBSOLETE40, 9999, "", "";
        CURLOPT_OBSOLETE72, 9999, "", "";
        CURLOPT_WRITEINFO, 9999, "7.1", "";
    "CURL_MAX_", Int:
        CURL_MAX_WRITE_SIZE, 16384, "7.9.7", "";
        CURL_MAX_HTTP_HEADER, 102400, "7.19.7", "";
        CURL_MAX_READ_SIZE, 10485760, "7.53.0", "";
    "CURLINFO_", Int:
        CURLINFO_MASK, 1048575, "7.4.1", "";
        CURLINFO_STRING, 1048576, "7.4.1", "";
        CURLINFO_LONG, 2097152, "7.4.1", "";
        CURLINFO_DOUBLE, 3145728, "7.4.1", "";
        CURLINFO_PTR, 4194304, "7.54.1", "";
        CURLINFO_SLIST, 4194304, "7.12.3", "";
        CURLINFO_SOCKET, 5242880, "7.45.0", "";
        CURLINFO_OFF_T, 6291456, "7.55.0", "";
        CURLINFO_TYPEMASK, 15728640, "7.4.1", "";
    "CURL_READFUNC_", Int:
        CURL_READFUNC_ABORT, 268435456, "7.12.1", "";
        CURL_READFUNC_PAUSE, 268435457, "7.18.0", "";
    "CURL_PROGRESSFUNC_", Int:
        CURL_PROGRESSFUNC_CONTINUE, 268435457, "7.68.0", "";
    "CURL_WRITEFUNC_", Ulong:
        CURL_WRITEFUNC_PAUSE, 268435457, "7.18.0", "";
        CURL_WRITEFUNC_ERROR, 4294967295, "7.87.0", "";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let names: HashSet<_> = ALL.iter().map(|c| c.name).collect();
        assert_eq!(names.len(), ALL.len());
    }

    #[test]
    fn combined_masks_hold_their_parts() {
        assert_eq!(CURLPAUSE_ALL, CURLPAUSE_RECV | CURLPAUSE_SEND);
        assert_eq!(CURLAUTH_ANY & CURLAUTH_DIGEST_IE, 0);
        assert_eq!(CURL_GLOBAL_ALL, CURL_GLOBAL_SSL | CURL_GLOBAL_WIN32);
    }
}
