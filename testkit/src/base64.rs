//! Base64 (RFC 4648 section 4).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes with padding.
pub fn encode(data: &[u8]) -> String {
    let mut out = String::new();
    for chunk in data.chunks(3) {
        let group = chunk.iter().fold(0u32, |g, &b| g << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let index = group >> (18 - 6 * at) & 63;
            out.push(if at <= chunk.len() { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    out
}

/// Decodes base64, skipping bytes outside the alphabet.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let (mut out, mut bits, mut count) = (vec![], 0u32, 0);
    for value in text.iter().filter_map(|b| ALPHABET.iter().position(|a| a == b)) {
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 255) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn encoded_text_decodes_to_its_source() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(super::encode(plain.as_bytes()), coded);
            assert_eq!(super::decode(coded.as_bytes()), plain.as_bytes());
        }
    }
}
