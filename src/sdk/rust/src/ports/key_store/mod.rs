//! Keeps the text in the key store of the system.

mod keychain;
mod secret_service;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::storage::Storage;
use crate::place::Place;
use crate::programs::{run, Ran};
use crate::text::bytes::random_hex;

/// With time for the user to unlock the key store.
const MOST: Duration = Duration::from_secs(60);

/// Keeps it in the key store of the user, in place of a file: the Secret Service on Linux, with the program `secret-tool`, and the
/// Keychain on macOS, with `security`. The text is never among the arguments of a program. On Windows it answers that there is none.
///
/// A key store that is locked is an error, which
/// [`on_storage_error`](crate::ClientBuilder::on_storage_error) tells, and nothing that it holds is replaced before it could be read.
/// Each access starts programs, and takes some tens of milliseconds. In an app that calls [`Client::start`](crate::Client::start), reading
/// the state never waits for that.
///
/// ```no_run
/// use keyledger_client::{Client, KeyStore, Place};
///
/// let place = Place::new("acme", "editor")?;
/// let client = Client::builder(place.clone(), KeyStore::new(&place))
///     .server("https://licenses.example.com", "kl_sdk_1")
///     .on_storage_error(|error| eprintln!("the license is not stored: {error}"))
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct KeyStore {
    items: Box<dyn Items>,
    was_read: AtomicBool,
}

/// What a key store keeps of one text: items with a name, each of which it replaces as a whole.
trait Items: Send + Sync {
    /// How many bytes one item takes.
    fn most(&self) -> usize;
    fn get(&self, name: &str) -> io::Result<Option<String>>;
    fn set(&self, name: &str, text: &str) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// The item with the beginning of the text, after a line with the number of its parts and the name of the others.
const FIRST: &str = "0";

/// No text of a client has more parts.
const MOST_PARTS: usize = 1000;

impl KeyStore {
    /// Keeps what an app remembers for this product.
    #[must_use]
    pub fn new(place: &Place) -> Self {
        Self::with(match std::env::consts::OS {
            "macos" => Box::new(keychain::Keychain::new(place)),
            "windows" => Box::new(NoKeyStore),
            _ => Box::new(secret_service::SecretService::new(place)),
        })
    }

    fn with(items: Box<dyn Items>) -> Self {
        Self { items, was_read: AtomicBool::new(false) }
    }

    /// The whole text; none when a part is missing, as when another process replaces it.
    fn whole(&self, head: &Head<'_>) -> io::Result<Option<String>> {
        let mut text = head.beginning.to_owned();
        for name in head.others() {
            match self.items.get(&name)? {
                Some(part) => text.push_str(&part),
                None => return Ok(None),
            }
        }
        Ok(Some(text))
    }
}

impl Storage for KeyStore {
    fn read(&self) -> io::Result<Option<String>> {
        for _ in 0..3 {
            let first = self.items.get(FIRST)?;
            // What somebody else has put there is none of the client.
            let text = match first.as_deref().and_then(Head::read) {
                Some(head) => self.whole(&head)?,
                None => {
                    self.was_read.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
            };
            if text.is_some() {
                self.was_read.store(true, Ordering::Relaxed);
                return Ok(text);
            }
        }
        Err(failed("the key store has lost a part of what was kept in it"))
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let former = self.items.get(FIRST)?;
        if former.is_some() && !self.was_read.load(Ordering::Relaxed) {
            return Err(failed("what the key store holds was not read yet, and is not replaced"));
        }
        let parts = parts_of(text, self.items.most());
        if parts.len() > MOST_PARTS {
            return Err(failed("the text is too long for the key store"));
        }
        let name = random_hex(8);
        let head = Head { count: parts.len(), name: &name, beginning: parts[0] };
        for (name, part) in head.others().zip(&parts[1..]) {
            self.items.set(&name, part)?;
        }
        // Until here the former text is the whole one, and from here on this one.
        self.items.set(FIRST, &format!("{} {name}\n{}", head.count, head.beginning))?;
        self.was_read.store(true, Ordering::Relaxed);
        for name in former.as_deref().and_then(Head::read).iter().flat_map(Head::others) {
            // What stays is never read again.
            let _ = self.items.remove(&name);
        }
        Ok(())
    }
}

struct Head<'a> {
    count: usize,
    name: &'a str,
    beginning: &'a str,
}

impl<'a> Head<'a> {
    fn read(first: &'a str) -> Option<Self> {
        let (line, beginning) = first.split_once('\n')?;
        let (count, name) = line.split_once(' ')?;
        let count = count.parse().ok().filter(|count| *count <= MOST_PARTS)?;
        Some(Self { count, name, beginning })
    }

