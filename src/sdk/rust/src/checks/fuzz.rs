//! Reads arbitrary bytes with everything that reads foreign ones. None may panic, take longer than a second, or grant something: what is
//! read is made of the vectors, with keys that have signed none of it.

use std::time::{Duration, Instant};

use data_encoding::BASE64;
use serde_json::Value;

use super::files;
use super::signed::{keys_in, place_in};
use crate::facts::known::{HeldLicense, Known};
use crate::facts::state_of::{state_of, Circumstances};
use crate::facts::take::{self, Age, Taken};
use crate::facts::{known_text, known_text::text_of};
use crate::license_key;
use crate::machine::{macos, shared_values, windows};
use crate::place::Place;
#[cfg(feature = "ureq")]
use crate::ports::system_proxy;
use crate::problem::{Answered, Problem};
use crate::signed::{armor, ed25519, keyset, Keys};
use crate::text::json::{self, object};
use crate::text::times::retry_after_ms;

const TOKENS: &[&str] = &[
    "null",
    "true",
    "1e999",
    "-0",
    "9007199254740993",
    "1e3",
    "\"\\ud800\"",
    "\"__proto__\":",
    "[[[[",
    "}}}}",
    "\u{130}",
    "ß",
    "\u{feff}",
    "v4.public.",
    "|",
    "0",
    "-1",
    "1.0",
    "\"\"",
    "2026-02-30T00:00:00Z",
    "{\"token\":",
    ",",
    ":",
    "-----",
];

struct Fuzz {
    random: u64,
    seeds: Vec<Vec<u8>>,
    place: Place,
    keys: Keys,
    stranger: Vec<u8>,
}

/// For longer, or other input: `KEYLEDGER_FUZZ_SECONDS` and `KEYLEDGER_FUZZ_SEED`.
#[test]
fn arbitrary_bytes_are_read_without_a_failure_and_grant_nothing() {
    let set = |name: &str, default: u64| std::env::var(name).map_or(default, |value| value.parse().unwrap());
    let (seconds, seed) = (set("KEYLEDGER_FUZZ_SECONDS", 3), set("KEYLEDGER_FUZZ_SEED", 1));
    let mut fuzz = Fuzz::new(seed);
    let (start, mut runs) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(seconds) {
        let bytes = fuzz.mutated();
        let coin = fuzz.below(2) == 0;
        assert!(fuzz.is_read(&bytes, coin, seed), "failed with seed {seed}: {}", BASE64.encode(&bytes));
        runs += 1;
    }
    println!("{runs} texts read, 0 failed");
    assert!(runs > 0);
}

impl Fuzz {
    fn new(seed: u64) -> Self {
        let files = files();
        let mut seeds: Vec<Vec<u8>> = Vec::new();
        files.iter().for_each(|(_, all)| add_texts(&mut seeds, &Value::Object(all.clone())));
        seeds.sort();
        seeds.dedup();
        let (_, all) = files.iter().find(|(_, all)| all.contains_key("keyset")).unwrap();
        // The same ids, with a key that has signed nothing.
        let stranger = ed25519::public_key_of(&[0x77; 32]).unwrap();
        let keys = keys_in(all).into_keys().map(|kid| (kid, BASE64.encode(&stranger))).collect();
        Self { random: seed.wrapping_mul(2).wrapping_add(1), seeds, place: place_in(all), keys, stranger }
    }

    /// Whether it is read without a panic, and within a second.
    fn is_read(&self, bytes: &[u8], coin: bool, status: u64) -> bool {
        let start = (Instant::now(), worked());
        let read = std::panic::catch_unwind(|| self.read(bytes, coin, status));
        // On a busy machine most of the time is spent waiting, which Linux tells apart.
        let taken = match (start.1, worked()) {
            (Some(before), Some(after)) => after - before,
            _ => start.0.elapsed(),
        };
        read.is_ok() && taken < Duration::from_secs(1)
    }

