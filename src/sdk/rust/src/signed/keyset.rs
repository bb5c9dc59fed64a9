//! The public keys that a server publishes.

use crate::text::bytes::{any_base64, sha256, to_hex};

/// A kid is the beginning of the hash of its key, so a key that was damaged on the way is recognized.
pub(crate) fn is_key_of(kid: &str, key: &str) -> bool {
    any_base64(key).map_or(false, |bytes| bytes.len() == 32 && to_hex(&sha256(&bytes)[..8]) == kid)
}
