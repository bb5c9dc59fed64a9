//! Leases that a relay has signed, over a chain of exactly two: the tenant's key signed the certificate in the footer, and the
//! certified key signed the lease. A lease that says more than its certificate is refused like one with a wrong signature.

use serde_json::Value;

use super::paseto::Token;
use super::{Doubt, Keys};
use crate::place::Place;
use crate::text::bytes::base64url;
use crate::text::json::{is_same, Members, Record};

/// What a lease has to have in common with its certificate; what is absent in one is absent in the other.
const SHARED: [&str; 5] = ["license_id", "license_key_hash", "status", "license_expires_at", "updates_until"];

/// Reads the lease of a relay, whose footer has this certificate.
pub(super) fn read(
    token: &Token,
    assertion: &str,
    certificate: &Value,
    place: &Place,
    keys: &Keys,
) -> Result<Record, Doubt> {
    let certified = certificate.as_str().and_then(Token::parse).ok_or(Doubt::Malformed)?;
    let allowed = certified.read_statement(&place.assertion("relay1"), keys)?;
    let key = allowed.text("pk").filter(|_| allowed.text("relay_id").is_some()).ok_or(Doubt::Malformed)?;
    let claims = token.read_signed(assertion, base64url(key).as_deref())?;
    is_within(&claims, &allowed).filter(|is_within| *is_within).map(|_| claims).ok_or(Doubt::BadSignature)
}

fn is_within(lease: &Record, certificate: &Record) -> Option<bool> {
    let (granted, allowed) = (lease.record("entitlements")?, certificate.record("entitlements")?);
    let (end, last) = (lease.text("exp")?, certificate.text("exp")?);
    let is_equal = SHARED.iter().all(|name| is_same(lease.get(*name), certificate.get(*name)));
    let is_granted = granted.iter().all(|(name, value)| is_same(allowed.get(name), Some(value)));
    // RFC 3339 in UTC and whole seconds sorts as text; any other spelling is refused with the lease itself.
    let is_in_time = end <= last;
    // A relay gives neither license files nor allowances: the vendor's server counts both.
    let is_plain = !lease.contains_key("file") && !lease.contains_key("allowance");
    Some(is_equal && is_granted && is_in_time && is_plain)
}
