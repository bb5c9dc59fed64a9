//! A state in the words of all clients, which the vectors compare.

use serde_json::Value as Json;

use crate::notices::Notice;
use crate::state::{Entitlements, ExpiredOf, Grant, LicenseKind, Release, RevokedReason, Source, State, Status, Value};
use crate::text::json::{object, Record};

/// The state as an object.
pub(crate) fn of(state: &State) -> Record {
    let mut json = object([("status", Some(name_of(&state.status).into()))]);
    match &state.status {
        Status::Starting => {}
        Status::Unlicensed { trial_days } | Status::Free { trial_days } => add(&mut json, "trialDays", *trial_days),
        Status::Licensed(grant) | Status::Fallback(grant) => add_grant(&mut json, grant),
        Status::Offline { license, grant } => {
            let kind = if *license == LicenseKind::Licensed { "licensed" } else { "fallback" };
            add(&mut json, "license", Some(kind));
            add_grant(&mut json, grant);
        }
        Status::Trial { until } => add(&mut json, "until", Some(*until)),
        Status::Expired { of, at, free_tier } => add_expired(&mut json, of, *at, *free_tier),
        Status::Revoked { reason, at, free_tier } => {
            add(&mut json, "reason", Some(reason_of(*reason)));
            add(&mut json, "at", Some(*at));
            add(&mut json, "freeTier", Some(*free_tier));
        }
        Status::NotCovered { updates_until, newest_release, free_tier } => {
            add(&mut json, "updatesUntil", Some(*updates_until));
            add(&mut json, "newestRelease", newest_release.as_ref().map(release));
            add(&mut json, "freeTier", Some(*free_tier));
        }
        Status::AnotherDevice { free_tier } => add(&mut json, "freeTier", Some(*free_tier)),
    }
    add(&mut json, "clockSetBack", Some(state.clock_set_back));
    json
}

/// A release as an object.
pub(crate) fn release(release: &Release) -> Json {
    let Release { version, built_at, url } = release;
    Json::Object(object([
        ("version", Some(version.as_str().into())),
        ("builtAt", Some((*built_at).into())),
        ("url", Some(url.as_deref().into())),
    ]))
}

/// A notice as an object.
pub(crate) fn of_notice(notice: &Notice) -> Record {
    let (name, more) = match notice {
        Notice::Renewed { license_expires_at } => {
            ("renewed", Some(("licenseExpiresAt", Json::from(*license_expires_at))))
        }
        Notice::Restored => ("restored", None),
        Notice::Revoked { reason } => ("revoked", Some(("reason", reason_of(*reason).into()))),
        Notice::Expiring { license_expires_at } => {
            ("expiring", Some(("licenseExpiresAt", (*license_expires_at).into())))
        }
    };
    let mut json = object([("notice", Some(name.into()))]);
    json.extend(more.map(|(name, value)| (name.to_owned(), value)));
    json
}

fn name_of(status: &Status) -> &'static str {
    match status {
        Status::Starting => "starting",
        Status::Unlicensed { .. } => "unlicensed",
        Status::Licensed(_) => "licensed",
        Status::Fallback(_) => "fallback",
        Status::Offline { .. } => "offline",
        Status::Trial { .. } => "trial",
        Status::Free { .. } => "free",
        Status::Expired { .. } => "expired",
        Status::Revoked { .. } => "revoked",
        Status::NotCovered { .. } => "not_covered",
        Status::AnotherDevice { .. } => "another_device",
    }
}

fn reason_of(reason: RevokedReason) -> &'static str {
    match reason {
        RevokedReason::Revoked => "revoked",
        RevokedReason::Suspended => "suspended",
        RevokedReason::Reminted => "reminted",
        RevokedReason::Inactive => "inactive",
        RevokedReason::Withdrawn => "withdrawn",
    }
}

fn add<T: Into<Json>>(json: &mut Record, name: &str, value: Option<T>) {
    if let Some(value) = value {
        json.insert(name.to_owned(), value.into());
    }
}

fn add_grant(json: &mut Record, grant: &Grant) {
    let by = if grant.by == Source::Lease { "lease" } else { "file" };
    add(json, "by", Some(by));
    add(json, "until", Some(grant.until));
    json.extend(of_entitlements(&grant.entitlements));
    add(json, "licenseExpiresAt", Some(Json::from(grant.license_expires_at)));
    let holder = grant.holder.as_ref().map(|holder| {
        object([("name", Some(holder.name.as_deref().into())), ("email", Some(holder.email.as_deref().into()))])
    });
    add(json, "holder", holder);
    add(json, "graceUntil", grant.grace_until);
}

fn add_expired(json: &mut Record, of: &ExpiredOf, at: i64, free_tier: bool) {
    let (name, allowed) = match of {
        ExpiredOf::Lease(allowed) => ("lease", Some(allowed)),
        ExpiredOf::File(allowed) => ("file", Some(allowed)),
        ExpiredOf::License => ("license", None),
        ExpiredOf::Trial => ("trial", None),
    };
    add(json, "allowed", allowed.map(of_entitlements));
    add(json, "of", Some(name));
    add(json, "at", Some(at));
    add(json, "freeTier", Some(free_tier));
}

fn of_entitlements(entitlements: &Entitlements) -> Record {
    let values = entitlements.0.iter().filter_map(|(name, value)| {
        let json = match value {
            Value::Granted => None,
            Value::Number(number) => Some(of_number(*number)),
            Value::Text(text) => Some(text.as_str().into()),
        };
        Some((name.clone(), json?))
    });
    let names: Vec<&str> = entitlements.names().collect();
    object([("entitlements", Some(names.into())), ("values", Some(Json::Object(values.collect())))])
}

/// A number as JavaScript prints it: a whole one without a point.
fn of_number(number: f64) -> Json {
    crate::text::json::safe_integer(&Json::from(number)).map_or_else(|| Json::from(number), Json::from)
}
