//! What the calls of a client do. Each is the only one under way.

use std::sync::Arc;

use serde_json::Value;

use super::keeper::Keeper;
use super::server::{Server, Servers};
use crate::facts::known::{HeldLicense, Known};
use crate::facts::not_covered::NotCovered;
use crate::facts::take::{self, Age, Taken};
use crate::options::Options;
use crate::place::Place;
use crate::problem::{Answered, Problem, ProblemCode};
use crate::signed::proof::Proof;
use crate::signed::Doubt;
use crate::state::Status;
use crate::text::json::{object, Members, Record};

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) struct Operations {
    pub(crate) keeper: Arc<Keeper>,
    pub(super) servers: Servers,
}

impl Operations {
    pub(crate) fn new(keeper: Arc<Keeper>) -> Self {
        let servers = Servers::new(&keeper.options);
        Self { keeper, servers }
    }

    pub(super) fn options(&self) -> &Options {
        &self.keeper.options
    }

    pub(super) fn place(&self) -> &Place {
        &self.options().place
    }

    /// How the vendor and the customer see the device.
    pub(super) fn name_of(&self, known: &Known) -> String {
        let named = || format!("Device {}", known.install_id.chars().take(8).collect::<String>());
        self.options().device_name.clone().unwrap_or_else(named)
    }

    /// Sends a call, or says that there is nobody to send it to.
    pub(super) fn send(
        &self,
        server: Option<Arc<Server>>,
        name: &str,
        body: Option<Record>,
        attempts: u32,
        mut judge: impl FnMut(&Answered) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let server = server.ok_or_else(no_server)?;
        server.send(self.options(), name, body, attempts, &mut judge)
    }

    /// Takes a seat for this device: at the first of the servers in their order that gives one.
    pub(crate) fn activate(&self, key: &str) -> Result<(), Problem> {
        let order = self.servers.in_order(self.options());
        let mut problem = None;
        for (at, server) in order.iter().enumerate() {
            // A relay that does not answer is not waited for while there is another server.
            let attempts = if at + 1 < order.len() { 1 } else { 3 };
            match self.activate_at(Some(Arc::clone(server)), key, Record::new(), attempts, |_| Ok(())) {
                Ok(()) => {
                    self.keeper.reached(true);
                    return Ok(());
                }
                // What a license says counts more than that a server cannot be reached.
                Err(failed) => {
                    problem =
                        problem.filter(|first: &Problem| !first.is_passing() && failed.is_passing()).or(Some(failed));
                }
            }
        }
        let problem = problem.unwrap_or_else(no_server);
        self.keeper.reached(problem.is_answer());
        Err(problem)
    }

    /// Takes a seat at one server. `also` takes what else was answered.
    pub(super) fn activate_at(
        &self,
        server: Option<Arc<Server>>,
        key: &str,
        more: Record,
        attempts: u32,
        also: impl Fn(&Record) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let known = self.keeper.load();
        let relay = server.as_ref().and_then(|server| server.relay.clone());
        // Each server knows its own.
        let held = known.license.as_ref().filter(|held| held.relay == relay);
        let mut body = object([
            ("license_key", Some(key.into())),
            ("instance_name", Some(self.name_of(&known).into())),
            ("free_tier_instance_id", Some(known.install_id.as_str().into())),
            ("instance_id", held.map(|held| held.instance_id.as_str().into())),
            ("user_id", self.options().user_id.as_deref().map(Value::from)),
        ]);
        self.say(&mut body);
        body.extend(more);
        self.send(server, "activate", Some(body), attempts, |answered| {
            let record = answered.record().filter(|_| answered.status == 200);
            let (record, instance_id) = record
                .and_then(|record| Some((record, record.text("instance_id")?)))
                .ok_or_else(|| not_genuine(answered))?;
            let (key, instance_id) = (key.to_owned(), instance_id.to_owned());
            let asked = HeldLicense { key, instance_id, relay: relay.clone(), ..HeldLicense::default() };
            if self.take_answer(answered, &asked) {
                also(record)
            } else {
                Err(not_genuine(answered))
            }
        })
    }

