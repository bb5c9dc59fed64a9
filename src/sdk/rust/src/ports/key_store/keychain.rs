//! The Keychain of macOS. `security` reads what it is to do from its input, where no other user sees it.

use std::io;

use data_encoding::BASE64URL_NOPAD;

use super::{asked, refused, Items};
use crate::place::Place;
use crate::programs::Ran;

/// A line of its input has 4096 bytes at most, in which the text is encoded and the names of its item are.
const MOST_BYTES: usize = 2000;
const ADVICE: &str = "the program security is missing: keep the license in a file";
/// What `security` answers when there is no such item.
const NOT_FOUND: &str = "could not be found";

pub(super) struct Keychain {
    account: String,
}

impl Keychain {
    pub(super) fn new(place: &Place) -> Self {
        Self { account: format!("{}/{}", place.tenant_id(), place.product_id()) }
    }

    fn ask(&self, command: &str, name: &str, more: &str) -> io::Result<Ran> {
        asked("/usr/bin/security", &["-i"], &self.line(command, name, more), ADVICE)
    }

    fn line(&self, command: &str, name: &str, more: &str) -> String {
        let account = quoted(&format!("{}/{name}", self.account));
        format!("{command} -s keyledger -a {account}{more}\n")
    }
}

impl Items for Keychain {
    fn most(&self) -> usize {
        MOST_BYTES
    }

    fn get(&self, name: &str) -> io::Result<Option<String>> {
        let found = self.ask("find-generic-password", name, " -w")?;
        let bytes = BASE64URL_NOPAD.decode(found.printed.trim().as_bytes()).ok().filter(|bytes| !bytes.is_empty());
        match bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            Some(text) => Ok(Some(text)),
            None if found.complaint.contains(NOT_FOUND) => Ok(None),
            None => Err(refused("the license cannot be read", &found)),
        }
    }

    fn set(&self, name: &str, text: &str) -> io::Result<()> {
        let more = format!(" -U -w {}", BASE64URL_NOPAD.encode(text.as_bytes()));
        let stored = self.ask("add-generic-password", name, &more)?;
        // With `-i` it may call a failure a success.
        if self.get(name)?.as_deref() == Some(text) {
            Ok(())
        } else {
            Err(refused("the license cannot be stored", &stored))
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.ask("delete-generic-password", name, "").map(drop)
    }
}

/// As `security` reads a word that may hold spaces.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_security_holds_the_names_as_they_are() {
        let keychain = Keychain::new(&Place::new("acme", r#"an "editor"\"#).unwrap());
        assert_eq!(
            keychain.line("find-generic-password", "0", " -w"),
            "find-generic-password -s keyledger -a \"acme/an \\\"editor\\\"\\\\/0\" -w\n"
        );
    }
}
