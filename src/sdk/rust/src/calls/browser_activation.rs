//! Lets a person choose a license on a page of the vendor, in place of typing a key.

use std::time::Duration;

use super::operations::Operations;
use crate::problem::{Answered, Problem, ProblemCode};
use crate::text::json::{object, Members, Record};

/// A page where a person chooses a license for this app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActivationPage {
    /// To open in their browser.
    pub url: String,
    /// To show in the app, so that they can compare it with the page.
    pub code: String,
}

/// A page, and how to ask what the person has decided there.
pub(crate) struct Waiting {
    pub(crate) page: ActivationPage,
    pub(crate) device_code: String,
    pub(crate) pause: Duration,
    pub(crate) polls: i64,
}

impl Operations {
    /// Asks for a page on which a person chooses a license.
    pub(crate) fn ask_in_browser(&self) -> Result<Waiting, Problem> {
        let name = self.name_of(&self.keeper.load());
        let body = object([("device_name", Some(name.into()))]);
        let mut waiting = None;
        self.send(self.servers.vendor.clone(), "browser-activations", Some(body), 3, |answered| {
            waiting = answered.record().filter(|_| answered.status == 200).and_then(waiting_in);
            waiting.as_ref().map(|_| ()).ok_or_else(|| Problem::of(Some(answered)))
        })?;
        waiting.ok_or_else(given_up)
    }

    /// Asks once what the person has decided: the license key, or none while they have not.
    pub(crate) fn poll_browser(&self, device_code: &str) -> Result<Option<String>, Problem> {
        let body = object([("device_code", Some(device_code.into()))]);
        let mut chosen = None;
        self.send(self.servers.vendor.clone(), "browser-activations/poll", Some(body), 3, |answered| {
            chosen = decided(answered)?;
            Ok(())
        })?;
        Ok(chosen)
    }
}

fn waiting_in(body: &Record) -> Option<Waiting> {
    // The app opens it, so it is an address of a page and nothing else.
    let is_page = |url: &&str| ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
    let url = body.text("verification_uri_complete").filter(is_page)?.to_owned();
    let code = body.text("user_code")?.to_owned();
    let interval = body.seconds("interval")?.max(1);
    Some(Waiting {
        page: ActivationPage { url, code },
        device_code: body.text("device_code")?.to_owned(),
        pause: Duration::from_secs(interval.unsigned_abs()),
        polls: body.seconds("expires_in")? / interval,
    })
}

fn decided(answered: &Answered) -> Result<Option<String>, Problem> {
    let body = answered.record().filter(|_| answered.status == 200);
    let (status, key) = (body.and_then(|body| body.text("status")), body.and_then(|body| body.text("license_key")));
    match (status, key) {
        (Some("pending"), _) => Ok(None),
        (Some("chosen"), Some(key)) => Ok(Some(key.to_owned())),
        (Some("denied"), _) => Err(Problem::new(ProblemCode::Refused, "the person has chosen no license for this app")),
        (Some(_), _) => Err(given_up()),
        (None, _) => Err(Problem::of(Some(answered))),
    }
}

/// The end of the wait.
pub(crate) fn given_up() -> Problem {
    Problem::new(ProblemCode::Refused, "no license was chosen in time")
}
