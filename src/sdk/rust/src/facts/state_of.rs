//! The state that facts allow: the first row of the table in the reference that fits. It depends on nothing else.

use super::known::{HeldLicense, Known, OfflineFacts};
use crate::signed::device::Machine;
use crate::signed::lease::Lease;
use crate::signed::proof::Proof;
use crate::state::{Entitlements, ExpiredOf, Grant, LicenseKind, RevokedReason, Source, State, Status, Value};

const TOLERANCE: i64 = 300;
const DAY: f64 = 86_400.0;

/// What a state depends on, besides the facts and the time. What is none is not known.
#[derive(Clone, Copy, Default)]
pub(crate) struct Circumstances<'a> {
    /// The last attempt to reach the server failed.
    pub(crate) failing: bool,
    pub(crate) device: Option<&'a Machine>,
    pub(crate) built_at: Option<i64>,
    pub(crate) default_trial_days: Option<i64>,
}

/// The state of an app. The facts are none before the storage was read.
pub(crate) fn state_of(known: Option<&Known>, now: i64, around: Circumstances<'_>) -> State {
    let known = match known {
        None => return State { status: Status::Starting, clock_set_back: false },
        Some(known) => known,
    };
    let given = Given { time: known.time_at(now), around, free_tier: known.free_tier() };
    let status = of_held(known, given).unwrap_or_else(|| of_install(known, given));
    State { status, clock_set_back: now < known.seen - TOLERANCE }
}

#[derive(Clone, Copy)]
struct Given<'a> {
    time: i64,
    around: Circumstances<'a>,
    free_tier: bool,
}

fn of_install(known: &Known, given: Given<'_>) -> Status {
    let days = known.trial_days().or(given.around.default_trial_days);
    let trial_days = days.filter(|days| *days != 0);
    let (trial, free_tier) = match (&known.trial, given.free_tier) {
        (None, true) => return Status::Free { trial_days },
        (None, false) => return Status::Unlicensed { trial_days },
        (Some(trial), free_tier) => (trial, free_tier),
    };
    // As in JavaScript, so that no length that was signed overflows.
    let until = (trial.started_at as f64 + days.unwrap_or(0) as f64 * DAY) as i64;
    if !trial.used && given.time < until {
        return Status::Trial { until };
    }
    if free_tier {
        return Status::Free { trial_days: None };
    }
    Status::Expired { of: ExpiredOf::Trial, at: until, free_tier }
}

fn of_held(known: &Known, given: Given<'_>) -> Option<Status> {
    let license = known.license.as_ref();
    let online = license.and_then(|license| Some((license.proof.as_ref()?, license)));
    let carried = known.offline.as_ref().and_then(|offline| Some((offline.usable()?, offline)));
    let online = online.map(|(proof, license)| (proof, of_proof(license, proof, given)));
    let carried = carried.map(|(file, offline)| (file, of_file(offline, file, given)));
    let status = match (online, carried) {
        (Some((proof, online)), Some((file, carried))) => decisive(proof, file, online, carried),
        (Some((_, status)), None) | (None, Some((_, status))) => status,
        (None, None) => return None,
    };
    Some(explained(status, license, given))
}

fn decisive(proof: &Proof, file: &Lease, online: Status, carried: Status) -> Status {
    let is_newer = proof.issued_at() >= file.issued_at;
    let (newer, older) = if is_newer { (online, carried) } else { (carried, online) };
    if newer.is_good() || proof.takes_away(file) || !older.is_good() {
        newer
    } else {
        older
    }
}

fn of_proof(license: &HeldLicense, proof: &Proof, given: Given<'_>) -> Status {
    let free_tier = given.free_tier;
    let lease = match proof {
        Proof::Refusal(refusal) => return revoked(&refusal.reason, refusal.issued_at, given),
        Proof::Lease(lease) => lease,
    };
    if lease.status == "expired" {
        return Status::Expired { of: ExpiredOf::License, at: lease.expires_at, free_tier };
    }
    if !lease.is_granting() {
        return revoked(&lease.status, lease.issued_at, given);
    }
    match (given.around.device, &lease.device) {
        (Some(device), Some(leased)) if leased.is_other_than(device) => Status::AnotherDevice { free_tier },
        _ => of_lease(Source::Lease, lease, Some(license), given),
    }
}

