//! The progress of authentication with one side: which scheme is in use, and whether the last request proved
//! the login. A value with transitions; [`super::Side`] writes fields and parses replies.

use tables::constant::{
    CURLAUTH_AWS_SIGV4, CURLAUTH_BASIC, CURLAUTH_BEARER, CURLAUTH_DIGEST, CURLAUTH_NEGOTIATE, CURLAUTH_NTLM,
};

/// A way to prove who is asking, as the bit that CURLOPT_HTTPAUTH has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Scheme {
    /// RFC 7617.
    Basic = CURLAUTH_BASIC as u8,
    /// RFC 7616.
    Digest = CURLAUTH_DIGEST as u8,
    /// RFC 4559.
    Negotiate = CURLAUTH_NEGOTIATE as u8,
    /// [MS-NTHT].
    Ntlm = CURLAUTH_NTLM as u8,
    /// RFC 6750.
    Bearer = CURLAUTH_BEARER as u8,
    /// AWS signature version 4, which no challenge requests.
    AwsSigv4 = CURLAUTH_AWS_SIGV4 as u8,
}

use Scheme::{AwsSigv4, Basic, Bearer, Digest, Negotiate, Ntlm};

impl Scheme {
    /// The most secure one first.
    const PREFERENCE: [Scheme; 6] = [Negotiate, Bearer, Digest, Ntlm, Basic, AwsSigv4];

    /// The bits of schemes that authenticate a connection.
    pub const BINDING: u64 = CURLAUTH_NTLM | CURLAUTH_NEGOTIATE;

    /// Its bit.
    pub fn bit(self) -> u64 {
        u64::from(self as u8)
    }

    /// The best of these bits.
    pub fn best(bits: u64) -> Option<Scheme> {
        Scheme::PREFERENCE.into_iter().find(|scheme| bits & scheme.bit() != 0)
    }

    /// Returns the scheme of these bits if there is exactly one; CURLAUTH_ONLY with one counts as two.
    pub fn alone(bits: u64) -> Option<Scheme> {
        Scheme::best(bits).filter(|scheme| scheme.bit() == bits)
    }

    /// Returns whether the scheme authenticates a connection, and is valid only there.
    pub fn binds(self) -> bool {
        self.bit() & Scheme::BINDING != 0
    }

    /// Whether it answers challenges: it counts as used while it waits for one, and when it has no more to
    /// say.
    pub fn converses(self) -> bool {
        matches!(self, Digest | Ntlm | Negotiate)
    }
}

/// The progress with one side, which determines the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No scheme was chosen: a single allowed scheme is used without a challenge, several wait for one.
    #[default]
    Open,
    /// An earlier transfer of the handle settled on this scheme; it counts only for the same peer and user.
    Remembered(Scheme),
    /// A challenge made it the scheme to use.
    Settled(Scheme),
    /// The last request was sent to get a challenge: without its body, and another one follows.
    Asking(Scheme),
    /// The last request said all that there is to say by it.
    Proved(Scheme),
    /// No scheme is left except those in a new challenge.
    Exhausted,
}

use Stage::{Asking, Exhausted, Open, Proved, Remembered, Settled};

impl Stage {
    /// Starts a transfer that allows these schemes.
    pub fn begin(self, wanted: u64) -> Stage {
        match self {
            Remembered(scheme) | Settled(scheme) | Asking(scheme) | Proved(scheme)
                if wanted & scheme.bit() != 0 =>
            {
                Remembered(scheme)
            }
            _ => Open,
        }
    }

    /// Starts a request; `same`: to the same peer and with the same login as the previous one.
    pub fn meet(self, same: bool) -> Stage {
        match self {
            Remembered(scheme) if same => Settled(scheme),
            Remembered(_) => Open,
            // Within a transfer a redirect leads to others by the same scheme, as in curl.
            other => other,
        }
    }

    /// Returns the scheme of the next request, out of those allowed.
    pub fn scheme(self, allowed: u64) -> Option<Scheme> {
        match self {
            Open => Scheme::alone(allowed),
            Exhausted => None,
            Remembered(scheme) | Settled(scheme) | Asking(scheme) | Proved(scheme) => {
                Some(scheme).filter(|scheme| allowed & scheme.bit() != 0)
            }
        }
    }

    /// Records the scheme of the next request. It proves the login, or requests a challenge.
    pub fn use_scheme(self, scheme: Scheme, proves: bool) -> Stage {
        if proves { Proved(scheme) } else { Asking(scheme) }
    }

    /// Records that the next request has no scheme: the chosen one is not allowed for the current peer.
    pub fn use_none(self) -> Stage {
        if self == Exhausted { Exhausted } else { Open }
    }

    /// Records that the next request needs no authentication for this side. The chosen scheme stays.
    pub fn pass(self) -> Stage {
        match self {
            Asking(scheme) | Proved(scheme) => Settled(scheme),
            other => other,
        }
    }

