//! The parts that uploads and downloads of files have in common. Each runs on a thread of its own, with
//! handles that have the options of its client.

use std::sync::Arc;

use super::error::Error;
use super::request::Request;
use super::shared::Shared;
use crate::IntoUrl;

/// Shows how many bytes have been transferred, of how many.
pub(crate) type Progress = Box<dyn FnMut(u64, u64) + Send>;

/// An upload or a download under construction. The plan has its settings beside those of the request.
pub(crate) struct FileTransfer<P> {
    pub(super) client: Arc<Shared>,
    pub(super) request: Result<Request, Error>,
    pub(super) plan: P,
}

impl<P> FileTransfer<P> {
    pub(super) fn new(
        client: Arc<Shared>,
        method: http::Method,
        url: impl IntoUrl,
        plan: P,
    ) -> FileTransfer<P> {
        FileTransfer { client, request: Request::to(method, url), plan }
    }

    /// Changes the request and the plan, unless an earlier change was refused.
    pub(crate) fn edit(mut self, edit: impl FnOnce(&mut Request, &mut P) -> Result<(), Error>) -> Self {
        if let Ok(request) = &mut self.request
            && let Err(error) = edit(request, &mut self.plan)
        {
            self.request = Err(error);
        }
        self
    }
}

/// Defines the settings that uploads and downloads share, for both faces. The field 0 of a face is a
/// [`FileTransfer`] with this plan, or the other face. The texts say which requests a value is for.
macro_rules! file_settings {
    ($face:ident, $plan:ty $(, $scope:literal, $option_scope:literal)?) => {
        crate::client::request::common_settings! {
            $face
            scope { $(#[doc = $scope])? }
            explain {
                /// Sets whether and which reasons of each request are kept, in place of the client's setting.
                /// The result has them; those of a failure are in [`Error::why`](crate::Error::why).
            }
            option {
                /// Sets any option of curl's.
                $(#[doc = $option_scope])?
            }
        }

        impl $face {
            fn with(self, change: impl FnOnce(&mut crate::client::Request, &mut $plan)) -> Self {
                self.edit(|request, plan| {
                    change(request, plan);
                    Ok(())
                })
            }

            fn edit_request(
                self,
                edit: impl FnOnce(&mut crate::client::Request) -> Result<(), crate::Error>,
            ) -> Self {
                self.edit(|request, _| edit(request))
            }

            pub(crate) fn edit(
                self,
                edit: impl FnOnce(&mut crate::client::Request, &mut $plan) -> Result<(), crate::Error>,
            ) -> Self {
                $face(self.0.edit(edit))
            }
        }

        impl std::fmt::Debug for $face {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($face)).finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use file_settings;
