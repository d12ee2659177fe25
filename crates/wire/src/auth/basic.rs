//! Basic (RFC 7617) and Bearer (RFC 6750): the values of the `Authorization:` header.

use crate::base64;

pub fn basic(user: &[u8], password: &[u8]) -> String {
    format!("Basic {}", base64::encode(&[user, b":", password].concat()))
}

pub fn bearer(token: &[u8]) -> Vec<u8> {
    [b"Bearer ", token].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_the_rfc() {
        assert_eq!(basic(b"Aladdin", b"open sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic(b"", b""), "Basic Og==");
        assert_eq!(bearer(b"x"), b"Bearer x");
    }
}
