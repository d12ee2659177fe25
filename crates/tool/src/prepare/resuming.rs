//! Prepares what another attempt at a transfer needs: `--retry-resume` and `--upload-protocol`.

use super::{Prepare, READ_ERROR, Stop};
use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use crate::names;
use crate::raw::{Code, EasyOption as O, UploadMode, base64};
use crate::request::Method;
use crate::resume::{Resumption, plain_range};
use crate::settings::Setting;
use crate::transfer::{InUse, Resuming, Transfer, Uploading};

impl Prepare<'_> {
    /// Returns the state for `--retry-resume`. Pieces of decoded data, or with heads, cannot be combined.
    pub(super) fn resuming(
        &self,
        transfer: &Transfer,
        size: Option<u64>,
        list: &mut Vec<Setting>,
    ) -> Result<Option<Resuming>, Stop> {
        let request = &self.request;
        if let (true, Some(mode)) = (self.job.upload, request.upload_protocol)
            && matches!(self.job.scheme.as_str(), "http" | "https")
        {
            return self.http_upload(transfer, mode, size, list).map(Some);
        }
        let custom = request.options.text(O::CustomRequest).is_some();
        if !request.retry_resume || request.head || request.show_headers || custom {
            return Ok(None);
        }
        if self.job.upload {
            let can_append = matches!(self.job.scheme.as_str(), "ftp" | "ftps" | "sftp");
            if !can_append || request.options.is_on(O::Append) || request.resume.is_some() {
                return Ok(None);
            }
            let uploading = self.uploading(transfer, "")?;
            if uploading.as_ref().is_some_and(Uploading::has_begun) {
                list.push(Setting::new(O::ResumeFromLarge, -1));
            }
            return Ok(Some(Resuming::upload(UploadMode::Resume, uploading)));
        }
        Ok(self.resuming_download(transfer, list))
    }

    /// Returns the state of an upload of a file that continues after a cut.
    fn uploading(&self, transfer: &Transfer, protocol: &str) -> Result<Option<Uploading>, Stop> {
        let name = self.item.upload.as_deref().unwrap_or_default();
        let upload = Uploading::new(self.env, &transfer.upload.borrow(), name, (&self.job.url, protocol));
        upload.map_err(|InUse| {
            let name = shown(name);
            self.env.error(&format!("{name} is being uploaded to this URL by another process"));
            self.refused(Code::UploadFailed)
        })
    }

    /// Returns the state of `--upload-protocol`.
    fn http_upload(
        &self,
        transfer: &Transfer,
        mode: UploadMode,
        size: Option<u64>,
        list: &mut Vec<Setting>,
    ) -> Result<Resuming, Stop> {
        if self.request.resume.is_some() {
            self.env.error("--upload-protocol can't be combined with --continue-at: it resumes by itself");
            return Err(self.refused(Code::FailedInit));
        }
        let (name, reason) = match mode {
            UploadMode::Tus => ("tus", Some("it announces the length")),
            UploadMode::S3 => ("s3", Some("its length decides about the parts")),
            _ => ("ietf", None),
        };
        if let (Some(reason), None) = (reason, size) {
            self.env.error(&format!("--upload-protocol {name} needs a file, because {reason}"));
            return Err(self.refused(Code::FailedInit));
        }
        if mode == UploadMode::Tus {
            self.name_upload(list);
        }
        Ok(Resuming::upload(mode, self.uploading(transfer, name)?))
    }

    /// Adds the name of the file to the user's fields, unless one of them has metadata.
    fn name_upload(&self, list: &mut Vec<Setting>) {
        const METADATA: &[u8] = b"Upload-Metadata";
        let mut headers = self.headers();
        let is_named =
            |line: &Bytes| line.get(..METADATA.len()).is_some_and(|name| name.eq_ignore_ascii_case(METADATA));
        if !headers.iter().any(is_named) {
            let name = names::upload_name(self.item.upload.as_deref().unwrap_or_default());
            headers.push(format!("Upload-Metadata: filename {}", base64::encode(name)).into_bytes());
            list.push(Setting::new(O::HttpHeader, headers));
        }
    }

    fn resuming_download(&self, transfer: &Transfer, list: &mut Vec<Setting>) -> Option<Resuming> {
        let request = &self.request;
        let scheme = self.job.scheme.as_str();
        let http = matches!(scheme, "http" | "https");
        let elsewhere = matches!(scheme, "ftp" | "ftps" | "sftp" | "file");
        if !matches!(self.job.method, Method::Unspecified | Method::Get) || !http && !elsewhere {
            return None;
        }
        let range = match request.options.text(O::Range) {
            None => (u64::try_from(self.resume_from).ok()?, None),
            Some(range) if http => plain_range(range)?,
            Some(_) => return None,
        };
        if elsewhere && !list.iter().any(|setting| setting.option == O::FileTime) {
            list.push(Setting::new(O::FileTime, 1));
        }
        let (download, base) = match self.part() {
            Some(part) => (Resumption::begun(range.0, range.1, part.marks.clone()), 0),
            None => (Resumption::new(range.0, range.1), transfer.out.borrow().start),
        };
        Some(Resuming::download(download, http.then(|| self.headers()), base, self.resume_from))
    }

    /// Reports that data from standard input can't be kept.
    pub(super) fn no_spool(&self, error: &std::io::Error) -> Stop {
        let folder = std::env::temp_dir();
        self.env.error(&format!(
            "Failed to make a temporary file in {}: {}",
            folder.display(),
            os_text(error)
        ));
        Stop::Failed(READ_ERROR)
    }
}
