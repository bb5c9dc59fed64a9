//! The facts.

use crate::license_key;
use crate::signed::device::Machine;
use crate::signed::ed25519;
use crate::signed::lease::Lease;
use crate::signed::proof::Proof;
use crate::signed::settings::SignedTrial;
use crate::signed::withdrawn::Withdrawn;
use crate::signed::Keys;
use crate::text::bytes::{hex, random_hex, to_base64url};

use super::not_covered::NotCovered;

/// The license that is held. What stands beside the proof is not signed, and for display.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeldLicense {
    pub(crate) key: String,
    pub(crate) instance_id: String,
    /// None when what was stored does not verify, and after the seat was given back.
    pub(crate) proof: Option<Proof>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) grace_until: Option<i64>,
    pub(crate) not_covered: Option<NotCovered>,
    /// Of a floating seat: it tells the seat from the one that the device takes after it.
    pub(crate) fence: Option<i64>,
    /// The address of the relay that gave the seat; none for the vendor's server.
    pub(crate) relay: Option<String>,
    /// The floating seat was given back, and the next start takes one again.
    pub(crate) is_away: bool,
}

/// The settings that are held.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HeldSettings {
    pub(crate) free_tier: bool,
    /// A trial length that was signed; its times are 0 after an unsigned answer has changed the free tier alone.
    pub(crate) trial: Option<SignedTrial>,
}

impl HeldSettings {
    pub(crate) fn issued_at(&self) -> i64 {
        self.trial.as_ref().map_or(0, |trial| trial.issued_at)
    }

    pub(crate) fn expires_at(&self) -> i64 {
        self.trial.as_ref().map_or(0, |trial| trial.expires_at)
    }
}

/// The trial of this machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trial {
    pub(crate) started_at: i64,
    /// The server says that it was used up.
    pub(crate) used: bool,
    /// The server knows of it.
    pub(crate) reported: bool,
}

/// The last request for a file, while its answer is awaited.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) nonce: String,
    pub(crate) license_key_hash: String,
}

impl Asked {
    pub(crate) fn new(nonce: String, license_key: &str) -> Self {
        Self { nonce, license_key_hash: license_key::hash(license_key) }
    }
}

/// What is remembered of license files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfflineFacts {
    /// The seed of the device's own key, in hex.
    pub(crate) seed: String,
    pub(crate) counter: i64,
    pub(crate) asked: Option<Asked>,
    /// The file that was taken last.
    pub(crate) file: Option<Lease>,
    pub(crate) withdrawn: Option<Withdrawn>,
    /// The serial of the last file that was given back or taken away: it and older ones are not used again.
    pub(crate) released: i64,
}

impl OfflineFacts {
    /// With the seed of a key, and nothing else.
    pub(crate) fn new(seed: String) -> Self {
        Self { seed, counter: 0, asked: None, file: None, withdrawn: None, released: 0 }
    }

    /// The bytes of the seed.
    pub(crate) fn seed_bytes(&self) -> Vec<u8> {
        hex(&self.seed).unwrap_or_default()
    }

    /// The file that the device may use. Whether it has ended or was withdrawn is decided with the state.
    pub(crate) fn usable(&self) -> Option<&Lease> {
        self.file.as_ref().filter(|file| file.serial > self.released)
    }

    /// The machine that asks for a file: one that says nothing of itself is known by its key.
    pub(crate) fn machine_of(&self, device: Option<&Machine>) -> Machine {
        let by_key = || Machine {
            hash: ed25519::public_key_of(&self.seed_bytes()).map(|key| to_base64url(&key)),
            ..Machine::default()
        };
        device.cloned().unwrap_or_else(by_key)
    }

    pub(crate) fn is_for_machine(&self, file: &Lease, device: Option<&Machine>) -> bool {
        file.device.as_ref().map_or(false, |leased| leased.is_same_as(&self.machine_of(device)))
    }
}

/// All that an app has to remember.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) install_id: String,
    pub(crate) keys: Keys,
    pub(crate) license: Option<HeldLicense>,
    /// The instances that were given up in the second of `signed_at`.
    pub(crate) left: Vec<String>,
    pub(crate) settings: Option<HeldSettings>,
    pub(crate) trial: Option<Trial>,
    pub(crate) offline: Option<OfflineFacts>,
    /// The time of the newest proof or file.
    pub(crate) signed_at: i64,
    /// The greatest time that was seen since the newest lease or file was taken.
    pub(crate) seen: i64,
}

impl Known {
    /// The facts of an install that knows these keys.
    pub(crate) fn new(install_id: String, keys: Keys) -> Self {
        let (license, settings, trial, offline) = (None, None, None, None);
        Self { install_id, keys, license, left: Vec::new(), settings, trial, offline, signed_at: 0, seen: 0 }
    }

    /// The time by which everything ends: never before one that was already seen.
    pub(crate) fn time_at(&self, now: i64) -> i64 {
        self.seen.max(now)
    }

    /// Notes the time of the device's clock, so that setting it back is noticed.
    pub(crate) fn notice(&mut self, now: i64) {
        self.seen = self.time_at(now);
    }

    /// What is remembered of license files, with a key of the device, which is made when there is none.
    pub(crate) fn offline_mut(&mut self) -> &mut OfflineFacts {
        self.offline.get_or_insert_with(|| OfflineFacts::new(random_hex(32)))
    }

    /// The file that the device may use.
    pub(crate) fn usable_file(&self) -> Option<&Lease> {
        self.offline.as_ref()?.usable()
    }

    /// Whether the server says that there is a free tier.
    pub(crate) fn free_tier(&self) -> bool {
        self.settings.as_ref().map_or(false, |settings| settings.free_tier)
    }

    /// The length of a trial that the server has named.
    pub(crate) fn trial_days(&self) -> Option<i64> {
        Some(self.settings.as_ref()?.trial.as_ref()?.days)
    }
}
