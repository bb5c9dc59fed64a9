//! A transport and a clock of the tests.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use keyledger_client::{Answer, Client, ClientBuilder, Clock, Place, Request, Storage, Transport};

pub type Sent = Result<Answer, Box<dyn std::error::Error + Send + Sync>>;

/// Answers each request with what the test says, and counts them.
#[derive(Clone)]
pub struct Scripted {
    count: Arc<AtomicUsize>,
    answer: Arc<dyn Fn(&Request) -> Sent + Send + Sync>,
}

impl Scripted {
    pub fn new(answer: impl Fn(&Request) -> Sent + Send + Sync + 'static) -> Self {
        Self { count: Arc::default(), answer: Arc::new(answer) }
    }

    pub fn sent(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

impl Transport for Scripted {
    fn send(&self, request: &Request) -> Sent {
        self.count.fetch_add(1, Ordering::SeqCst);
        (self.answer)(request)
    }
}

/// Its pauses are over at once, and are added up.
#[derive(Clone, Default)]
pub struct TestClock {
    pub now: Arc<Mutex<Duration>>,
    pub paused: Arc<Mutex<Vec<Duration>>>,
}

impl TestClock {
    pub fn advance(&self, length: Duration) {
        *self.now.lock().unwrap() += length;
    }
}

impl Clock for TestClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_530_000) + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        *self.now.lock().unwrap()
    }

    fn pause(&self, pause: Duration) {
        self.paused.lock().unwrap().push(pause);
        self.advance(pause);
    }
}

pub fn place() -> Place {
    Place::new("acme", "editor").unwrap()
}

pub fn builder(storage: impl Storage + 'static, transport: &Scripted, clock: &TestClock) -> ClientBuilder {
    Client::builder(place(), storage)
        .server("https://licenses.example.com/", "kl_sdk_1")
        .identity(|_| None)
        .transport(transport.clone())
        .clock(clock.clone())
}

pub fn answer(status: u16, body: &str) -> Sent {
    Ok(Answer { status, body: body.into(), retry_after: None })
}
