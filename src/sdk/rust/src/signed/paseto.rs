//! Tokens of the kind `v4.public` of PASETO: a message that Ed25519 signs, a footer that anyone can read, and an assertion
//! that is signed but not sent.

use serde_json::Value;

use super::{ed25519, Doubt, Keys};
use crate::text::bytes::{base64, base64url, to_base64url};
use crate::text::json::{self, Members, Record};

const HEADER: &str = "v4.public.";

/// A token that was taken apart, and is not verified.
pub(crate) struct Token {
    pub(crate) message: Vec<u8>,
    pub(crate) signature: Vec<u8>,
    pub(crate) footer: Vec<u8>,
}

impl Token {
    /// Takes a token apart; none for what is no token, also in another spelling of the same bytes.
    pub(crate) fn parse(token: &str) -> Option<Self> {
        let parts: Vec<&str> = token.strip_prefix(HEADER)?.split('.').collect();
        let (signed, footer) = match parts[..] {
            [signed] => (signed, ""),
            [signed, footer] => (signed, footer),
            _ => return None,
        };
        let mut message = base64url(signed)?;
        let signature = message.split_off(message.len().checked_sub(64)?);
        Some(Self { message, signature, footer: base64url(footer)? })
    }

    /// What stands in clear beside the message.
    pub(crate) fn footer_claims(&self) -> Option<Record> {
        record_in(&self.footer)
    }

    /// Whether the token was signed with this key, for this assertion.
    pub(crate) fn is_signed(&self, assertion: &str, public_key: &[u8]) -> bool {
        ed25519::is_signed(&authenticated(&self.message, &self.footer, assertion), &self.signature, public_key)
    }

    /// The claims of a token that this key has signed for this assertion, or why it cannot be used.
    pub(crate) fn read_signed(&self, assertion: &str, public_key: Option<&[u8]>) -> Result<Record, Doubt> {
        if !public_key.map_or(false, |key| self.is_signed(assertion, key)) {
            return Err(Doubt::BadSignature);
        }
        record_in(&self.message).ok_or(Doubt::Malformed)
    }

    /// Reads a statement that one of the tenant's keys has signed.
    pub(crate) fn read_statement(&self, assertion: &str, keys: &Keys) -> Result<Record, Doubt> {
        let footer = self.footer_claims().ok_or(Doubt::Malformed)?;
        let kid = footer.text("kid").ok_or(Doubt::Malformed)?;
        let key = keys.get(kid).ok_or(Doubt::UnknownKey)?;
        self.read_signed(assertion, base64(key).as_deref())
    }
}

/// Signs a statement of a device with its own key, whose public part is in the footer. None for a seed that is none.
pub(crate) fn sign_own(message: &str, assertion: &str, seed: &[u8]) -> Option<String> {
    let public_key = to_base64url(&ed25519::public_key_of(seed)?);
    let footer = json::write(json::object([("pk", Some(Value::from(public_key)))])).into_bytes();
    let mut body = message.as_bytes().to_vec();
    body.extend(ed25519::sign(&authenticated(&body, &footer, assertion), seed)?);
    Some(format!("{HEADER}{}.{}", to_base64url(&body), to_base64url(&footer)))
}

fn record_in(bytes: &[u8]) -> Option<Record> {
    match json::read_bytes(bytes)? {
        Value::Object(record) => Some(record),
        _ => None,
    }
}

/// What is signed: the parts with their number and lengths before them, so that none can take bytes of another.
fn authenticated(message: &[u8], footer: &[u8], assertion: &str) -> Vec<u8> {
    let parts = [HEADER.as_bytes(), message, footer, assertion.as_bytes()];
    let mut all = (parts.len() as u64).to_le_bytes().to_vec();
    for part in parts {
        all.extend((part.len() as u64).to_le_bytes());
        all.extend(part);
    }
    all
}
