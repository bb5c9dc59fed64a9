//! An app with a license: `cargo run --example app -- ACME-7KQ2M-…` activates it.

use std::error::Error;

use keyledger_client::{Client, FileStorage, Place, State, Status};

fn main() -> Result<(), Box<dyn Error>> {
    let variable = |name: &str| std::env::var(name).map_err(|_| format!("set {name}"));
    let place = Place::new(variable("KEYLEDGER_TENANT")?, variable("KEYLEDGER_PRODUCT")?)?;
    let client = Client::builder(place, FileStorage::new("keyledger-example/license.json"))
        .server(variable("KEYLEDGER_URL")?, variable("KEYLEDGER_SDK_KEY")?)
        .app_version(env!("CARGO_PKG_VERSION"))
        .build()?;
    println!("{}", title(&client.load()));
    let outcome = match std::env::args().nth(1) {
        Some(key) => client.activate(&key),
        None => client.validate(),
    };
    println!("{}", title(&outcome?));
    println!("export: {}", client.has("export"));
    Ok(())
}

fn title(state: &State) -> String {
    match &state.status {
        Status::Licensed(grant) | Status::Fallback(grant) => {
            format!("licensed, until {} without a network", grant.until)
        }
        Status::Offline { grant, .. } => format!("offline: connect before {}", grant.until),
        Status::Trial { until } => format!("the trial ends at {until}"),
        Status::Unlicensed { .. } | Status::Free { .. } => "enter a license key".to_owned(),
        _ => state.to_string(),
    }
}
