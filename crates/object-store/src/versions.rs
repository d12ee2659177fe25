//! object_store's traits, for each of its versions.

/// Implements the traits of one version. `$refused` returns the name of an option that this version alone
/// has, and that is set and has no counterpart in the engine.
macro_rules! implement {
    ($object_store:ident, $refused:expr) => {
        use async_trait::async_trait;
        use http_body_util::BodyExt;
        use warmwire::Client;

        use crate::WarmwireConnector;
        use crate::exchange;
        use crate::failure::Failure;
        use crate::options::{OptionError, Options};
        use $object_store::client::{
            HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
            HttpService,
        };
        use $object_store::{ClientOptions, Error, Result};

        impl HttpConnector for WarmwireConnector {
            fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
                if let Some(name) = ($refused)(options) {
                    return Err(refusal(OptionError::NotSupported(name)));
                }
                let value = |key: &str| options.get_config_value(&key.parse().ok()?);
                let client = Options(&value).client(self, options.get_default_headers());
                client.map(|client| HttpClient::new(Service(client))).map_err(refusal)
            }
        }

        /// Sends the requests of one store.
        #[derive(Debug)]
        struct Service(Client);

        #[async_trait]
        impl HttpService for Service {
            async fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
                let (head, body) = request.into_parts();
                let body = exchange::collect(body).await?;
                let response = exchange::send(&self.0, head, body).await.map_err(failure)?;
                Ok(response.map(|body| HttpResponseBody::new(body.map_err(failure))))
            }
        }

        fn refusal(error: OptionError) -> Error {
            match error {
                OptionError::NotSupported(_) => Error::NotSupported { source: error.into() },
                _ => Error::Generic { store: "WarmwireConnector", source: error.into() },
            }
        }

        /// Converts a failure without its URL: object_store adds that if it contains no secret.
        fn failure(error: warmwire::Error) -> HttpError {
            let kind = match Failure::of(&error) {
                Failure::Connect => HttpErrorKind::Connect,
                Failure::Timeout => HttpErrorKind::Timeout,
                Failure::Interrupted => HttpErrorKind::Interrupted,
                Failure::Decode => HttpErrorKind::Decode,
                Failure::Unknown => HttpErrorKind::Unknown,
            };
            HttpError::new(kind, error.without_url())
        }
    };
}

#[cfg(feature = "object_store_0_13")]
mod v0_13 {
    implement!(object_store_0_13, |_: &ClientOptions| None);
}

#[cfg(feature = "object_store_0_14")]
mod v0_14 {
    implement!(object_store_0_14, |options: &ClientOptions| {
        options.dns_resolver().map(|_| "dns_resolver")
    });
}
