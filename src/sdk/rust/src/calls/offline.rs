//! Asks for license files, takes them, and gives them back.

use std::fmt;

use serde_json::Value;

use super::operations::Operations;
use crate::facts::known::{Asked, Known, OfflineFacts};
use crate::facts::take;
use crate::problem::{Problem, ProblemCode};
use crate::signed::{armor, paseto, Doubt};
use crate::text::bytes::random_hex;
use crate::text::json::{self, object, Record};
use crate::text::times::iso;

/// A text to carry to the vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedText {
    /// To paste or to keep as a file.
    pub text: String,
    /// The same without lines, for a QR code.
    pub token: String,
}

/// What a device signs is given out only when the storage has it, and the storage cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageFailed;

impl fmt::Display for StorageFailed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the storage cannot be written")
    }
}

impl std::error::Error for StorageFailed {}

impl Operations {
    /// Asks for a license file. The request is stored before it is given out, so that none repeats a counter, and its answer is known
    /// after a restart.
    pub(crate) fn create_request(&self, key: &str) -> Result<CarriedText, StorageFailed> {
        let mut known = self.keeper.load();
        let now = self.options().now();
        let asked = Asked::new(random_hex(16), key);
        let offline = known.offline_mut();
        // The time, so that a machine that was restored from a backup is not behind its own earlier requests.
        offline.counter = (offline.counter + 1).max(now);
        offline.asked = Some(asked.clone());
        let offline = offline.clone();
        self.store(|known| known.offline = Some(offline.clone()))?;
        let device = offline.machine_of(self.keeper.device().as_ref());
        let components: Record = device.components.into_iter().map(|(name, hash)| (name, hash.into())).collect();
        let device = object([("machine_hash", Some(device.hash.into())), ("components", Some(components.into()))]);
        let claims = object([
            ("iat", Some(iso(now).into())),
            ("nonce", Some(asked.nonce.into())),
            ("counter", Some(offline.counter.into())),
            ("license_key_hash", Some(asked.license_key_hash.into())),
            ("instance_name", Some(self.name_of(&known).into())),
            ("device", Some(device.into())),
        ]);
        self.signed("REQUEST", &offline, claims)
    }

    /// Takes a text that was carried here: the answer to the last request, or a list of withdrawn files.
    pub(crate) fn import(&self, text: &str) -> Result<(), Problem> {
        self.keeper.load();
        let token = armor::token_in(text);
        let device = self.keeper.device();
        let taken = self.take_signed(|known, now| take::carried(known, &token, self.place(), device.as_ref(), now));
        taken.map(|_| ()).map_err(problem_of)
    }

    /// Gives the license file and its seat back: the device stops using both before it gives the text out. None without a file for this
    /// machine; the same again for one that was given back before.
    pub(crate) fn release(&self) -> Result<Option<CarriedText>, StorageFailed> {
        let known = self.keeper.load();
        let device = self.keeper.device();
        let held = known.offline.as_ref().and_then(|offline| Some((offline, offline.file.as_ref()?)));
        let (offline, file) = match held {
            Some((offline, file)) if offline.is_for_machine(file, device.as_ref()) => (offline, file),
            _ => return Ok(None),
        };
        if offline.usable().is_some() {
            self.store(|known| take::leave(known, &file.instance_id))?;
        }
        let fence = file.file.as_ref().and_then(|terms| terms.fence.clone());
        let claims = object([
            ("iat", Some(iso(self.options().now()).into())),
            ("instance_id", Some(file.instance_id.as_str().into())),
            ("serial", Some(file.serial.into())),
            ("fence", fence.map(Value::Number)),
        ]);
        self.signed("RELEASE", offline, claims).map(Some)
    }

    fn store(&self, step: impl FnOnce(&mut Known)) -> Result<(), StorageFailed> {
        self.keeper.change(|known, _| step(known)).then_some(()).ok_or(StorageFailed)
    }

    fn signed(&self, kind: &str, offline: &OfflineFacts, claims: Record) -> Result<CarriedText, StorageFailed> {
        let assertion = self.place().assertion(&format!("{}1", kind.to_ascii_lowercase()));
        // A seed that is none is never read from the storage.
        let token = paseto::sign_own(&json::write(claims), &assertion, &offline.seed_bytes()).ok_or(StorageFailed)?;
        Ok(CarriedText { text: armor::around(kind, &token), token })
    }
}

/// What an app is told of a text that is not taken.
fn problem_of(doubt: Doubt) -> Problem {
    let (code, message) = match doubt {
        Doubt::UnknownKey => (ProblemCode::UnknownKey, "it was signed with a key that this app does not know"),
        Doubt::BadSignature => {
            (ProblemCode::BadSignature, "it was changed on the way, or was made for another product")
        }
        Doubt::AnotherDevice => (ProblemCode::AnotherDevice, "it was made for another machine"),
        Doubt::NotAsked => (ProblemCode::NotAsked, "it answers another request than the last one of this device"),
        Doubt::Outdated => (ProblemCode::Outdated, "it is older than what this device has, or was given back"),
        Doubt::NotYet => (ProblemCode::NotYet, "the clock of this machine is before it"),
        Doubt::Over => (ProblemCode::Over, "it has ended; ask for the next one"),
        Doubt::Malformed | Doubt::AnotherLicense | Doubt::AnotherInstance | Doubt::Unsigned => {
            (ProblemCode::Malformed, "this is neither a license file nor a list of withdrawn files")
        }
    };
    Problem::new(code, message)
}
