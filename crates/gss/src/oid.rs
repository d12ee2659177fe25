//! The object identifiers that are spoken of here, in the form that GSS-API wants: the contents octets of
//! their DER.

/// How a context is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// RFC 4178, which negotiates one of the mechanisms below it.
    Spnego,
    /// RFC 4121.
    Kerberos,
}

impl Mechanism {
    pub(crate) const fn oid(self) -> &'static [u8] {
        match self {
            Mechanism::Spnego => &[0x2b, 6, 1, 5, 5, 2],
            Mechanism::Kerberos => &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 2],
        }
    }
}

/// `service@host` as a name (GSS_C_NT_HOSTBASED_SERVICE).
pub(crate) const HOST_BASED_SERVICE: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 1, 2, 1, 4];

/// NTLM as a mechanism; an additional package brings it.
pub(crate) const NTLM: &[u8] = &[0x2b, 6, 1, 4, 1, 0x82, 0x37, 2, 2, 10];
