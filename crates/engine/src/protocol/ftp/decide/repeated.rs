//! The answer that replies to MDTM and SIZE give.

use tables::Code;
use wire::ftp::reply::Reply;

use crate::error::{Error, Result};
use crate::repeated_query::Answer;

/// Reads the replies to MDTM and SIZE (RFC 3659 §3 and §4). Fails on any other reply than success and "no
/// such file": then a transfer of its own finds out.
pub fn answer([modified, size]: &[Reply; 2]) -> Result<Answer> {
    match (modified.code, size.code) {
        (213, 213) => Ok(Answer::Present { modified: modified.modified(), size: size.size() }),
        (550, 213) => Ok(Answer::Present { modified: None, size: size.size() }),
        (213 | 550, 550) => Ok(Answer::Absent),
        (first, second) => {
            let text = format!("the server answers {first:03} to MDTM and {second:03} to SIZE");
            Err(Error::new(Code::WeirdServerReply, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reply;
    use super::*;

    #[test]
    fn replies_about_a_file() {
        let present = |modified, size| Some(Answer::Present { modified, size });
        let rows = [
            ("RFC 3659 §3.1 and §4.1", "213 19980615100045", "213 5", present(Some(897_904_845), Some(5))),
            (
                "RFC 3659 §3.1: fractions",
                "213 19980615100045.014",
                "213 0",
                present(Some(897_904_845), Some(0)),
            ),
            ("a time that is none", "213 later", "213 5", present(None, Some(5))),
            ("RFC 3659 §3.2: no time", "550 no", "213 7", present(None, Some(7))),
            ("RFC 3659 §4: no such file", "550 no", "550 no", Some(Answer::Absent)),
            ("removed between the two", "213 19980615100045", "550 no", Some(Answer::Absent)),
            ("RFC 959 §4.2.1: the server closes", "421 bye", "421 bye", None),
            ("RFC 959 §4.2.1: not implemented", "502 what", "213 5", None),
            ("RFC 959 §4.2.1: not now", "213 19980615100045", "450 busy", None),
        ];
        for (name, modified, size, wanted) in rows {
            assert_eq!(answer(&[reply(modified), reply(size)]).ok(), wanted, "{name}");
        }
    }
}
