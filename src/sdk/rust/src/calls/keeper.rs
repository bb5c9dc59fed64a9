//! Holds the facts, stores them, and says which state follows. All of it may be called from any thread.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::listeners::{Listener, Listeners, News, Subscription};
use crate::facts::known::Known;
use crate::facts::known_text;
use crate::facts::state_of::{state_of, Circumstances};
use crate::facts::take::Taken;
use crate::locks::{lock, try_lock};
use crate::notices::{notices_of, Look};
use crate::options::Options;
use crate::signed::device::Machine;
use crate::state::State;
use crate::text::bytes::random_hex;

/// How far the clock goes on before its time is stored.
const NOTICE_SECONDS: i64 = 60;

pub(crate) struct Keeper {
    pub(crate) options: Options,
    held: Mutex<Held>,
    /// What the storage is known to hold; another text is of another process. Whoever has the lock may write.
    stored: Mutex<Option<String>>,
    /// How many threads keep the time stored.
    running: AtomicUsize,
    listeners: Arc<Listeners>,
}

#[derive(Default)]
struct Held {
    known: Option<Known>,
    stored_seen: i64,
    is_failing: bool,
    device: Option<Machine>,
    /// What the listeners were told last.
    told: Option<State>,
    /// The look that the next notices are of.
    last: Look,
}

impl Held {
    /// Whether the time that was seen is to be stored. Otherwise a program that is ended and started again would not know it.
    fn is_due(&self) -> bool {
        self.known.as_ref().map_or(false, |known| known.seen >= self.stored_seen + NOTICE_SECONDS)
    }
}

impl Keeper {
    pub(crate) fn new(options: Options) -> Self {
        let (held, stored) = (Mutex::default(), Mutex::default());
        Self { options, held, stored, running: AtomicUsize::new(0), listeners: Arc::default() }
    }

    /// The present state. It waits neither for a network nor for a write of another thread. While no thread keeps the time stored, it
    /// does so, once a minute.
    pub(crate) fn state(&self) -> State {
        let (state, is_due) = {
            let held = &mut *lock(&self.held);
            (self.look(held).state, held.is_due())
        };
        if is_due && self.running.load(Ordering::Relaxed) == 0 {
            self.store_if_free();
        }
        state
    }

    /// Stores the time of the clock when that is due, and tells the listeners of a state that has ended by itself.
    pub(crate) fn keep(&self) -> State {
        let is_due = {
            let held = &mut *lock(&self.held);
            self.look(held);
            held.is_due()
        };
        if is_due {
            self.store_if_free();
        }
        self.announce()
    }

