//! The reasons of a transfer.

use std::fmt;

use engine::why::Record;

/// The decisions of a transfer with their reasons: why its connection was new or reused, how the name was
/// found, what TLS and HTTP agreed on, where the time went.
///
/// Kept only on request ([`RequestBuilder::explain`](crate::RequestBuilder::explain),
/// [`Easy::keep_reasons`](crate::Easy::keep_reasons)). [`Display`](fmt::Display) writes
/// them as text, a line for each decision.
#[derive(Clone, Debug)]
pub struct Why(Record);

impl Why {
    /// Returns the reasons of a handle's last transfer, if they are kept.
    pub(crate) fn of(easy: &engine::Easy) -> Option<Why> {
        easy.state().why.read(Record::clone).map(Why)
    }

    /// Returns the reports about the certificates of servers and proxies alone, as text: which were sent,
    /// the chain that was built, and each check with its outcome. Empty if no certificate was checked, or
    /// [`Reasons::Certificates`](crate::Reasons::Certificates) was not asked for.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), warmwire::Error> {
    /// use warmwire::{Reasons, blocking};
    ///
    /// let client = blocking::Client::builder().explain(Reasons::Certificates).build()?;
    /// if let Err(error) = client.get("https://expired.example/").send() {
    ///     println!("{}", error.why().map(|why| why.certificates()).unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn certificates(&self) -> String {
        self.0.certificates()
    }

    /// Returns the reports about certificates as one JSON array.
    pub fn certificates_json(&self) -> String {
        self.0.certificates_json()
    }

    /// Returns one JSON object, which the guide describes.
    pub fn json(&self) -> String {
        self.0.json()
    }
}

impl Why {
    /// Returns a JSON array of the requests, with their times and without the decisions.
    #[doc(hidden)]
    pub fn requests_json(&self) -> String {
        engine::why::json::requests(&self.0)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text())
    }
}
