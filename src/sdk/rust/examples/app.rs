//! An app that asks for a license key when it has none, and says what it may do: `app https://licenses.example.com ACME-7KQ2M-…`.

use std::env;
use std::error::Error;
use std::path::PathBuf;

use keyledger_client::{Client, FileStorage, Place, Status};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let address = words.next().ok_or("usage: app <address of the license server> [license key]")?;
    let home = PathBuf::from(env::var_os("HOME").ok_or("HOME is not set")?);
    let storage = FileStorage::new(home.join(".config/acme-editor/license.json"));
    let client = Client::builder(Place::new("acme", "editor")?, storage)
        .server(address, "kl_sdk_1")
        .app_version(env!("CARGO_PKG_VERSION"))
        .build()?;
    let _listening = client.on_notice(|notice| eprintln!("{notice}"));

    client.load();
    let outcome = match words.next() {
        Some(key) => client.activate(&key),
        None => client.validate(),
    };
    if let Err(problem) = outcome {
        eprintln!("{}: {}", problem.code, problem.message);
    }
    match client.state().status {
        Status::Licensed(grant) => println!("good without a network until {}", grant.until),
        Status::Offline { grant, .. } => println!("connect before {}", grant.until),
        _ => println!("enter a license key"),
    }
    let most = client.value("projects").and_then(|value| value.as_number()).unwrap_or(3.0);
    println!("export: {}, up to {most} projects", client.has("export"));
    Ok(())
}
