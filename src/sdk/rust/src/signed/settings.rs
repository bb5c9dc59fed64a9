//! The settings of a product.

use serde_json::Value;

use super::statements::is_signed_text;
use super::{Doubt, Keys};
use crate::place::Place;
use crate::text::json::{Members, Record};

/// Fields that only signed settings have.
const SIGNED_WITH: [&str; 4] = ["kid", "issued_at", "expires_at", "signature"];

/// A trial length that was signed, with what it was signed with, to be stored and verified again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SignedTrial {
    /// 0 means that trials are off.
    pub(crate) days: i64,
    pub(crate) issued_at: i64,
    pub(crate) expires_at: i64,
    pub(crate) signed: Record,
}

/// The verified settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) free_tier: bool,
    /// None when a length was never configured.
    pub(crate) trial: Option<SignedTrial>,
}

impl Settings {
    /// Verifies the settings in an answer. A trial length must be signed; unsigned settings only carry the free tier, and with
    /// `enforce` not even that.
    pub(crate) fn verify(answer: &Value, place: &Place, keys: &Keys, now: i64, enforce: bool) -> Result<Self, Doubt> {
        let record = answer.as_object().ok_or(Doubt::Malformed)?;
        let free_tier = record.flag("free_tier_enabled").ok_or(Doubt::Malformed)?;
        if !record.contains_key("trial_duration_days") {
            if SIGNED_WITH.iter().any(|name| record.contains_key(*name)) {
                return Err(Doubt::Malformed);
            }
            return if enforce { Err(Doubt::Unsigned) } else { Ok(Self { free_tier, trial: None }) };
        }
        if !record.contains_key("kid") || !record.contains_key("signature") {
            return Err(Doubt::Unsigned);
        }
        let (kid, signature, trial) = read(record).ok_or(Doubt::Malformed)?;
        let key = keys.get(kid).ok_or(Doubt::UnknownKey)?;
        let numbers = [trial.issued_at, trial.expires_at, trial.days].map(|number| number.to_string());
        let [issued, expires, days] = &numbers;
        let free = if free_tier { "true" } else { "false" };
        let parts = ["cfg1", kid, place.tenant_id(), place.product_id(), issued, expires, days, free];
        if !is_signed_text(&parts, signature, key) {
            return Err(Doubt::BadSignature);
        }
        if now > trial.expires_at {
            return Err(Doubt::Over);
        }
        Ok(Self { free_tier, trial: Some(trial) })
    }
}

fn read(record: &Record) -> Option<(&str, &str, SignedTrial)> {
    let names = ["trial_duration_days", "free_tier_enabled"].iter().chain(&SIGNED_WITH);
    let trial = SignedTrial {
        days: record.seconds("trial_duration_days")?,
        issued_at: record.seconds("issued_at")?,
        expires_at: record.seconds("expires_at")?,
        signed: names.filter_map(|name| Some(((*name).to_owned(), record.get(*name)?.clone()))).collect(),
    };
    Some((record.field("kid")?, record.text("signature")?, trial))
}
