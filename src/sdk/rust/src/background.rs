//! What runs beside an app, and what ends it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::locks::lock;

/// Ends [`Client::run`](crate::Client::run), or the wait of [`Client::activate_in_browser`](crate::Client::activate_in_browser). A clone of it ends the same.
///
/// ```
/// use keyledger_client::Stop;
///
/// let stop = Stop::new();
/// let other = stop.clone();
/// other.stop();
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<(Mutex<bool>, Condvar)>);

impl Stop {
    /// Nothing is stopped yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops what runs with it. A request that is under way still ends by itself.
    pub fn stop(&self) {
        *lock(&self.0 .0) = true;
        self.0 .1.notify_all();
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *lock(&self.0 .0)
    }

    /// Waits until it is stopped, and no longer than this.
    pub(crate) fn wait(&self, most: Duration) {
        let is_stopped = lock(&self.0 .0);
        let waited = self.0 .1.wait_timeout_while(is_stopped, most, |is_stopped| !*is_stopped);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// The thread of [`Client::start`](crate::Client::start). When this is dropped it is told to stop, and not waited for.
#[derive(Debug)]
pub struct Background {
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    pub(crate) fn new(stop: Stop, thread: JoinHandle<()>) -> Self {
        Self { stop, thread: Some(thread) }
    }

    /// Stops the thread, and waits until it has ended: with a request under way, until that is answered or given up.
    pub fn join(mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // Only a listener can have panicked there, and its panic was printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
