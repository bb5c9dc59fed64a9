use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crate::background::{Background, Stop};
use crate::calls::browser_activation::given_up;
use crate::calls::keeper::Keeper;
use crate::calls::listeners::{Listener, Subscription};
use crate::calls::operations::Operations;
use crate::calls::purchase;
use crate::calls::schedule::Schedule;
use crate::calls::{ActivationPage, CarriedText, StorageFailed};
use crate::locks::lock;
use crate::notices::Notice;
use crate::options::{ClientBuilder, Options};
use crate::place::Place;
use crate::ports::Storage;
use crate::problem::Problem;
use crate::state::{State, Value};

/// The client of an app: activates, validates, and has one state to show, also without a network until a lease or a license file ends.
///
/// It may be used from any thread, and a clone of it is the same client. It starts no thread unless [`Client::start`] is called, and sends
/// one request at a time. A call blocks until it is answered, and ends within its attempts; [`Client::state`], [`Client::has`] and
/// [`Client::value`] never wait for one. Without a server, what needs one answers [`NoServer`](crate::ProblemCode::NoServer).
///
/// ```no_run
/// use keyledger_client::{Client, FileStorage, Place, Status};
///
/// let client = Client::builder(Place::new("acme", "editor")?, FileStorage::new("license.json"))
///     .server("https://licenses.example.com", "kl_sdk_1")
///     .app_version("1.4.0")
///     .build()?;
/// client.load();
/// if let Status::Unlicensed { .. } = client.state().status {
///     client.activate("ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7")?;
/// }
/// if client.has("export") {
///     println!("with export");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    calls: Operations,
    schedule: Schedule,
    turn: Mutex<()>,
    validating: Mutex<Validating>,
    validated: Condvar,
}

#[derive(Default)]
struct Validating {
    is_running: bool,
    round: u64,
    outcome: Option<Result<State, Problem>>,
}

impl Client {
    /// Sets up a client.
    ///
    /// `place` is the tenant and the product whose signature is expected; `storage` is where the license, and the device's own key for
    /// license files, are kept.
    pub fn builder(place: Place, storage: impl Storage + 'static) -> ClientBuilder {
        ClientBuilder::new(place, Box::new(storage))
    }

    pub(crate) fn new(options: Options) -> Self {
        let calls = Operations::new(Arc::new(Keeper::new(options)));
        let (turn, validating) = (Mutex::default(), Mutex::default());
        let shared = Shared { calls, schedule: Schedule::default(), turn, validating, validated: Condvar::new() };
        Self { shared: Arc::new(shared) }
    }

    /// The present state, which may change by itself as time passes. Reading it never waits for a network or another thread. Once a
    /// minute it writes the time to the storage, unless [`Client::run`] or [`Client::start`] does that.
    #[must_use]
    pub fn state(&self) -> State {
        self.keeper().state()
    }

