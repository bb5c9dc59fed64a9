//! The key store, with a Secret Service of the test: an unlocked one in a session of its own, and then the same one locked.
#![cfg(all(feature = "key-store", target_os = "linux"))]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use keyledger_client::{Client, KeyStore, Place, Status, Storage};

const DAEMON: &str = "/usr/bin/gnome-keyring-daemon";
const SESSION: &str = "/usr/bin/dbus-run-session";

fn place() -> Place {
    Place::new("acme", "editor").unwrap()
}

/// Runs a test of this file in a session of its own, after these words of a shell.
fn in_session(home: &Path, before: &str, test: &str) {
    let script = format!("{before}\nexec \"$0\" --exact {test} --ignored");
    let mut command = Command::new(SESSION);
    command.args(["--", "/bin/sh", "-c", &script]).arg(std::env::current_exe().unwrap());
    command.env("HOME", home).env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
    let ran = command.output().unwrap();
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && told.contains("1 passed"), "{told}{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn a_secret_service_keeps_the_license() {
    if ![DAEMON, SESSION, "/usr/bin/secret-tool"].iter().all(|program| Path::new(program).exists()) {
        println!("no Secret Service: install libsecret-tools, gnome-keyring and dbus");
        return;
    }
    let home = std::env::temp_dir().join(format!("keyledger-key-store-{}", std::process::id()));
    std::fs::create_dir(&home).unwrap();
    let unlocked = format!("printf pw | {DAEMON} --unlock --components=secrets");
    in_session(&home, &unlocked, "in_an_unlocked_key_store");
    // It cannot ask for the password there, as if the user had closed the question.
    in_session(&home, &format!("{DAEMON} --start --components=secrets"), "in_a_locked_key_store");
    in_session(&home, &unlocked, "in_the_key_store_that_is_unlocked_again");
    std::fs::remove_dir_all(home).unwrap();
    println!("a Secret Service has kept the license");
}

#[test]
#[ignore = "it is run in a session of its own"]
fn in_an_unlocked_key_store() {
    let storage = KeyStore::new(&place());
    assert_eq!(storage.read().unwrap(), None);
    // Longer than what secret-tool takes at once.
    for text in ["ä{\"a\":1}\n".repeat(3000), "{}".to_owned()] {
        storage.write(&text).unwrap();
        assert_eq!(KeyStore::new(&place()).read().unwrap(), Some(text));
    }
    let other = Place::new("acme", "viewer").unwrap();
    assert_eq!(KeyStore::new(&other).read().unwrap(), None);
    let listed = Command::new("secret-tool").args(["search", "--all", "service", "keyledger"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&listed.stdout).matches("secret = ").count(), 1);
}

#[test]
#[ignore = "it is run in a session of its own"]
fn in_a_locked_key_store() {
    let storage = KeyStore::new(&place());
    for error in [storage.read().err(), storage.write("three").err()] {
        let message = error.unwrap().to_string();
        assert!(message.contains("unlock the key store"), "{message}");
    }
    let errors = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&errors);
    let client = Client::builder(place(), storage)
        .keys([("k", "")])
        .on_storage_error(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    assert_eq!(client.load().status, Status::Unlicensed { trial_days: None });
    assert!(errors.load(Ordering::SeqCst) > 0);
}

#[test]
#[ignore = "it is run in a session of its own"]
fn in_the_key_store_that_is_unlocked_again() {
    assert_eq!(KeyStore::new(&place()).read().unwrap().as_deref(), Some("{}"));
}