    fn read(&self, bytes: &[u8], coin: bool, status: u64) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let json = json::read_bytes(bytes).unwrap_or_else(|| text.as_str().into());
        let written = json.to_string();
        assert_eq!(
            json::read(&written).map(|value| value.to_string()),
            Some(written),
            "it is written as something else"
        );
        let place = &self.place;
        let mut known = Known::new("install".into(), self.keys.clone());
        let asked = HeldLicense { key: "ACME-1".into(), instance_id: "ins_1".into(), ..HeldLicense::default() };
        let body: Value = object([
            ("lease2", Some(text.as_str().into())),
            ("lease", Some(json.clone())),
            ("refusal", coin.then(|| json.clone())),
        ])
        .into();
        refused(take::proof(&mut known, Some(&body), &asked, place, 0));
        refused(take::proof(&mut known, Some(&json), &asked, place, 0));
        refused(take::carried(&mut known, &armor::token_in(&text), place, None, 0));
        let _ = take::settings(&mut known, Some(&json), place, 0, false);
        take::begin_trial(&mut known, 0);
        take::trial(&mut known, Some(&json));
        assert!(known.trial_days().is_none(), "a trial length is taken");
        self.read_stored(&text);
        let problem = Problem::of(Some(&Answered {
            status: 100 + (status % 500) as u16,
            body: Some(json),
            retry_after_ms: None,
        }));
        let _ = problem.to_string();
        let _ = retry_after_ms(&text, 0);
        let _ = (license_key::is_minted(&text), license_key::hash(&text), shared_values::is_shared(&text));
        let _ = (macos::from(&text, &text).identity_in(place), windows::from(&text, &text).identity_in(place));
        #[cfg(feature = "ureq")]
        let _ = (system_proxy::of_macos(&text), system_proxy::of_windows(&text));
        assert!(
            !keyset::is_key_of("k", &text) && !ed25519::is_signed(bytes, &bytes[..bytes.len().min(64)], &self.stranger)
        );
    }

    fn read_stored(&self, text: &str) {
        let known = match known_text::read(text, &self.place, &self.keys) {
            Some(known) => known,
            None => return,
        };
        let around = Circumstances { built_at: Some(0), default_trial_days: Some(14), ..Circumstances::default() };
        let state = state_of(Some(&known), 1_793_530_000, around);
        assert!(state.grant().is_none(), "a stored license grants something");
        let _ = state.to_string();
        assert_eq!(
            known_text::read(&text_of(&known), &self.place, &self.keys),
            Some(known),
            "it is not read as it was stored"
        );
    }

    /// A number from the generator of xorshift64.
    fn below(&mut self, most: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % most.max(1) as u64) as usize
    }

    fn mutated(&mut self) -> Vec<u8> {
        let at = self.below(self.seeds.len());
        let mut bytes = self.seeds[at].clone();
        for _ in 0..self.below(6) {
            self.mutate(&mut bytes);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        let inserted: Vec<u8> = match self.below(6) {
            0 if at < bytes.len() => {
                bytes[at] ^= 1 << self.below(8);
                Vec::new()
            }
            1 => {
                let end = bytes.len().min(at + self.below(40));
                bytes.drain(at..end);
                Vec::new()
            }
            2 => TOKENS[self.below(TOKENS.len())].into(),
            3 => {
                let other = self.below(self.seeds.len());
                let from = self.below(self.seeds[other].len());
                let length = self.below(80);
                self.seeds[other].iter().skip(from).take(length).copied().collect()
            }
            4 if self.below(50) == 0 => vec![b"[{\"-"[self.below(4)]; 60_000],
            _ => (0..self.below(8)).map(|_| self.below(256) as u8).collect(),
        };
        bytes.splice(at..at, inserted);
    }
}

/// How long this thread has worked; none where the system does not say.
fn worked() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn refused(taken: Taken) {
    assert_ne!(taken, Ok(Age::Fresh), "it is taken");
}

/// The longer texts in a value, and the smaller objects.
fn add_texts(found: &mut Vec<Vec<u8>>, value: &Value) {
    match value {
        Value::String(text) if text.len() > 20 => found.push(text.clone().into_bytes()),
        Value::Array(items) => items.iter().for_each(|item| add_texts(found, item)),
        Value::Object(record) => {
            if record.len() < 40 {
                found.push(value.to_string().into_bytes());
            }
            record.values().for_each(|member| add_texts(found, member));
        }
        _ => {}
    }
}
