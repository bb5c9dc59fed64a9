//! Ed25519 strictly by RFC 8032: non-canonical signatures and keys of low order are rejected.

use ring::signature::{Ed25519KeyPair, KeyPair, UnparsedPublicKey, ED25519};

/// The prime 2^255 - 19, its lowest byte first.
const PRIME: [u8; 32] = with_edges(0xed, 0xff, 0x7f);

/// The heights of the points whose order divides eight: 0, 1, -1, and the two of order eight.
const LOW_HEIGHTS: [[u8; 32]; 5] = [
    [0; 32],
    with_edges(1, 0, 0),
    with_edges(0xec, 0xff, 0x7f),
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf,
        0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20,
        0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
];

/// Whether the key has signed the message; false for a signature or key that is none.
pub(crate) fn is_signed(message: &[u8], signature: &[u8], public_key: &[u8]) -> bool {
    if signature.len() != 64 || public_key.len() != 32 {
        return false;
    }
    let (key, point) = (height_of(public_key), height_of(signature));
    is_canonical(&key)
        && is_canonical(&point)
        && !LOW_HEIGHTS.contains(&key)
        && UnparsedPublicKey::new(&ED25519, public_key).verify(message, signature).is_ok()
}

/// Signs with a seed of 32 bytes. None for one of another length.
pub(crate) fn sign(message: &[u8], seed: &[u8]) -> Option<Vec<u8>> {
    Some(pair_of(seed)?.sign(message).as_ref().to_vec())
}

/// The raw public key of a seed of 32 bytes. None for one of another length.
pub(crate) fn public_key_of(seed: &[u8]) -> Option<Vec<u8>> {
    Some(pair_of(seed)?.public_key().as_ref().to_vec())
}

fn pair_of(seed: &[u8]) -> Option<Ed25519KeyPair> {
    Ed25519KeyPair::from_seed_unchecked(seed).ok()
}

/// The height of the point in the first 32 bytes, without the sign of its other coordinate.
fn height_of(bytes: &[u8]) -> [u8; 32] {
    let mut height = [0; 32];
    height.copy_from_slice(&bytes[..32]);
    height[31] &= 0x7f;
    height
}

fn is_canonical(height: &[u8; 32]) -> bool {
    height.iter().rev().lt(PRIME.iter().rev())
}

const fn with_edges(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_low_order_signs_nothing() {
        // The point of order one, under which this would be a signature of any message.
        let point = with_edges(1, 0, 0);
        let signature = [point, [0; 32]].concat();
        assert!(UnparsedPublicKey::new(&ED25519, point).verify(b"any", &signature).is_ok());
        assert!(!is_signed(b"any", &signature, &point));
    }
}
