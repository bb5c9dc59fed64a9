//! An app that is told what to do: a line of JSON for each step, and a line with what it has led to for each answer. The time is in the
//! steps, and pauses are over at once. What a step needs is in the stories of `test/sdk/languages`.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use keyledger_client::{
    CarriedText, Client, Clock, DeviceIdentity, FileStorage, Place, Problem, State, Stop, Subscription,
    Value as Granted,
};
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

/// A run of the app, and the notices that were told in it since the last answer.
struct App {
    client: Client,
    told: Arc<Mutex<Vec<Value>>>,
    _listening: Subscription,
}

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let clock = ToldClock::default();
    let mut app = None;
    for line in io::stdin().lock().lines() {
        let step: Value = serde_json::from_str(&line?)?;
        *clock.0.lock().unwrap() = Duration::from_millis(step["now"].as_u64().ok_or("a step has no time")?);
        if step["do"] == "open" {
            app = Some(App::open(&step, clock.clone())?);
        }
        let app = app.as_ref().ok_or("nothing was opened")?;
        let mut answer = done(&app.client, text(&step, "do").unwrap_or(""), text(&step, "text").unwrap_or(""))?;
        answer["state"] = of_state(&app.client.state());
        answer["notices"] = std::mem::take(&mut *app.told.lock().unwrap()).into();
        writeln!(io::stdout(), "{answer}")?;
    }
    Ok(())
}

impl App {
    fn open(step: &Value, clock: ToldClock) -> Result<Self, Failed> {
        let needed = |name: &str| text(step, name).ok_or(format!("{name} is missing"));
        let place = Place::new(needed("tenantId")?, needed("productId")?)?;
        let identity = identity_in(step);
        let mut builder = Client::builder(place, FileStorage::new(needed("storage")?))
            .keys(texts(&step["keys"]))
            .identity(move |_| identity.clone())
            .require_signed_settings(step["enforceSettings"].as_bool().unwrap_or(false))
            .on_storage_error(|error| eprintln!("{error}"))
            .clock(clock);
        if let Some(address) = text(step, "baseUrl") {
            builder = builder.server(address, needed("sdkKey")?);
        }
        if let Some(built_at) = step["appBuiltAt"].as_i64() {
            builder = builder.app_built_at(built_at);
        }
        if let Some(days) = step["defaultTrialDays"].as_u64() {
            builder = builder.default_trial_days(days.try_into()?);
        }
        if let Some(id) = text(step, "userId") {
            builder = builder.user_id(id);
        }
        if let Some(name) = text(step, "deviceName") {
            builder = builder.device_name(name);
        }
        let (client, told) = (builder.build()?, Arc::<Mutex<Vec<Value>>>::default());
        let noted = Arc::clone(&told);
        let listening = client.on_notice(move |notice| noted.lock().unwrap().push(parsed(&notice.to_string())));
        Ok(Self { client, told, _listening: listening })
    }
}

/// What the device says of itself; none for one that says nothing.
fn identity_in(step: &Value) -> Option<DeviceIdentity> {
    let machine_hash = text(step, "machineHash").map(str::to_owned);
    let is_named = machine_hash.is_some() || step["components"].is_object();
    is_named.then(|| DeviceIdentity { machine_hash, components: texts(&step["components"]) })
}

fn done(client: &Client, name: &str, text: &str) -> Result<Value, Failed> {
    let outcome = match name {
        "open" => {
            let before = of_state(&client.state());
            client.load();
            return Ok(json!({ "before": before }));
        }
        "look" => return Ok(json!({})),
        "has" => return Ok(json!({ "granted": client.has(text) })),
        "value" => {
            return Ok(client.value(text).map_or_else(|| json!({}), |value| json!({ "value": of_value(value) })))
        }
        "refreshAfterPurchase" => return Ok(json!({ "changed": client.refresh_after_purchase() })),
        "request" => return Ok(carried(Some(client.create_offline_request(text)?))),
        "release" => return Ok(carried(client.release()?)),
        "activate" => client.activate(text),
        "activateInBrowser" => client.activate_in_browser(|_| {}, &Stop::new()),
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
    parsed(&state.to_string())
}

fn of_value(value: Granted) -> Value {
    match value {
        Granted::Granted => true.into(),
        Granted::Number(number) => number.into(),
        Granted::Text(text) => text.into(),
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("what the client prints is JSON")
}

fn text<'a>(step: &'a Value, name: &str) -> Option<&'a str> {
    step[name].as_str()
}

fn texts(object: &Value) -> BTreeMap<String, String> {
    let members = object.as_object().into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
}
