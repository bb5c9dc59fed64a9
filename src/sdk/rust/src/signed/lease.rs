//! Leases of the second version, and license files.

use serde_json::{Number, Value};

use super::device::Machine;
use super::paseto::Token;
use super::{relay, Doubt, Keys};
use crate::place::Place;
use crate::state::Holder;
use crate::text::json::{entries, Members, Record};
use crate::text::times;

/// What makes a lease a license file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileTerms {
    pub(crate) id: String,
    /// Of the request that it answers.
    pub(crate) nonce: String,
    /// Of the seat that it borrows.
    pub(crate) fence: Option<Number>,
}

/// How a lease was signed, which is verified again after it was stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// The fields of the first version, as they came.
    Fields(Record),
    /// The token of the second version.
    Token(String),
}

/// A signed statement that a license may be used on a device. All times are Unix seconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lease {
    pub(crate) form: Form,
    pub(crate) license_key_hash: String,
    pub(crate) instance_id: String,
    pub(crate) status: String,
    pub(crate) issued_at: i64,
    pub(crate) not_before: i64,
    pub(crate) expires_at: i64,
    pub(crate) device: Option<Machine>,
    /// All that were signed, also those that are false.
    pub(crate) entitlements: Vec<(String, Value)>,
    /// When the license itself ends; none for a perpetual one.
    pub(crate) license_expires_at: Option<i64>,
    pub(crate) holder: Option<Holder>,
    pub(crate) updates_until: Option<i64>,
    /// Of two about the same instance, the one with the higher serial is newer.
    pub(crate) serial: i64,
    /// For a license file; none for a lease.
    pub(crate) file: Option<FileTerms>,
}

impl Lease {
    pub(crate) fn is_granting(&self) -> bool {
        matches!(self.status.as_str(), "active" | "fallback")
    }

    /// Its token; none for a lease of the first version.
    pub(crate) fn token(&self) -> Option<&str> {
        match &self.form {
            Form::Token(token) => Some(token),
            Form::Fields(_) => None,
        }
    }

    /// Verifies who signed it, and for which product, and nothing else.
    pub(crate) fn read(token: &str, place: &Place, keys: &Keys) -> Result<Self, Doubt> {
        let assertion = place.assertion("lease2");
        let parsed = Token::parse(token).ok_or(Doubt::Malformed)?;
        let certificate = parsed.footer_claims().and_then(|mut footer| footer.remove("relay"));
        let claims = match certificate {
            Some(certificate) => relay::read(&parsed, &assertion, &certificate, place, keys)?,
            None => parsed.read_statement(&assertion, keys)?,
        };
        from_claims(&claims, token).ok_or(Doubt::Malformed)
    }

    /// Verifies it whole: for whom it is, for which machine, and its times.
    #[cfg(test)]
    pub(crate) fn verify(
        token: &str,
        expected: &super::statements::Expected<'_>,
        device: Option<&Machine>,
        keys: &Keys,
        now: i64,
    ) -> Result<Self, Doubt> {
        let lease = Self::read(token, expected.place, keys)?;
        if lease.license_key_hash != expected.license_key_hash {
            return Err(Doubt::AnotherLicense);
        }
        if lease.instance_id != expected.instance_id {
            return Err(Doubt::AnotherInstance);
        }
        match (&lease.device, device) {
            (Some(leased), Some(device)) if !leased.is_same_as(device) => Err(Doubt::AnotherDevice),
            _ if now < lease.not_before => Err(Doubt::NotYet),
            _ if now > lease.expires_at => Err(Doubt::Over),
            _ => Ok(lease),
        }
    }
}

/// The lease; none when a claim is missing or of another kind. Claims that are not known are ignored.
fn from_claims(claims: &Record, token: &str) -> Option<Lease> {
    let time = |name: &str| times::seconds_of(claims.text(name)?);
    claims.filled("license_id")?;
    let license_expires_at = match claims.get("license_expires_at") {
        Some(Value::Null) => None,
        _ => Some(time("license_expires_at")?),
    };
    let updates_until = match claims.get("updates_until") {
        None => None,
        Some(_) => Some(time("updates_until")?),
    };
    let device = match claims.get("device") {
        None => None,
        Some(device) => Some(Machine::from_claims(device)?),
    };
    let is_known = |value: &Value| value.is_boolean() || value.is_number() || value.is_string();
    let entitlements = entries(claims.record("entitlements")?).into_iter();
    Some(Lease {
        form: Form::Token(token.to_owned()),
        license_key_hash: claims.filled("license_key_hash")?.to_owned(),
        instance_id: claims.filled("instance_id")?.to_owned(),
        status: claims.filled("status")?.to_owned(),
        issued_at: time("iat")?,
        not_before: time("nbf")?,
        expires_at: time("exp")?,
        device,
        // Of an entitlement with a value of another kind, nothing is known.
        entitlements: entitlements
            .filter(|(_, value)| is_known(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        license_expires_at,
        holder: claims.record("holder").and_then(holder_in),
        updates_until,
        serial: claims.safe_integer("serial")?,
        file: file_in(claims),
    })
}

fn holder_in(holder: &Record) -> Option<Holder> {
    let text = |name: &str| holder.filled(name).map(str::to_owned);
    let (name, email) = (text("name"), text("email"));
    (name.is_some() || email.is_some()).then_some(Holder { name, email })
}

fn file_in(claims: &Record) -> Option<FileTerms> {
    let fence = claims.get("fence").and_then(|fence| match fence {
        Value::Number(number) => Some(number.clone()),
        _ => None,
    });
    Some(FileTerms { id: claims.filled("file")?.to_owned(), nonce: claims.filled("nonce")?.to_owned(), fence })
}