    /// Records that the next request uses a new connection, on which earlier proofs are void.
    pub fn reconnect(self) -> Stage {
        if self == Proved(Ntlm) { Open } else { self }
    }

    /// A reply named schemes, of which these are wanted.
    pub fn pick(self, common: u64) -> Stage {
        Scheme::best(common).map_or(Exhausted, Settled)
    }

    /// The scheme of the last request.
    pub fn spoken(self) -> Option<Scheme> {
        match self {
            Asking(scheme) | Proved(scheme) => Some(scheme),
            _ => None,
        }
    }

    /// Returns whether authentication with this side is complete.
    pub fn is_through(self) -> bool {
        matches!(self, Proved(_) | Exhausted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Stage; 6] = [Open, Remembered(Ntlm), Settled(Ntlm), Asking(Ntlm), Proved(Ntlm), Exhausted];

    /// Every transition from every stage, one column for each of `ALL`.
    #[test]
    fn transitions() {
        let (open, kept, none) = (Open, Remembered(Ntlm), Exhausted);
        type Row = (&'static str, fn(Stage) -> Stage, [Stage; 6]);
        let rows: [Row; 12] = [
            ("begins, wanted", |s| s.begin(Ntlm.bit()), [open, kept, kept, kept, kept, open]),
            ("begins, unwanted", |s| s.begin(Basic.bit()), [open; 6]),
            (
                "same peer",
                |s| s.meet(true),
                [open, Settled(Ntlm), Settled(Ntlm), Asking(Ntlm), Proved(Ntlm), none],
            ),
            (
                "another peer",
                |s| s.meet(false),
                [open, open, Settled(Ntlm), Asking(Ntlm), Proved(Ntlm), none],
            ),
            ("asks", |s| s.use_scheme(Digest, false), [Asking(Digest); 6]),
            ("proves", |s| s.use_scheme(Digest, true), [Proved(Digest); 6]),
            ("is silent", |s| s.use_none(), [open, open, open, open, open, none]),
            ("is passed over", |s| s.pass(), [open, kept, Settled(Ntlm), Settled(Ntlm), Settled(Ntlm), none]),
            ("reconnects", |s| s.reconnect(), [open, kept, Settled(Ntlm), Asking(Ntlm), open, none]),
            ("picks none", |s| s.pick(0), [none; 6]),
            ("picks the best", |s| s.pick(Basic.bit() | Ntlm.bit() | Digest.bit()), [Settled(Digest); 6]),
            ("picks by ticket", |s| s.pick(u64::MAX), [Settled(Negotiate); 6]),
        ];
        for (name, step, wanted) in rows {
            assert_eq!(ALL.map(step), wanted, "{name}");
        }
    }

    #[test]
    fn answers() {
        let of = |f: fn(Stage) -> Option<Scheme>| ALL.map(f);
        let ntlm = Some(Ntlm);
        assert_eq!(of(|s| s.scheme(Ntlm.bit())), [ntlm, ntlm, ntlm, ntlm, ntlm, None]);
        assert_eq!(of(|s| s.scheme(Ntlm.bit() | Basic.bit())), [None, ntlm, ntlm, ntlm, ntlm, None]);
        assert_eq!(of(|s| s.scheme(Basic.bit())), [Some(Basic), None, None, None, None, None]);
        assert_eq!(of(Stage::spoken), [None, None, None, ntlm, ntlm, None]);
        assert_eq!(ALL.map(Stage::is_through), [false, false, false, false, true, true]);
    }

    /// Whole exchanges, as in curl's documentation.
    #[test]
    fn conversations() {
        let any = u64::MAX;
        // --anyauth: first a challenge, then the best scheme offered.
        let stage = Open.begin(any).meet(true);
        assert_eq!(stage.scheme(any), None);
        let stage = stage.use_none().pick(Basic.bit() | Digest.bit());
        assert_eq!(stage.scheme(any), Some(Digest));
        let stage = stage.use_scheme(Digest, true);
        // The next transfer of the handle continues with it; another user's starts again.
        assert_eq!(stage.begin(any).meet(true).scheme(any), Some(Digest));
        assert_eq!(stage.begin(any).meet(false).scheme(any), None);
        // --ntlm: two rounds on a connection, and the choice is open again on the next one.
        let alone = Ntlm.bit();
        let stage = Open.begin(alone).meet(true);
        assert_eq!(stage.scheme(alone), Some(Ntlm));
        let stage = stage.use_scheme(Ntlm, false).pick(alone).use_scheme(Ntlm, true);
        assert_eq!((stage.reconnect(), stage.reconnect().scheme(alone)), (Open, Some(Ntlm)));
    }

    #[test]
    fn bits() {
        assert_eq!(Scheme::alone(CURLAUTH_BASIC), Some(Basic));
        assert_eq!(Scheme::alone(CURLAUTH_BASIC | tables::constant::CURLAUTH_ONLY), None);
        assert_eq!((Scheme::alone(0), Scheme::best(0), Scheme::alone(1 << 40)), (None, None, None));
    }
}