    /// Asks for a newer lease; without a license, for the settings and the trial. A floating seat that is gone is taken anew, also at
    /// another server when the one that gave it is out of reach.
    pub(crate) fn validate(&self) -> Result<(), Problem> {
        let license = match self.keeper.load().license {
            None => return self.report(),
            Some(license) if license.is_away => return self.activate(&license.key),
            Some(license) => license,
        };
        let mut body = of_seat(&license);
        self.say(&mut body);
        let mut gone = None;
        let server = self.servers.that(self.options(), license.relay.as_deref());
        let sent = self.send(server, "validate", Some(body), 3, |answered| {
            if license.fence.is_some() && has_lost_seat(answered) {
                gone = Some(answered.clone());
                return Err(Problem::of(Some(answered)));
            }
            if self.take_answer(answered, &license) {
                return Ok(());
            }
            if NotCovered::in_answer(answered.body.as_ref()).is_some() {
                self.keeper.change(|known, _| take::build_not_covered(known, answered.body.as_ref()));
            }
            Err(not_genuine(answered))
        });
        if license.fence.is_some() && (gone.is_some() || self.is_out_of_reach(&license, sent.as_ref().err())) {
            let activated = self.activate(&license.key);
            // Only now: an app that gets the next seat at once has never been without one.
            if let Some(gone) = gone.filter(|_| activated.is_err() && self.keeper.state().status.until().is_some()) {
                self.take_answer(&gone, &license);
            }
            return activated;
        }
        // Also a license that the server does not know keeps its lease until the end: only a signed refusal ends it.
        self.keeper.reached(sent.is_ok());
        sent
    }

    /// Starts the trial of this machine. It begins at once, and the server is told as soon as it can be reached.
    pub(crate) fn start_trial(&self) -> Result<(), Problem> {
        let reported = if self.keeper.load().settings.is_none() { self.report() } else { Ok(()) };
        let known = self.keeper.load();
        if known.license.is_some() || known.trial.is_some() || known.usable_file().is_some() {
            return Ok(());
        }
        if known.trial_days().or(self.options().default_trial_days).unwrap_or(0) == 0 {
            return Err(reported
                .err()
                .unwrap_or_else(|| Problem::new(ProblemCode::NoTrial, "this product has no trial")));
        }
        self.keeper.change(take::begin_trial);
        // The next validate tells the server, if this does not.
        let _ = self.report();
        Ok(())
    }

    /// Takes what is signed, with the published keys if its key is not known. What became of it.
    pub(super) fn take_signed(&self, step: impl Fn(&mut Known, i64) -> Taken) -> Taken {
        let taken = self.keeper.take(&step);
        let vendor = match &self.servers.vendor {
            Some(vendor) if taken == Err(Doubt::UnknownKey) => vendor,
            _ => return taken,
        };
        let fetched = vendor.keys(self.options());
        if fetched.is_empty() {
            return taken;
        }
        self.keeper.change(|known, _| known.keys.extend(fetched));
        self.keeper.take(&step)
    }

    /// Reports an install without a license, and takes the settings and the trial.
    fn report(&self) -> Result<(), Problem> {
        let known = self.keeper.load();
        let status = self.keeper.state().status;
        let is_free = matches!(status, Status::Free { .. });
        // Only a trial or a free tier is reported; before that the app only asks for its settings.
        let body = (known.trial.is_some() || is_free).then(|| {
            let is_new = known.trial.as_ref().map_or(false, |trial| !trial.reported);
            let is_trial = matches!(status, Status::Trial { .. }) || is_new;
            let machine = self.keeper.device().and_then(|device| device.hash);
            let mut body = object([
                ("instance_id", Some(known.install_id.as_str().into())),
                (
                    "state",
                    Some(
                        if is_trial {
                            "trial"
                        } else if is_free {
                            "free_tier"
                        } else {
                            "expired"
                        }
                        .into(),
                    ),
                ),
                ("machine_hash", machine.map(Value::from)),
            ]);
            self.add_telemetry(&mut body);
            body
        });
        let (name, is_report) = if body.is_some() { ("keyless", true) } else { ("config", false) };
        let sent = self.send(self.servers.vendor.clone(), name, body, 3, |answered| {
            if answered.status != 200 || !self.take_settings(answered) {
                return Err(not_genuine(answered));
            }
            if is_report {
                self.keeper.change(|known, _| take::trial(known, answered.body.as_ref()));
            }
            Ok(())
        });
        self.keeper.reached(sent.is_ok());
        sent
    }