fn of_file(offline: &OfflineFacts, file: &Lease, mut given: Given<'_>) -> Status {
    let free_tier = given.free_tier;
    if !offline.is_for_machine(file, given.around.device) {
        return Status::AnotherDevice { free_tier };
    }
    let id = file.file.as_ref().map(|terms| &terms.id);
    match &offline.withdrawn {
        Some(list) if list.files.iter().any(|one| Some(one) == id) => {
            Status::Revoked { reason: RevokedReason::Withdrawn, at: list.issued_at, free_tier }
        }
        _ => {
            given.around.failing = false;
            of_lease(Source::File, file, None, given)
        }
    }
}

fn of_lease(by: Source, lease: &Lease, license: Option<&HeldLicense>, given: Given<'_>) -> Status {
    let free_tier = given.free_tier;
    let granted = lease.entitlements.iter().filter_map(|(name, value)| Some((name.clone(), Value::of(value)?)));
    let entitlements = Entitlements(granted.collect());
    if given.time > lease.expires_at {
        let of = if by == Source::Lease { ExpiredOf::Lease(entitlements) } else { ExpiredOf::File(entitlements) };
        return Status::Expired { of, at: lease.expires_at, free_tier };
    }
    match (lease.updates_until, given.around.built_at) {
        (Some(updates_until), Some(built_at)) if built_at > updates_until => {
            return Status::NotCovered { updates_until, newest_release: None, free_tier };
        }
        _ => {}
    }
    let kind = if lease.status == "active" { LicenseKind::Licensed } else { LicenseKind::Fallback };
    // A lease of the first version says less.
    let ends = match lease.token() {
        None => license.and_then(|license| license.expires_at),
        Some(_) => lease.license_expires_at,
    };
    let is_over = ends.map_or(false, |ends| given.time >= ends);
    let is_in_grace = by == Source::Lease && kind == LicenseKind::Licensed && is_over;
    let grant = Grant {
        by,
        until: lease.expires_at,
        entitlements,
        license_expires_at: ends,
        holder: lease.holder.clone(),
        grace_until: is_in_grace.then(|| license.and_then(|license| license.grace_until).unwrap_or(lease.expires_at)),
    };
    match kind {
        license if given.around.failing => Status::Offline { license, grant },
        LicenseKind::Licensed => Status::Licensed(grant),
        LicenseKind::Fallback => Status::Fallback(grant),
    }
}

/// A reason of a newer server counts as the strictest one.
fn revoked(reason: &str, at: i64, given: Given<'_>) -> Status {
    let reason = match reason {
        "suspended" => RevokedReason::Suspended,
        "reminted" => RevokedReason::Reminted,
        "inactive" => RevokedReason::Inactive,
        _ => RevokedReason::Revoked,
    };
    Status::Revoked { reason, at, free_tier: given.free_tier }
}

/// With what the server has said of the build: which release is covered, and why a lease that has ended is not renewed.
fn explained(status: Status, license: Option<&HeldLicense>, given: Given<'_>) -> Status {
    let said = license.and_then(|license| license.not_covered.as_ref());
    let said = match (said, given.around.built_at) {
        (Some(said), Some(built_at)) if built_at > said.updates_until => said,
        _ => return status,
    };
    let newest_release = said.newest_release.clone();
    match status {
        Status::NotCovered { updates_until, free_tier, .. } => {
            Status::NotCovered { updates_until, newest_release, free_tier }
        }
        Status::Expired { of: ExpiredOf::Lease(_), free_tier, .. } => {
            Status::NotCovered { updates_until: said.updates_until, newest_release, free_tier }
        }
        status => status,
    }
}
