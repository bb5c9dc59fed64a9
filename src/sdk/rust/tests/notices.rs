//! What the user of an app is told, and a purchase that is looked for, with leases that a vendor of the test signs.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{answer, builder, Scripted, TestClock};
use data_encoding::{BASE64, BASE64URL_NOPAD, HEXLOWER};
use keyledger_client::{Client, MemoryStorage, ProblemCode, Status};
use ring::digest::{digest, SHA256};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;

const SEED: [u8; 32] = [7; 32];
const DAY: Duration = Duration::from_secs(86_400);
/// When the clock of the test begins, and after one and a half days.
const FIRST: &str = "2026-11-01T10:46:40Z";
const LATER: &str = "2026-11-02T22:46:40Z";

fn key() -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap()
}

/// A lease for this license key until a day that comes later than all tests, whose license ends then.
fn lease(license_key: &str, issued_at: &str, ends_at: &str) -> String {
    let claims = json!({
        "iat": issued_at, "nbf": FIRST, "exp": "2027-01-01T00:00:00Z", "serial": 1, "license_id": "lic_1", "status": "active",
        "license_key_hash": HEXLOWER.encode(digest(&SHA256, license_key.as_bytes()).as_ref()), "instance_id": "ins_1",
        "entitlements": { "export": true }, "license_expires_at": ends_at,
    });
    let (message, footer) = (claims.to_string(), r#"{"kid":"k"}"#);
    let parts = ["v4.public.", &message, footer, "keyledger:lease2:acme:editor"];
    let mut signed = (parts.len() as u64).to_le_bytes().to_vec();
    for part in parts {
        signed.extend((part.len() as u64).to_le_bytes());
        signed.extend(part.bytes());
    }
    let body = [message.as_bytes(), key().sign(&signed).as_ref()].concat();
    format!("v4.public.{}.{}", BASE64URL_NOPAD.encode(&body), BASE64URL_NOPAD.encode(footer.as_bytes()))
}

/// An app with a license, whose server answers with the lease that the test has set last; and what the user was told.
struct App {
    client: Client,
    clock: TestClock,
    transport: Scripted,
    lease: Arc<Mutex<String>>,
    told: Arc<Mutex<Vec<String>>>,
    _listening: keyledger_client::Subscription,
}

impl App {
    fn open(ends_at: &str) -> Self {
        let lease = Arc::new(Mutex::new(lease("ACME1", FIRST, ends_at)));
        let signed = Arc::clone(&lease);
        let transport = Scripted::new(move |_| match signed.lock().unwrap().as_str() {
            "" => Err("there is no network".into()),
            lease => {
                let body = json!({ "instance_id": "ins_1", "lease2": { "token": lease } });
                answer(200, &body.to_string())
            }
        });
        let clock = TestClock::default();
        let keys = [("k", BASE64.encode(key().public_key().as_ref()))];
        let client = builder(MemoryStorage::new(), &transport, &clock).keys(keys).build().unwrap();
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&told);
        let listening = client.on_notice(move |notice| noted.lock().unwrap().push(notice.to_string()));
        client.activate("ACME-1").unwrap();
        Self { client, clock, transport, lease, told, _listening: listening }
    }

    fn sign(&self, issued_at: &str, ends_at: &str) {
        *self.lease.lock().unwrap() = lease("ACME1", issued_at, ends_at);
    }

    fn told(&self) -> Vec<String> {
        std::mem::take(&mut *self.told.lock().unwrap())
    }
}

#[test]
fn an_end_that_comes_near_is_told_once_and_then_the_renewal() {
    let app = App::open("2026-11-09T10:46:40Z");
    assert_eq!(app.told(), [""; 0]);
    app.clock.advance(DAY + DAY / 2);
    app.lease.lock().unwrap().clear();
    for _ in 0..2 {
        assert_eq!(app.client.validate().unwrap_err().code, ProblemCode::Offline);
    }
    assert_eq!(app.told(), [r#"{"notice":"expiring","licenseExpiresAt":1794221200}"#]);
    app.sign(LATER, "2026-12-09T10:46:40Z");
    app.client.validate().unwrap();
    assert_eq!(app.told(), [r#"{"notice":"renewed","licenseExpiresAt":1796813200}"#]);
}

#[test]
fn a_purchase_is_found_as_soon_as_the_server_knows_of_it() {
    let app = App::open("2026-12-09T10:46:40Z");
    let until = |client: &Client| match client.state().status {
        Status::Licensed(grant) => grant.license_expires_at,
        _ => None,
    };
    assert_eq!((app.client.refresh_after_purchase(), app.transport.sent()), (false, 12));
    assert_eq!(app.clock.paused.lock().unwrap().as_slice(), [Duration::from_secs(3); 10]);
    assert_eq!(until(&app.client), Some(1_796_813_200));
    app.sign(LATER, "2027-11-09T10:46:40Z");
    assert_eq!((app.client.refresh_after_purchase(), app.transport.sent()), (true, 13));
    assert_eq!(until(&app.client), Some(1_825_757_200));
}