    /// Takes a proof and the settings beside it. Whether the answer shows that the server was reached.
    fn take_answer(&self, answered: &Answered, held: &HeldLicense) -> bool {
        let answer = answered.body.as_ref();
        let taken = self.take_signed(|known, now| take::proof(known, answer, held, self.place(), now));
        let is_new = is_new(taken);
        if is_new {
            self.take_settings(answered);
        }
        is_new
    }

    fn take_settings(&self, answered: &Answered) -> bool {
        let enforce = self.options().require_signed_settings;
        let answer = answered.body.as_ref();
        is_new(self.take_signed(|known, now| take::settings(known, answer, self.place(), now, enforce)))
    }

    /// A relay that is out of reach is given up when its lease is nearly over; it keeps the seat until then.
    fn is_out_of_reach(&self, license: &HeldLicense, problem: Option<&Problem>) -> bool {
        match (&license.proof, problem) {
            (Some(Proof::Lease(lease)), Some(problem)) if license.relay.is_some() && problem.is_passing() => {
                let left = lease.expires_at - self.options().now();
                (left as f64) < (lease.expires_at - lease.issued_at) as f64 / 3.0
            }
            _ => false,
        }
    }

    /// Adds what an app says of its device and its build to get a lease, and the form of lease that is signed as a whole.
    fn say(&self, body: &mut Record) {
        let device = self.keeper.device();
        let components = device.as_ref().map(|device| {
            device.components.iter().map(|(name, hash)| (name.clone(), hash.as_str().into())).collect::<Record>()
        });
        body.extend(object([
            ("machine_hash", device.and_then(|device| device.hash).map(Value::from)),
            ("device", components.map(Value::from)),
        ]));
        self.add_telemetry(body);
        body.extend(object([
            ("app_built_at", self.options().app_built_at.map(Value::from)),
            ("app_channel", self.options().app_channel.as_deref().map(Value::from)),
            ("lease_version", Some(2.into())),
        ]));
    }

    fn add_telemetry(&self, body: &mut Record) {
        body.extend(object([
            ("sdk", Some("rust".into())),
            ("sdk_version", Some(VERSION.into())),
            ("app_version", self.options().app_version.as_deref().map(Value::from)),
            ("platform", self.options().platform.as_deref().map(Value::from)),
        ]));
    }
}

/// What a call says of the seat that is held.
pub(super) fn of_seat(license: &HeldLicense) -> Record {
    object([
        ("license_key", Some(license.key.as_str().into())),
        ("instance_id", Some(license.instance_id.as_str().into())),
        ("fence", license.fence.map(Value::from)),
    ])
}

fn no_server() -> Problem {
    Problem::new(ProblemCode::NoServer, "this client has no license server: set server or relays")
}

fn is_new(taken: Taken) -> bool {
    taken.map_or(false, Age::is_new)
}

/// A success or a signed refusal that does not verify, or is older than what is held.
fn not_genuine(answered: &Answered) -> Problem {
    let is_success = answered.status < 400 && NotCovered::in_answer(answered.body.as_ref()).is_none();
    if is_success || answered.record().map_or(false, |record| record.contains_key("refusal")) {
        return Problem::new(ProblemCode::NotGenuine, "the answer carries no valid signature, or an older one");
    }
    Problem::of(Some(answered))
}

fn has_lost_seat(answered: &Answered) -> bool {
    let reason = answered.record().and_then(|record| record.text("reason"));
    answered.status == 422 && matches!(reason, Some("seat_lost" | "assigned_to_another" | "inactive"))
}
