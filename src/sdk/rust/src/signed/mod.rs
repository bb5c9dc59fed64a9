//! Verifies what was signed, and signs for the device.

pub(crate) mod armor;
pub(crate) mod device;
pub(crate) mod ed25519;
pub(crate) mod keyset;
pub(crate) mod lease;
pub(crate) mod paseto;
pub(crate) mod proof;
mod relay;
pub(crate) mod settings;
pub(crate) mod statements;
pub(crate) mod withdrawn;

use std::collections::BTreeMap;

/// The public keys that are known, base64, by their ids.
pub(crate) type Keys = BTreeMap<String, String>;

/// Why something that was signed must not be believed, in the words of the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubt {
    Malformed,
    UnknownKey,
    BadSignature,
    AnotherLicense,
    AnotherInstance,
    AnotherDevice,
    Unsigned,
    Outdated,
    NotAsked,
    NotYet,
    Over,
}

#[cfg(test)]
impl Doubt {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::UnknownKey => "unknown_key",
            Self::BadSignature => "bad_signature",
            Self::AnotherLicense => "another_license",
            Self::AnotherInstance => "another_instance",
            Self::AnotherDevice => "another_device",
            Self::Unsigned => "unsigned",
            Self::Outdated => "outdated",
            Self::NotAsked => "not_asked",
            Self::NotYet => "not_yet",
            Self::Over => "over",
        }
    }
}
