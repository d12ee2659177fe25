//! The engine's easy handle, with typed options and facts.

use std::rc::Rc;

use engine::callbacks::Callbacks;
use engine::info::get;
use engine::stores::headers::Headers;
use engine::upload_resumption::UploadMode;
use tables::{Code, EasyOption, Info};

use crate::{AccessPolicy, Priority, Reasons, Share, TransferInfo, Value, Why, pac_files, value};

/// A handle for successive transfers, driven by [`perform`](Self::perform) or in a [`Multi`](crate::Multi).
/// Clones are the same handle.
///
/// [`Handle`](crate::Handle) is the simpler one: it takes closures in place of a [`Callbacks`].
///
/// ```no_run
/// use warmwire::callbacks::{Callbacks, WriteAnswer};
/// use warmwire::{Code, Easy, EasyOption};
///
/// struct Print;
///
/// impl Callbacks for Print {
///     fn write(&self, data: &[u8]) -> WriteAnswer {
///         print!("{}", String::from_utf8_lossy(data));
///         WriteAnswer::All
///     }
/// }
///
/// let easy = Easy::new(std::rc::Rc::new(Print));
/// easy.set(EasyOption::Url, "https://example.com/")?;
/// match easy.perform() {
///     Code::Ok => println!("{}", easy.info(|info| info.response_code())),
///     code => eprintln!("{code}: {}", easy.message()),
/// }
/// # Ok::<(), Code>(())
/// ```
#[derive(Clone)]
pub struct Easy(pub(crate) engine::Easy);

/// A copy of a handle's options, to be set on another one.
#[derive(Clone)]
pub struct OptionSet(engine::Settings);

impl PartialEq for Easy {
    fn eq(&self, other: &Easy) -> bool {
        std::ptr::eq(self.0.state(), other.0.state())
    }
}

impl Eq for Easy {}

impl Easy {
    /// Creates a handle with curl's defaults.
    pub fn new(callbacks: Rc<dyn Callbacks>) -> Easy {
        pac_files::register();
        Easy(engine::Easy::new(callbacks))
    }

    /// Sets an option, for this and all later transfers of the handle.
    ///
    /// Returns [`Code::BadFunctionArgument`] for a value of the wrong kind or out of range, and
    /// [`Code::NotBuiltIn`] or [`Code::UnknownOption`] for an option of a feature that is not built.
    pub fn set(&self, option: EasyOption, value: impl Into<Value>) -> Result<(), Code> {
        value::apply(value.into(), option, &self.0)
    }

    /// Returns the value of an option: its default where none was set. Forms, functions and objects are
    /// [`Value::Default`].
    pub fn get(&self, option: EasyOption) -> Value {
        value::read(option, &self.0.state().settings.borrow())
    }

    /// Copies all options.
    pub fn options(&self) -> OptionSet {
        OptionSet(self.0.state().settings.borrow().clone())
    }

    /// Replaces all options by those of another handle. Cookie, HSTS and Alt-Svc files that they name are not
    /// read again.
    pub fn set_options(&self, options: &OptionSet) {
        let old = self.0.state().settings.replace(options.0.clone());
        drop(old);
    }

    /// Reuses the route of another handle that has the same options and a URL of the same server.
    pub fn follow(&self, other: &Easy) {
        self.0.follow(&other.0);
    }

