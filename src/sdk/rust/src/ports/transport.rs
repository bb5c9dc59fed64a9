use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A request to a license server. Its body holds the license key, which `Debug` leaves out, so that none gets into a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Where it goes.
    pub url: String,
    /// All headers to send, in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// JSON for a POST; none for a GET.
    pub body: Option<String>,
    /// When to give up, with the answer not yet read to its end.
    pub timeout: Duration,
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("url", &self.url)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The whole body as text. Answers of the server are shorter than 65,536 bytes; what is longer need not be read to its end.
    pub body: String,
    /// The header Retry-After, if there was one.
    pub retry_after: Option<String>,
}

/// Sends requests.
///
/// ```
/// use keyledger_client::{Answer, Request, Transport};
///
/// /// A network that is not there.
/// struct NoNetwork;
///
/// impl Transport for NoNetwork {
///     fn send(&self, _: &Request) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
///         Err("there is no network".into())
///     }
/// }
/// ```
pub trait Transport: Send + Sync {
    /// Sends a request once, and follows redirects.
    ///
    /// # Errors
    ///
    /// Any error means that no answer came within the time of the request. An answer of any status is none.
    fn send(&self, request: &Request) -> Result<Answer, Box<dyn Error + Send + Sync>>;
}
