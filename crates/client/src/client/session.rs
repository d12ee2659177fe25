//! The base of the typed interfaces for protocols other than HTTP: a server's URL, a login, and options that
//! all requests have.

use http::Method;
use tables::EasyOption;
use tables::constant::CURLUSESSL_ALL;

use super::options::Options;
use crate::{Client, Error, IntoUrl, InvalidUrl, PlainValue, RequestBuilder, Url};

/// A server as its requests name it.
#[derive(Clone)]
pub(crate) struct Session {
    client: Client,
    /// Its path ends with a slash.
    url: Result<Url, InvalidUrl>,
    options: Options,
}

impl Session {
    /// Creates a session. An invalid URL is reported by the first request.
    pub fn new(client: &Client, url: impl IntoUrl, schemes: &[&str]) -> Session {
        let url = url.into_url().and_then(|url| {
            let fits = schemes.iter().any(|scheme| url.scheme().eq_ignore_ascii_case(scheme));
            let path = format!("{}/", url.path().strip_suffix('/').unwrap_or(url.path()));
            match fits {
                true => Ok(url.with_path(&path)),
                false => Err(InvalidUrl::with(format!("{url} is no URL of {}", schemes.join(" or ")))),
            }
        });
        Session { client: client.clone(), url, options: Options::default() }
    }

    /// Returns the engine that a waiting thread runs.
    pub fn host(&self) -> Option<std::sync::Arc<crate::client::host::Host>> {
        self.client.host()
    }

    pub fn log_in(&mut self, user: &str, password: &str) {
        self.set(EasyOption::Username, user);
        self.set(EasyOption::Password, password);
    }

    pub fn require_tls(&mut self) {
        self.set(EasyOption::UseSsl, CURLUSESSL_ALL);
    }

    pub fn set(&mut self, option: EasyOption, value: impl Into<PlainValue>) {
        self.options.set(option, value);
    }

    /// Returns the path of the URL, percent-encoded.
    pub fn base(&self) -> Result<&str, Error> {
        Ok(self.url.as_ref().map_err(InvalidUrl::clone)?.path())
    }

    /// Creates a request for an encoded path below that of the URL.
    pub fn request(&self, method: Method, path: &str) -> Result<RequestBuilder, Error> {
        let url = self.url.clone()?;
        let path = format!("{}{path}", url.path());
        let mut request = self.client.request(method, url.with_path(&path)).build()?;
        request.options = self.options.with(request.options);
        Ok(self.client.resume(request))
    }

    /// Creates a request that runs commands and transfers nothing.
    pub fn commands(&self, commands: Vec<Vec<u8>>) -> Result<RequestBuilder, Error> {
        let request = self.request(Method::GET, "")?;
        Ok(request.option(EasyOption::NoBody, true).option(EasyOption::PostQuote, commands))
    }
}

/// Runs a request whose body is of no interest.
pub(crate) async fn done(request: RequestBuilder) -> Result<(), Error> {
    request.send().await?.bytes().await.map(drop)
}

/// Percent-encodes what is not unreserved.
pub(crate) fn encode(text: &str) -> String {
    let encoded = wire::escape::encode(text.as_bytes());
    String::from_utf8(encoded).expect("an encoded text is ASCII")
}

/// Refuses text that would end a command.
pub(crate) fn check_text<'t>(text: &'t str, what: &str) -> Result<&'t str, Error> {
    match text.contains(['\r', '\n', '\0']) {
        true => Err(Error::option(format!("the {what} {text:?} contains an end of line"))),
        false => Ok(text),
    }
}

/// Defines the requests of a type for both faces: as futures, and as methods that wait for them.
macro_rules! faces {
    ($face:ident: $(
        $(#[$doc:meta])*
        fn $method:ident(&$self:ident $(, $argument:ident: $type:ty)*) -> $output:ty $body:block
    )*) => {
        impl $face {
            $($(#[$doc])*
            pub async fn $method(&$self $(, $argument: $type)*) -> Result<$output, Error> $body)*
        }

        /// The face that waits.
        mod waiting {
            #[allow(unused_imports)] // the other face's response is in scope where a request returns none
            use crate::blocking::{Response, wait};
            use super::{Error, *};

            impl crate::blocking::$face {
                $($(#[$doc])*
                pub fn $method(&self $(, $argument: $type)*) -> Result<$output, Error> {
                    wait(self.0.session.host(), self.0.$method($($argument),*)).map(Into::into)
                })*
            }
        }
    };
}

/// Defines the methods that set what all requests of a session have. `$session` leads to its [`Session`].
macro_rules! session_settings {
    ($face:ty, $($session:tt).+) => {
        impl $face {
            /// Sets user and password, in place of those of the URL.
            pub fn login(mut self, user: &str, password: &str) -> Self {
                self.$($session).+.log_in(user, password);
                self
            }

            /// Requires TLS before the login, where the URL does not begin with TLS by itself. It has no
            /// effect on SSH.
            pub fn require_tls(mut self) -> Self {
                self.$($session).+.require_tls();
                self
            }

            /// Sets any option of curl's for all requests; see
            /// [`RequestBuilder::option`](crate::RequestBuilder::option).
            pub fn option(
                mut self,
                option: tables::EasyOption,
                value: impl Into<crate::PlainValue>,
            ) -> Self {
                self.$($session).+.set(option, value);
                self
            }
        }

        impl std::fmt::Debug for $face {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($face)).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use {faces, session_settings};
