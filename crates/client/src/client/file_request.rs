//! The request of an upload or a download, with the defaults of its client. It prepares the handles on the
//! transfer's own thread.

use engine::Share;
use engine::error::refused_option;
use engine::process_pool::Pool;
use http::HeaderMap;
use tables::EasyOption as O;

use super::options::Options;
use super::request::{Request, default_fields, row};
use super::shared::Shared;
use super::task::Task;
use crate::{Easy, Failure, Multi, Url, Value};

/// A request for a file, and what its handles share with others of the client.
#[derive(Clone)]
pub(super) struct FileRequest {
    pub url: Url,
    pub options: Options,
    /// Header fields of the request and of its client.
    pub headers: HeaderMap,
    pub share: Option<Share>,
    pub pool: Option<Pool>,
}

impl FileRequest {
    /// Adds the defaults of the client to a request.
    pub fn new(client: &Shared, request: Request) -> FileRequest {
        let (url, mut headers, options) = request.into_parts();
        let defaults: Vec<_> = default_fields(&headers, &client.headers).collect();
        for (name, value) in defaults {
            headers.append(name, value.clone());
        }
        let (share, pool) = client.stores.clone();
        FileRequest { url, options: client.options.with(options), headers, share, pool }
    }

    /// Returns the header fields as the engine takes them.
    pub fn header_lines(&self) -> Vec<Vec<u8>> {
        self.headers.iter().map(|(name, value)| row(name, value)).collect()
    }

    /// Prepares a handle for this URL or for another place of the file. The header fields are left to the
    /// caller, who may add others.
    pub fn prepare(&self, easy: &Easy, url: &[u8]) -> Result<(), Failure> {
        for (option, value) in &self.options.list {
            set(easy, *option, value.clone().or_form())?;
        }
        set(easy, O::Url, Value::Text(url.to_vec()))?;
        easy.0.state().settings.borrow_mut().set_choices(&self.options.choices);
        easy.set_access_policy(self.options.access_policy.clone());
        easy.keep_reasons(self.options.explain.unwrap_or_default());
        easy.set_share(self.share.clone());
        Ok(())
    }

    /// Creates the multi handle of a task. When the future of the task is dropped, the handle's wait ends.
    pub fn multi<T>(&self, task: &Task<T>) -> Multi {
        let multi = Multi::default();
        self.pool.into_iter().for_each(|kind| multi.set_pool(kind));
        task.wake_by(multi.waker());
        multi
    }
}

/// Sets an option of a handle.
pub(super) fn set(easy: &Easy, option: O, value: impl Into<Value>) -> Result<(), Failure> {
    easy.set(option, value).map_err(refused_option(option))
}
