//! The vectors of what is not signed.

use serde_json::Value;

use super::signed::place_in;
use super::vectors::Compared;
use super::{list, record, text};
use crate::facts::not_covered::NotCovered;
use crate::license_key::{hash, is_minted, normalize};
use crate::machine::reading::Reading;
use crate::machine::shared_values::is_shared;
use crate::problem::{Answered, Problem};
use crate::text::json::{object, Members, Record};
use crate::text::times::retry_after_ms;

/// The members of a case with these names.
pub(super) fn picked<const N: usize>(one: &Record, names: [&str; N]) -> Value {
    Value::Object(object(names.map(|name| (name, one.get(name).cloned()))))
}

pub(super) fn license_key(_: &Record, one: &Record) -> Compared {
    let typed = text(&one["typed"]);
    let found = object([
        ("normalized", Some(normalize(typed).into())),
        ("hash", Some(hash(typed).into())),
        ("valid", Some(is_minted(typed).into())),
    ]);
    (found.into(), picked(one, ["normalized", "hash", "valid"]))
}

pub(super) fn shared_value(_: &Record, one: &Record) -> Compared {
    (is_shared(text(&one["value"])).into(), one["shared"].clone())
}

pub(super) fn reading(_: &Record, one: &Record) -> Compared {
    let value_of = |value: &Value| value.as_str().map(str::to_owned);
    let components = record(&one["components"]).iter().map(|(name, value)| (name.clone(), value_of(value)));
    let reading =
        Reading { machine: list(&one["machine"]).iter().map(value_of).collect(), components: components.collect() };
    let identity = reading.identity_in(&place_in(one));
    let device: Record = identity.components.into_iter().map(|(name, hash)| (name, hash.into())).collect();
    let found = object([("machineHash", Some(identity.machine_hash.into())), ("device", Some(device.into()))]);
    (found.into(), picked(one, ["machineHash", "device"]))
}

pub(super) fn answer(all: &Record, one: &Record) -> Compared {
    let now_ms = all.seconds("now").unwrap() * 1000;
    let retry_after_ms = one.text("retryAfter").and_then(|header| retry_after_ms(header, now_ms));
    let status = one.seconds("status").map(|status| status as u16);
    let answered = status.map(|status| Answered { status, body: one.get("body").cloned(), retry_after_ms });
    let problem = Problem::of(answered.as_ref());
    assert!(!problem.message.is_empty());
    let newest_release = problem.newest_release.map(|release| *release);
    let not_covered = problem.updates_until.map(|updates_until| NotCovered { updates_until, newest_release });
    let found = object([
        ("code", Some(problem.code.name().into())),
        ("retryAfterMs", problem.retry_after.map(|pause| (pause.as_millis() as u64).into())),
        ("notCovered", not_covered.map(|said| said.stored().into())),
        ("waiting", problem.waiting.map(Value::from)),
    ]);
    (found.into(), picked(one, ["code", "retryAfterMs", "notCovered", "waiting"]))
}
