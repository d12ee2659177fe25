//! Facts about a transfer: times, sizes, addresses and codes.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The facts about a transfer, of the last one or of the one under way (curl_easy_getinfo(3)).
///
/// Times begin at the start of the transfer and are zero for steps that did not happen. Sizes are in bytes, and -1 stands for a
/// size or a date that is unknown.
#[derive(Clone, Copy)]
pub struct TransferInfo<'t>(pub(crate) &'t engine::info::TransferInfo);

impl TransferInfo<'_> {
    /// Response code of the last reply; 0 where there is none.
    pub fn response_code(&self) -> i64 {
        self.0.response_code
    }

    /// Response code of the last CONNECT to a proxy.
    pub fn connect_code(&self) -> i64 {
        self.0.rare.connect_code
    }

    /// Version of HTTP that was spoken, as a CURL_HTTP_VERSION_ number.
    pub fn http_version(&self) -> i64 {
        self.0.http_version
    }

    /// Redirects followed.
    pub fn redirect_count(&self) -> i64 {
        self.0.redirect_count
    }

    /// Connections made; 0 where a kept one served.
    pub fn connects(&self) -> i64 {
        self.0.connects
    }

    /// Bytes of all heads received.
    pub fn header_size(&self) -> i64 {
        self.0.header_size
    }

    /// Bytes of all requests sent.
    pub fn request_size(&self) -> i64 {
        self.0.request_size
    }

    /// Bytes of body received, before decoding.
    pub fn downloaded(&self) -> i64 {
        self.0.downloaded
    }

    /// Bytes of body given to the application.
    pub fn delivered(&self) -> i64 {
        self.0.delivered
    }

    /// Bytes of body sent.
    pub fn uploaded(&self) -> i64 {
        self.0.uploaded
    }

    /// Size of the body that is expected, or -1.
    pub fn download_total(&self) -> i64 {
        self.0.download_total
    }

    /// Size that the head of a reply under way announces for its body, or -1.
    pub fn announced(&self) -> i64 {
        self.0.announced
    }

    /// Size of the upload that is expected, or -1.
    pub fn upload_total(&self) -> i64 {
        self.0.upload_total
    }

    /// Time of the document in seconds since 1970, or -1.
    pub fn file_time(&self) -> i64 {
        self.0.file_time
    }

    /// Number of the connection last used, also when it is closed by now, or -1.
    pub fn connection_id(&self) -> i64 {
        self.0.connection_id
    }

    /// Result of the certificate check, 0 for success.
    pub fn verify_result(&self) -> i64 {
        self.0.rare.verify_result
    }

    /// Result of the check of the proxy's certificate.
    pub fn proxy_verify_result(&self) -> i64 {
        self.0.rare.proxy_verify_result
    }

    /// Bytes sent with the TLS hello that the server accepted, negative those that it refused.
    pub fn early_data(&self) -> i64 {
        self.0.rare.early_data
    }

    /// Retry-After in seconds, or 0.
    pub fn retry_after(&self) -> i64 {
        self.0.rare.retry_after
    }

    /// Time that the transfer waited for its turn.
    pub fn queued(&self) -> Duration {
        self.0.queued.into()
    }

    /// Time until the name was resolved.
    pub fn name_lookup(&self) -> Duration {
        self.0.name_lookup.into()
    }

    /// Time until the connection was made.
    pub fn connect(&self) -> Duration {
        self.0.connect.into()
    }

    /// Time until TLS was set up; zero without.
    pub fn app_connect(&self) -> Duration {
        self.0.app_connect.into()
    }

    /// Time until the request was about to be sent.
    pub fn pre_transfer(&self) -> Duration {
        self.0.pre_transfer.into()
    }

    /// Time until the request was sent.
    pub fn post_transfer(&self) -> Duration {
        self.0.post_transfer.into()
    }

    /// Time until the first byte of the reply.
    pub fn start_transfer(&self) -> Duration {
        self.0.start_transfer.into()
    }

    /// Time that all redirects took.
    pub fn redirect_time(&self) -> Duration {
        self.0.rare.redirect.into()
    }

    /// Time of the whole transfer.
    pub fn total(&self) -> Duration {
        self.0.total.into()
    }

    /// Number of the connection last used or attempted (CURLINFO_CONN_ID), or -1.
    pub fn attempted_connection(&self) -> i64 {
        self.0.attempted_connection
    }

    /// Moment from which times are counted, once the transfer has begun.
    pub fn started(&self) -> Option<Instant> {
        self.0.started
    }

    /// Scheme of the URL last used, in upper case.
    pub fn scheme(&self) -> &str {
        self.0.scheme
    }

    /// Media type of the reply.
    pub fn content_type(&self) -> Option<&[u8]> {
        self.0.content_type.as_deref()
    }

    /// Referer that was sent.
    pub fn referer(&self) -> Option<&[u8]> {
        self.0.rare.referer.as_deref()
    }

    /// Target of a redirect that was not followed.
    pub fn redirect_url(&self) -> Option<&[u8]> {
        self.0.rare.redirect_url.as_deref()
    }

    /// Folder in which an FTP session began.
    pub fn ftp_entry_path(&self) -> Option<&[u8]> {
        self.0.rare.ftp_entry_path.as_deref()
    }

    /// Whether a time condition left out the body.
    pub fn condition_unmet(&self) -> bool {
        self.0.condition_unmet
    }

    /// Whether a proxy was used.
    pub fn used_proxy(&self) -> bool {
        self.0.used_proxy
    }

    /// Address of the peer.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.0.ends.remote
    }

    /// Address of this side.
    pub fn local(&self) -> Option<SocketAddr> {
        self.0.ends.local
    }

    /// IP address of the peer as text; empty where there is none.
    pub fn primary_ip(&self) -> String {
        self.0.ends.primary_ip()
    }

    /// Port of the peer, or -1.
    pub fn primary_port(&self) -> i64 {
        self.0.ends.primary_port().into()
    }

    /// IP address of this side as text; empty where there is none.
    pub fn local_ip(&self) -> String {
        self.0.ends.local_ip()
    }

    /// Port of this side, or -1.
    pub fn local_port(&self) -> i64 {
        self.0.ends.local_port().into()
    }

    /// Fields of the server's certificates as "name:value", where [`EasyOption::Certinfo`](crate::EasyOption::Certinfo) asked for
    /// them: one list for each certificate.
    pub fn certificates(&self) -> impl Iterator<Item = Vec<&[u8]>> {
        self.0.rare.certificates.iter().map(|fields| fields.iter().map(|field| &**field).collect())
    }
}
