//! Calls of the client interface, with their time limits and repetitions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::locks::lock;
use crate::options::{is_address, Options};
use crate::ports::Request;
use crate::problem::{Answered, Problem, ProblemCode};
use crate::signed::{keyset, Keys};
use crate::text::bytes::random_fraction;
use crate::text::json::{self, Members, Record};
use crate::text::{segment, times};

/// A server that asks for a longer pause is not waited for within a call.
const LONGEST_PAUSE_MS: i64 = 10_000;

/// Answers of the server are shorter; what is longer comes from something else.
const LONGEST_TEXT: usize = 65_536;

/// The server at one address.
pub(crate) struct Server {
    root: String,
    /// The address of a relay; none for the vendor's server.
    pub(crate) relay: Option<String>,
    not_before_ms: AtomicI64,
}

impl Server {
    fn new(address: &str, is_vendor: bool, options: &Options) -> Self {
        Self {
            root: format!("{}/{}", address.trim_end_matches('/'), segment(options.place.tenant_id())),
            relay: (!is_vendor).then(|| address.to_owned()),
            not_before_ms: AtomicI64::new(i64::MIN),
        }
    }

    /// Sends a call up to so many times, until `judge` finds nothing wrong with an answer, or a problem that stays.
    pub(crate) fn send(
        &self,
        options: &Options,
        name: &str,
        body: Option<Record>,
        attempts: u32,
        judge: &mut dyn FnMut(&Answered) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let wait = self.not_before_ms.load(Ordering::Relaxed).saturating_sub(options.now_ms());
        if wait > 0 {
            let mut problem =
                Problem::new(ProblemCode::RateLimited, "the license server asked for a pause, which is not over");
            problem.retry_after = Some(Duration::from_millis(wait as u64));
            return Err(problem);
        }
        let url = format!("{}/{}/{name}", self.root, segment(options.place.product_id()));
        let body = body.map(json::write);
        let mut attempt = 0;
        loop {
            let problem = match request(options, &url, body.clone(), true) {
                None => Problem::of(None),
                Some(answered) => match judge(&answered) {
                    Ok(()) => return Ok(()),
                    Err(problem) => problem,
                },
            };
            if !problem.is_passing() {
                return Err(problem);
            }
            let pause = problem.retry_after.map_or(0, |pause| i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
            if problem.retry_after.is_some() {
                self.not_before_ms.store(options.now_ms().saturating_add(pause), Ordering::Relaxed);
            }
            attempt += 1;
            if attempt >= attempts || pause > LONGEST_PAUSE_MS {
                return Err(problem);
            }
            let jitter = jitter(attempt - 1, 500.0, 8000.0, random_fraction());
            options.clock.pause(Duration::from_millis(pause as u64 + jitter as u64));
        }
    }

    /// Fetches the published keys; only those whose id is the hash of the key are returned.
    pub(crate) fn keys(&self, options: &Options) -> Keys {
        let answered = request(options, &format!("{}/.well-known/service-keys", self.root), None, false);
        let answered = answered.filter(|answered| answered.status == 200);
        let published = answered.as_ref().and_then(|answered| answered.record()?.record("keys"));
        let keys = published.into_iter().flatten().filter_map(|(kid, key)| Some((kid, key.as_str()?)));
        keys.filter(|(kid, key)| keyset::is_key_of(kid, key)).map(|(kid, key)| (kid.clone(), key.to_owned())).collect()
    }
}

/// Anything between 0 and a bound that doubles with each attempt, in milliseconds.
pub(super) fn jitter(attempt: u32, base_ms: f64, most_ms: f64, random: f64) -> f64 {
    random * most_ms.min(base_ms * 2_f64.powi(attempt.min(1000) as i32))
}

/// Sends a request once; none when no complete answer came within the time.
fn request(options: &Options, url: &str, body: Option<String>, with_key: bool) -> Option<Answered> {
    let key = options.sdk_key.clone().filter(|_| with_key).map(|key| ("x-service-sdk-key", key));
    let kind = body.is_some().then(|| ("content-type", "application/json".to_owned()));
    let headers = key.into_iter().chain(kind).collect();
    let request = Request { url: url.to_owned(), headers, body, timeout: options.timeout };
    let answer = options.transport.send(&request).ok()?;
    let text = answer.body.strip_prefix('\u{feff}').unwrap_or(&answer.body);
    Some(Answered {
        status: answer.status,
        body: if text.len() > LONGEST_TEXT { None } else { json::read(text) },
        retry_after_ms: answer.retry_after.and_then(|header| times::retry_after_ms(&header, options.now_ms())),
    })
}

/// The relays of the customer's network and the vendor's server.
pub(crate) struct Servers {
    /// It alone is believed about its keys, and asked about settings and trials. None for a client without a server.
    pub(crate) vendor: Option<Arc<Server>>,
    relays: Mutex<HashMap<String, Arc<Server>>>,
}

impl Servers {
    pub(crate) fn new(options: &Options) -> Self {
        let vendor = options.base_url.as_ref().map(|address| Arc::new(Server::new(address, true, options)));
        Self { vendor, relays: Mutex::default() }
    }

    /// All in the order in which they are asked for a seat: the relays, and the vendor's server at the end. They are looked up anew each
    /// time: a laptop changes its network.
    pub(crate) fn in_order(&self, options: &Options) -> Vec<Arc<Server>> {
        let found = options.relays.as_ref().map(|find| find()).unwrap_or_default();
        let relays = found.iter().filter_map(|address| self.relay_at(options, address));
        relays.chain(self.vendor.clone()).collect()
    }

    /// The one that gave a seat; none without a server, and for an address that was edited in the storage.
    pub(crate) fn that(&self, options: &Options, relay: Option<&str>) -> Option<Arc<Server>> {
        match relay {
            None => self.vendor.clone(),
            Some(relay) => self.relay_at(options, relay),
        }
    }

    fn relay_at(&self, options: &Options, address: &str) -> Option<Arc<Server>> {
        let server = || Arc::new(Server::new(address, false, options));
        is_address(address).then(|| Arc::clone(lock(&self.relays).entry(address.to_owned()).or_insert_with(server)))
    }
}
