//! What each answer does to the facts. What is not taken may have changed them: the caller keeps those from before.

use serde_json::Value;

use super::known::{HeldLicense, HeldSettings, Known, OfflineFacts, Trial};
use super::known_text::fence_in;
use super::not_covered::NotCovered;
use crate::license_key;
use crate::place::Place;
use crate::signed::device::Machine;
use crate::signed::lease::Lease;
use crate::signed::proof::Proof;
use crate::signed::settings::Settings;
use crate::signed::statements::Expected;
use crate::signed::withdrawn::Withdrawn;
use crate::signed::Doubt;
use crate::text::json::{Members, Record};

/// How an answer compares with what is held. The first two show that the server was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Age {
    Fresh,
    Same,
    Stale,
}

impl Age {
    /// Whether it is as new as what is held.
    pub(crate) fn is_new(self) -> bool {
        self != Self::Stale
    }
}

/// What became of an answer, or why it is not taken.
pub(crate) type Taken = Result<Age, Doubt>;

/// Takes the lease or the refusal of an answer, if it is genuine and newer than what is held.
pub(crate) fn proof(known: &mut Known, answer: Option<&Value>, asked: &HeldLicense, place: &Place, now: i64) -> Taken {
    let empty = Record::new();
    let body = answer.and_then(Value::as_object).unwrap_or(&empty);
    let hash = license_key::hash(&asked.key);
    let expected = Expected { place, license_key_hash: &hash, instance_id: &asked.instance_id };
    let offered = body.given("refusal").or_else(|| body.given("lease2")).or_else(|| body.get("lease"));
    let proof = Proof::verify(offered, &expected, &known.keys)?;
    let held = known.license.as_ref().filter(|held| held.instance_id == asked.instance_id && held.key == asked.key);
    let held_proof = held.and_then(|held| held.proof.as_ref());
    let age = age_of(&proof, held_proof, known);
    if age != Age::Fresh {
        return Ok(age);
    }
    let (issued_at, is_refusal) = (proof.issued_at(), matches!(proof, Proof::Refusal(_)));
    let is_later = !is_refusal && issued_at > held_proof.map_or(-1, Proof::issued_at);
    // Who was refused still had a floating seat, and may take another.
    let held_fence = held.filter(|_| is_refusal).and_then(|held| held.fence);
    let is_another = held.is_none();
    let license = HeldLicense {
        key: asked.key.clone(),
        instance_id: asked.instance_id.clone(),
        proof: Some(proof),
        expires_at: body.seconds("license_expires_at"),
        grace_until: body.seconds("grace_until"),
        fence: fence_in(body.get("seat")).or(held_fence),
        relay: asked.relay.clone(),
        ..HeldLicense::default()
    };
    if is_another {
        release_taken_away(known);
    }
    leave_held(known, Some(&asked.instance_id));
    note_signed(known, issued_at);
    known.seen = issued_at.max(now).max(if is_later { 0 } else { known.seen });
    known.license = Some(license);
    Ok(age)
}

/// Notes what the server says of a build that the license does not cover. Unsigned, it changes nothing else.
pub(crate) fn build_not_covered(known: &mut Known, answer: Option<&Value>) {
    if let Some(license) = &mut known.license {
        license.not_covered = NotCovered::in_answer(answer);
    }
}

/// Takes the settings of an answer: unsigned ones only for the free tier, and not while signed ones are valid.
pub(crate) fn settings(known: &mut Known, answer: Option<&Value>, place: &Place, now: i64, enforce: bool) -> Taken {
    // By the clock as it is now: a time that was seen while it was wrong by years would refuse all settings after it.
    let Settings { free_tier, trial } =
        Settings::verify(answer.unwrap_or(&Value::Null), place, &known.keys, now, enforce)?;
    let held = known.settings.as_ref();
    let trial = match (trial, held) {
        (None, Some(held)) if held.expires_at() >= known.time_at(now) => return Ok(Age::Stale),
        (None, held) => {
            let mut trial = held.and_then(|held| held.trial.clone());
            if let Some(trial) = &mut trial {
                (trial.issued_at, trial.expires_at) = (0, 0);
            }
            trial
        }
        (Some(trial), Some(held)) if trial.issued_at < held.issued_at() => return Ok(Age::Stale),
        (Some(trial), _) => Some(trial),
    };
    let held_issued_at = held.map_or(0, HeldSettings::issued_at);
    let settings = HeldSettings { free_tier, trial };
    // Without a license, newer settings begin the observation of the clock anew, as a newer lease does.
    if known.license.is_none() && settings.issued_at() > held_issued_at {
        known.seen = settings.issued_at().max(now);
    }
    known.settings = Some(settings);
    Ok(Age::Fresh)
}

/// Begins the trial of this machine, unless one was begun before.
pub(crate) fn begin_trial(known: &mut Known, now: i64) {
    let started_at = known.time_at(now);
    known.trial.get_or_insert(Trial { started_at, used: false, reported: false });
}

