//! Holds the facts, stores them, and says which state follows. All of it may be called from any thread.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use crate::facts::known::Known;
use crate::facts::known_text;
use crate::facts::state_of::{state_of, Circumstances};
use crate::facts::take::Taken;
use crate::locks::{lock, try_lock};
use crate::options::Options;
use crate::signed::device::Machine;
use crate::state::State;
use crate::text::bytes::random_hex;

/// How far the clock goes on before its time is stored.
const NOTICE_SECONDS: i64 = 60;

type Listener = Arc<dyn Fn(&State) + Send + Sync>;

pub(crate) struct Keeper {
    pub(crate) options: Options,
    held: Mutex<Held>,
    /// What the storage is known to hold; another text is of another process. Whoever has the lock may write.
    stored: Mutex<Option<String>>,
    /// How many threads keep the time stored.
    running: AtomicUsize,
}

#[derive(Default)]
struct Held {
    known: Option<Known>,
    stored_seen: i64,
    is_failing: bool,
    device: Option<Machine>,
    listeners: Vec<(usize, Listener)>,
    next_id: usize,
    told: Option<State>,
    to_tell: VecDeque<State>,
    is_telling: bool,
}

impl Keeper {
    pub(crate) fn new(options: Options) -> Self {
        Self { options, held: Mutex::default(), stored: Mutex::default(), running: AtomicUsize::new(0) }
    }

    /// The present state. It waits neither for a network nor for a write of another thread. While no thread keeps the time stored, it
    /// does so, once a minute.
    pub(crate) fn state(&self) -> State {
        let (state, is_due) = self.look();
        if is_due && self.running.load(Ordering::Relaxed) == 0 {
            self.store_if_free();
        }
        state
    }

    /// Stores the time of the clock when that is due, and tells the listeners of a state that has ended by itself.
    pub(crate) fn keep(&self) -> State {
        let (_, is_due) = self.look();
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
        let known = {
            let mut held = lock(&self.held);
            if held.known.is_none() || (text.is_some() && text != *stored) {
                let read =
                    text.as_deref().and_then(|text| known_text::read(text, &self.options.place, &self.options.keys));
                let own = held.known.take();
                held.known = Some(match read {
                    Some(read) => together(read, own.as_ref()),
                    None => own.unwrap_or_else(|| self.new_facts()),
                });
                *stored = text;
            }
            held.known.clone().unwrap_or_else(|| self.new_facts())
        };
        drop(stored);
        self.announce();
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

    /// Calls the listener with each new state, until the result is dropped.
    pub(crate) fn subscribe(self: &Arc<Self>, listener: Listener) -> Subscription {
        let mut held = lock(&self.held);
        let id = held.next_id;
        held.next_id += 1;
        held.listeners.push((id, listener));
        Subscription { keeper: Arc::downgrade(self), id }
    }

    /// Calls the listeners when the state has changed, also by itself, as when a lease ends. The present state.
    pub(crate) fn announce(&self) -> State {
        let (state, _) = self.look();
        {
            let mut held = lock(&self.held);
            if held.told.as_ref() == Some(&state) {
                return state;
            }
            held.told = Some(state.clone());
            held.to_tell.push_back(state.clone());
            // In their order, and without a lock that a listener could wait for.
            if held.is_telling {
                return state;
            }
            held.is_telling = true;
        }
        // Also after a listener that panics, the next states are told.
        let telling = Telling(self);
        while let Some((next, listeners)) = self.next_to_tell() {
            for listener in listeners {
                listener(&next);
            }
        }
        drop(telling);
        state
    }

    fn next_to_tell(&self) -> Option<(State, Vec<Listener>)> {
        let mut held = lock(&self.held);
        let next = held.to_tell.pop_front();
        held.is_telling = next.is_some();
        Some((next?, held.listeners.iter().map(|(_, listener)| Arc::clone(listener)).collect()))
    }

    /// The present state, and whether its time is to be stored. Otherwise a program that is ended and started again would not know the
    /// time that it has seen.
    fn look(&self) -> (State, bool) {
        let held = &mut *lock(&self.held);
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
        let is_due = held.known.as_ref().map_or(false, |known| known.seen >= held.stored_seen + NOTICE_SECONDS);
        (state_of(held.known.as_ref(), now, around), is_due)
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

struct Telling<'a>(&'a Keeper);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        lock(&self.0.held).is_telling = false;
    }
}

/// Ends the calls of a listener when it is dropped.
#[must_use = "the listener is called until this is dropped"]
pub struct Subscription {
    keeper: Weak<Keeper>,
    id: usize,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(keeper) = self.keeper.upgrade() {
            lock(&keeper.held).listeners.retain(|(id, _)| *id != self.id);
        }
    }
}
