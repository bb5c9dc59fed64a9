//! What the server has signed about the license on this device.

use serde_json::Value;

use super::lease::{Form, Lease};
use super::statements::{read_lease, read_refusal, Expected, Refusal};
use super::{Doubt, Keys};
use crate::text::json::{object, Members};

/// A lease in either form, or a refusal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Proof {
    Lease(Box<Lease>),
    Refusal(Refusal),
}

impl Proof {
    /// Verifies a token, or a lease or refusal as it was sent or stored. Whether a lease is over is decided with the state. A
    /// license file is no proof: it is taken only by the device that asked for it.
    pub(crate) fn verify(value: Option<&Value>, expected: &Expected<'_>, keys: &Keys) -> Result<Self, Doubt> {
        let value = value.ok_or(Doubt::Malformed)?;
        let record = value.as_object();
        let token = match record.and_then(|record| record.get("token")) {
            Some(inside) => inside.as_str(),
            None => value.as_str(),
        };
        if let Some(token) = token {
            let lease = Lease::read(token, expected.place, keys)?;
            if lease.file.is_some() {
                return Err(Doubt::Malformed);
            }
            if lease.license_key_hash != expected.license_key_hash {
                return Err(Doubt::AnotherLicense);
            }
            if lease.instance_id != expected.instance_id {
                return Err(Doubt::AnotherInstance);
            }
            return Ok(Self::Lease(Box::new(lease)));
        }
        let record = record.ok_or(Doubt::Malformed)?;
        if record.contains_key("reason") {
            return read_refusal(record, expected, keys).map(Self::Refusal);
        }
        read_lease(record, expected, keys).map(|lease| Self::Lease(Box::new(lease)))
    }

    pub(crate) fn license_key_hash(&self) -> &str {
        match self {
            Self::Lease(lease) => &lease.license_key_hash,
            Self::Refusal(refusal) => &refusal.license_key_hash,
        }
    }

    pub(crate) fn instance_id(&self) -> &str {
        match self {
            Self::Lease(lease) => &lease.instance_id,
            Self::Refusal(refusal) => &refusal.instance_id,
        }
    }

    pub(crate) fn issued_at(&self) -> i64 {
        match self {
            Self::Lease(lease) => lease.issued_at,
            Self::Refusal(refusal) => refusal.issued_at,
        }
    }

    pub(crate) fn serial(&self) -> i64 {
        match self {
            Self::Lease(lease) => lease.serial,
            Self::Refusal(_) => 0,
        }
    }

    /// What is stored of it, and verified again.
    pub(crate) fn stored(&self) -> Value {
        match self {
            Self::Refusal(refusal) => Value::Object(refusal.signed.clone()),
            Self::Lease(lease) => match &lease.form {
                Form::Token(token) => Value::Object(object([("token", Some(token.as_str().into()))])),
                Form::Fields(fields) => Value::Object(fields.clone()),
            },
        }
    }

    /// How much it takes away: of the same second, the one that grants less counts.
    pub(crate) fn strictness(&self) -> u8 {
        match self {
            Self::Refusal(_) => 3,
            Self::Lease(lease) => match lease.status.as_str() {
                "active" => 0,
                "fallback" => 1,
                _ => 2,
            },
        }
    }

    /// Whether it takes the license away that a file is for, as a newer statement about it. That a device was deactivated does
    /// so only for the instance of the file.
    pub(crate) fn takes_away(&self, file: &Lease) -> bool {
        let is_newer = self.license_key_hash() == file.license_key_hash && self.issued_at() >= file.issued_at;
        is_newer
            && match self {
                Self::Refusal(refusal) => refusal.reason != "inactive" || refusal.instance_id == file.instance_id,
                Self::Lease(lease) => !lease.is_granting(),
            }
    }
}

/// The value of a member that holds a token.
pub(crate) fn token_of(value: Option<&Value>) -> Option<&str> {
    value?.as_object()?.text("token")
}
