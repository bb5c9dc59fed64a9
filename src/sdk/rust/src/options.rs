use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::client::Client;
use crate::machine::{identify_machine, DeviceIdentity};
use crate::place::Place;
use crate::ports::{Clock, Storage, SystemClock, Transport};
use crate::signed::Keys;

type Identify = Box<dyn Fn(&Place) -> Option<DeviceIdentity> + Send + Sync>;
type FindRelays = Box<dyn Fn() -> Vec<String> + Send + Sync>;
type OnStorageError = Box<dyn Fn(&io::Error) + Send + Sync>;

/// What a client is made of.
pub(crate) struct Options {
    pub(crate) place: Place,
    pub(crate) storage: Box<dyn Storage>,
    /// The address of the license server, without a slash at its end.
    pub(crate) base_url: Option<String>,
    pub(crate) sdk_key: Option<String>,
    pub(crate) keys: Keys,
    pub(crate) device_name: Option<String>,
    pub(crate) app_version: Option<String>,
    pub(crate) app_built_at: Option<i64>,
    pub(crate) app_channel: Option<String>,
    pub(crate) platform: Option<String>,
    pub(crate) identify: Identify,
    pub(crate) relays: Option<FindRelays>,
    pub(crate) user_id: Option<String>,
    pub(crate) default_trial_days: Option<i64>,
    pub(crate) require_signed_settings: bool,
    pub(crate) refresh_every: Duration,
    pub(crate) expiring_days: u32,
    pub(crate) timeout: Duration,
    pub(crate) on_storage_error: Option<OnStorageError>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Options {
    /// The time of the device's clock in milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        ms_of(self.clock.now())
    }

    /// The time of the device's clock in seconds.
    pub(crate) fn now(&self) -> i64 {
        self.now_ms().div_euclid(1000)
    }
}

fn ms_of(time: SystemTime) -> i64 {
    let ms = |length: Duration| i64::try_from(length.as_millis()).unwrap_or(i64::MAX / 2);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => ms(after),
        Err(before) => -ms(before.duration()),
    }
}

/// Sets up a [`Client`]. What is left out has a default; needed are a server, or keys in its place.
pub struct ClientBuilder {
    options: Options,
    has_transport: bool,
}

impl ClientBuilder {
    pub(crate) fn new(place: Place, storage: Box<dyn Storage>) -> Self {
        #[cfg(feature = "ureq")]
        let transport: Arc<dyn Transport> = Arc::new(crate::ports::UreqTransport::new());
        #[cfg(not(feature = "ureq"))]
        let transport: Arc<dyn Transport> = Arc::new(NoTransport);
        let options = Options {
            place,
            storage,
            base_url: None,
            sdk_key: None,
            keys: Keys::new(),
            device_name: None,
            app_version: None,
            app_built_at: None,
            app_channel: None,
            platform: None,
            identify: Box::new(|place| Some(identify_machine(place))),
            relays: None,
            user_id: None,
            default_trial_days: None,
            require_signed_settings: false,
            refresh_every: Duration::from_secs(12 * 3600),
            expiring_days: 7,
            timeout: Duration::from_secs(15),
            on_storage_error: None,
            transport,
            clock: Arc::new(SystemClock::default()),
        };
        Self { options, has_transport: cfg!(feature = "ureq") }
    }

    /// The address of the license server, and the SDK key, which identifies the app and is no secret. An app that never reaches a
    /// server ships [`keys`](Self::keys) instead.
    #[must_use]
    pub fn server(mut self, base_url: impl Into<String>, sdk_key: impl Into<String>) -> Self {
        self.options.base_url = Some(base_url.into().trim_end_matches('/').to_owned());
        self.options.sdk_key = Some(sdk_key.into());
        self
    }

    /// The public keys to ship with the app by their ids, base64, so that it does not have to fetch them first.
    #[must_use]
    pub fn keys<I, K, V>(mut self, keys: I) -> Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: Into<String>,
        V: Into<String>,
    {
        self.options.keys = keys.into_iter().map(|(kid, key)| (kid.into(), key.into())).collect();
        self
    }

    /// How the vendor and the customer see this device, such as its host name.
    #[must_use]
    pub fn device_name(mut self, name: impl Into<String>) -> Self {
        self.options.device_name = Some(name.into());
        self
    }

    /// The version of the app.
    #[must_use]
    pub fn app_version(mut self, version: impl Into<String>) -> Self {
        self.options.app_version = Some(version.into());
        self
    }

    /// When the app was built, in Unix seconds: a license covers builds until the end of its updates. Compile it in, where the user
    /// cannot change it.
    #[must_use]
    pub fn app_built_at(mut self, built_at: i64) -> Self {
        self.options.app_built_at = Some(built_at);
        self
    }

    /// Where the app gets its releases from, such as `stable`.
    #[must_use]
    pub fn app_channel(mut self, channel: impl Into<String>) -> Self {
        self.options.app_channel = Some(channel.into());
        self
    }

    /// `macos`, `windows`, `linux` …
    #[must_use]
    pub fn platform(mut self, platform: impl Into<String>) -> Self {
        self.options.platform = Some(platform.into());
        self
    }

