//! Decisions of FTP (RFC 959, 2228, 2428, 3659 and 4217): pure functions from facts to a verdict. The handler
//! gathers the facts and acts on the verdict.

pub mod body;
pub mod data;
pub mod directory;
pub mod login;
pub mod pipeline;

/// Returns whether a reply reports success (RFC 959 §4.2, 2yz).
pub fn succeeded(code: u16) -> bool {
    code / 100 == 2
}

/// Returns a reply for a test.
#[cfg(test)]
fn reply(line: &str) -> wire::ftp::reply::Reply {
    wire::ftp::reply::Reply { code: line[..3].parse().unwrap(), line: line.as_bytes().to_vec() }
}

#[cfg(test)]
mod tests {
    use super::succeeded;

    #[test]
    fn only_positive_completion_is_a_success() {
        let rows = [
            ("RFC 959 §4.2: 1yz is preliminary", 150, false),
            ("RFC 959 §4.2: 2yz", 200, true),
            ("RFC 959 §4.2: the last of them", 299, true),
            ("RFC 959 §4.2: 3yz wants another command", 350, false),
            ("RFC 959 §4.2: 4yz fails for now", 450, false),
            ("RFC 959 §4.2: 5yz fails for good", 550, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(succeeded(code), wanted, "{name}");
        }
    }
}
