use std::fmt;

use serde_json::Value as Json;

use crate::state_json;

/// The present state of an app. There is exactly one at any time. Its `Display` form is JSON in the words of all clients, for logs
/// and support.
///
/// ```
/// use keyledger_client::{State, Status};
///
/// fn title(state: &State) -> String {
///     match &state.status {
///         Status::Licensed(_) | Status::Fallback(_) => "Thank you".into(),
///         Status::Offline { grant, .. } => format!("Connect before {}", grant.until),
///         Status::Trial { until } => format!("The trial ends at {until}"),
///         _ => "Enter a license key".into(),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// What the app shows and allows.
    pub status: Status,
    /// The clock of the device is behind a time that was already seen. That later time is then used.
    pub clock_set_back: bool,
}

/// What an app shows and allows. All times are Unix seconds.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The storage has not been read yet.
    Starting,
    /// No license, no trial under way, no free tier: ask for a license key, or offer the trial.
    Unlicensed {
        /// The days of the trial that can be started.
        trial_days: Option<i64>,
    },
    /// The license is good.
    Licensed(Grant),
    /// The license has ended, and its fallback entitlements stay.
    Fallback(Grant),
    /// The last attempts to reach the server failed; the stored lease is good until its end.
    Offline {
        /// What the state would be with a connection.
        license: LicenseKind,
        /// What is granted until then.
        grant: Grant,
    },
    /// A trial is under way.
    Trial {
        /// Its end.
        until: i64,
    },
    /// The app may be used with its free tier.
    Free {
        /// The days of the trial that can be started.
        trial_days: Option<i64>,
    },
    /// Something has ended.
    Expired {
        /// What has ended.
        of: ExpiredOf,
        /// Since when.
        at: i64,
        /// Whether the app may continue with its free tier.
        free_tier: bool,
    },
    /// The license was withdrawn from this device.
    Revoked {
        /// Why.
        reason: RevokedReason,
        /// Since when.
        at: i64,
        /// Whether the app may continue with its free tier.
        free_tier: bool,
    },
    /// The app was built after the updates of the license ended: offer an older build, or to extend the updates.
    NotCovered {
        /// The license covers builds until then.
        updates_until: i64,
        /// The newest release that is covered, if the vendor lists any.
        newest_release: Option<Release>,
        /// Whether the app may continue with its free tier.
        free_tier: bool,
    },
    /// The license was given to another machine: validate asks for a lease for this one; in place of a file, ask for a new one.
    AnotherDevice {
        /// Whether the app may continue with its free tier.
        free_tier: bool,
    },
}

/// What a license grants, and until when.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// What was signed.
    pub by: Source,
    /// Until when the app may go on without reaching the server or without the next file.
    pub until: i64,
    /// The entitlements and their values.
    pub entitlements: Entitlements,
    /// When the license itself ends, for display; none for a perpetual one.
    pub license_expires_at: Option<i64>,
    /// Whom the license is issued to, for display.
    pub holder: Option<Holder>,
    /// While the license goes on after its end: until when, for display.
    pub grace_until: Option<i64>,
}

/// What a license grants: names, of which some have a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entitlements(pub(crate) Vec<(String, Value)>);

impl Entitlements {
    /// The names, in the order in which they were signed.
    pub fn names(&self) -> impl Iterator<Item = &str> + '_ {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The value of one of them; none when it is not among them.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(one, _)| one == name).map(|(_, value)| value)
    }
}

/// How much of something is granted.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It is granted, and has no value.
    Granted,
    /// A number, such as that of projects.
    Number(f64),
    /// A text, such as an edition.
    Text(String),
}

impl Value {
    /// The number; none for any other value.
    #[must_use]
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The text; none for any other value.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of an entitlement; none for one that is not granted.
    pub(crate) fn of(signed: &Json) -> Option<Self> {
        match signed {
            Json::Bool(true) => Some(Self::Granted),
            Json::Number(number) => Some(Self::Number(number.as_f64()?)),
            Json::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }
}

/// What was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A lease of the server. When it has ended, connecting again may bring the license back.
    Lease,
    /// A license file. When it has ended, the next file brings the license back.
    File,
}

/// What a license grants without a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LicenseKind {
    /// As [`Status::Licensed`] does.
    Licensed,
    /// As [`Status::Fallback`] does.
    Fallback,
}

/// What has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpiredOf {
    /// A lease, with what it granted. Connecting again may bring the license back.
    Lease(Entitlements),
    /// A license file, with what it granted. The next file brings the license back.
    File(Entitlements),
    /// The license itself.
    License,
    /// The trial.
    Trial,
}

/// Why a license was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevokedReason {
    /// The vendor has revoked it.
    Revoked,
    /// The vendor has suspended it.
    Suspended,
    /// It has another key now.
    Reminted,
    /// The device was deactivated.
    Inactive,
    /// The license file is on the list of withdrawn files.
    Withdrawn,
}

/// Whom a license is issued to, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The name, if the product names it.
    pub name: Option<String>,
    /// The email address, likewise.
    pub email: Option<String>,
}

/// A release of the app, as the vendor has listed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// When it was built.
    pub built_at: i64,
    /// Its page, which begins with `https://`.
    pub url: Option<String>,
}

impl State {
    /// What the state grants; none when it grants nothing.
    #[must_use]
    pub fn grant(&self) -> Option<&Grant> {
        self.status.grant()
    }

    /// Whether the app may use what has this name.
    #[must_use]
    pub fn has(&self, entitlement: &str) -> bool {
        self.value(entitlement).is_some()
    }

    /// How much of it the app may use; none when it is not granted.
    #[must_use]
    pub fn value(&self, entitlement: &str) -> Option<&Value> {
        self.grant()?.entitlements.get(entitlement)
    }
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Json::Object(state_json::of(self)).fmt(formatter)
    }
}

impl Status {
    /// What it grants; none when it grants nothing.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        match self {
            Self::Licensed(grant) | Self::Fallback(grant) | Self::Offline { grant, .. } => Some(grant),
            _ => None,
        }
    }

    /// Good is a status that grants something, and one whose build is not covered.
    pub(crate) fn is_good(&self) -> bool {
        self.grant().is_some() || matches!(self, Self::NotCovered { .. })
    }

    /// When it ends by itself.
    pub(crate) fn until(&self) -> Option<i64> {
        match self {
            Self::Trial { until } => Some(*until),
            _ => self.grant().map(|grant| grant.until),
        }
    }
}
