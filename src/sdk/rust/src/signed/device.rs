//! The machine that a lease was made for.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::text::json::{filled, Members, Record};

/// A machine as the app has named it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) hash: Option<String>,
    pub(crate) components: BTreeMap<String, String>,
}

impl Machine {
    /// By the machine hash, else by more than half of the components that both sides have, and at least two.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        if self.hash.is_some() && self.hash == other.hash {
            return true;
        }
        let both = self.shared_with(other);
        let equal = both.iter().filter(|(one, other)| one == other).count();
        equal >= (both.len() / 2 + 1).max(2)
    }

    /// Whether both say enough to be told apart, and are not the same: a machine that cannot be read is no other one.
    pub(crate) fn is_other_than(&self, other: &Self) -> bool {
        let have_hashes = self.hash.is_some() && other.hash.is_some();
        !self.is_same_as(other) && (have_hashes || self.shared_with(other).len() >= 2)
    }

    /// Reads the machine in a lease; none when it is of another kind.
    pub(crate) fn from_claims(claims: &Value) -> Option<Self> {
        let record = claims.as_object()?;
        let hash = match record.get("machine_hash") {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.as_str()?.to_owned()),
        };
        let empty = Record::new();
        let parts = match record.get("components") {
            None => &empty,
            Some(_) => record.record("components")?,
        };
        let components = parts.iter().map(|(name, value)| Some((name.clone(), filled(value)?.to_owned())));
        Some(Self { hash, components: components.collect::<Option<_>>()? })
    }

    fn shared_with<'a>(&'a self, other: &'a Self) -> Vec<(&'a str, &'a str)> {
        let both = self
            .components
            .iter()
            .filter_map(|(name, value)| Some((value.as_str(), other.components.get(name)?.as_str())));
        both.collect()
    }
}
