//! Rules for redirects.

/// Number of redirects that a client follows by default, as reqwest does.
const DEFAULT: u32 = 10;

/// A rule for redirects. By default up to ten are followed.
///
/// 301, 302 and 303 turn POST into GET; 307 and 308 keep method and body (RFC 9110, 15.4). Another host gets
/// neither the request's login nor its `Authorization` and `Cookie` fields.
///
/// ```
/// use warmwire::redirect::Policy;
/// let client = warmwire::Client::builder().redirect(Policy::none()).build()?;
/// # Ok::<(), warmwire::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy(pub(crate) u32);

impl Policy {
    /// Follows up to `most` redirects. One more is an error:
    /// [`Error::is_redirect`](crate::Error::is_redirect).
    pub const fn limited(most: u32) -> Policy {
        Policy(most)
    }

    /// Follows none: a redirect is returned as the response.
    pub const fn none() -> Policy {
        Policy(0)
    }
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::limited(DEFAULT)
    }
}
