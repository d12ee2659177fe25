//! Priorities of requests (RFC 9218): the value of the field Priority, and of the frame PRIORITY_UPDATE.

use std::fmt;
use std::str::FromStr;

/// The importance of a request among others of the same client, for servers and proxies that schedule by it.
///
/// ```
/// use warmwire_wire::priority::RequestPriority;
///
/// let priority: RequestPriority = "u=1, i".parse().unwrap();
/// assert_eq!(priority, RequestPriority::new(1).unwrap().incremental(true));
/// assert_eq!(priority.to_string(), "u=1, i");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPriority {
    urgency: u8,
    incremental: bool,
}

/// A text that is no priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPriority;

impl RequestPriority {
    /// The urgency of a request without the parameter (§4.1).
    const USUAL_URGENCY: u8 = 3;
    const LEAST_URGENT: u8 = 7;

    /// Returns the priority with this urgency: 0 is the most urgent, 7 the least. `None` beyond 7.
    pub fn new(urgency: u8) -> Option<RequestPriority> {
        (urgency <= Self::LEAST_URGENT).then_some(RequestPriority { urgency, incremental: false })
    }

    /// Sets whether the reply can be processed as it arrives, so that it may share the bandwidth with others
    /// of the same urgency.
    pub fn incremental(self, incremental: bool) -> RequestPriority {
        RequestPriority { incremental, ..self }
    }
}

/// The priority of a request that names none (§4).
impl Default for RequestPriority {
    fn default() -> RequestPriority {
        RequestPriority { urgency: Self::USUAL_URGENCY, incremental: false }
    }
}

/// Writes the value of the field.
impl fmt::Display for RequestPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u={}", self.urgency)?;
        f.write_str(if self.incremental { ", i" } else { "" })
    }
}

/// Parses `u=0` to `u=7` and `i`, in any order, each at most once.
impl FromStr for RequestPriority {
    type Err = InvalidPriority;

    fn from_str(text: &str) -> Result<RequestPriority, InvalidPriority> {
        let (mut urgency, mut incremental) = (None, None);
        for member in text.split(',').map(str::trim) {
            let twice = match member.split_once('=') {
                None if member == "i" => incremental.replace(true).is_some(),
                Some(("i", value @ ("?0" | "?1"))) => incremental.replace(value == "?1").is_some(),
                Some(("u", digit)) if digit.len() == 1 => {
                    let digit = digit.parse().map_err(|_| InvalidPriority)?;
                    urgency.replace(digit).is_some()
                }
                _ => return Err(InvalidPriority),
            };
            if twice {
                return Err(InvalidPriority);
            }
        }
        let priority = RequestPriority::new(urgency.unwrap_or(Self::USUAL_URGENCY)).ok_or(InvalidPriority)?;
        Ok(priority.incremental(incremental.unwrap_or(false)))
    }
}

impl fmt::Display for InvalidPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a priority is u=0 to u=7, i, or both")
    }
}

impl std::error::Error for InvalidPriority {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_field() {
        for (text, expected) in [
            ("u=1, i", Some("u=1, i")),
            ("u=1,i", Some("u=1, i")),
            ("i, u=0", Some("u=0, i")),
            ("u=7", Some("u=7")),
            ("i", Some("u=3, i")),
            ("i=?1", Some("u=3, i")),
            ("u=5, i=?0", Some("u=5")),
            ("u=8", None),
            ("u=-1", None),
            ("u=01", None),
            ("u=+", None),
            ("u", None),
            ("u=", None),
            ("i=1", None),
            ("u=1, u=2", None),
            ("i, i", None),
            ("u=1,", None),
            ("U=1", None),
            ("u=1, x", None),
            ("", None),
        ] {
            let found = text.parse::<RequestPriority>().ok().map(|priority| priority.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        assert_eq!(RequestPriority::new(8), None);
    }
}
