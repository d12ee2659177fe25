//! Comparison with another implementation on the same input, where one exists and follows the same rules: a
//! difference is an error in one of the two, and the RFC or curl's documentation decides in which. Each
//! module names the part on which the rules agree; differences outside it are not findings.
//!
//! Inputs that random octets would not reach are generated: the octets decide (`arbitrary`) what is written,
//! coded and damaged.

pub mod base64;
pub mod cookie;
pub mod date;
pub mod dns;
pub mod inflate;
pub mod url;
mod zlib;
pub mod zstd;

use arbitrary::Unstructured;

/// Name (also that of its directory of seeds and of its fuzz target) and function.
pub const ORACLES: &[(&str, fn(&[u8]))] = &[
    ("base64_oracle", base64::agrees),
    ("cookie_oracle", cookie::agrees),
    ("date_oracle", date::agrees),
    ("dns_oracle", dns::agrees),
    ("inflate_oracle", inflate::agrees),
    ("url_oracle", url::agrees),
    ("zstd_oracle", zstd::agrees),
];

/// When the octets are used up, the generated input ends.
fn goes_on(choices: &mut Unstructured) -> bool {
    !choices.is_empty() && choices.ratio(7, 8).unwrap_or(false)
}

/// One of them, the first when the octets are used up.
fn one_of<T: Copy>(choices: &mut Unstructured, from: &[T]) -> T {
    choices.choose(from).copied().unwrap_or(from[0])
}

/// Text that compresses: literal octets, runs, and repetitions of earlier text.
fn plain_text(choices: &mut Unstructured) -> Vec<u8> {
    const LONGEST: usize = 400_000;
    let mut text = Vec::new();
    while text.len() < LONGEST && goes_on(choices) {
        let length = usize::from(choices.arbitrary::<u16>().unwrap_or(0)) >> one_of(choices, &[8, 4, 0]);
        match one_of(choices, &[0, 1, 2]) {
            0 => text.extend_from_slice(choices.bytes(length.min(choices.len()).min(64)).unwrap_or_default()),
            1 => text.extend(std::iter::repeat_n(choices.arbitrary::<u8>().unwrap_or(0), length)),
            _ => {
                let back = usize::from(choices.arbitrary::<u16>().unwrap_or(0)).min(text.len());
                let from = text.len() - back;
                (0..if back == 0 { 0 } else { length }).for_each(|at| text.push(text[from + at]));
            }
        }
    }
    text
}

/// Leaves the input whole, or changes, truncates or extends it.
fn damage(choices: &mut Unstructured, coded: &mut Vec<u8>) {
    let at = choices.choose_index(coded.len().max(1)).unwrap_or(0);
    match one_of(choices, &[0, 0, 1, 2, 3]) {
        1 if !coded.is_empty() => coded[at] ^= choices.arbitrary::<u8>().unwrap_or(1),
        2 => coded.truncate(at),
        3 => coded.extend_from_slice(choices.bytes(choices.len().min(9)).unwrap_or_default()),
        _ => {}
    }
}
