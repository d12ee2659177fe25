//! The field `traceparent` (W3C Trace Context, level 1): the trace and the span to which a request belongs.

use std::fmt;

use crate::hex;

/// The value of a `traceparent` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace_id: [u8; 16],
    /// The span of the sender.
    pub span_id: [u8; 8],
    /// The sender records its spans.
    pub sampled: bool,
}

/// Length of the value in version 00.
const LENGTH: usize = 55;

impl TraceParent {
    /// Parses a value. A higher version may have more behind the fields of version 00 (section 4.3).
    pub fn parse(text: &[u8]) -> Option<TraceParent> {
        let rest = text.get(LENGTH..)?;
        let [version, trace_id, span_id, flags] =
            [(0, 2), (3, 35), (36, 52), (53, 55)].map(|(from, to)| &text[from..to]);
        let separated = [2, 35, 52].iter().all(|at| text[*at] == b'-');
        let version = lower_hex::<1>(version)?[0];
        let ends = rest.is_empty() || version > 0 && rest[0] == b'-';
        if !separated || !ends || version == 0xff {
            return None;
        }
        let (trace_id, span_id) = (lower_hex(trace_id)?, lower_hex(span_id)?);
        if trace_id == [0; 16] || span_id == [0; 8] {
            return None;
        }
        Some(TraceParent { trace_id, span_id, sampled: lower_hex::<1>(flags)?[0] & 1 == 1 })
    }
}

/// Decodes digits in lower case: the field has no others (section 3.2.2).
fn lower_hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut out = [0; N];
    for (byte, pair) in out.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(out)
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace_id, span_id) = (hex::encode(&self.trace_id), hex::encode(&self.span_id));
        write!(f, "00-{trace_id}-{span_id}-{:02x}", u8::from(self.sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_value_is_read_and_written() {
        let parsed = TraceParent::parse(VALUE.as_bytes()).unwrap();
        assert_eq!((parsed.trace_id[0], parsed.span_id[0], parsed.sampled), (0x0a, 0xb7, true));
        assert_eq!(parsed.to_string(), VALUE);
        let unsampled = TraceParent::parse(VALUE.replace("-01", "-02").as_bytes()).unwrap();
        assert_eq!(unsampled.to_string(), VALUE.replace("-01", "-00"));
    }

    /// Section 3.2.2 and, for later versions, 4.3.
    #[test]
    fn bad_values_are_none() {
        for bad in [
            "",
            &VALUE[..54],
            &VALUE.to_uppercase(),
            &VALUE.replace("00-", "ff-"),
            &VALUE.replace("-b7", "_b7"),
            &format!("{VALUE}-more"),
            &VALUE.replace("00-", "01-").replace("-01", "-01more"),
            &VALUE.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            &VALUE.replace("b7ad6b7169203331", &"0".repeat(16)),
            &VALUE.replace("-01", "-0g"),
        ] {
            assert_eq!(TraceParent::parse(bad.as_bytes()), None, "{bad}");
        }
        for good in [VALUE.replace("00-", "01-"), VALUE.replace("00-", "cc-") + "-more"] {
            assert!(TraceParent::parse(good.as_bytes()).is_some(), "{good}");
        }
    }
}
