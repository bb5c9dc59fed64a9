//! What is to be told to the user of an app: the rule of the reference, of two looks at the state. It depends on nothing else.

use std::fmt;

use crate::state::{ExpiredOf, Grant, LicenseKind, RevokedReason, State, Status};
use crate::state_json;

const DAY: i64 = 86_400;

/// What has happened to the license, for a message to the user of the app. Its `Display` form is JSON in the words of all clients.
///
/// ```
/// use keyledger_client::Notice;
///
/// fn message(notice: &Notice) -> String {
///     match notice {
///         Notice::Renewed { .. } => "Your license was renewed".into(),
///         Notice::Restored => "Your license is good again".into(),
///         Notice::Revoked { .. } => "Your license was withdrawn".into(),
///         Notice::Expiring { license_expires_at } => format!("Your license ends at {license_expires_at}"),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It goes on for longer than was known, or again after its end.
    Renewed {
        /// Its end in Unix seconds; none for ever.
        license_expires_at: Option<i64>,
    },
    /// It is good again after it was withdrawn, or was not good here.
    Restored,
    /// It was withdrawn.
    Revoked {
        /// Why.
        reason: RevokedReason,
    },
    /// It ends soon. This is told once in a run of the app for each end.
    Expiring {
        /// Its end in Unix seconds.
        license_expires_at: i64,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        serde_json::Value::Object(state_json::of_notice(self)).fmt(formatter)
    }
}

/// A state, and when it was looked at by the clock of the device.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) state: State,
    pub(crate) at: i64,
}

impl Default for Look {
    /// Before anything was looked at.
    fn default() -> Self {
        Self { state: State { status: Status::Starting, clock_set_back: false }, at: 0 }
    }
}

impl Look {
    /// The end of an active license that is near, and has not come.
    fn soon_over(&self, expiring_days: u32) -> Option<i64> {
        let end = active(&self.state.status)?.license_expires_at?;
        let from = end.saturating_sub(i64::from(expiring_days) * DAY);
        (from..end).contains(&self.at).then_some(end)
    }
}

/// What is to be told of two looks at the state, one after the other. A license ends soon from so many days before its end.
pub(crate) fn notices_of(before: &Look, after: &Look, expiring_days: u32) -> Vec<Notice> {
    let changed = change_of(&before.state.status, &after.state.status);
    let end = after.soon_over(expiring_days).filter(|end| before.soon_over(expiring_days) != Some(*end));
    changed.into_iter().chain(end.map(|license_expires_at| Notice::Expiring { license_expires_at })).collect()
}

fn change_of(before: &Status, after: &Status) -> Option<Notice> {
    if let Status::Revoked { reason, .. } = after {
        return had_license(before).then_some(Notice::Revoked { reason: *reason });
    }
    let is_renewed = |grant: &&Grant| {
        active(before)
            .map_or_else(|| had_ended(before), |was| is_later(grant.license_expires_at, was.license_expires_at))
    };
    if let Some(Grant { license_expires_at, .. }) = active(after).filter(is_renewed) {
        return Some(Notice::Renewed { license_expires_at: *license_expires_at });
    }
    (after.grant().is_some() && was_away(before)).then_some(Notice::Restored)
}

/// What a license that is active grants; none in every other state.
pub(crate) fn active(status: &Status) -> Option<&Grant> {
    match status {
        Status::Licensed(grant) | Status::Offline { license: LicenseKind::Licensed, grant } => Some(grant),
        _ => None,
    }
}

/// No end is later than any.
fn is_later(one: Option<i64>, other: Option<i64>) -> bool {
    other.map_or(false, |other| one.map_or(true, |one| one > other))
}

/// Whether the license itself had come to its end.
fn had_ended(status: &Status) -> bool {
    let is_fallback = status.grant().is_some() && active(status).is_none();
    is_fallback || matches!(status, Status::Expired { of: ExpiredOf::License, .. })
}

/// Whether there was a license, and it was not good here.
fn was_away(status: &Status) -> bool {
    match status {
        Status::Revoked { .. } | Status::NotCovered { .. } | Status::AnotherDevice { .. } => true,
        Status::Expired { of, .. } => matches!(of, ExpiredOf::Lease(_) | ExpiredOf::File(_)),
        _ => false,
    }
}

fn had_license(status: &Status) -> bool {
    let is_revoked = matches!(status, Status::Revoked { .. });
    status.grant().is_some() || had_ended(status) || (was_away(status) && !is_revoked)
}
