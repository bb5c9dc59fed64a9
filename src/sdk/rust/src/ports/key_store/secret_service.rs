//! The Secret Service of Linux desktops: GNOME Keyring, KWallet, KeePassXC. `secret-tool` speaks to it.

use std::io;

use super::{asked, refused, Items};
use crate::place::Place;
use crate::programs::Ran;

/// `secret-tool` keeps 8192 bytes of what is longer, and calls that a success.
const MOST_BYTES: usize = 8000;
const ADVICE: &str = "install secret-tool, which is in libsecret-tools on Debian, or keep the license in a file";

pub(super) struct SecretService {
    tenant_id: String,
    product_id: String,
}

impl SecretService {
    pub(super) fn new(place: &Place) -> Self {
        Self { tenant_id: place.tenant_id().to_owned(), product_id: place.product_id().to_owned() }
    }

    fn ask(&self, command: &[&str], name: &str, input: &str) -> io::Result<Ran> {
        let item = ["service", "keyledger", "tenant", &self.tenant_id, "product", &self.product_id, "part", name];
        asked("secret-tool", &[command, &item].concat(), input, ADVICE)
    }
}

impl Items for SecretService {
    fn most(&self) -> usize {
        MOST_BYTES
    }

    fn get(&self, name: &str) -> io::Result<Option<String>> {
        let found = self.ask(&["lookup"], name, "")?;
        if found.is_success {
            return Ok(Some(found.printed));
        }
        // It fails alike for what is not there and for what is locked, which a search finds also then.
        let searched = self.ask(&["search", "--all"], name, "")?;
        if searched.is_success && searched.printed.is_empty() {
            return Ok(None);
        }
        Err(refused("the license cannot be read", if searched.is_success { &found } else { &searched }))
    }

    fn set(&self, name: &str, text: &str) -> io::Result<()> {
        let label = format!("--label=License of {}", self.product_id);
        let stored = self.ask(&["store", &label], name, text)?;
        if stored.is_success {
            Ok(())
        } else {
            Err(refused("the license cannot be stored", &stored))
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.ask(&["clear"], name, "").map(drop)
    }
}
