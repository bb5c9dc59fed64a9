//! The vectors of notices.

use serde_json::Value as Json;

use super::vectors::Compared;
use super::{list, record, text};
use crate::notices::{notices_of, Look};
use crate::state::{Entitlements, ExpiredOf, Grant, LicenseKind, RevokedReason, Source, State, Status, Value};
use crate::state_json;
use crate::text::json::{Members, Record};

pub(super) fn check(all: &Record, one: &Record) -> Compared {
    let days = all.seconds("expiringDays").unwrap() as u32;
    let notices = notices_of(&look_in(&one["before"]), &look_in(&one["after"]), days);
    let found: Vec<Json> = notices.iter().map(|notice| state_json::of_notice(notice).into()).collect();
    (found.into(), one["notices"].clone())
}

fn look_in(look: &Json) -> Look {
    let look = record(look);
    let state = record(&look["state"]);
    let read = State { status: status_in(state), clock_set_back: state.flag("clockSetBack").unwrap() };
    // So that nothing of the vector is lost.
    assert_eq!(Json::from(state_json::of(&read)), look["state"]);
    Look { state: read, at: look.seconds("at").unwrap() }
}

fn status_in(state: &Record) -> Status {
    let (trial_days, at) = (state.seconds("trialDays"), state.seconds("at").unwrap_or_default());
    let free_tier = state.flag("freeTier").unwrap_or_default();
    match text(&state["status"]) {
        "starting" => Status::Starting,
        "unlicensed" => Status::Unlicensed { trial_days },
        "free" => Status::Free { trial_days },
        "licensed" => Status::Licensed(grant_in(state)),
        "fallback" => Status::Fallback(grant_in(state)),
        "offline" => {
            let is_licensed = text(&state["license"]) == "licensed";
            let license = if is_licensed { LicenseKind::Licensed } else { LicenseKind::Fallback };
            Status::Offline { license, grant: grant_in(state) }
        }
        "trial" => Status::Trial { until: state.seconds("until").unwrap() },
        "expired" => Status::Expired { of: ended_in(state), at, free_tier },
        "revoked" => Status::Revoked { reason: reason_in(state), at, free_tier },
        "not_covered" => {
            let updates_until = state.seconds("updatesUntil").unwrap();
            Status::NotCovered { updates_until, newest_release: None, free_tier }
        }
        "another_device" => Status::AnotherDevice { free_tier },
        status => panic!("the status {status} is not known"),
    }
}

fn grant_in(state: &Record) -> Grant {
    Grant {
        by: if text(&state["by"]) == "lease" { Source::Lease } else { Source::File },
        until: state.seconds("until").unwrap(),
        entitlements: entitlements_in(state),
        license_expires_at: state.seconds("licenseExpiresAt"),
        holder: None,
        grace_until: state.seconds("graceUntil"),
    }
}

fn ended_in(state: &Record) -> ExpiredOf {
    let allowed = || entitlements_in(record(&state["allowed"]));
    match text(&state["of"]) {
        "lease" => ExpiredOf::Lease(allowed()),
        "file" => ExpiredOf::File(allowed()),
        "license" => ExpiredOf::License,
        "trial" => ExpiredOf::Trial,
        of => panic!("{of} does not end"),
    }
}

fn reason_in(state: &Record) -> RevokedReason {
    match text(&state["reason"]) {
        "revoked" => RevokedReason::Revoked,
        "suspended" => RevokedReason::Suspended,
        "reminted" => RevokedReason::Reminted,
        "inactive" => RevokedReason::Inactive,
        "withdrawn" => RevokedReason::Withdrawn,
        reason => panic!("the reason {reason} is not known"),
    }
}

fn entitlements_in(granted: &Record) -> Entitlements {
    let values = record(&granted["values"]);
    let value_of = |name: &str| values.get(name).map_or(Value::Granted, |value| Value::of(value).unwrap());
    Entitlements(
        list(&granted["entitlements"]).iter().map(|name| (text(name).to_owned(), value_of(text(name)))).collect(),
    )
}