/// Takes what the server knows of the trial of this machine. Fields that are absent mean that it has no opinion.
pub(crate) fn trial(known: &mut Known, answer: Option<&Value>) {
    if let (Some(trial), Some(record)) = (&mut known.trial, answer.and_then(Value::as_object)) {
        trial.started_at = record.seconds("trial_started_at").unwrap_or(trial.started_at);
        trial.used = record.flag("trial_already_used").unwrap_or(trial.used);
        trial.reported = true;
    }
}

/// Takes a text that was carried to the device: the file that answers its last request, or a list of withdrawn files.
pub(crate) fn carried(known: &mut Known, token: &str, place: &Place, device: Option<&Machine>, now: i64) -> Taken {
    let list = Withdrawn::read(token, place, &known.keys);
    let read = Lease::read(token, place, &known.keys);
    let offline = known.offline_mut();
    if let Some(list) = list {
        if offline.withdrawn.as_ref().map_or(false, |held| held.serial > list.serial) {
            return Err(Doubt::Outdated);
        }
        let issued_at = list.issued_at;
        offline.withdrawn = Some(list);
        known.seen = known.seen.max(issued_at);
        return Ok(Age::Fresh);
    }
    let file = read?;
    let age = check_file(&file, token, offline, device, now)?;
    if age != Age::Fresh {
        return Ok(age);
    }
    let issued_at = file.issued_at;
    offline.file = Some(file);
    offline.asked = None;
    note_signed(known, issued_at);
    known.seen = issued_at.max(now);
    Ok(Age::Fresh)
}

/// Notes that the floating seat is given back: its lease does not count any more, and the license stays.
pub(crate) fn seat_back(known: &mut Known) {
    if let Some(license) = &mut known.license {
        (license.proof, license.fence, license.is_away) = (None, None, true);
    }
}

/// Gives an instance up: neither a lease nor a file for it counts any more.
pub(crate) fn leave(known: &mut Known, instance_id: &str) {
    if known.license.as_ref().map_or(false, |license| license.instance_id == instance_id) {
        release_taken_away(known);
        leave_held(known, None);
        known.license = None;
    }
    if let Some(offline) = &mut known.offline {
        let left = offline.usable().filter(|file| file.instance_id == instance_id).map(|file| file.serial);
        offline.released = left.unwrap_or(offline.released);
    }
}

fn check_file(file: &Lease, token: &str, offline: &OfflineFacts, device: Option<&Machine>, now: i64) -> Taken {
    let terms = file.file.as_ref().ok_or(Doubt::Malformed)?;
    if !offline.is_for_machine(file, device) {
        return Err(Doubt::AnotherDevice);
    }
    if file.serial <= offline.released {
        return Err(Doubt::Outdated);
    }
    if offline.file.as_ref().and_then(Lease::token) == Some(token) {
        return Ok(Age::Same);
    }
    match &offline.asked {
        Some(asked) if asked.nonce == terms.nonce && asked.license_key_hash == file.license_key_hash => {}
        _ => return Err(Doubt::NotAsked),
    }
    if now < file.not_before {
        return Err(Doubt::NotYet);
    }
    if now > file.expires_at {
        return Err(Doubt::Over);
    }
    Ok(Age::Fresh)
}

/// Notes the time of a proof or file. Only the instances that were given up in the newest second are remembered.
fn note_signed(known: &mut Known, issued_at: i64) {
    if issued_at > known.signed_at {
        known.signed_at = issued_at;
        known.left.clear();
    }
}

/// When the license is forgotten or replaced, a file that it has taken away stays so.
fn release_taken_away(known: &mut Known) {
    let proof = known.license.as_ref().and_then(|license| license.proof.as_ref());
    if let (Some(offline), Some(proof)) = (&mut known.offline, proof) {
        let taken = offline.usable().filter(|file| proof.takes_away(file)).map(|file| file.serial);
        offline.released = taken.unwrap_or(offline.released);
    }
}

/// The instance that was held is given up when another one or none is held.
fn leave_held(known: &mut Known, instance_id: Option<&str>) {
    if let Some(license) = &known.license {
        if Some(license.instance_id.as_str()) != instance_id {
            known.left.push(license.instance_id.clone());
        }
    }
}

fn age_of(offered: &Proof, held: Option<&Proof>, known: &Known) -> Age {
    let issued_at = offered.issued_at();
    let held = match held {
        Some(held) => held,
        None => {
            let was_left = known.left.iter().any(|one| one == offered.instance_id());
            let is_old = issued_at < known.signed_at || (issued_at == known.signed_at && was_left);
            return if is_old { Age::Stale } else { Age::Fresh };
        }
    };
    let age = |is_newer: bool| if is_newer { Age::Fresh } else { Age::Stale };
    if issued_at != held.issued_at() {
        return age(issued_at > held.issued_at());
    }
    if offered.strictness() != held.strictness() {
        return age(offered.strictness() > held.strictness());
    }
    if offered.serial() > held.serial() {
        Age::Fresh
    } else {
        Age::Same
    }
}
