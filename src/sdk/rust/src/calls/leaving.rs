//! Gives seats back, and borrows them.

use std::time::Duration;

use super::operations::{of_seat, Operations};
use crate::facts::known::HeldLicense;
use crate::facts::take;
use crate::problem::{Answered, Problem, ProblemCode};
use crate::signed::lease::Lease;
use crate::text::json::{object, Members, Record};

impl Operations {
    /// Gives the seat back, and forgets the license. A borrowed seat is given back with the device's signature.
    pub(crate) fn deactivate(&self) -> Result<(), Problem> {
        let known = self.keeper.load();
        let license = known.license.as_ref();
        let is_of_license = |file: &&Lease| license.map_or(true, |license| license.instance_id == file.instance_id);
        let is_valid = |file: &Lease| self.options().now() <= file.expires_at;
        let has_file = known.usable_file().filter(is_of_license).map_or(false, is_valid);
        if has_file && license.map_or(true, |license| license.fence.is_none()) {
            return Err(Problem::new(ProblemCode::HasFile, "the device has a license file; give it back with release"));
        }
        let license = license.ok_or_else(no_license)?;
        let mut body = of_seat(license);
        if has_file {
            // When the storage fails, the seat is given back without the signature, and the server answers what is missing.
            let release = self.release().ok().flatten();
            body.extend(object([("release", release.map(|release| release.text.into()))]));
        }
        self.send_leaving(license, body, 3)?;
        self.keeper.change(|known, _| take::leave(known, &license.instance_id));
        Ok(())
    }

    /// Gives a floating seat back, so that others have it at once; the license stays. What does not reach the server runs out by itself.
    pub(crate) fn give_seat_back(&self) -> Result<(), Problem> {
        let known = self.keeper.load();
        let license = match &known.license {
            Some(license) if license.fence.is_some() => license,
            _ => return Ok(()),
        };
        if known.usable_file().map_or(false, |file| file.instance_id == license.instance_id) {
            return Ok(());
        }
        // Before it is sent: a seat that may be another's must not be used here.
        self.keeper.change(|known, _| take::seat_back(known));
        self.send_leaving(license, of_seat(license), 1)
    }

    /// Borrows the seat of this device for a time without a network: as a license file, which the vendor's server alone gives.
    pub(crate) fn borrow(&self, length: Duration) -> Result<(), Problem> {
        let license = self.keeper.load().license.ok_or_else(no_license)?;
        let request = self
            .create_request(&license.key)
            .map_err(|failed| Problem::new(ProblemCode::Refused, failed.to_string()))?;
        let asked =
            object([("borrow_seconds", Some(length.as_secs().into())), ("borrow_request", Some(request.text.into()))]);
        let borrowed = self.activate_at(self.servers.vendor.clone(), &license.key, asked, 3, |body| {
            match body.text("license_file") {
                Some(file) => self.import(file),
                None => {
                    Err(Problem::new(ProblemCode::Refused, "the license server lends no seats; its version is too old"))
                }
            }
        });
        self.keeper.reached(borrowed.is_ok());
        borrowed
    }

    fn send_leaving(&self, license: &HeldLicense, body: Record, attempts: u32) -> Result<(), Problem> {
        let server = self.servers.that(self.options(), license.relay.as_deref());
        self.send(server, "deactivate", Some(body), attempts, |answered| {
            let is_deactivated = answered.record().map_or(false, |body| body.flag("deactivated") == Some(true));
            if (answered.status == 200 && is_deactivated) || has_no_seat(answered) {
                Ok(())
            } else {
                Err(Problem::of(Some(answered)))
            }
        })
    }
}

fn no_license() -> Problem {
    Problem::new(ProblemCode::NoLicense, "there is no license on this device")
}

/// The seat does not exist any more, or never did. Without a reason, 422 means that it must not be freed.
fn has_no_seat(answered: &Answered) -> bool {
    let body = answered.record();
    let (error, reason) = (body.and_then(|body| body.text("error")), body.and_then(|body| body.text("reason")));
    let has_reason = body.map_or(false, |body| body.contains_key("reason"));
    let is_of_license = reason == Some("not_found") || error == Some("instance not found");
    error.is_some() && ((answered.status == 422 && has_reason) || (answered.status == 404 && is_of_license))
}
