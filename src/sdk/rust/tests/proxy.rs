//! The proxy of the environment: alone in its process, since it sets variables.
#![cfg(feature = "ureq")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use keyledger_client::{Request, Transport, UreqTransport};

#[test]
fn requests_go_over_the_proxy_but_those_that_are_excepted() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let secure = TcpListener::bind("127.0.0.1:0").unwrap();
    for name in ["http_proxy", "https_proxy", "no_proxy", "REQUEST_METHOD"] {
        std::env::remove_var(name);
    }
    std::env::set_var("HTTP_PROXY", format!("http://{}", proxy.local_addr().unwrap()));
    std::env::set_var("HTTPS_PROXY", format!("http://{}", secure.local_addr().unwrap()));
    std::env::set_var("NO_PROXY", "example.org, localhost.localdomain");
    let serving = thread::spawn(move || {
        let (mut stream, _) = proxy.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut asked = String::new();
        let mut skip_head =
            |asked: &mut String| while !asked.ends_with("\r\n\r\n") && reader.read_line(asked).unwrap() > 0 {};
        skip_head(&mut asked);
        if asked.starts_with("CONNECT ") {
            stream.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
            skip_head(&mut String::new());
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nproxy").unwrap();
        asked
    });
    let transport = UreqTransport::new();
    let to = |url: &str| Request { url: url.into(), headers: Vec::new(), body: None, timeout: Duration::from_secs(10) };
    let answer = transport.send(&to("http://licenses.example.com/acme")).unwrap();
    assert_eq!(answer.body, "proxy");
    assert!(serving.join().unwrap().contains("licenses.example.com"));
    let (asked, asks) = channel();
    thread::spawn(move || {
        let (mut stream, _) = secure.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        // What comes after it is a matter of TLS.
        stream.write_all(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").unwrap();
        asked.send(line).unwrap();
    });
    assert!(transport.send(&to("https://licenses.example.com/acme")).is_err());
    assert_eq!(asks.recv().unwrap(), "CONNECT licenses.example.com:443 HTTP/1.1\r\n");
    // Nothing listens there, and the proxy is not asked: it does not listen any more either.
    assert!(transport.send(&to("http://localhost.localdomain:9/")).is_err());
}
