use serde_json::Value;

use super::{files, list, notices, plain, read, record, repository, signed, stories, text};
use crate::signed::ed25519;
use crate::text::bytes::hex;
use crate::text::json::{Members, Record};

/// What was found, and what is expected.
pub(super) type Compared = (Value, Value);

type Check = fn(&Record, &Record) -> Compared;

fn check_of(file: &str) -> Check {
    match file {
        "paseto" => signed::token,
        "leases" => signed::lease1,
        "leases2" | "relays" => signed::lease2,
        "license-files" => signed::license_file,
        "withdrawn" => signed::withdrawn,
        "requests" => signed::request,
        "refusals" => signed::refusal,
        "settings" => signed::settings,
        "keys" => signed::key,
        "license-keys" => plain::license_key,
        "devices" => plain::shared_value,
        "answers" => plain::answer,
        "notices" => notices::check,
        "states-leases" | "states-trials" | "states-files" | "states-machines" => stories::check,
        _ => panic!("the vectors {file} are not known"),
    }
}

#[test]
fn every_vector_but_those_of_webhooks() {
    let (mut passed, mut failed) = (0, 0);
    // Webhooks reach servers, and no app.
    for (file, all) in files().into_iter().filter(|(file, _)| file != "webhooks") {
        let mut cases: Vec<(&Value, Check)> = list(&all["cases"]).iter().map(|one| (one, check_of(&file))).collect();
        let readings = all.get("readings").map(list).unwrap_or_default();
        cases.extend(readings.iter().map(|one| (one, plain::reading as Check)));
        for (one, check) in cases {
            let (found, expected) = check(&all, record(one));
            if is_equal(&found, &expected) {
                passed += 1;
            } else {
                failed += 1;
                println!("FAILED {file}: {:?}\n  {found}\n  and not {expected}", record(one).text("name"));
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    assert!(failed == 0 && passed > 0);
}

#[test]
fn every_signature_of_wycheproof_is_judged_as_it_is_meant() {
    let all = read(&repository("test/sdk/wycheproof-ed25519.json"));
    let bytes = |one: &Value, name: &str| hex(text(&one[name])).unwrap();
    for one in list(&all["tests"]) {
        let found = ed25519::is_signed(&bytes(one, "msg"), &bytes(one, "sig"), &bytes(one, "pk"));
        assert_eq!(found, text(&one["result"]) == "valid", "{one}");
    }
}

/// Whether two values are the same, with numbers as JavaScript compares them.
pub(super) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let has = |(name, value): (&String, &Value)| b.get(name).map_or(false, |other| is_equal(value, other));
            a.len() == b.len() && a.iter().all(has)
        }
        (one, other) => one == other,
    }
}
