//! Facts about a transfer: times, sizes, addresses and codes.

use std::net::SocketAddr;
use std::ops::Deref;
use std::time::{Duration, Instant};

use engine::info::{self, Fact};
use tables::Info;

use crate::{RequestPhase, Why};

/// Facts about the last transfer, or the one in progress (curl_easy_getinfo(3)).
///
/// Times count from the start of the transfer and are zero for steps that did not happen. Sizes are in bytes,
/// and -1 is an unknown size or date.
#[derive(Clone, Copy)]
pub struct TransferInfo<'t>(pub(crate) &'t engine::Easy);

impl TransferInfo<'_> {
    /// Returns the value of any info (curl_easy_getinfo(3)).
    pub fn get(&self, info: Info) -> Fact {
        info::get(self.0, info)
    }

    fn number(&self, info: Info) -> i64 {
        self.get(info).number()
    }

    fn time(&self, info: Info) -> Duration {
        self.get(info).time().into()
    }

    fn text(&self, info: Info) -> Option<Vec<u8>> {
        self.get(info).text().map(<[u8]>::to_vec)
    }

    fn string(&self, info: Info) -> String {
        self.get(info).text().map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
    }

    /// Returns the engine's record of the transfer, for facts that no info reports.
    pub(crate) fn found(&self) -> impl Deref<Target = info::TransferInfo> {
        self.0.state().info.borrow()
    }

    /// Returns the reasons of the transfer, if they are kept.
    pub fn why(&self) -> Option<Why> {
        Why::of(self.0)
    }

    /// Returns the response code of the last reply; 0 where there is none.
    pub fn response_code(&self) -> i64 {
        self.number(Info::ResponseCode)
    }

    /// Returns the response code of the last CONNECT to a proxy.
    pub fn connect_code(&self) -> i64 {
        self.number(Info::HttpConnectCode)
    }

    /// Returns the HTTP version used, as a CURL_HTTP_VERSION_ number.
    pub fn http_version(&self) -> i64 {
        self.number(Info::HttpVersion)
    }

    /// Returns the last phase that the request reached, after its end.
    pub fn reached(&self) -> RequestPhase {
        RequestPhase::of(&self.found())
    }

    /// Returns the number of redirects followed.
    pub fn redirect_count(&self) -> i64 {
        self.number(Info::RedirectCount)
    }

    /// Returns the number of connections opened; 0 if a pooled one was reused.
    pub fn connects(&self) -> i64 {
        self.number(Info::NumConnects)
    }

    /// Returns the number of bytes of all heads received.
    pub fn header_size(&self) -> i64 {
        self.number(Info::HeaderSize)
    }

    /// Returns the number of bytes of all requests sent.
    pub fn request_size(&self) -> i64 {
        self.number(Info::RequestSize)
    }

    /// Returns the number of bytes of body received, before decoding.
    pub fn downloaded(&self) -> i64 {
        self.number(Info::SizeDownloadT)
    }

    /// Returns the number of bytes of body given to the application.
    pub fn delivered(&self) -> i64 {
        self.number(Info::SizeDelivered)
    }

    /// Returns the number of bytes of body sent.
    pub fn uploaded(&self) -> i64 {
        self.number(Info::SizeUploadT)
    }

    /// Returns the expected size of the body, or -1.
    pub fn download_total(&self) -> i64 {
        self.number(Info::ContentLengthDownloadT)
    }

    /// Returns the size that the current reply's head announces for its body, or -1.
    pub fn announced(&self) -> i64 {
        self.found().announced
    }

    /// Returns the expected size of the upload, or -1.
    pub fn upload_total(&self) -> i64 {
        self.number(Info::ContentLengthUploadT)
    }

    /// Returns the modification time of the document in seconds since 1970, or -1.
    pub fn file_time(&self) -> i64 {
        self.number(Info::FileTimeT)
    }

    /// Returns the number of the connection last used, even if it has been closed, or -1.
    pub fn connection_id(&self) -> i64 {
        self.found().connection_id
    }

    /// Returns the result of the certificate check, 0 for success.
    pub fn verify_result(&self) -> i64 {
        self.number(Info::SslVerifyResult)
    }

    /// Returns the result of the check of the proxy's certificate.
    pub fn proxy_verify_result(&self) -> i64 {
        self.number(Info::ProxySslVerifyResult)
    }

    /// Returns how many bytes of TLS early data the server accepted; negative if it refused them.
    pub fn early_data(&self) -> i64 {
        self.number(Info::EarlyDataSentT)
    }

    /// Returns the delay of Retry-After in seconds, or 0.
    pub fn retry_after(&self) -> i64 {
        self.number(Info::RetryAfter)
    }

    /// Returns the time that the transfer waited in the queue.
    pub fn queued(&self) -> Duration {
        self.time(Info::QueueTimeT)
    }

    /// Returns the time until the name was resolved.
    pub fn name_lookup(&self) -> Duration {
        self.time(Info::NameLookupTimeT)
    }

    /// Returns the time until the connection was opened.
    pub fn connect(&self) -> Duration {
        self.time(Info::ConnectTimeT)
    }

    /// Returns the time until the TLS handshake completed; zero without TLS.
    pub fn app_connect(&self) -> Duration {
        self.time(Info::AppConnectTimeT)
    }

    /// Returns the time until the request was about to be sent.
    pub fn pre_transfer(&self) -> Duration {
        self.time(Info::PreTransferTimeT)
    }

    /// Returns the time until the request was sent.
    pub fn post_transfer(&self) -> Duration {
        self.time(Info::PostTransferTimeT)
    }

    /// Returns the time until the first byte of the reply.
    pub fn start_transfer(&self) -> Duration {
        self.time(Info::StartTransferTimeT)
    }

    /// Returns the time spent on all redirects.
    pub fn redirect_time(&self) -> Duration {
        self.time(Info::RedirectTimeT)
    }

    /// Returns the time of the whole transfer.
    pub fn total(&self) -> Duration {
        self.time(Info::TotalTimeT)
    }

    /// Returns the number of the connection last used or attempted (CURLINFO_CONN_ID), or -1.
    pub fn attempted_connection(&self) -> i64 {
        self.number(Info::ConnId)
    }

    /// Returns the instant from which times are counted, once the transfer has begun.
    pub fn started(&self) -> Option<Instant> {
        self.found().started
    }

    /// Returns the scheme of the URL last used, in upper case.
    pub fn scheme(&self) -> String {
        self.string(Info::Scheme)
    }

    /// Returns the media type of the reply.
    pub fn content_type(&self) -> Option<Vec<u8>> {
        self.text(Info::ContentType)
    }

    /// Returns the referer that was sent.
    pub fn referer(&self) -> Option<Vec<u8>> {
        self.text(Info::Referer)
    }

    /// Returns the target of a redirect that was not followed.
    pub fn redirect_url(&self) -> Option<Vec<u8>> {
        self.text(Info::RedirectUrl)
    }

    /// Returns the directory in which an FTP session began.
    pub fn ftp_entry_path(&self) -> Option<Vec<u8>> {
        self.text(Info::FtpEntryPath)
    }

    /// Returns whether a time condition suppressed the body.
    pub fn condition_unmet(&self) -> bool {
        self.number(Info::ConditionUnmet) != 0
    }

    /// Returns whether a proxy was used.
    pub fn used_proxy(&self) -> bool {
        self.number(Info::UsedProxy) != 0
    }

    /// Returns the address of the peer.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.found().ends.remote
    }

    /// Returns the local address.
    pub fn local(&self) -> Option<SocketAddr> {
        self.found().ends.local
    }

    /// Returns the IP address of the peer as text; empty if there is none.
    pub fn primary_ip(&self) -> String {
        self.string(Info::PrimaryIp)
    }

    /// Returns the port of the peer, or -1.
    pub fn primary_port(&self) -> i64 {
        self.number(Info::PrimaryPort)
    }

    /// Returns the local IP address as text; empty if there is none.
    pub fn local_ip(&self) -> String {
        self.string(Info::LocalIp)
    }

    /// Returns the local port, or -1.
    pub fn local_port(&self) -> i64 {
        self.number(Info::LocalPort)
    }

    /// Returns the fields of the server's certificates as "name:value", one list for each certificate, if
    /// [`EasyOption::CertInfo`](crate::EasyOption::CertInfo) is on.
    pub fn certificates(&self) -> Vec<Vec<Vec<u8>>> {
        let Fact::Certificates(certificates) = self.get(Info::CertInfo) else { return Vec::new() };
        certificates.iter().map(|fields| fields.iter().map(|field| field.to_vec()).collect()).collect()
    }
}
