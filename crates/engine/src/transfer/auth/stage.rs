//! How far the conversation with one side has come: which scheme is in use, and whether the last request has proved who
//! is asking by it. A value with transitions; what is sent, and what a reply says, is [`super::Side`]'s matter.

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
    /// AWS signature version 4, which is never asked for.
    AwsSigv4 = CURLAUTH_AWS_SIGV4 as u8,
}

use Scheme::{AwsSigv4, Basic, Bearer, Digest, Negotiate, Ntlm};

impl Scheme {
    /// The most secure one first.
    const PREFERENCE: [Scheme; 6] = [Negotiate, Bearer, Digest, Ntlm, Basic, AwsSigv4];

    /// The bits of those that prove who is asking for as long as a connection lasts.
    pub const BINDING: u64 = CURLAUTH_NTLM | CURLAUTH_NEGOTIATE;

    /// Its bit.
    pub fn bit(self) -> u64 {
        u64::from(self as u8)
    }

    /// The best of these bits.
    pub fn best(bits: u64) -> Option<Scheme> {
        Scheme::PREFERENCE.into_iter().find(|scheme| bits & scheme.bit() != 0)
    }

    /// The one that these bits are, when they are no more than one; CURLAUTH_ONLY beside it makes two.
    pub fn alone(bits: u64) -> Option<Scheme> {
        Scheme::best(bits).filter(|scheme| scheme.bit() == bits)
    }

    /// Whether it proves who is asking for as long as a connection lasts, and only there.
    pub fn binds(self) -> bool {
        self.bit() & Scheme::BINDING != 0
    }

    /// Whether it answers challenges: it counts as used while it waits for one, and when it has no more to say.
    pub fn converses(self) -> bool {
        matches!(self, Digest | Ntlm | Negotiate)
    }
}

/// What has been said to one side, and what the next request says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Nothing was settled on: a scheme that is wanted alone is used unasked, several wait for a challenge.
    #[default]
    Open,
    /// An earlier transfer of the handle settled on this scheme; it counts only for the same peer and user.
    Remembered(Scheme),
    /// A challenge made it the scheme to use.
    Settled(Scheme),
    /// The last request went out to be challenged: without its body, and another one follows.
    Asking(Scheme),
    /// The last request said all that there is to say by it.
    Proved(Scheme),
    /// No scheme is left but those that a new challenge may name.
    Exhausted,
}

use Stage::{Asking, Exhausted, Open, Proved, Remembered, Settled};

impl Stage {
    /// A transfer begins that wants these schemes.
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

    /// A request is about to be made, to the peer and by the user of the one before or not.
    pub fn meet(self, same: bool) -> Stage {
        match self {
            Remembered(scheme) if same => Settled(scheme),
            Remembered(_) => Open,
            // Within a transfer a redirect leads to others by the same scheme, as in curl.
            other => other,
        }
    }

    /// The scheme that the next request uses, of those that it may.
    pub fn scheme(self, allowed: u64) -> Option<Scheme> {
        match self {
            Open => Scheme::alone(allowed),
            Exhausted => None,
            Remembered(scheme) | Settled(scheme) | Asking(scheme) | Proved(scheme) => {
                Some(scheme).filter(|scheme| allowed & scheme.bit() != 0)
            }
        }
    }

    /// The next request has a scheme to use. It proves who is asking, or asks what to prove.
    pub fn use_scheme(self, scheme: Scheme, proves: bool) -> Stage {
        if proves { Proved(scheme) } else { Asking(scheme) }
    }

    /// The next request has no scheme to use: what was settled on is not for the peer at hand.
    pub fn use_none(self) -> Stage {
        if self == Exhausted { Exhausted } else { Open }
    }

    /// The next request has nothing to prove to this side. What was settled on stays.
    pub fn pass(self) -> Stage {
        match self {
            Asking(scheme) | Proved(scheme) => Settled(scheme),
            other => other,
        }
    }

    /// The next request goes out on a connection that is new: what proved the one before proves nothing here.
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

    /// Whether there is nothing more to say to this side.
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

    /// Whole conversations, as curl's documentation tells them.
    #[test]
    fn conversations() {
        let any = u64::MAX;
        // --anyauth: asked first, then the best that is offered.
        let stage = Open.begin(any).meet(true);
        assert_eq!(stage.scheme(any), None);
        let stage = stage.use_none().pick(Basic.bit() | Digest.bit());
        assert_eq!(stage.scheme(any), Some(Digest));
        let stage = stage.use_scheme(Digest, true);
        // The next transfer of the handle goes on with it; another user's begins anew.
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
