//! The symbols that libcurl.so.4 exports, exactly these, in the order of their names.
//!
//! All have the version `VERSION_NODE`; a test of the built library compares its dynamic symbols with this
//! list.

/// The version node of Debian's OpenSSL flavour; programs built against it require it by name.
pub const VERSION_NODE: &str = "CURL_OPENSSL_4";

/// The library's name in the programs that need it.
pub const SONAME: &str = "libcurl.so.4";

/// The version node of our own extensions: include/curl/warmwire.h.
pub const OWN_NODE: &str = "WARMWIRE_1";

/// The functions of include/curl/warmwire.h, in the order of their names.
pub const OWN_EXPORTS: [&str; 20] = [
    "warmwire_close",
    "warmwire_each",
    "warmwire_follow_names",
    "warmwire_ftp_pipeline",
    "warmwire_open",
    "warmwire_policy",
    "warmwire_pool",
    "warmwire_priority",
    "warmwire_smtp_pipeline",
    "warmwire_upload",
    "warmwire_upload_place",
    "warmwire_upload_verify",
    "warmwire_watch",
    "warmwire_watch_add",
    "warmwire_watch_free",
    "warmwire_watch_run",
    "warmwire_watch_status",
    "warmwire_watch_stop",
    "warmwire_websocket",
    "warmwire_why",
];

pub const EXPORTS: [&str; 100] = [
    "curl_easy_cleanup",
    "curl_easy_duphandle",
    "curl_easy_escape",
    "curl_easy_getinfo",
    "curl_easy_header",
    "curl_easy_init",
    "curl_easy_nextheader",
    "curl_easy_option_by_id",
    "curl_easy_option_by_name",
    "curl_easy_option_next",
    "curl_easy_pause",
    "curl_easy_perform",
    "curl_easy_recv",
    "curl_easy_reset",
    "curl_easy_send",
    "curl_easy_setopt",
    "curl_easy_ssls_export",
    "curl_easy_ssls_import",
    "curl_easy_strerror",
    "curl_easy_unescape",
    "curl_easy_upkeep",
    "curl_escape",
    "curl_formadd",
    "curl_formfree",
    "curl_formget",
    "curl_free",
    "curl_getdate",
    "curl_getenv",
    "curl_global_cleanup",
    "curl_global_init",
    "curl_global_init_mem",
    "curl_global_sslset",
    "curl_global_trace",
    "curl_maprintf",
    "curl_mfprintf",
    "curl_mime_addpart",
    "curl_mime_data",
    "curl_mime_data_cb",
    "curl_mime_encoder",
    "curl_mime_filedata",
    "curl_mime_filename",
    "curl_mime_free",
    "curl_mime_headers",
    "curl_mime_init",
    "curl_mime_name",
    "curl_mime_subparts",
    "curl_mime_type",
    "curl_mprintf",
    "curl_msnprintf",
    "curl_msprintf",
    "curl_multi_add_handle",
    "curl_multi_assign",
    "curl_multi_cleanup",
    "curl_multi_fdset",
    "curl_multi_get_handles",
    "curl_multi_get_offt",
    "curl_multi_info_read",
    "curl_multi_init",
    "curl_multi_notify_disable",
    "curl_multi_notify_enable",
    "curl_multi_perform",
    "curl_multi_poll",
    "curl_multi_remove_handle",
    "curl_multi_setopt",
    "curl_multi_socket",
    "curl_multi_socket_action",
    "curl_multi_socket_all",
    "curl_multi_strerror",
    "curl_multi_timeout",
    "curl_multi_wait",
    "curl_multi_waitfds",
    "curl_multi_wakeup",
    "curl_mvaprintf",
    "curl_mvfprintf",
    "curl_mvprintf",
    "curl_mvsnprintf",
    "curl_mvsprintf",
    "curl_pushheader_byname",
    "curl_pushheader_bynum",
    "curl_share_cleanup",
    "curl_share_init",
    "curl_share_setopt",
    "curl_share_strerror",
    "curl_slist_append",
    "curl_slist_free_all",
    "curl_strequal",
    "curl_strnequal",
    "curl_unescape",
    "curl_url",
    "curl_url_cleanup",
    "curl_url_dup",
    "curl_url_get",
    "curl_url_set",
    "curl_url_strerror",
    "curl_version",
    "curl_version_info",
    "curl_ws_meta",
    "curl_ws_recv",
    "curl_ws_send",
    "curl_ws_start_frame",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_unique() {
        assert!(EXPORTS.is_sorted_by(|a, b| a < b));
        assert!(OWN_EXPORTS.is_sorted_by(|a, b| a < b));
    }
}
