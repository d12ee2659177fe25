//! Diffie-Hellman in the groups of RFC 3526 that RFC 8268 names: 14, 16 and 18. All end with the same bits of
//! pi.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd, Resize};
use zeroize::Zeroizing;

use super::{Secret, random};
use crate::error::Error;

/// A group by its number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// 2,048 bits
    G14,
    /// 4,096 bits
    G16,
    /// 8,192 bits
    G18,
}

impl Group {
    fn bits(self) -> u32 {
        match self {
            Group::G14 => 2048,
            Group::G16 => 4096,
            Group::G18 => 8192,
        }
    }

    /// Returns the length of the private exponent in bytes: twice the strength that RFC 3526 §8 estimates for
    /// the group.
    fn exponent(self) -> usize {
        match self {
            Group::G14 => 40,
            Group::G16 => 64,
            Group::G18 => 80,
        }
    }

    /// Returns the offset that RFC 3526 adds to the bits of pi to get a prime.
    fn offset(self) -> u64 {
        match self {
            Group::G14 => 124_476,
            Group::G16 => 240_904,
            Group::G18 => 4_743_158,
        }
    }

    /// 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) * pi) + offset).
    fn prime(self) -> BoxedUint {
        let bits = self.bits();
        let wide = bits + 64;
        let one = BoxedUint::one_with_precision(wide);
        let pi = (pi(bits - 130, wide) + BoxedUint::from(self.offset()).resize(wide)).shl(64);
        let high = one.shl(bits).wrapping_sub(one.shl(bits - 64)).wrapping_sub(&one);
        high.wrapping_add(&pi).resize(bits)
    }
}

/// floor(2^bits * pi), by Machin's formula: 16 atan(1/5) - 4 atan(1/239), with 64 bits to spare.
fn pi(bits: u32, precision: u32) -> BoxedUint {
    let precision = precision + 128;
    let unit = BoxedUint::one_with_precision(precision).shl(bits + 64);
    let sixteen = atan_of_inverse(5, &unit).shl(4);
    let four = atan_of_inverse(239, &unit).shl(2);
    sixteen.wrapping_sub(&four).shr(64).resize(precision - 128)
}

/// unit * atan(1/x), by its series.
fn atan_of_inverse(x: u64, unit: &BoxedUint) -> BoxedUint {
    let by = |n: &BoxedUint, divisor: u64| {
        let divisor = crypto_bigint::Limb(divisor);
        n.div_rem_limb(divisor.to_nz().expect("no divisor here is zero")).0
    };
    let mut power = by(unit, x);
    let mut sum = power.clone();
    let mut n = 1;
    while !bool::from(power.is_zero()) {
        power = by(&power, x * x);
        n += 2;
        let term = by(&power, n);
        sum = if n % 4 == 3 { sum.wrapping_sub(&term) } else { sum.wrapping_add(&term) };
    }
    sum
}

/// Our half of an agreement.
pub struct Agreement {
    group: Group,
    modulus: BoxedMontyParams,
    exponent: BoxedUint,
}

impl Agreement {
    /// A new private exponent, and the public number.
    pub fn begin(group: Group) -> Result<(Agreement, Vec<u8>), Error> {
        let mut bytes: Secret = Zeroizing::new(vec![0; group.exponent()]);
        random(&mut bytes)?;
        let exponent = BoxedUint::from_be_slice(&bytes, group.exponent() as u32 * 8);
        let exponent = exponent.map_err(|_| Error::NoRandomness)?;
        let modulus = Odd::new(group.prime()).expect("a prime of these is odd");
        let agreement = Agreement { group, modulus: BoxedMontyParams::new(modulus), exponent };
        let public = agreement.power(BoxedUint::from(2_u8).resize(group.bits()));
        Ok((agreement, public.to_vec()))
    }

    fn power(&self, base: BoxedUint) -> Secret {
        let base = BoxedMontyForm::new(base, &self.modulus);
        Zeroizing::new(base.pow(&self.exponent).retrieve().to_be_bytes().to_vec())
    }

    /// The shared secret. Numbers outside of 2..p-1 are refused (RFC 4253 §8, RFC 8268 §4).
    pub fn finish(mut self, peer: &[u8]) -> Result<Secret, Error> {
        let bad = Error::Exchange("a number that is not of the group");
        let bits = self.group.bits();
        let Ok(peer) = BoxedUint::from_be_slice(peer, bits) else { return Err(bad) };
        let one = BoxedUint::one_with_precision(bits);
        let last = self.modulus.modulus().as_ref().wrapping_sub(&one);
        if peer <= one || peer >= last {
            return Err(bad);
        }
        let secret = self.power(peer);
        zeroize::Zeroize::zeroize(&mut self.exponent);
        Ok(secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides compute the same secret, for each group.
    #[test]
    fn two_sides_agree() {
        for group in [Group::G14, Group::G16] {
            let (a, to_b) = Agreement::begin(group).unwrap();
            let (b, to_a) = Agreement::begin(group).unwrap();
            assert_eq!(a.finish(&to_a).unwrap(), b.finish(&to_b).unwrap());
        }
    }

    /// The primes begin and end with 64 ones, and the first digits of group 14 are those in RFC 3526.
    #[test]
    fn the_primes_are_those_of_the_rfc() {
        for group in [Group::G14, Group::G16, Group::G18] {
            let bytes = group.prime().to_be_bytes();
            assert_eq!(bytes.len() as u32 * 8, group.bits());
            assert_eq!(bytes[..8], [0xff; 8]);
            assert_eq!(bytes[bytes.len() - 8..], [0xff; 8]);
            assert_eq!(bytes[8..16], [0xc9, 0x0f, 0xda, 0xa2, 0x21, 0x68, 0xc2, 0x34]);
        }
        let tail = &Group::G14.prime().to_be_bytes()[240..248];
        assert_eq!(tail, [0x15, 0x72, 0x8e, 0x5a, 0x8a, 0xac, 0xaa, 0x68]);
    }

    #[test]
    fn numbers_outside_of_the_group_are_refused() {
        for bad in [vec![], vec![0], vec![1], vec![0xff; 256], vec![0xff; 300]] {
            let (ours, _) = Agreement::begin(Group::G14).unwrap();
            assert!(ours.finish(&bad).is_err(), "{} bytes", bad.len());
        }
    }
}
