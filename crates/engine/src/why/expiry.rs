//! When a certificate's end is near enough to be mentioned.

use std::borrow::Cow;

const DAY: i64 = 24 * 3600;
const HOUR: i64 = 3600;
/// A certificate that lives longer than three times this is mentioned so long before its end.
const LONGEST_NOTICE: i64 = 30 * DAY;

/// The certificate of a server's chain that expires first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateExpiry {
    /// Seconds until it expires, negative if it has expired.
    pub left: i64,
    /// The length of its validity in seconds.
    pub lifetime: i64,
    /// Its subject if it is an authority, not the server's own certificate.
    pub authority: Option<String>,
}

impl CertificateExpiry {
    /// Returns whether it should have been renewed: less than 30 days are left, or less than a third of its
    /// lifetime if that is shorter. ACME clients renew by these rules, so an end that is mentioned means
    /// that a renewal has failed.
    pub fn is_soon(&self) -> bool {
        self.left < LONGEST_NOTICE.min(self.lifetime / 3)
    }

    /// Returns the notice about an end that is near, such as "expires in 5 days".
    pub fn notice(&self) -> Option<Cow<'static, str>> {
        let in_units = |count: i64, unit| match count {
            1 => format!("expires in 1 {unit}"),
            _ => format!("expires in {count} {unit}s"),
        };
        match self.left {
            ..0 => Some("has expired".into()),
            _ if !self.is_soon() => None,
            0..DAY => Some(in_units(self.left / HOUR, "hour").into()),
            left => Some(in_units(left / DAY, "day").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_mentioned_by_a_third_of_the_lifetime_and_at_most_30_days_before() {
        for (left, lifetime, wanted) in [
            (-1, 365 * DAY, Some("has expired")),
            (5 * DAY + HOUR, 90 * DAY, Some("expires in 5 days")),
            (30 * DAY, 90 * DAY, None),
            (30 * DAY - 1, 90 * DAY, Some("expires in 29 days")),
            (30 * DAY - 1, 3650 * DAY, Some("expires in 29 days")),
            (16 * DAY, 47 * DAY, None),
            (15 * DAY, 47 * DAY, Some("expires in 15 days")),
            (2 * DAY, 6 * DAY, None),
            (2 * DAY - 1, 6 * DAY, Some("expires in 1 day")),
            (7 * HOUR, 6 * DAY, Some("expires in 7 hours")),
            (HOUR, 6 * DAY, Some("expires in 1 hour")),
        ] {
            let expiry = CertificateExpiry { left, lifetime, authority: None };
            assert_eq!(expiry.notice().as_deref(), wanted, "{left} of {lifetime}");
            assert_eq!(expiry.is_soon(), wanted.is_some(), "{left} of {lifetime}");
        }
    }
}
