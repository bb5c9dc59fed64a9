//! Who is told of what happens.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

use crate::locks::lock;
use crate::notices::Notice;
use crate::state::State;

/// What listeners are told.
pub(super) enum News {
    State(State),
    Notice(Notice),
}

/// Who is told of one kind of news.
#[derive(Clone)]
pub(crate) enum Listener {
    State(Arc<dyn Fn(&State) + Send + Sync>),
    Notice(Arc<dyn Fn(&Notice) + Send + Sync>),
}

impl Listener {
    fn tell(&self, news: &News) {
        match (self, news) {
            (Self::State(listener), News::State(state)) => listener(state),
            (Self::Notice(listener), News::Notice(notice)) => listener(notice),
            _ => {}
        }
    }
}

#[derive(Default)]
pub(super) struct Listeners(Mutex<Held>);

#[derive(Default)]
struct Held {
    listeners: Vec<(usize, Listener)>,
    next_id: usize,
    to_tell: VecDeque<News>,
    is_telling: bool,
}

impl Listeners {
    pub(super) fn add(self: &Arc<Self>, listener: Listener) -> Subscription {
        let mut held = lock(&self.0);
        let id = held.next_id;
        held.next_id += 1;
        held.listeners.push((id, listener));
        Subscription { listeners: Arc::downgrade(self), id }
    }

    /// Adds what is to be told with the next [`Listeners::tell`].
    pub(super) fn add_news(&self, news: impl IntoIterator<Item = News>) {
        lock(&self.0).to_tell.extend(news);
    }

    /// Tells all that was added, in its order, and without a lock that a listener could wait for: a thread that is telling already does it.
    pub(super) fn tell(&self) {
        {
            let mut held = lock(&self.0);
            if held.is_telling {
                return;
            }
            held.is_telling = true;
        }
        let telling = Telling(self);
        while let Some((news, listeners)) = self.next() {
            listeners.iter().for_each(|listener| listener.tell(&news));
        }
        // From here on another thread may be telling.
        std::mem::forget(telling);
    }

    fn next(&self) -> Option<(News, Vec<Listener>)> {
        let mut held = lock(&self.0);
        let next = held.to_tell.pop_front();
        held.is_telling = next.is_some();
        Some((next?, held.listeners.iter().map(|(_, listener)| listener.clone()).collect()))
    }
}

/// After a listener that panics, the next news are told as well.
struct Telling<'a>(&'a Listeners);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        lock(&self.0 .0).is_telling = false;
    }
}

/// Ends the calls of a listener when it is dropped.
#[must_use = "the listener is called until this is dropped"]
pub struct Subscription {
    listeners: Weak<Listeners>,
    id: usize,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(listeners) = self.listeners.upgrade() {
            lock(&listeners.0).listeners.retain(|(id, _)| *id != self.id);
        }
    }
}
