//! The vectors of what is signed.

use serde_json::Value;

use super::plain::picked;
use super::vectors::Compared;
use super::{record, text};
use crate::facts::known::{Asked, Known, OfflineFacts};
use crate::facts::take::{self, Age};
use crate::place::Place;
use crate::signed::device::Machine;
use crate::signed::lease::Lease;
use crate::signed::paseto::{sign_own, Token};
use crate::signed::settings::Settings;
use crate::signed::statements::{read_lease, read_refusal, Expected};
use crate::signed::withdrawn::Withdrawn;
use crate::signed::{armor, keyset, Doubt, Keys};
use crate::text::bytes::{hex, utf8};
use crate::text::json::{self, object, Members, Record};

pub(super) fn place_in(all: &Record) -> Place {
    Place::new(text(&all["tenantId"]), text(&all["productId"])).unwrap()
}

pub(super) fn keys_in(all: &Record) -> Keys {
    record(&all["keyset"]["keys"]).iter().map(|(kid, key)| (kid.clone(), text(key).to_owned())).collect()
}

pub(super) fn device_in(device: Option<&Value>) -> Option<Machine> {
    let device = device?.as_object()?;
    let components = record(&device["components"]).iter();
    Some(Machine {
        hash: device.text("machineHash").map(str::to_owned),
        components: components.map(|(name, hash)| (name.clone(), text(hash).to_owned())).collect(),
    })
}

pub(super) fn token(all: &Record, one: &Record) -> Compared {
    let key = hex(text(&all["publicKey"])).unwrap();
    let parsed = Token::parse(text(&one["token"])).filter(|token| token.is_signed(text(&one["assertion"]), &key));
    let found = object([
        ("valid", Some(parsed.is_some().into())),
        ("message", parsed.as_ref().map(|token| utf8(&token.message).into())),
        ("footer", parsed.as_ref().map(|token| utf8(&token.footer).into())),
    ]);
    (found.into(), picked(one, ["valid", "message", "footer"]))
}

pub(super) fn lease1(all: &Record, one: &Record) -> Compared {
    let read = |expected: &Expected<'_>| {
        let lease = read_lease(one["lease"].as_object().ok_or(Doubt::Malformed)?, expected, &keys_in(all))?;
        if now(all) > lease.expires_at {
            return Err(Doubt::Over);
        }
        Ok(())
    };
    judged(expecting(all, read), one)
}

pub(super) fn lease2(all: &Record, one: &Record) -> Compared {
    let device = device_in(all.get("device"));
    let token = one.text("token").unwrap_or_default();
    let read = expecting(all, |expected| Lease::verify(token, expected, device.as_ref(), &keys_in(all), now(all)));
    let (found, wanted) = judged(read.as_ref().map(|_| ()).map_err(|doubt| *doubt), one);
    if !one.contains_key("entitlements") {
        return (found, wanted);
    }
    let grants: Record = read.unwrap().entitlements.into_iter().collect();
    let compared = |found: Value, grants: Value| Value::from(vec![found, grants]);
    (compared(found, grants.into()), compared(wanted, one["entitlements"].clone()))
}

pub(super) fn license_file(all: &Record, one: &Record) -> Compared {
    let mut known = Known::new("install".into(), keys_in(all));
    known.offline = Some(OfflineFacts {
        asked: Some(Asked { nonce: text(&all["nonce"]).into(), license_key_hash: text(&all["licenseKeyHash"]).into() }),
        released: all.seconds("releasedSerial").unwrap(),
        ..OfflineFacts::new("5".repeat(64))
    });
    let taken =
        take::carried(&mut known, text(&one["token"]), &place_in(all), device_in(all.get("device")).as_ref(), now(all));
    judged(taken.map(|age| assert_eq!(age, Age::Fresh)), one)
}

pub(super) fn withdrawn(all: &Record, one: &Record) -> Compared {
    let list = one.text("token").and_then(|token| Withdrawn::read(token, &place_in(all), &keys_in(all)));
    (list.map(|list| list.files).into(), one.get("files").cloned().into())
}

pub(super) fn refusal(all: &Record, one: &Record) -> Compared {
    let read = |expected: &Expected<'_>| {
        read_refusal(one["refusal"].as_object().ok_or(Doubt::Malformed)?, expected, &keys_in(all)).map(|_| ())
    };
    judged(expecting(all, read), one)
}

pub(super) fn settings(all: &Record, one: &Record) -> Compared {
    let enforce = one.flag("enforce") == Some(true);
    judged(Settings::verify(&one["settings"], &place_in(all), &keys_in(all), now(all), enforce).map(|_| ()), one)
}

pub(super) fn request(all: &Record, one: &Record) -> Compared {
    let kind = text(&one["kind"]);
    // Written anew, so that the writer is checked as well.
    let message = json::read(text(&one["message"])).unwrap().to_string();
    let assertion = place_in(all).assertion(&format!("{}1", kind.to_lowercase()));
    let token = sign_own(&message, &assertion, &hex(text(&all["seed"])).unwrap()).unwrap();
    let back = armor::token_in(text(&one["text"]));
    let expected = vec![one["token"].clone(), one["text"].clone(), token.clone().into()];
    (vec![token.clone(), armor::around(kind, &token), back].into(), expected.into())
}

pub(super) fn key(_: &Record, one: &Record) -> Compared {
    let key = one.text("publicKey");
    (key.map_or(false, |key| keyset::is_key_of(text(&one["kid"]), key)).into(), one["valid"].clone())
}

fn expecting<T>(all: &Record, check: impl Fn(&Expected<'_>) -> T) -> T {
    let place = place_in(all);
    check(&Expected {
        place: &place,
        license_key_hash: text(&all["licenseKeyHash"]),
        instance_id: text(&all["instanceId"]),
    })
}

fn now(all: &Record) -> i64 {
    all.seconds("now").unwrap()
}

fn judged(read: Result<(), Doubt>, one: &Record) -> Compared {
    let found = read.map_or_else(Doubt::name, |()| "valid");
    let expected = if one.flag("valid") == Some(true) { Value::from("valid") } else { one["reason"].clone() };
    (found.into(), expected)
}