    /// Says what the device is, so that it keeps its seat when its storage is lost, and a copy of its storage is worth nothing elsewhere:
    /// [`identify_machine`], unless it is replaced. It is asked at the start and before each call. While it says none, what it said
    /// before stays; a device that has said nothing is recognized by what is in its storage.
    #[must_use]
    pub fn identity(mut self, identify: impl Fn(&Place) -> Option<DeviceIdentity> + Send + Sync + 'static) -> Self {
        self.options.identify = Box::new(identify);
        self
    }

    /// Finds the relays of the customer's network, which give seats before the vendor's server is asked: their addresses in order.
    #[must_use]
    pub fn relays(mut self, find: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        self.options.relays = Some(Box::new(find));
        self
    }

    /// Who uses the app, by a stable id: for licenses whose seats are of users.
    #[must_use]
    pub fn user_id(mut self, id: impl Into<String>) -> Self {
        self.options.user_id = Some(id.into());
        self
    }

    /// The length of a trial where the server has never named one.
    #[must_use]
    pub fn default_trial_days(mut self, days: u32) -> Self {
        self.options.default_trial_days = Some(days.into());
        self
    }

    /// Refuses unsigned settings: set it for a product that has a trial length. It is off by default.
    #[must_use]
    pub fn require_signed_settings(mut self, require: bool) -> Self {
        self.options.require_signed_settings = require;
        self
    }

    /// How often a running app validates, 12 hours by default. A lease that ends sooner is renewed at half of its time.
    #[must_use]
    pub fn refresh_every(mut self, pause: Duration) -> Self {
        self.options.refresh_every = pause;
        self
    }

    /// How many days before its end a license is told to end soon, 7 by default: [`Notice::Expiring`](crate::Notice::Expiring).
    #[must_use]
    pub fn expiring_days(mut self, days: u32) -> Self {
        self.options.expiring_days = days;
        self
    }

    /// How long one request may take, 15 seconds by default.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Called when the storage cannot be read or written; the app goes on. As other listeners, it must not make a call.
    #[must_use]
    pub fn on_storage_error(mut self, listener: impl Fn(&io::Error) + Send + Sync + 'static) -> Self {
        self.options.on_storage_error = Some(Box::new(listener));
        self
    }

    /// Sends requests, in place of ureq.
    #[must_use]
    pub fn transport(mut self, transport: impl Transport + 'static) -> Self {
        self.options.transport = Arc::new(transport);
        self.has_transport = true;
        self
    }

    /// The time, in place of that of the system.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options.clock = Arc::new(clock);
        self
    }

    /// Makes the client; nothing is read or sent yet.
    ///
    /// # Errors
    ///
    /// [`BuildError`] when there is neither a server nor a key to believe, for an address or an SDK key that is none, and without the
    /// feature `ureq` when no transport was handed in.
    pub fn build(self) -> Result<Client, BuildError> {
        let options = &self.options;
        match (&options.base_url, &options.sdk_key) {
            (Some(address), _) if !is_address(address) => return Err(BuildError::Address),
            (Some(_), Some(key)) if key.is_empty() || !key.bytes().all(|one| one.is_ascii_graphic()) => {
                return Err(BuildError::SdkKey);
            }
            (None, _) if options.keys.is_empty() => return Err(BuildError::NothingToBelieve),
            _ => {}
        }
        let needs_transport = options.base_url.is_some() || options.relays.is_some();
        if needs_transport && !self.has_transport {
            return Err(BuildError::Transport);
        }
        Ok(Client::new(self.options))
    }
}

/// Whether a text is the address of a server.
pub(crate) fn is_address(text: &str) -> bool {
    let lower = text.get(..8.min(text.len())).map(str::to_ascii_lowercase).unwrap_or_default();
    let scheme = ["https://", "http://"].into_iter().find(|scheme| lower.starts_with(*scheme));
    let host = scheme.and_then(|scheme| text[scheme.len()..].split('/').next());
    host.map_or(false, |host| !host.is_empty())
        && text.bytes().all(|one| one.is_ascii_graphic() && !matches!(one, b'?' | b'#'))
}

/// Why a client cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// The address of the server does not begin with `https://` or `http://`, or holds what no address can.
    Address,
    /// The SDK key is empty, or holds what no header can.
    SdkKey,
    /// There is neither a server nor a key that signs for the app.
    NothingToBelieve,
    /// The crate was built without `ureq`, and no transport was handed in.
    Transport,
}

impl fmt::Display for BuildError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Address => "the address of the server is not one that begins with https://",
            Self::SdkKey => "this is not an SDK key",
            Self::NothingToBelieve => "without a server, ship the keys that sign for the app",
            Self::Transport => "without the feature ureq, hand in a transport",
        })
    }
}

impl Error for BuildError {}

#[cfg(not(feature = "ureq"))]
struct NoTransport;

#[cfg(not(feature = "ureq"))]
impl Transport for NoTransport {
    fn send(&self, _: &crate::ports::Request) -> Result<crate::ports::Answer, Box<dyn Error + Send + Sync>> {
        Err(BuildError::Transport.into())
    }
}
