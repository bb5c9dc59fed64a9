//! What an app sees of a client, with a transport and a clock of the test.

mod common;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{answer, builder, place, Scripted, TestClock};
use keyledger_client::{
    Answer, BuildError, Client, MemoryStorage, Place, ProblemCode, Request, Status, Stop, Storage, StorageFailed,
};

fn opened(transport: &Scripted, clock: &TestClock) -> Client {
    builder(MemoryStorage::new(), transport, clock).build().unwrap()
}

fn no_network() -> Scripted {
    Scripted::new(|_| Err("there is no network".into()))
}

fn free_tier() -> Scripted {
    Scripted::new(|_| answer(200, r#"{"free_tier_enabled":true}"#))
}

#[test]
fn it_may_be_shared_between_threads() {
    fn is_shared<T: Clone + Send + Sync + 'static>(_: &T) {}
    is_shared(&opened(&no_network(), &TestClock::default()));
    is_shared(&Stop::new());
}

#[test]
fn what_cannot_work_is_refused_at_once() {
    let set =
        |address: &str, key: &str| Client::builder(place(), MemoryStorage::new()).server(address, key).build().err();
    for address in [
        "",
        "licenses.example.com",
        "https://",
        "ftp://licenses.example.com",
        "https://a b",
        "https://a/?x",
        "https://ä",
    ] {
        assert_eq!(set(address, "kl_sdk_1"), Some(BuildError::Address), "{address}");
    }
    assert_eq!(set("https://licenses.example.com", ""), Some(BuildError::SdkKey));
    assert_eq!(set("https://licenses.example.com", "a\r\nb"), Some(BuildError::SdkKey));
    assert_eq!(Client::builder(place(), MemoryStorage::new()).build().err(), Some(BuildError::NothingToBelieve));
    assert!(Place::new("acme", "..").is_err() && Place::new("", "editor").is_err());
}

#[test]
fn a_client_without_a_server_sends_nothing() {
    let transport = no_network();
    let keys = [("21fe31dfa154a261", "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")];
    let client =
        Client::builder(place(), MemoryStorage::new()).keys(keys).transport(transport.clone()).build().unwrap();
    assert_eq!(client.state().status, Status::Starting);
    assert_eq!(client.load().status, Status::Unlicensed { trial_days: None });
    assert_eq!(client.activate("ACME-1").unwrap_err().code, ProblemCode::NoServer);
    assert_eq!(client.deactivate().unwrap_err().code, ProblemCode::NoLicense);
    assert_eq!(client.import_license("nothing").unwrap_err().code, ProblemCode::Malformed);
    assert_eq!(client.release(), Ok(None));
    let request = client.create_offline_request("ACME-1").unwrap();
    assert!(
        request.text.starts_with("-----BEGIN KEYLEDGER REQUEST-----\nv4.public.")
            && request.token.starts_with("v4.public.")
    );
    assert_eq!(transport.sent(), 0);
}

#[test]
fn three_attempts_are_made_with_jitter_between_them() {
    let (transport, clock) = (no_network(), TestClock::default());
    let problem = opened(&transport, &clock).validate().unwrap_err();
    assert_eq!(problem.code, ProblemCode::Offline);
    assert_eq!(transport.sent(), 3);
    let paused = clock.paused.lock().unwrap().clone();
    assert!(
        paused.len() == 2 && paused[0] <= Duration::from_millis(500) && paused[1] <= Duration::from_secs(1),
        "{paused:?}"
    );
}

#[test]
fn a_pause_that_the_server_asks_for_is_kept_by_later_calls() {
    let busy =
        |_: &Request| Ok(Answer { status: 429, body: r#"{"error":"busy"}"#.into(), retry_after: Some("60".into()) });
    let (transport, clock) = (Scripted::new(busy), TestClock::default());
    let client = opened(&transport, &clock);
    for _ in 0..2 {
        let problem = client.activate("ACME-1").unwrap_err();
        assert_eq!((problem.code, problem.retry_after), (ProblemCode::RateLimited, Some(Duration::from_secs(60))));
    }
    assert_eq!(transport.sent(), 1);
    clock.advance(Duration::from_secs(61));
    client.activate("ACME-1").unwrap_err();
    assert_eq!(transport.sent(), 2);
}

#[test]
fn a_request_says_what_the_reference_says() {
    let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
    let told = Arc::clone(&seen);
    let transport = Scripted::new(move |request| {
        told.lock().unwrap().push(request.clone());
        answer(404, r#"{"error":"no such license","reason":"not_found"}"#)
    });
    let client = builder(MemoryStorage::new(), &transport, &TestClock::default())
        .app_version("1.4.0")
        .app_built_at(1_793_000_000)
        .device_name("ada-laptop")
        .build()
        .unwrap();
    assert_eq!(client.activate("ACME-1").unwrap_err().code, ProblemCode::NotFound);
    let request = seen.lock().unwrap().remove(0);
    assert_eq!(request.url, "https://licenses.example.com/acme/editor/activate");
    assert!(!format!("{request:?}").contains("ACME-1"));
    let headers = [("x-service-sdk-key", "kl_sdk_1".to_owned()), ("content-type", "application/json".to_owned())];
    assert_eq!((request.headers, request.timeout), (headers.to_vec(), Duration::from_secs(15)));
    let mut body: serde_json::Value = serde_json::from_str(&request.body.unwrap()).unwrap();
    let install_id = body["free_tier_instance_id"].take();
    assert_eq!(install_id.as_str().map(str::len), Some(32));
    let expected = serde_json::json!({
        "license_key": "ACME-1", "instance_name": "ada-laptop", "free_tier_instance_id": null, "sdk": "rust", "sdk_version": "0.1.0",
        "app_version": "1.4.0", "app_built_at": 1_793_000_000, "lease_version": 2,
    });
    assert_eq!(body, expected);
}

#[test]
fn what_is_too_long_or_no_answer_is_not_genuine() {
    let long = format!(r#"{{"free_tier_enabled":true,"more":"{}"}}"#, "x".repeat(65_536));
    for body in [long.as_str(), "<h1>Hello", "", "[]", r#"{"free_tier_enabled":1}"#] {
        let body = body.to_owned();
        let client = opened(&Scripted::new(move |_| answer(200, &body)), &TestClock::default());
        assert_eq!(client.validate().unwrap_err().code, ProblemCode::NotGenuine);
        assert_eq!(client.state().status, Status::Unlicensed { trial_days: None });
    }
}

#[test]
fn unsigned_settings_are_taken_unless_signed_ones_are_required() {
    let client = opened(&free_tier(), &TestClock::default());
    assert_eq!(client.validate().unwrap().status, Status::Free { trial_days: None });
    let strict = builder(MemoryStorage::new(), &free_tier(), &TestClock::default())
        .require_signed_settings(true)
        .build()
        .unwrap();
    assert_eq!(strict.validate().unwrap_err().code, ProblemCode::NotGenuine);
}

/// A transport that waits for the test, and the ends that the test holds: what is sent, and what lets it go on.
fn held_back() -> (Scripted, Receiver<()>, Sender<()>) {
    let ((arrived, arrives), (go, goes)) = (channel(), channel::<()>());
    let ends = Mutex::new((arrived, goes));
    let transport = Scripted::new(move |_| {
        let (arrived, goes) = &*ends.lock().unwrap();
        // The test waits for the first one alone.
        let _ = arrived.send(());
        goes.recv().unwrap();
        answer(200, r#"{"free_tier_enabled":true}"#)
    });
    (transport, arrives, go)
}

#[test]
fn the_state_does_not_wait_for_a_request_and_calls_share_one() {
    let (transport, arrives, go) = held_back();
    let client = opened(&transport, &TestClock::default());
    client.load();
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let client = client.clone();
            thread::spawn(move || client.validate())
        })
        .collect();
    arrives.recv().unwrap();
    assert_eq!(client.state().status, Status::Unlicensed { trial_days: None });
    assert!(!client.has("pro") && client.value("pro").is_none());
    // Most of the others are waiting by then. One that comes later sends a request of its own, which is answered as well.
    thread::sleep(Duration::from_millis(300));
    (0..8).for_each(|_| go.send(()).unwrap());
    for call in calls {
        assert_eq!(call.join().unwrap().unwrap().status, Status::Free { trial_days: None });
    }
    assert!(transport.sent() < 8, "{}", transport.sent());
}

#[test]
fn listeners_are_told_of_each_state_until_they_end() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let client = opened(&free_tier(), &TestClock::default());
    let noted = Arc::clone(&told);
    let reader = client.clone();
    let subscription = client.subscribe(move |state| {
        assert_eq!(&reader.state(), state);
        noted.lock().unwrap().push(state.to_string());
    });
    client.load();
    client.validate().unwrap();
    client.validate().unwrap();
    drop(subscription);
    let expected = [r#"{"status":"unlicensed","clockSetBack":false}"#, r#"{"status":"free","clockSetBack":false}"#];
    assert_eq!(*told.lock().unwrap(), expected);
    assert_eq!(Arc::strong_count(&told), 1);
}

#[test]
fn after_a_listener_that_panics_the_client_goes_on() {
    let client = opened(&free_tier(), &TestClock::default());
    let subscription = client.subscribe(|_| panic!("a listener of the test"));
    let other = client.clone();
    assert!(thread::spawn(move || other.load()).join().is_err());
    drop(subscription);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let _subscription = client.subscribe(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(client.validate().unwrap().status, Status::Free { trial_days: None });
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// A storage that can be read, and not written.
struct Full;

impl Storage for Full {
    fn read(&self) -> io::Result<Option<String>> {
        Ok(None)
    }

    fn write(&self, _: &str) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Other, "the disk is full"))
    }
}

#[test]
fn a_storage_that_fails_is_told_and_nothing_signed_is_given_out() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&errors);
    let client = builder(Full, &free_tier(), &TestClock::default())
        .on_storage_error(move |error| noted.lock().unwrap().push(error.to_string()))
        .build()
        .unwrap();
    assert_eq!(client.validate().unwrap().status, Status::Free { trial_days: None });
    assert_eq!(client.create_offline_request("ACME-1"), Err(StorageFailed));
    assert!(errors.lock().unwrap().iter().all(|error| error == "the disk is full"));
    assert!(!errors.lock().unwrap().is_empty());
}

#[test]
fn the_time_is_stored_so_that_a_clock_that_is_set_back_is_noticed_after_a_restart() {
    let (storage, transport, clock) = (Arc::new(MemoryStorage::new()), no_network(), TestClock::default());
    let client = builder(Shared(Arc::clone(&storage)), &transport, &clock).build().unwrap();
    client.load();
    clock.advance(Duration::from_secs(3600));
    assert!(!client.state().clock_set_back);
    *clock.now.lock().unwrap() = Duration::ZERO;
    let again = builder(Shared(storage), &transport, &clock).build().unwrap();
    assert!(again.load().clock_set_back);
}

struct Shared(Arc<MemoryStorage>);

impl Storage for Shared {
    fn read(&self) -> io::Result<Option<String>> {
        self.0.read()
    }

    fn write(&self, text: &str) -> io::Result<()> {
        self.0.write(text)
    }
}

#[test]
fn a_started_client_validates_at_once_and_ends_when_it_is_told_to() {
    let transport = free_tier();
    let client = opened(&transport, &TestClock::default());
    let (told, tells) = channel();
    let told = Mutex::new(told);
    let _subscription = client.subscribe(move |state| drop(told.lock().unwrap().send(state.status.clone())));
    assert_eq!(client.until_next_validation(), Duration::ZERO);
    let running = client.start().unwrap();
    assert!(tells.iter().any(|status| status == Status::Free { trial_days: None }));
    running.join();
    assert_eq!(transport.sent(), 1);
    assert!(client.until_next_validation() > Duration::from_secs(10 * 3600));
}

#[test]
fn what_is_stopped_before_it_runs_sends_nothing() {
    let transport = free_tier();
    let stop = Stop::new();
    stop.stop();
    opened(&transport, &TestClock::default()).run(&stop);
    assert_eq!(transport.sent(), 0);
}
