//! Measures how long it is from the first line of an app to its first state, without a network, with the license that a file holds.

use std::error::Error;
use std::time::Instant;

use keyledger_client::{Client, FileStorage, Place};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (file, tenant, product, key) = match words.as_slice() {
        [file, tenant, product, key_id, key] => (file, tenant, product, (key_id.as_str(), key.as_str())),
        _ => return Err("usage: start <file> <tenant id> <product id> <key id> <public key>".into()),
    };
    for _ in 0..5 {
        let start = Instant::now();
        // An app that never reaches a server ships the keys. Those that do start as fast: nothing is sent before a call.
        let place = Place::new(tenant, product)?;
        let client = Client::builder(place, FileStorage::new(file)).keys([key]).build()?;
        let state = client.load();
        println!("{:.2} ms: {state}", start.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(())
}