    /// Whether the present state grants an entitlement.
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Place};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// if client.has("export") {
    ///     println!("show the export");
    /// }
    /// # assert!(!client.has("export"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has(&self, entitlement: &str) -> bool {
        self.state().has(entitlement)
    }

    /// The value of an entitlement in the present state; none when it is not granted.
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Place};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// let most = client.value("projects").and_then(|value| value.as_number()).unwrap_or(3.0);
    /// # assert_eq!(most, 3.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn value(&self, entitlement: &str) -> Option<Value> {
        self.state().value(entitlement).cloned()
    }

    /// Calls the listener with each new state, on the thread that has found it, until the result is dropped. It may read the state, and
    /// must not make a call: the one that has found the state is still under way.
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Place};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// let subscription = client.subscribe(|state| println!("{state}"));
    /// client.load();
    /// drop(subscription);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn subscribe(&self, listener: impl Fn(&State) + Send + Sync + 'static) -> Subscription {
        self.keeper().subscribe(Listener::State(Arc::new(listener)))
    }

    /// Calls the listener with what happens to the license and concerns the user of the app, on the thread that has found it, until the
    /// result is dropped. What it may do is as with [`Client::subscribe`]. An end that comes near is told at the next look: within a minute
    /// by [`Client::run`] and [`Client::start`], else with the next call.
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Notice, Place};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// let subscription = client.on_notice(|notice| {
    ///     if let Notice::Expiring { license_expires_at } = notice {
    ///         println!("Your license ends at {license_expires_at}");
    ///     }
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_notice(&self, listener: impl Fn(&Notice) + Send + Sync + 'static) -> Subscription {
        self.keeper().subscribe(Listener::Notice(Arc::new(listener)))
    }

    /// Reads the storage, without a network, and says which state was stored. Before that the state is
    /// [`Starting`](crate::Status::Starting).
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Place, Status};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// assert_eq!(client.state().status, Status::Starting);
    /// assert_eq!(client.load().status, Status::Unlicensed { trial_days: None });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(&self) -> State {
        self.in_turn(|calls| {
            calls.keeper.load();
            calls.keeper.state()
        })
    }

    /// Takes a seat with a license key that a person has typed. The same device never takes a second one.
    ///
    /// # Errors
    ///
    /// [`Problem`] when there is no seat for it, or no answer.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client, typed: &str) {
    /// use keyledger_client::ProblemCode;
    ///
    /// match client.activate(typed) {
    ///     Ok(state) => println!("{state}"),
    ///     Err(problem) if problem.code == ProblemCode::SeatLimitReached => println!("deactivate another device first"),
    ///     Err(problem) => println!("{problem}"),
    /// }
    /// # }
    /// ```
    pub fn activate(&self, license_key: &str) -> Result<State, Problem> {
        self.told(|calls| calls.activate(license_key))
    }

    /// Takes a seat with a license that a person chooses in the vendor's portal, without typing a key. `show` opens the page in their
    /// browser, and shows the code beside it. The wait ends with the decision, with `stop`, or when the code does, after ten minutes: call
    /// it on a thread of its own.
    ///
    /// # Errors
    ///
    /// [`Refused`](crate::ProblemCode::Refused) when no license was chosen, and any [`Problem`] of [`Client::activate`].
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// use keyledger_client::Stop;
    ///
    /// let stop = Stop::new();
    /// let outcome = client.activate_in_browser(|page| println!("open {}, which shows {}", page.url, page.code), &stop);
    /// match outcome {
    ///     Ok(state) => println!("{state}"),
    ///     Err(problem) => println!("{problem}"),
    /// }
    /// # }
    /// ```
    pub fn activate_in_browser(&self, show: impl FnOnce(&ActivationPage), stop: &Stop) -> Result<State, Problem> {
        let waiting = self.in_turn(Operations::ask_in_browser)?;
        show(&waiting.page);
        for _ in 0..waiting.polls {
            if stop.is_stopped() {
                break;
            }
            self.options().clock.pause(waiting.pause);
            match self.in_turn(|calls| calls.poll_browser(&waiting.device_code)) {
                Ok(Some(key)) => return self.activate(&key),
                Err(problem) if !problem.is_passing() => return Err(problem),
                _ => {}
            }
        }
        Err(given_up())
    }

    /// Asks the server now. Calls at the same time share one request.
    ///
    /// # Errors
    ///
    /// [`Problem`] when there is no answer, or one that changes nothing for the better. The state stays good as long as its lease is.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// if let Err(problem) = client.validate() {
    ///     // With a good lease the app goes on: what it may do is in the state.
    ///     println!("{problem}: {}", client.state());
    /// }
    /// # }
    /// ```
    pub fn validate(&self) -> Result<State, Problem> {
        let shared = &self.shared;
        let mut validating = lock(&shared.validating);
        while validating.is_running {
            let round = validating.round;
            while validating.is_running && validating.round == round {
                validating = shared.validated.wait(validating).unwrap_or_else(PoisonError::into_inner);
            }
            if let (true, Some(outcome)) = (validating.round != round, &validating.outcome) {
                return outcome.clone();
            }
        }
        validating.is_running = true;
        drop(validating);
        // Also after a panic, so that nothing waits forever.
        let running = Running(shared);
        let outcome = self.told(Operations::validate);
        shared.schedule.note(self.options(), outcome.as_ref().err(), &self.state());
        let mut validating = lock(&shared.validating);
        validating.round += 1;
        validating.outcome = Some(outcome.clone());
        drop(validating);
        drop(running);
        outcome
    }

    /// Looks for a purchase when the user comes back from its page: validates now, and every 3 seconds, ten times at most, until what
    /// the license grants is another than before. Whether it is. It waits for half a minute and longer, and stops for no problem: call it
    /// on a thread of its own.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// let client = client.clone();
    /// std::thread::spawn(move || {
    ///     if client.refresh_after_purchase() {
    ///         println!("Thank you: {}", client.state());
    ///     }
    /// });
    /// # }
    /// ```
    pub fn refresh_after_purchase(&self) -> bool {
        // What a validate has led to is in the state.
        purchase::refresh_after_purchase(self.options(), || self.state(), || drop(self.validate()))
    }

    /// Gives the seat back and forgets the license.
    ///
    /// # Errors
    ///
    /// [`Problem`] when there is no license, or no answer; with a license file, [`HasFile`](crate::ProblemCode::HasFile).
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// match client.deactivate() {
    ///     Ok(_) => println!("another device may take the seat"),
    ///     Err(problem) => println!("this device keeps its seat: {problem}"),
    /// }
    /// # }
    /// ```
    pub fn deactivate(&self) -> Result<State, Problem> {
        self.told(Operations::deactivate)
    }

    /// Starts the trial of this machine, also without a connection when its length is known.
    ///
    /// # Errors
    ///
    /// [`Problem`] when the product has no trial, or its length is not known and there is no answer.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// use keyledger_client::Status;
    ///
    /// if let Ok(Status::Trial { until }) = client.start_trial().map(|state| state.status) {
    ///     println!("the trial ends at {until}");
    /// }
    /// # }
    /// ```
    pub fn start_trial(&self) -> Result<State, Problem> {
        self.told(Operations::start_trial)
    }

    /// Borrows the floating seat of this device for a time without a network, which may be less than this. [`Client::deactivate`] gives it
    /// back before its end, and without a network the text of [`Client::release`].
    ///
    /// # Errors
    ///
    /// [`Problem`] when there is no license, the server lends no seat, or there is no answer.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// use std::time::Duration;
    ///
    /// match client.borrow(Duration::from_secs(14 * 86_400)) {
    ///     Ok(state) => println!("without a network until {:?}", state.grant().map(|grant| grant.until)),
    ///     Err(problem) => println!("{problem}"),
    /// }
    /// # }
    /// ```
    pub fn borrow(&self, length: Duration) -> Result<State, Problem> {
        self.told(|calls| calls.borrow(length))
    }

    /// Asks for a license file, the first or the next one, with a license key that a person has typed. The result is to be carried to the
    /// vendor.
    ///
    /// # Errors
    ///
    /// [`StorageFailed`] when the storage cannot be written.
    ///
    /// ```
    /// # use keyledger_client::{Client, MemoryStorage, Place};
    /// # let client = Client::builder(Place::new("acme", "editor")?, MemoryStorage::new()).keys([("k", "")]).build()?;
    /// let request = client.create_offline_request("ACME-7KQ2M-9XW4D-R1T8V-0ZB5N-3HJ6C-7")?;
    /// println!("send this to the vendor:\n{}", request.text);
    /// # assert!(request.text.contains(&request.token[..40]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_offline_request(&self, license_key: &str) -> Result<CarriedText, StorageFailed> {
        self.in_turn(|calls| calls.create_request(license_key))
    }

    /// Takes a text that was carried here, as it was pasted or read from a file: the answer to the last request, or the list of withdrawn
    /// files.
    ///
    /// # Errors
    ///
    /// [`Problem`] when it is not for this device, or not newer than what it has.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let answer = std::fs::read_to_string("license.txt")?;
    /// println!("{}", client.import_license(&answer)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn import_license(&self, text: &str) -> Result<State, Problem> {
        self.told(|calls| calls.import(text))
    }

    /// Gives the license file and its seat back: the device stops using them, and the text frees the seat at the vendor. None without a
    /// file; the same text again for a file that was given back before.
    ///
    /// # Errors
    ///
    /// [`StorageFailed`] when the storage cannot be written.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(release) = client.release()? {
    ///     println!("send this to the vendor:\n{}", release.text);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn release(&self) -> Result<Option<CarriedText>, StorageFailed> {
        self.in_turn(Operations::release)
    }

    /// Gives a floating seat back for others to use; the license stays stored, and the next validate takes a seat again. Call it when the
    /// app ends. A seat of another kind is kept.
    ///
    /// # Errors
    ///
    /// [`Problem`] when there is no answer. The seat runs out by itself then.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// if let Err(problem) = client.close() {
    ///     println!("the seat is free for others later: {problem}");
    /// }
    /// # }
    /// ```
    pub fn close(&self) -> Result<State, Problem> {
        self.told(Operations::give_seat_back)
    }

    /// How long it is until the app should validate next, for one that uses neither [`Client::run`] nor [`Client::start`].
    #[must_use]
    pub fn until_next_validation(&self) -> Duration {
        self.shared.schedule.left(self.options())
    }

    /// Loads, validates whenever it is time to, and tells the listeners when a state ends by itself, on this thread, until it is stopped.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) {
    /// use keyledger_client::Stop;
    ///
    /// let stop = Stop::new();
    /// let (client, stopped) = (client.clone(), stop.clone());
    /// let running = std::thread::spawn(move || client.run(&stopped));
    /// // … as long as the app runs
    /// stop.stop();
    /// # drop(running);
    /// # }
    /// ```
    pub fn run(&self, stop: &Stop) {
        let keeping = self.keeper().keeping();
        self.load();
        let has_server = self.options().base_url.is_some() || self.options().relays.is_some();
        while !stop.is_stopped() {
            if has_server && self.until_next_validation().is_zero() {
                // The listeners are told what it has led to, and the next one is due after a pause.
                let _ = self.validate();
            }
            // At least once a minute, which also notes the time of the clock.
            let mut pause = Duration::from_secs(60);
            if has_server {
                pause = pause.min(self.until_next_validation());
            }
            if let Some(end) = self.keeper().keep().status.until() {
                pause = pause
                    .min(Duration::from_secs(end.saturating_sub(self.options().now()).saturating_add(1).max(1) as u64));
            }
            stop.wait(pause.max(Duration::from_secs(1)));
        }
        drop(keeping);
    }

    /// Starts a thread that does what [`Client::run`] does, until the result is dropped.
    ///
    /// # Errors
    ///
    /// When the system has no thread left.
    ///
    /// ```no_run
    /// # fn example(client: &keyledger_client::Client) -> std::io::Result<()> {
    /// let running = client.start()?;
    /// // … as long as the app runs
    /// drop(running);
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(&self) -> std::io::Result<Background> {
        let stop = Stop::new();
        let (client, stopped) = (self.clone(), stop.clone());
        let thread = Builder::new().name("keyledger".into()).spawn(move || client.run(&stopped))?;
        Ok(Background::new(stop, thread))
    }

    fn keeper(&self) -> &Arc<Keeper> {
        &self.shared.calls.keeper
    }

    fn options(&self) -> &Options {
        &self.keeper().options
    }

    fn told(&self, step: impl FnOnce(&Operations) -> Result<(), Problem>) -> Result<State, Problem> {
        self.in_turn(|calls| step(calls).map(|()| calls.keeper.state()))
    }

    /// Runs one step after another, so that at most one request is under way, each with the device as it is now.
    fn in_turn<T>(&self, step: impl FnOnce(&Operations) -> T) -> T {
        let turn = lock(&self.shared.turn);
        self.keeper().identify();
        let result = step(&self.shared.calls);
        drop(turn);
        result
    }
}

struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.0.validating).is_running = false;
        self.0.validated.notify_all();
    }
}