    /// Reads the facts about the last transfer, or about the one under way.
    pub fn info<R>(&self, read: impl FnOnce(&TransferInfo<'_>) -> R) -> R {
        read(&TransferInfo(&self.0))
    }

    /// Reads the header fields of the last transfer, or of the one under way.
    pub fn headers<R>(&self, read: impl FnOnce(&Headers) -> R) -> R {
        read(&self.0.state().headers.borrow())
    }

    /// Sets whether coming transfers keep their reasons, and which.
    pub fn keep_reasons(&self, reasons: impl Into<Reasons>) {
        self.0.keep_reasons(reasons.into());
    }

    /// Sets the priority of coming HTTP requests, and changes that of one under way (HTTP/2 and HTTP/3).
    pub fn set_priority(&self, priority: Option<Priority>) {
        self.0.state().settings.borrow_mut().set_priority(priority);
    }

    /// Sets the policy that coming transfers must satisfy, beside that of the process.
    pub fn set_access_policy(&self, policy: Option<AccessPolicy>) {
        self.0.state().settings.borrow_mut().set_policy(policy.map(AccessPolicy::into_inner));
    }

    /// Sets whether coming transfers leave a connection whose host's name has moved to other addresses.
    /// `None` leaves it to `WARMWIRE_FOLLOW_NAMES` and the pool.
    pub fn set_follow_names(&self, follow: Option<bool>) {
        self.0.state().settings.borrow_mut().set_follow_names(follow);
    }

    /// Sets whether a coming upload continues where the server says that the last one of this handle ended,
    /// if that was cut, and forgets what is known of the last one. URL and source must then be those of the
    /// last one. The callbacks must be able to seek, or else the source must be at its start.
    ///
    /// `begun` is the part that the server already has, as [`upload_place`](Easy::upload_place) returned it.
    pub fn resume_uploads(&self, mode: UploadMode, begun: Option<&[u8]>) {
        let resumption = &self.0.state().upload_resumption;
        resumption.set(mode);
        begun.inspect(|begun| resumption.set_place(begun));
    }

    /// Returns the URL of the part that the server has, from when the server has accepted the upload until
    /// the upload is complete. A program that keeps it can continue the upload in another process.
    pub fn upload_place(&self) -> Option<Vec<u8>> {
        self.0.state().upload_resumption.place()
    }

    /// Sets whether an upload over FTP or SFTP that may continue asks the server for a checksum at its end.
    #[doc(hidden)]
    pub fn ask_upload_digest(&self, on: bool) {
        self.0.state().upload_resumption.ask_digest(on);
    }

    /// Takes the checksum that the server has of the uploaded file.
    #[doc(hidden)]
    pub fn take_upload_digest(&self) -> Option<wire::upload::digest::Digest> {
        self.0.state().upload_resumption.take_digest()
    }

    /// Returns whether the server's digests of the last upload were compared as it was sent, and were those
    /// of the source. S3 has them; [`take_upload_digest`](Easy::take_upload_digest) has none then.
    pub fn upload_is_compared(&self) -> bool {
        self.0.state().upload_resumption.is_compared()
    }

    /// Returns whether the last upload failed because the server was busy: it may take the upload later.
    pub fn upload_must_wait(&self) -> bool {
        self.0.state().upload_resumption.is_busy()
    }

    /// Returns the reasons of the last transfer, if they are kept.
    pub fn why(&self) -> Option<Why> {
        Why::of(&self.0)
    }

    /// Returns the text of the last failure.
    pub fn message(&self) -> String {
        self.0.state().message()
    }

    /// Returns the URL last used, or the one that is set.
    pub fn effective_url(&self) -> Vec<u8> {
        get(&self.0, Info::EffectiveUrl).text().unwrap_or_default().to_vec()
    }

    /// Returns the HTTP method last used, or the one that the options ask for.
    pub fn effective_method(&self) -> Vec<u8> {
        get(&self.0, Info::EffectiveMethod).text().unwrap_or_default().to_vec()
    }

    /// Returns the number of the last transfer in this process (CURLINFO_XFER_ID), or -1.
    pub fn transfer_id(&self) -> i64 {
        get(&self.0, Info::XferId).number()
    }

    /// Returns the operating system's number of the last connection failure, or 0.
    pub fn os_errno(&self) -> i64 {
        get(&self.0, Info::OsErrno).number()
    }

    /// Returns the cookies of the handle's own jar, as lines of a cookie file.
    pub fn cookies(&self) -> Vec<Vec<u8>> {
        self.0.cookies()
    }

    /// Shares connections, names, cookies or sessions with other handles; `None` ends that.
    pub fn set_share(&self, share: Option<Share>) {
        self.0.set_share(share);
    }

    /// Stores a TLS session that another process has exported (curl_easy_ssls_import(3)).
    pub fn import_session(&self, name: Option<&str>, proof: &[u8], session: &[u8]) -> Result<(), Code> {
        self.0.import_session(name, proof, session)
    }

    /// Returns the exportable TLS sessions, each with a proof of its server and settings.
    pub fn export_sessions(&self) -> Result<Vec<ExportedSession>, Code> {
        let exported = self.0.export_sessions()?.into_iter();
        Ok(exported.map(|one| ExportedSession { proof: one.proof.to_vec(), packed: one.packed }).collect())
    }

    /// Pauses or resumes directions of a transfer; `bits` are CURLPAUSE_ numbers.
    pub fn pause(&self, bits: i64) -> Code {
        self.0.pause(bits)
    }

    /// Runs the transfer to its end on this thread. The connections stay with the handle.
    pub fn perform(&self) -> Code {
        self.0.perform()
    }

    /// Ends the transfer, if one is under way, and closes the handle's connections.
    pub fn close(&self) {
        self.0.close();
    }
}

/// A TLS session in a form that another process can import.
pub struct ExportedSession {
    /// The proof of the server and the settings that the session belongs to.
    pub proof: Vec<u8>,
    /// The session.
    pub packed: Vec<u8>,
}
