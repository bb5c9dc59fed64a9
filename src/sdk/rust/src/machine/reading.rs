//! What a system says of its machine, and what is sent of that.

use serde_json::Value;

use super::shared_values::{is_shared, plain};
use super::DeviceIdentity;
use crate::place::Place;
use crate::text::bytes::{sha256, to_base64url};

/// Values of a machine. One that is none could not be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Those that together tell it from every other. The system has all of them.
    pub(crate) machine: Vec<Option<String>>,
    /// The parts of the machine by their names.
    pub(crate) components: Vec<(String, Option<String>)>,
}

impl Reading {
    /// With these parts.
    pub(super) fn new<const N: usize>(machine: Vec<Option<String>>, components: [(&str, Option<String>); N]) -> Self {
        let components = components.into_iter();
        Self { machine, components: components.map(|(name, value)| (name.to_owned(), value)).collect() }
    }

    /// What is sent: hashes that also depend on the product. While a part cannot be read, there is no machine hash.
    pub(crate) fn identity_in(&self, place: &Place) -> DeviceIdentity {
        let telling = |value: &&String| !is_shared(value);
        let machine: Option<Vec<&String>> = self.machine.iter().map(Option::as_ref).collect();
        let machine: Vec<&String> = machine.unwrap_or_default().into_iter().filter(telling).collect();
        let components = self.components.iter().filter_map(|(name, value)| {
            let value = value.as_ref().filter(telling)?;
            Some((name.clone(), hash_of(place, name, &[value])))
        });
        DeviceIdentity {
            machine_hash: (!machine.is_empty()).then(|| hash_of(place, "machine", &machine)),
            components: components.collect(),
        }
    }
}

fn hash_of(place: &Place, name: &str, values: &[&String]) -> String {
    let mut all = vec![
        "keyledger device".to_owned(),
        place.tenant_id().to_owned(),
        place.product_id().to_owned(),
        name.to_owned(),
    ];
    all.extend(values.iter().map(|value| plain(value)));
    to_base64url(&sha256(Value::from(all).to_string().as_bytes()))
}
