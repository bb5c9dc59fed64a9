use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::facts::not_covered::NotCovered;
use crate::state::Release;
use crate::text::json::Members;

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal,)*) => {
        /// Why a call did not do what it should: the closed list of all clients. The state says what it means for the app.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ProblemCode {
            $($(#[$doc])* $code,)*
        }

        impl ProblemCode {
            /// The code in the words of all clients, such as `seat_limit_reached`.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$code => $name,)*
                }
            }
        }

        const CODES: &[ProblemCode] = &[$(ProblemCode::$code,)*];
    };
}

codes! {
    /// No answer came in time.
    Offline = "offline",
    /// The server does not work at the moment.
    Unavailable = "unavailable",
    /// Too many calls; nothing is sent again before [`Problem::retry_after`].
    RateLimited = "rate_limited",
    /// What came is no answer of the server, or not a newer one: a proxy or a sign-in page of a network, perhaps.
    NotGenuine = "not_genuine",
    /// The SDK key, the tenant id or the product id of the app is wrong.
    Misconfigured = "misconfigured",
    /// The tenant may not activate licenses.
    Forbidden = "forbidden",
    /// There is no license on this device.
    NoLicense = "no_license",
    /// The product has no trial.
    NoTrial = "no_trial",
    /// The client has no server, so it sends nothing.
    NoServer = "no_server",
    /// The device has a license file: release gives its seat back.
    HasFile = "has_file",
    /// What was carried here is neither a license file nor a list of withdrawn files.
    Malformed = "malformed",
    /// It was signed with a key that this app does not know.
    UnknownKey = "unknown_key",
    /// It was changed on the way, or was made for another product.
    BadSignature = "bad_signature",
    /// It was made for another machine.
    AnotherDevice = "another_device",
    /// It answers another request than the last one of this device.
    NotAsked = "not_asked",
    /// It is older than what this device has, or was given back.
    Outdated = "outdated",
    /// The clock of this machine is before it.
    NotYet = "not_yet",
    /// It has ended.
    Over = "over",
    /// There is no such license.
    NotFound = "not_found",
    /// The license was revoked.
    Revoked = "revoked",
    /// The license is suspended.
    Suspended = "suspended",
    /// The license has ended.
    Expired = "expired",
    /// The app was built after the updates of the license ended.
    BuildNotCovered = "build_not_covered",
    /// The license has another key now.
    Reminted = "reminted",
    /// The device was deactivated.
    Inactive = "inactive",
    /// All seats are taken.
    SeatLimitReached = "seat_limit_reached",
    /// The floating seat ran out, or its device has taken another since.
    SeatLost = "seat_lost",
    /// The seats are of people: the key is of a person without one, or another person uses this device.
    AssignedToAnother = "assigned_to_another",
    /// No more seats may be borrowed.
    BorrowLimitReached = "borrow_limit_reached",
    /// The plan of the vendor allows no more.
    PlanLimit = "plan_limit",
    /// The license refuses for another reason.
    Refused = "refused",
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why a call did not do what it should.
///
/// ```
/// use keyledger_client::{Problem, ProblemCode};
///
/// fn hint(problem: &Problem) -> &'static str {
///     match problem.code {
///         ProblemCode::SeatLimitReached => "Deactivate another device first",
///         ProblemCode::Offline => "Connect to the internet and try again",
///         _ => "The license key was not accepted",
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// For programs.
    pub code: ProblemCode,
    /// In English, for logs and support.
    pub message: String,
    /// How long nothing is sent again.
    pub retry_after: Option<Duration>,
    /// With [`ProblemCode::SeatLimitReached`] of floating seats: how many wait for one, this device with them.
    pub waiting: Option<f64>,
    /// With [`ProblemCode::BuildNotCovered`]: the license covers builds until then, in Unix seconds.
    pub updates_until: Option<i64>,
    /// With [`ProblemCode::BuildNotCovered`]: the newest release that is covered, if the vendor lists any.
    pub newest_release: Option<Box<Release>>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for Problem {}

/// An answer of a server; the body is none when it is no JSON.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Option<Value>,
    pub(crate) retry_after_ms: Option<i64>,
}

impl Answered {
    /// The members of the body; none when it is no object.
    pub(crate) fn record(&self) -> Option<&crate::text::json::Record> {
        self.body.as_ref()?.as_object()
    }
}

impl Problem {
    pub(crate) fn new(code: ProblemCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            retry_after: None,
            waiting: None,
            updates_until: None,
            newest_release: None,
        }
    }

    /// The problem that an answer without success stands for; none is no answer.
    pub(crate) fn of(answered: Option<&Answered>) -> Self {
        let answered = match answered {
            None => return Self::new(ProblemCode::Offline, "the license server did not answer in time"),
            Some(answered) => answered,
        };
        let (status, record) = (answered.status, answered.record());
        let reason = record.and_then(|record| record.text("error"));
        let not_covered = NotCovered::in_answer(answered.body.as_ref());
        let stated = record.and_then(|record| refused_by(record.text("reason")?));
        let is_none = (status < 400 && not_covered.is_none()) || reason.is_none();
        let code = match (status, stated) {
            (429, _) => ProblemCode::RateLimited,
            (500.., _) => ProblemCode::Unavailable,
            _ if is_none => ProblemCode::NotGenuine,
            (_, Some(stated)) => stated,
            (403, _) => ProblemCode::Forbidden,
            (400 | 401 | 404, _) => ProblemCode::Misconfigured,
            _ => ProblemCode::Refused,
        };
        let message = match reason {
            _ if code == ProblemCode::NotGenuine => "this is no answer of the license server".to_owned(),
            Some(reason) => reason.to_owned(),
            None => format!("the license server answered {status}"),
        };
        let seconds = || Some(record?.seconds("retry_after")?.saturating_mul(1000));
        let waiting = || record?.get("waiting")?.as_f64();
        let covered = not_covered.filter(|_| code == ProblemCode::BuildNotCovered);
        Self {
            retry_after: answered.retry_after_ms.or_else(seconds).map(|ms| Duration::from_millis(ms.max(0) as u64)),
            waiting: if code == ProblemCode::SeatLimitReached { waiting() } else { None },
            updates_until: covered.as_ref().map(|said| said.updates_until),
            newest_release: covered.and_then(|said| said.newest_release).map(Box::new),
            ..Self::new(code, message)
        }
    }

    /// Whether sending the same again may help.
    pub(crate) fn is_passing(&self) -> bool {
        use ProblemCode::{NotGenuine, Offline, RateLimited, Unavailable};
        matches!(self.code, Offline | Unavailable | RateLimited | NotGenuine)
    }

    /// Whether the server has answered, though not with a success: a wrong key, no seat left.
    pub(crate) fn is_answer(&self) -> bool {
        !self.is_passing() && self.code != ProblemCode::NoServer
    }
}

/// The code of a reason that a license refuses for; none for a reason of a newer server.
fn refused_by(reason: &str) -> Option<ProblemCode> {
    let refused = CODES.iter().skip_while(|code| **code != ProblemCode::NotFound);
    refused.copied().find(|code| code.name() == reason)
}
