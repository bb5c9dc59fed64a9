//! An app that is told what to do: a line of JSON for each step, and a line with what it has led to for each answer. The time is in the
//! steps, and pauses are over at once.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use keyledger_client::{CarriedText, Client, Clock, DeviceIdentity, FileStorage, Place, Problem, State};
use serde_json::{json, Value};

#[derive(Clone, Default)]
struct ToldClock(Arc<Mutex<Duration>>);

impl Clock for ToldClock {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.elapsed()
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn pause(&self, _: Duration) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = ToldClock::default();
    let mut client = None;
    for line in io::stdin().lock().lines() {
        let step: Value = serde_json::from_str(&line?)?;
        *clock.0.lock().unwrap() = Duration::from_millis(step["now"].as_u64().unwrap());
        if step["do"] == "open" {
            client = Some(opened(&step, clock.clone())?);
        }
        let client = client.as_ref().ok_or("nothing was opened")?;
        let mut answer = done(client, text(&step, "do"), step["text"].as_str().unwrap_or(""))?;
        answer["state"] = of_state(&client.state());
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

fn opened(step: &Value, clock: ToldClock) -> Result<Client, Box<dyn std::error::Error>> {
    let machine_hash = Some(text(step, "machineHash").to_owned());
    let identity = DeviceIdentity { machine_hash, components: BTreeMap::new() };
    let place = Place::new(text(step, "tenantId"), text(step, "productId"))?;
    let client = Client::builder(place, FileStorage::new(text(step, "storage")))
        .server(text(step, "baseUrl"), text(step, "sdkKey"))
        .identity(move |_| Some(identity.clone()))
        .on_storage_error(|error| eprintln!("{error}"))
        .clock(clock)
        .build()?;
    Ok(client)
}

fn done(client: &Client, name: &str, text: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let outcome = match name {
        "open" => {
            let before = of_state(&client.state());
            client.load();
            return Ok(json!({ "before": before }));
        }
        "look" => return Ok(json!({})),
        "request" => return Ok(carried(Some(client.create_offline_request(text)?))),
        "release" => return Ok(carried(client.release()?)),
        "activate" => client.activate(text),
        "validate" => client.validate(),
        "startTrial" => client.start_trial(),
        "deactivate" => client.deactivate(),
        "importLicense" => client.import_license(text),
        "borrow" => client.borrow(Duration::from_secs(text.parse()?)),
        "close" => client.close(),
        name => return Err(format!("{name} is no step").into()),
    };
    Ok(outcome.map_or_else(|problem| json!({ "problem": code_of(&problem) }), |_| json!({})))
}

fn code_of(problem: &Problem) -> &'static str {
    problem.code.name()
}

fn carried(text: Option<CarriedText>) -> Value {
    text.map_or_else(|| json!({}), |carried| json!({ "text": carried.text }))
}

fn of_state(state: &State) -> Value {
    serde_json::from_str(&state.to_string()).unwrap()
}

fn text<'a>(step: &'a Value, name: &str) -> &'a str {
    step[name].as_str().unwrap_or_default()
}
