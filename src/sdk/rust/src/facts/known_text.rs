//! The facts as one text, in the form of all clients. All signatures are verified again when it is read.

use serde_json::Value;

use super::known::{Asked, HeldLicense, HeldSettings, Known, OfflineFacts, Trial};
use super::not_covered::NotCovered;
use crate::license_key;
use crate::place::Place;
use crate::signed::lease::Lease;
use crate::signed::proof::{token_of, Proof};
use crate::signed::settings::Settings;
use crate::signed::statements::Expected;
use crate::signed::withdrawn::Withdrawn;
use crate::signed::Keys;
use crate::text::json::{self, field, object, Members, Record};

const FORMAT: i64 = 1;

/// The text to store.
pub(crate) fn text_of(known: &Known) -> String {
    let trial = known.trial.as_ref().map(|trial| {
        object([
            ("startedAt", Some(trial.started_at.into())),
            ("used", Some(trial.used.into())),
            ("reported", Some(trial.reported.into())),
        ])
    });
    let keys: Record = known.keys.iter().map(|(kid, key)| (kid.clone(), key.as_str().into())).collect();
    json::write(object([
        ("format", Some(FORMAT.into())),
        ("installId", text(&known.install_id)),
        ("keys", Some(keys.into())),
        ("license", known.license.as_ref().map(|license| of_license(license).into())),
        ("left", Some(known.left.clone().into())),
        ("settings", known.settings.as_ref().map(|settings| of_settings(settings).into())),
        ("trial", trial.map(Value::from)),
        ("offline", known.offline.as_ref().map(|offline| of_offline(offline).into())),
        ("signedAt", Some(known.signed_at.into())),
        ("seen", Some(known.seen.into())),
    ]))
}

/// Reads what was stored; none when it is not usable at all. The keys that the app ships count more than stored ones.
pub(crate) fn read(text: &str, place: &Place, pinned: &Keys) -> Option<Known> {
    let value = json::read(text)?;
    let stored = value.as_object().filter(|stored| stored.safe_integer("format") == Some(FORMAT))?;
    let published = stored.record("keys").into_iter().flatten();
    let mut keys: Keys = published.filter_map(|(kid, key)| Some((kid.clone(), field(key)?.to_owned()))).collect();
    keys.extend(pinned.clone());
    let left = stored.get("left").and_then(Value::as_array).into_iter().flatten();
    Some(Known {
        install_id: stored.field("installId")?.to_owned(),
        license: stored.record("license").and_then(|license| license_from(license, place, &keys)),
        left: left.filter_map(|one| field(one).map(str::to_owned)).collect(),
        settings: stored.record("settings").and_then(|settings| settings_from(settings, place, &keys)),
        trial: stored.record("trial").and_then(trial_from),
        offline: stored.record("offline").and_then(|offline| offline_from(offline, place, &keys)),
        signed_at: stored.seconds("signedAt")?,
        seen: stored.seconds("seen")?,
        keys,
    })
}

/// The fence of the floating seat in an answer or in what was stored; none for a seat that lasts until it is given back.
pub(crate) fn fence_in(seat: Option<&Value>) -> Option<i64> {
    seat?.as_object()?.seconds("fence")
}

fn text(text: &str) -> Option<Value> {
    Some(text.into())
}

fn of_license(license: &HeldLicense) -> Record {
    object([
        ("key", text(&license.key)),
        ("instanceId", text(&license.instance_id)),
        ("proof", license.proof.as_ref().map(Proof::stored)),
        ("expiresAt", license.expires_at.map(Value::from)),
        ("graceUntil", license.grace_until.map(Value::from)),
        ("notCovered", license.not_covered.as_ref().map(|said| said.stored().into())),
        ("seat", license.fence.map(|fence| object([("fence", Some(fence.into()))]).into())),
        ("relay", license.relay.as_deref().map(Value::from)),
        ("isAway", license.is_away.then(|| true.into())),
    ])
}

