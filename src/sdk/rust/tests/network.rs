//! The transport with ureq, against a listener of the test.
#![cfg(feature = "ureq")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use keyledger_client::{Answer, Request, Transport, UreqTransport};

/// Answers one connection after another with these texts, and returns what was received.
fn serving(answers: &[&str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    let serve = move |answer: String| {
        let (mut stream, _) = listener.accept().unwrap();
        let received = received(&mut BufReader::new(&stream));
        stream.write_all(answer.as_bytes()).unwrap();
        received
    };
    (address, thread::spawn(move || answers.into_iter().map(serve).collect()))
}

fn received(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0);
    }
    let length = head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn request(url: String, body: Option<&str>) -> Request {
    let headers = vec![("x-service-sdk-key", "kl_sdk_1".to_owned()), ("content-type", "application/json".to_owned())];
    Request { url, headers, body: body.map(str::to_owned), timeout: Duration::from_secs(10) }
}

#[test]
fn answers_of_any_status_are_answers() {
    let body = r#"{"error":"busy"}"#;
    let busy = format!(
        "HTTP/1.1 429 Busy\r\nretry-after: 60\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let (address, serving) = serving(&[&busy]);
    let answer =
        UreqTransport::new().send(&request(format!("{address}/acme/editor/activate"), Some(r#"{"a":1}"#))).unwrap();
    assert_eq!(answer, Answer { status: 429, body: body.into(), retry_after: Some("60".into()) });
    let received = serving.join().unwrap().remove(0);
    assert!(
        received.starts_with("POST /acme/editor/activate HTTP/1.1\r\n") && received.ends_with("\r\n\r\n{\"a\":1}"),
        "{received}"
    );
    let head = received.to_lowercase();
    assert!(
        head.contains("\r\nx-service-sdk-key: kl_sdk_1\r\n") && head.contains("\r\ncontent-type: application/json\r\n")
    );
}

#[test]
fn redirects_are_followed() {
    let (address, serving) = serving(&[
        "HTTP/1.1 302 Found\r\nlocation: /there\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
    ]);
    let answer = UreqTransport::new().send(&request(format!("{address}/here"), None)).unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, "{}"));
    let received = serving.join().unwrap();
    assert!(received[0].starts_with("GET /here ") && received[1].starts_with("GET /there "));
}

#[test]
fn what_never_ends_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Request {
        timeout: Duration::from_millis(300),
        ..request(format!("http://{}/", listener.local_addr().unwrap()), None)
    };
    let start = Instant::now();
    assert!(UreqTransport::new().send(&silent).is_err());
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn no_answer_is_an_error() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(UreqTransport::new().send(&request(format!("http://{closed}/"), None)).is_err());
    let (address, serving) = serving(&["HTTP/1.1 200 OK\r\ncontent-length: 20\r\nconnection: close\r\n\r\n{}"]);
    assert!(UreqTransport::new().send(&request(address, None)).is_err());
    serving.join().unwrap();
}

#[test]
fn a_long_answer_is_not_read_to_its_end() {
    let long = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}", "x".repeat(270_000));
    let (address, serving) = serving(&[&long]);
    let answer = UreqTransport::new().send(&request(address, None)).unwrap();
    assert_eq!(answer.body.len(), 262_144);
    serving.join().unwrap();
}
