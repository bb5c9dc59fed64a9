//! Leases of the first version, and refusals: fields whose joined text is signed.

use serde_json::Value;

use super::lease::{Form, Lease};
use super::{ed25519, Doubt, Keys};
use crate::place::Place;
use crate::text::bytes::base64;
use crate::text::json::{Members, Record};

/// A license that refuses an instance: the proof beside a refused validate.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) license_key_hash: String,
    pub(crate) instance_id: String,
    pub(crate) issued_at: i64,
    pub(crate) reason: String,
    /// As it came, to be stored and verified again.
    pub(crate) signed: Record,
}

/// Whom a statement is expected to be about.
pub(crate) struct Expected<'a> {
    pub(crate) place: &'a Place,
    pub(crate) license_key_hash: &'a str,
    pub(crate) instance_id: &'a str,
}

/// Verifies a lease of the first version. Whether it is over is decided with the state.
pub(crate) fn read_lease(record: &Record, expected: &Expected<'_>, keys: &Keys) -> Result<Lease, Doubt> {
    let (expires_at, status, names) =
        (|| Some((record.seconds("expiresAt")?, record.field("status")?, names_in(record.get("entitlements")?)?)))()
            .ok_or(Doubt::Malformed)?;
    let issued_at = verify("lease1", record, &[&expires_at.to_string(), status, &names.join(",")], expected, keys)?;
    Ok(Lease {
        form: Form::Fields(record.clone()),
        license_key_hash: expected.license_key_hash.to_owned(),
        instance_id: expected.instance_id.to_owned(),
        status: status.to_owned(),
        issued_at,
        not_before: 0,
        expires_at,
        device: None,
        entitlements: names.into_iter().map(|name| (name.to_owned(), Value::from(true))).collect(),
        license_expires_at: None,
        holder: None,
        updates_until: None,
        serial: 0,
        file: None,
    })
}

/// Verifies a refusal. It has no end: a newer lease replaces it.
pub(crate) fn read_refusal(record: &Record, expected: &Expected<'_>, keys: &Keys) -> Result<Refusal, Doubt> {
    let reason = record.field("reason").ok_or(Doubt::Malformed)?;
    let issued_at = verify("refusal1", record, &[reason], expected, keys)?;
    Ok(Refusal {
        license_key_hash: expected.license_key_hash.to_owned(),
        instance_id: expected.instance_id.to_owned(),
        issued_at,
        reason: reason.to_owned(),
        signed: record.clone(),
    })
}

/// When a statement was issued that is about whom it should be, with these parts at its end, or why it must not be believed.
fn verify(kind: &str, record: &Record, more: &[&str], expected: &Expected<'_>, keys: &Keys) -> Result<i64, Doubt> {
    let (kid, key_hash, instance_id, issued_at, signature) = (|| {
        let ids = (record.field("kid")?, record.field("licenseKeyHash")?, record.field("instanceId")?);
        Some((ids.0, ids.1, ids.2, record.seconds("issuedAt")?, record.text("signature")?))
    })()
    .ok_or(Doubt::Malformed)?;
    if key_hash != expected.license_key_hash {
        return Err(Doubt::AnotherLicense);
    }
    if instance_id != expected.instance_id {
        return Err(Doubt::AnotherInstance);
    }
    let key = keys.get(kid).ok_or(Doubt::UnknownKey)?;
    let (place, issued) = (expected.place, issued_at.to_string());
    let mut parts = vec![kind, kid, place.tenant_id(), place.product_id(), key_hash, instance_id, &issued];
    parts.extend(more);
    is_signed_text(&parts, signature, key).then_some(issued_at).ok_or(Doubt::BadSignature)
}

/// Whether the key has signed the parts with the separator between them; signature and key are base64.
pub(super) fn is_signed_text(parts: &[&str], signature: &str, key: &str) -> bool {
    match (base64(signature), base64(key)) {
        (Some(signature), Some(key)) => ed25519::is_signed(parts.join("|").as_bytes(), &signature, &key),
        _ => false,
    }
}

fn names_in(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(|name| name.as_str().filter(|name| is_entitlement(name))).collect()
}

fn is_entitlement(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let fits = |(at, byte): (usize, u8)| is_plain(byte) || (at > 0 && matches!(byte, b'.' | b'_' | b':' | b'-'));
    (1..=64).contains(&name.len()) && name.bytes().enumerate().all(fits)
}
