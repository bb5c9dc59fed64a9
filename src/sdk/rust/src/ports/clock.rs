use std::time::{Duration, Instant, SystemTime};

/// The time and its pauses, which tests replace.
pub trait Clock: Send + Sync {
    /// The clock of the device, which its user can set.
    fn now(&self) -> SystemTime;

    /// The time since some fixed moment, which nobody can set back.
    fn elapsed(&self) -> Duration;

    /// Waits before a request is sent again.
    fn pause(&self, pause: Duration);
}

/// The clock of the system.
pub(crate) struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&self, pause: Duration) {
        std::thread::sleep(pause);
    }
}