fn of_settings(settings: &HeldSettings) -> Record {
    object([
        ("freeTierEnabled", Some(settings.free_tier.into())),
        ("trialDurationDays", settings.trial.as_ref().map(|trial| trial.days.into())),
        ("signed", settings.trial.as_ref().map(|trial| trial.signed.clone().into())),
        ("issuedAt", Some(settings.issued_at().into())),
        ("expiresAt", Some(settings.expires_at().into())),
    ])
}

fn of_offline(offline: &OfflineFacts) -> Record {
    let with_token = |token: &str| object([("token", text(token))]).into();
    let asked = offline
        .asked
        .as_ref()
        .map(|asked| object([("nonce", text(&asked.nonce)), ("licenseKeyHash", text(&asked.license_key_hash))]).into());
    object([
        ("seed", text(&offline.seed)),
        ("counter", Some(offline.counter.into())),
        ("asked", asked),
        ("file", offline.file.as_ref().and_then(Lease::token).map(with_token)),
        ("withdrawn", offline.withdrawn.as_ref().map(|list| with_token(&list.token))),
        ("released", Some(offline.released.into())),
    ])
}

fn license_from(stored: &Record, place: &Place, keys: &Keys) -> Option<HeldLicense> {
    let (key, instance_id) = (stored.field("key")?, stored.field("instanceId")?);
    let hash = license_key::hash(key);
    let expected = Expected { place, license_key_hash: &hash, instance_id };
    Some(HeldLicense {
        key: key.to_owned(),
        instance_id: instance_id.to_owned(),
        proof: Proof::verify(stored.get("proof"), &expected, keys).ok(),
        expires_at: stored.seconds("expiresAt"),
        grace_until: stored.seconds("graceUntil"),
        not_covered: stored.record("notCovered").and_then(NotCovered::from_stored),
        fence: fence_in(stored.get("seat")),
        relay: stored.field("relay").map(str::to_owned),
        is_away: stored.flag("isAway") == Some(true),
    })
}

/// A trial length that was signed is taken from its signed answer, not from what stands beside it.
fn settings_from(stored: &Record, place: &Place, keys: &Keys) -> Option<HeldSettings> {
    let free_tier = stored.flag("freeTierEnabled")?;
    let signed = match stored.get("signed") {
        Some(signed) if signed.is_object() => signed,
        _ => return Some(HeldSettings { free_tier, trial: None }),
    };
    let read = Settings::verify(signed, place, keys, 0, false).ok()?;
    let mut trial = read.trial?;
    // After the signature is over, an unsigned answer may have changed the free tier alone.
    if stored.safe_integer("issuedAt") == Some(0) {
        (trial.issued_at, trial.expires_at) = (0, 0);
        return Some(HeldSettings { free_tier, trial: Some(trial) });
    }
    Some(HeldSettings { free_tier: read.free_tier, trial: Some(trial) })
}

fn trial_from(stored: &Record) -> Option<Trial> {
    Some(Trial {
        started_at: stored.seconds("startedAt")?,
        used: stored.flag("used") == Some(true),
        reported: stored.flag("reported") == Some(true),
    })
}

fn offline_from(stored: &Record, place: &Place, keys: &Keys) -> Option<OfflineFacts> {
    let is_hex = |seed: &&str| seed.len() == 64 && seed.bytes().all(|one| matches!(one, b'0'..=b'9' | b'a'..=b'f'));
    let asked = stored.record("asked");
    let file = token_of(stored.get("file")).and_then(|token| Lease::read(token, place, keys).ok());
    Some(OfflineFacts {
        seed: stored.text("seed").filter(is_hex)?.to_owned(),
        counter: stored.seconds("counter")?,
        asked: asked.and_then(|asked| {
            Some(Asked {
                nonce: asked.field("nonce")?.to_owned(),
                license_key_hash: asked.field("licenseKeyHash")?.to_owned(),
            })
        }),
        file: file.filter(|file| file.file.is_some()),
        withdrawn: token_of(stored.get("withdrawn")).and_then(|token| Withdrawn::read(token, place, keys)),
        released: stored.seconds("released")?,
    })
}