    /// The names of the other parts.
    fn others(&self) -> impl Iterator<Item = String> + '_ {
        (1..self.count).map(move |number| format!("{}.{number}", self.name))
    }
}

/// The text in parts of so many bytes at most, with room for the line before the first; one part at least.
fn parts_of(text: &str, most: usize) -> Vec<&str> {
    let most = most - 40;
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > most {
        let end = (0..=most).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (part, more) = rest.split_at(end);
        parts.push(part);
        rest = more;
    }
    parts.push(rest);
    parts
}

/// What a program of the key store has led to, or what to do when there is none.
fn asked(program: &str, arguments: &[&str], input: &str, advice: &str) -> io::Result<Ran> {
    run(program, arguments, input, MOST).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(advice),
        io::ErrorKind::TimedOut => failed("the key store did not answer: unlock it"),
        _ => error,
    })
}

/// Why the key store does not do it, in its own words.
fn refused(what: &str, ran: &Ran) -> io::Error {
    let complaint = ran.complaint.trim().lines().last().unwrap_or_default().to_owned();
    failed(format!("{what}: unlock the key store, or keep the license in a file ({complaint})"))
}

fn failed(message: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::Other, message.into())
}

struct NoKeyStore;

impl NoKeyStore {
    fn none<T>() -> io::Result<T> {
        Err(failed("there is no key store for this system: keep the license in a file"))
    }
}

impl Items for NoKeyStore {
    fn most(&self) -> usize {
        usize::MAX
    }

    fn get(&self, _: &str) -> io::Result<Option<String>> {
        Self::none()
    }

    fn set(&self, _: &str, _: &str) -> io::Result<()> {
        Self::none()
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Self::none()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::locks::lock;

    #[derive(Clone, Default)]
    struct Few(Arc<Mutex<BTreeMap<String, String>>>);

    impl Items for Few {
        fn most(&self) -> usize {
            60
        }

        fn get(&self, name: &str) -> io::Result<Option<String>> {
            Ok(lock(&self.0).get(name).cloned())
        }

        fn set(&self, name: &str, text: &str) -> io::Result<()> {
            assert!(text.len() <= self.most(), "{} bytes", text.len());
            lock(&self.0).insert(name.to_owned(), text.to_owned());
            Ok(())
        }

        fn remove(&self, name: &str) -> io::Result<()> {
            lock(&self.0).remove(name);
            Ok(())
        }
    }

    #[test]
    fn a_long_text_is_kept_in_parts_and_the_former_ones_are_removed() {
        let few = Few::default();
        let storage = KeyStore::with(Box::new(few.clone()));
        assert_eq!(storage.read().unwrap(), None);
        for text in ["ä€😀x".repeat(90), String::new(), "\n\n1 2\n".repeat(9), "{}".into()] {
            storage.write(&text).unwrap();
            assert_eq!(storage.read().unwrap(), Some(text));
        }
        assert_eq!(lock(&few.0).len(), 1);
    }

    #[test]
    fn what_was_never_read_is_not_replaced() {
        let few = Few::default();
        let first = KeyStore::with(Box::new(few.clone()));
        first.write("one").unwrap();
        first.write("two").unwrap();
        let second = KeyStore::with(Box::new(few));
        assert!(second.write("three").is_err());
        assert_eq!(second.read().unwrap().as_deref(), Some("two"));
        second.write("three").unwrap();
        assert_eq!(first.read().unwrap().as_deref(), Some("three"));
    }

    #[test]
    fn a_part_that_is_missing_is_an_error_and_what_is_of_others_is_none() {
        let few = Few::default();
        let storage = KeyStore::with(Box::new(few.clone()));
        storage.write(&"x".repeat(100)).unwrap();
        lock(&few.0).retain(|name, _| name == FIRST);
        assert!(storage.read().is_err());
        lock(&few.0).insert(FIRST.into(), "a password".into());
        assert_eq!(storage.read().unwrap(), None);
        lock(&few.0).insert(FIRST.into(), "99999999999 a\npassword".into());
        assert_eq!(storage.read().unwrap(), None);
    }
}
