//! The exports of the library. Those of the printf family are left out: Rust programs do not use them.

use crate::types::*;
use libc::{c_char, c_int, c_long, c_uint, c_void, size_t, time_t};

// The engine lets panics of callbacks pass.
unsafe extern "C-unwind" {
    pub fn curl_easy_init() -> *mut CURL;
    pub fn curl_easy_setopt(curl: *mut CURL, option: CURLoption, ...) -> CURLcode;
    pub fn curl_easy_perform(curl: *mut CURL) -> CURLcode;
    pub fn curl_easy_cleanup(curl: *mut CURL);
    pub fn curl_easy_getinfo(curl: *mut CURL, info: CURLINFO, ...) -> CURLcode;
    pub fn curl_easy_duphandle(curl: *mut CURL) -> *mut CURL;
    pub fn curl_easy_reset(curl: *mut CURL);
    pub fn curl_easy_recv(
        curl: *mut CURL,
        buffer: *mut c_void,
        length: size_t,
        received: *mut size_t,
    ) -> CURLcode;
    pub fn curl_easy_send(
        curl: *mut CURL,
        data: *const c_void,
        length: size_t,
        sent: *mut size_t,
    ) -> CURLcode;
    pub fn curl_easy_upkeep(curl: *mut CURL) -> CURLcode;
    pub fn curl_easy_pause(curl: *mut CURL, bitmask: c_int) -> CURLcode;
    pub fn curl_easy_strerror(code: CURLcode) -> *const c_char;
    pub fn curl_easy_escape(curl: *mut CURL, text: *const c_char, length: c_int) -> *mut c_char;
    pub fn curl_easy_unescape(
        curl: *mut CURL,
        text: *const c_char,
        length: c_int,
        unescaped: *mut c_int,
    ) -> *mut c_char;
    pub fn curl_easy_header(
        curl: *mut CURL,
        name: *const c_char,
        index: size_t,
        origin: c_uint,
        request: c_int,
        header: *mut *mut curl_header,
    ) -> CURLHcode;
    pub fn curl_easy_nextheader(
        curl: *mut CURL,
        origin: c_uint,
        request: c_int,
        previous: *mut curl_header,
    ) -> *mut curl_header;
    pub fn curl_easy_option_by_id(id: CURLoption) -> *const curl_easyoption;
    pub fn curl_easy_option_by_name(name: *const c_char) -> *const curl_easyoption;
    pub fn curl_easy_option_next(previous: *const curl_easyoption) -> *const curl_easyoption;
    pub fn curl_easy_ssls_export(curl: *mut CURL, export: curl_ssls_export_cb, data: *mut c_void)
    -> CURLcode;
    pub fn curl_easy_ssls_import(
        curl: *mut CURL,
        key: *const c_char,
        mac: *const u8,
        mac_length: size_t,
        session: *const u8,
        session_length: size_t,
    ) -> CURLcode;

    pub fn curl_escape(text: *const c_char, length: c_int) -> *mut c_char;
    pub fn curl_unescape(text: *const c_char, length: c_int) -> *mut c_char;
    pub fn curl_free(pointer: *mut c_void);
    pub fn curl_getdate(date: *const c_char, unused: *const time_t) -> time_t;
    pub fn curl_getenv(variable: *const c_char) -> *mut c_char;
    pub fn curl_strequal(one: *const c_char, other: *const c_char) -> c_int;
    pub fn curl_strnequal(one: *const c_char, other: *const c_char, length: size_t) -> c_int;
    pub fn curl_slist_append(list: *mut curl_slist, data: *const c_char) -> *mut curl_slist;
    pub fn curl_slist_free_all(list: *mut curl_slist);
    pub fn curl_version() -> *mut c_char;
    pub fn curl_version_info(age: CURLversion) -> *mut curl_version_info_data;

    pub fn curl_global_init(flags: c_long) -> CURLcode;
    pub fn curl_global_init_mem(
        flags: c_long,
        malloc: curl_malloc_callback,
        free: curl_free_callback,
        realloc: curl_realloc_callback,
        strdup: curl_strdup_callback,
        calloc: curl_calloc_callback,
    ) -> CURLcode;
    pub fn curl_global_cleanup();
    pub fn curl_global_trace(config: *const c_char) -> CURLcode;
    pub fn curl_global_sslset(
        id: curl_sslbackend,
        name: *const c_char,
        available: *mut *mut *const curl_ssl_backend,
    ) -> CURLsslset;

    pub fn curl_formadd(first: *mut *mut curl_httppost, last: *mut *mut curl_httppost, ...) -> CURLFORMcode;
    pub fn curl_formget(
        form: *mut curl_httppost,
        argument: *mut c_void,
        append: curl_formget_callback,
    ) -> c_int;
    pub fn curl_formfree(form: *mut curl_httppost);

    pub fn curl_mime_init(curl: *mut CURL) -> *mut curl_mime;
    pub fn curl_mime_free(mime: *mut curl_mime);
    pub fn curl_mime_addpart(mime: *mut curl_mime) -> *mut curl_mimepart;
    pub fn curl_mime_name(part: *mut curl_mimepart, name: *const c_char) -> CURLcode;
    pub fn curl_mime_filename(part: *mut curl_mimepart, name: *const c_char) -> CURLcode;
    pub fn curl_mime_type(part: *mut curl_mimepart, media_type: *const c_char) -> CURLcode;
    pub fn curl_mime_encoder(part: *mut curl_mimepart, encoding: *const c_char) -> CURLcode;
    pub fn curl_mime_data(part: *mut curl_mimepart, data: *const c_char, size: size_t) -> CURLcode;
    pub fn curl_mime_filedata(part: *mut curl_mimepart, name: *const c_char) -> CURLcode;
    pub fn curl_mime_data_cb(
        part: *mut curl_mimepart,
        size: curl_off_t,
        read: Option<curl_read_callback>,
        seek: Option<curl_seek_callback>,
        free: Option<curl_free_callback>,
        argument: *mut c_void,
    ) -> CURLcode;
    pub fn curl_mime_subparts(part: *mut curl_mimepart, parts: *mut curl_mime) -> CURLcode;
    pub fn curl_mime_headers(part: *mut curl_mimepart, headers: *mut curl_slist, own: c_int) -> CURLcode;

    pub fn curl_multi_init() -> *mut CURLM;
    pub fn curl_multi_add_handle(multi: *mut CURLM, curl: *mut CURL) -> CURLMcode;
    pub fn curl_multi_remove_handle(multi: *mut CURLM, curl: *mut CURL) -> CURLMcode;
    pub fn curl_multi_get_handles(multi: *mut CURLM) -> *mut *mut CURL;
    pub fn curl_multi_get_offt(multi: *mut CURLM, info: CURLMinfo_offt, value: *mut curl_off_t) -> CURLMcode;
    pub fn curl_multi_fdset(
        multi: *mut CURLM,
        read: *mut fd_set,
        write: *mut fd_set,
        except: *mut fd_set,
        highest: *mut c_int,
    ) -> CURLMcode;
    pub fn curl_multi_wait(
        multi: *mut CURLM,
        extra: *mut curl_waitfd,
        count: c_uint,
        timeout_ms: c_int,
        ready: *mut c_int,
    ) -> CURLMcode;
    pub fn curl_multi_poll(
        multi: *mut CURLM,
        extra: *mut curl_waitfd,
        count: c_uint,
        timeout_ms: c_int,
        ready: *mut c_int,
    ) -> CURLMcode;
    pub fn curl_multi_waitfds(
        multi: *mut CURLM,
        descriptors: *mut curl_waitfd,
        size: c_uint,
        count: *mut c_uint,
    ) -> CURLMcode;
    pub fn curl_multi_wakeup(multi: *mut CURLM) -> CURLMcode;
    pub fn curl_multi_perform(multi: *mut CURLM, running: *mut c_int) -> CURLMcode;
    pub fn curl_multi_cleanup(multi: *mut CURLM) -> CURLMcode;
    pub fn curl_multi_info_read(multi: *mut CURLM, left: *mut c_int) -> *mut CURLMsg;
    pub fn curl_multi_strerror(code: CURLMcode) -> *const c_char;
    pub fn curl_multi_socket(multi: *mut CURLM, socket: curl_socket_t, running: *mut c_int) -> CURLMcode;
    pub fn curl_multi_socket_action(
        multi: *mut CURLM,
        socket: curl_socket_t,
        events: c_int,
        running: *mut c_int,
    ) -> CURLMcode;
    pub fn curl_multi_socket_all(multi: *mut CURLM, running: *mut c_int) -> CURLMcode;
    pub fn curl_multi_timeout(multi: *mut CURLM, timeout_ms: *mut c_long) -> CURLMcode;
    pub fn curl_multi_setopt(multi: *mut CURLM, option: CURLMoption, ...) -> CURLMcode;
    pub fn curl_multi_assign(multi: *mut CURLM, socket: curl_socket_t, data: *mut c_void) -> CURLMcode;
    pub fn curl_multi_notify_disable(multi: *mut CURLM, notification: c_uint) -> CURLMcode;
    pub fn curl_multi_notify_enable(multi: *mut CURLM, notification: c_uint) -> CURLMcode;
    pub fn curl_pushheader_byname(headers: *mut curl_pushheaders, name: *const c_char) -> *mut c_char;
    pub fn curl_pushheader_bynum(headers: *mut curl_pushheaders, number: size_t) -> *mut c_char;

    pub fn curl_share_init() -> *mut CURLSH;
    pub fn curl_share_setopt(share: *mut CURLSH, option: CURLSHoption, ...) -> CURLSHcode;
    pub fn curl_share_cleanup(share: *mut CURLSH) -> CURLSHcode;
    pub fn curl_share_strerror(code: CURLSHcode) -> *const c_char;

    pub fn curl_url() -> *mut CURLU;
    pub fn curl_url_cleanup(url: *mut CURLU);
    pub fn curl_url_dup(url: *const CURLU) -> *mut CURLU;
    pub fn curl_url_get(
        url: *const CURLU,
        part: CURLUPart,
        text: *mut *mut c_char,
        flags: c_uint,
    ) -> CURLUcode;
    pub fn curl_url_set(url: *mut CURLU, part: CURLUPart, text: *const c_char, flags: c_uint) -> CURLUcode;
    pub fn curl_url_strerror(code: CURLUcode) -> *const c_char;

    pub fn curl_ws_recv(
        curl: *mut CURL,
        buffer: *mut c_void,
        length: size_t,
        received: *mut size_t,
        frame: *mut *const curl_ws_frame,
    ) -> CURLcode;
    pub fn curl_ws_send(
        curl: *mut CURL,
        data: *const c_void,
        length: size_t,
        sent: *mut size_t,
        fragment: curl_off_t,
        flags: c_uint,
    ) -> CURLcode;
    pub fn curl_ws_start_frame(curl: *mut CURL, flags: c_uint, length: curl_off_t) -> CURLcode;
    pub fn curl_ws_meta(curl: *mut CURL) -> *const curl_ws_frame;
}
