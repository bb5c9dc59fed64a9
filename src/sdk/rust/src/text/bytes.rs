//! UTF-8, base64, hex, hashes and random bytes.

use data_encoding::{Specification, BASE64, BASE64URL_NOPAD, HEXLOWER};
use ring::digest::{digest, SHA256};
use ring::rand::{SecureRandom, SystemRandom};

/// The text of bytes, without a byte order mark; none when they are no UTF-8.
pub(crate) fn utf8(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()
}

/// The bytes of canonical base64; none for anything else: another spelling of the same bytes is not what was sent.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.as_bytes()).ok()
}

/// The bytes of base64 in any spelling that `atob` reads; none for anything else.
pub(crate) fn any_base64(text: &str) -> Option<Vec<u8>> {
    let mut kept: String = text.chars().filter(|one| !matches!(one, ' ' | '\t' | '\n' | '\x0c' | '\r')).collect();
    if kept.len() % 4 == 0 {
        for _ in 0..2 {
            if kept.ends_with('=') {
                kept.pop();
            }
        }
    }
    let mut lenient = Specification::new();
    lenient.symbols.push_str("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    lenient.check_trailing_bits = false;
    lenient.encoding().ok()?.decode(kept.as_bytes()).ok()
}

/// The bytes of base64url without padding, in its only spelling.
pub(crate) fn base64url(text: &str) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(text.as_bytes()).ok()
}

/// Base64url without padding.
pub(crate) fn to_base64url(bytes: &[u8]) -> String {
    BASE64URL_NOPAD.encode(bytes)
}

/// The bytes of lower-case hex.
pub(crate) fn hex(text: &str) -> Option<Vec<u8>> {
    HEXLOWER.decode(text.as_bytes()).ok()
}

/// The SHA-256 of bytes.
pub(crate) fn sha256(bytes: &[u8]) -> Vec<u8> {
    digest(&SHA256, bytes).as_ref().to_vec()
}

/// Lower-case hex.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// So many random bytes in hex.
///
/// # Panics
///
/// When the system has no random numbers: whatever was made then could be guessed.
pub(crate) fn random_hex(count: usize) -> String {
    let mut bytes = vec![0; count];
    SystemRandom::new().fill(&mut bytes).expect("the system has no random numbers");
    to_hex(&bytes)
}

/// Anything from 0 to below 1, for pauses; the middle when the system has no random numbers.
pub(crate) fn random_fraction() -> f64 {
    let mut bytes = [0; 4];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0),
        Err(_) => 0.5,
    }
}
