//! Measures how long it is from the first line of an app to its first state, without a network.

use std::error::Error;
use std::time::Instant;

use keyledger_client::{Client, FileStorage, Place};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: start FILE")?;
    for _ in 0..5 {
        let start = Instant::now();
        // An app that never reaches a server ships the keys. Those that do start as fast: nothing is sent before a call.
        let keys = [("21fe31dfa154a261", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")];
        let client = Client::builder(Place::new("acme", "editor")?, FileStorage::new(&path)).keys(keys).build()?;
        let state = client.load();
        println!("{:.2} ms: {state}", start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(())
}