    /// Until the result is dropped, [`Keeper::state`] writes nothing: the caller calls [`Keeper::keep`] each minute.
    pub(crate) fn keeping(&self) -> impl Drop + '_ {
        struct Keeping<'a>(&'a AtomicUsize);
        impl Drop for Keeping<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.running.fetch_add(1, Ordering::Relaxed);
        Keeping(&self.running)
    }

    /// Reads the storage; another process may have written to it.
    pub(crate) fn load(&self) -> Known {
        let mut stored = lock(&self.stored);
        let text = self.attempt(|options| options.storage.read()).flatten();
        let (known, is_read) = {
            let mut held = lock(&self.held);
            let is_read = held.known.is_none() || (text.is_some() && text != *stored);
            if is_read {
                let read =
                    text.as_deref().and_then(|text| known_text::read(text, &self.options.place, &self.options.keys));
                let own = held.known.take();
                held.known = Some(match read {
                    Some(read) => together(read, own.as_ref()),
                    None => own.unwrap_or_else(|| self.new_facts()),
                });
                *stored = text;
            }
            (held.known.clone().unwrap_or_else(|| self.new_facts()), is_read)
        };
        drop(stored);
        if is_read {
            self.announce();
        }
        known
    }

    /// Stores what a step makes of the facts; false when the storage fails.
    pub(crate) fn change(&self, step: impl FnOnce(&mut Known, i64)) -> bool {
        let mut stored = lock(&self.stored);
        {
            let mut held = lock(&self.held);
            let now = self.options.now();
            let known = held.known.get_or_insert_with(|| self.new_facts());
            step(known, now);
            known.notice(now);
        }
        let is_stored = self.store(&mut stored);
        drop(stored);
        self.announce();
        is_stored
    }

    /// Takes what an answer or a text says. What became of it, or why it is not taken.
    pub(crate) fn take(&self, step: impl FnOnce(&mut Known, i64) -> Taken) -> Taken {
        let mut taken = Ok(crate::facts::take::Age::Stale);
        self.change(|known, now| {
            let before = known.clone();
            taken = step(known, now);
            if taken.is_err() {
                *known = before;
            }
        });
        taken
    }

    /// Notes whether the last attempt reached the server.
    pub(crate) fn reached(&self, is_reached: bool) {
        lock(&self.held).is_failing = !is_reached;
        self.announce();
    }

    /// What the device is, as far as it has said so.
    pub(crate) fn device(&self) -> Option<Machine> {
        lock(&self.held).device.clone()
    }

    /// Asks what the device is. While that says nothing, what was said before stays.
    pub(crate) fn identify(&self) {
        let said = (self.options.identify)(&self.options.place);
        if let Some(machine) = said.and_then(crate::machine::DeviceIdentity::usable) {
            lock(&self.held).device = Some(machine);
        }
    }

    /// Calls the listener until the result is dropped.
    pub(crate) fn subscribe(&self, listener: Listener) -> Subscription {
        self.listeners.add(listener)
    }

    /// Tells the listeners when the state has changed, also by itself, as when a lease ends. The present state.
    pub(crate) fn announce(&self) -> State {
        let state = {
            let held = &mut *lock(&self.held);
            let look = self.look(held);
            if held.told.as_ref() != Some(&look.state) {
                held.told = Some(look.state.clone());
                self.listeners.add_news([News::State(look.state.clone())]);
            }
            let notices = notices_of(&held.last, &look, self.options.expiring_days);
            self.listeners.add_news(notices.into_iter().map(News::Notice));
            held.last = look.clone();
            look.state
        };
        self.listeners.tell();
        state
    }

    /// The present state, and its time, which is now seen.
    fn look(&self, held: &mut Held) -> Look {
        let now = self.options.now();
        if let Some(known) = &mut held.known {
            known.notice(now);
        }
        let around = Circumstances {
            failing: held.is_failing,
            device: held.device.as_ref(),
            built_at: self.options.app_built_at,
            default_trial_days: self.options.default_trial_days,
        };
        Look { state: state_of(held.known.as_ref(), now, around), at: now }
    }

    fn store_if_free(&self) {
        if let Some(mut stored) = try_lock(&self.stored) {
            self.store(&mut stored);
        }
    }

    /// Writes the newest facts.
    fn store(&self, stored: &mut Option<String>) -> bool {
        let text = {
            let mut held = lock(&self.held);
            let known = match &held.known {
                Some(known) => known,
                None => return true,
            };
            let (text, seen) = (known_text::text_of(known), known.seen);
            held.stored_seen = seen;
            text
        };
        if stored.as_ref() == Some(&text) {
            return true;
        }
        if self.attempt(|options| options.storage.write(&text)).is_none() {
            return false;
        }
        *stored = Some(text);
        true
    }

    fn attempt<T>(&self, step: impl FnOnce(&Options) -> io::Result<T>) -> Option<T> {
        let result = step(&self.options);
        if let (Err(error), Some(listener)) = (&result, &self.options.on_storage_error) {
            listener(error);
        }
        result.ok()
    }

    fn new_facts(&self) -> Known {
        Known::new(random_hex(16), self.options.keys.clone())
    }
}

/// What another process has stored, with the times that this one has seen; after a newer proof they begin anew.
fn together(mut read: Known, own: Option<&Known>) -> Known {
    if let Some(own) = own.filter(|own| own.signed_at >= read.signed_at) {
        read.seen = read.seen.max(own.seen);
    }
    read
}
