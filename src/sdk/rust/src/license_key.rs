//! License keys as people type them.

use unicode_normalization::UnicodeNormalization;

use crate::text::bytes::{sha256, to_hex};
use crate::text::is_space;

const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Normalizes a typed license key: NFKC, upper case, without white space and hyphens. In a key that keyledger minted, which its
/// check character shows, O becomes 0, and I and L become 1.
///
/// ```
/// assert_eq!(keyledger_client::license_key::normalize(" acme-1234 "), "ACME1234");
/// ```
#[must_use]
pub fn normalize(typed: &str) -> String {
    let upper = typed.nfkc().collect::<String>().to_uppercase();
    let text: String = upper.chars().filter(|one| *one != '-' && !is_space(*one)).collect();
    let read = text.replace('O', "0").replace(['I', 'L'], "1");
    if has_form(&read) {
        read
    } else {
        text
    }
}

/// Whether a typed key is one that keyledger has minted, and is complete: it has their form and their check character. Before a call that
/// is a hint for the person who types. Keys that a vendor has brought along have neither, so it is no reason to refuse a key.
///
/// ```
/// use keyledger_client::license_key::is_minted;
///
/// assert!(is_minted("acme-7kq2m-9xw4d-rlt8v-ozb5n-3hj6c-7"));
/// assert!(!is_minted("ACME-1234"));
/// ```
#[must_use]
pub fn is_minted(typed: &str) -> bool {
    has_form(&normalize(typed))
}

/// The hash that stands for a license key in what is signed: SHA-256 of the normalized key, in lower-case hex.
///
/// ```
/// use keyledger_client::license_key::hash;
///
/// assert_eq!(hash("acme-1234"), hash(" ACME 1234"));
/// ```
#[must_use]
pub fn hash(typed: &str) -> String {
    to_hex(&sha256(normalize(typed).as_bytes()))
}

fn has_form(text: &str) -> bool {
    let prefix = text.len().saturating_sub(26);
    if !(2..=8).contains(&prefix) || !text.is_ascii() {
        return false;
    }
    let (prefix, rest) = text.split_at(prefix);
    let values: Option<Vec<usize>> = rest.chars().rev().map(|one| ALPHABET.find(one)).collect();
    let sum = |values: Vec<usize>| -> usize {
        let doubled = values.into_iter().enumerate().map(|(at, value)| value * (1 + at % 2));
        doubled.map(|value| value / 32 + value % 32).sum()
    };
    prefix.bytes().all(|one| one.is_ascii_uppercase() || one.is_ascii_digit())
        && values.map(sum).map_or(false, |sum| sum % 32 == 0)
}
