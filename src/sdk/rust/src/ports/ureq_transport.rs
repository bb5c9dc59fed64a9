use std::env;
use std::error::Error;
use std::io::Read;
use std::sync::Mutex;

use super::system_proxy;
use super::transport::{Answer, Request, Transport};
use crate::locks::lock;

/// What is longer comes from something else than the server, and is not read to its end.
const MOST_BYTES: u64 = 262_144;

/// Sends with ureq: with the certificates that the system trusts, and over the proxy that `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`
/// names (in either case), but for the hosts in `NO_PROXY`. Where none of them is set, the proxy is that of the settings of macOS and
/// Windows. All of this is read with the first request. It starts no thread.
#[derive(Default)]
pub struct UreqTransport {
    agents: Mutex<Option<Agents>>,
}

enum Agents {
    Given(ureq::Agent),
    OfEnvironment { direct: ureq::Agent, http: ureq::Agent, https: ureq::Agent, no_proxy: String },
}

impl UreqTransport {
    /// Sends with an agent of its own, which uses the proxy of the environment.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends with the agent of the app, for example with a proxy, certificates or a TLS library of its own.
    #[must_use]
    pub fn with_agent(agent: ureq::Agent) -> Self {
        Self { agents: Mutex::new(Some(Agents::Given(agent))) }
    }

    fn agent_for(&self, url: &str) -> ureq::Agent {
        match lock(&self.agents).get_or_insert_with(Agents::of_environment) {
            Agents::Given(agent) => agent.clone(),
            Agents::OfEnvironment { direct, no_proxy, .. } if is_excepted(host_in(url), no_proxy) => direct.clone(),
            Agents::OfEnvironment { https, .. } if url.starts_with("https:") => https.clone(),
            Agents::OfEnvironment { http, .. } => http.clone(),
        }
    }
}

impl Agents {
    fn of_environment() -> Self {
        // A request to a CGI program sets HTTP_PROXY by its header "Proxy".
        let upper = if env::var_os("REQUEST_METHOD").is_some() { "http_proxy" } else { "HTTP_PROXY" };
        let first = |names: [&str; 4]| names.iter().find_map(|name| variable(name));
        let (http, https) = (
            first(["http_proxy", upper, "all_proxy", "ALL_PROXY"]),
            first(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        );
        let no_proxy = variable("no_proxy").or_else(|| variable("NO_PROXY"));
        if http.is_some() || https.is_some() {
            return Self::through(http, https, no_proxy.unwrap_or_default());
        }
        let system = system_proxy::read();
        Self::through(system.http, system.https, no_proxy.unwrap_or(system.excepted))
    }

    fn through(http: Option<String>, https: Option<String>, no_proxy: String) -> Self {
        let direct = ureq::AgentBuilder::new().build();
        let agent = |address: Option<String>| {
            let proxy = address.and_then(|address| ureq::Proxy::new(address).ok());
            proxy.map_or_else(|| direct.clone(), |proxy| ureq::AgentBuilder::new().proxy(proxy).build())
        };
        Self::OfEnvironment { http: agent(http), https: agent(https), no_proxy, direct }
    }
}

impl Transport for UreqTransport {
    fn send(&self, request: &Request) -> Result<Answer, Box<dyn Error + Send + Sync>> {
        let method = if request.body.is_some() { "POST" } else { "GET" };
        let mut sent = self.agent_for(&request.url).request(method, &request.url).timeout(request.timeout);
        for (name, value) in &request.headers {
            sent = sent.set(name, value);
        }
        let answered = match &request.body {
            Some(body) => sent.send_string(body),
            None => sent.call(),
        };
        let response = match answered {
            Ok(response) | Err(ureq::Error::Status(_, response)) => response,
            Err(error) => return Err(error.into()),
        };
        let (status, retry_after) = (response.status(), response.header("retry-after").map(str::to_owned));
        let length = response.header("content-length").and_then(|length| length.parse::<u64>().ok()).unwrap_or(0);
        let mut bytes = Vec::new();
        response.into_reader().take(MOST_BYTES).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length.min(MOST_BYTES) {
            return Err("the connection ended before the answer did".into());
        }
        Ok(Answer { status, body: String::from_utf8_lossy(&bytes).into_owned(), retry_after })
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn host_in(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split(['/', '?', '#']).next();
    let host = authority.map_or("", |authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or(host),
    }
}

/// Whether a list such as `localhost, .example.com` names a host or a domain that it is in; `*` names all, and `<local>`, as Windows
/// has it, those without a dot.
fn is_excepted(host: &str, list: &str) -> bool {
    let names = list.split([',', ' ', ';']).map(|name| name.trim_start_matches("*.").trim_start_matches('.'));
    let is_in = |name: &str| {
        let start = host.len().checked_sub(name.len());
        let ends = start.and_then(|start| host.get(start..)).map_or(false, |end| end.eq_ignore_ascii_case(name));
        ends && (host.len() == name.len() || host.as_bytes()[host.len() - name.len() - 1] == b'.')
    };
    let is_named = |name: &str| match name {
        "*" => true,
        "<local>" => !host.contains('.'),
        name => is_in(name),
    };
    names.filter(|name| !name.is_empty()).any(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_the_list_are_reached_directly() {
        assert_eq!(host_in("https://user@licenses.example.com:8443/acme"), "licenses.example.com");
        assert_eq!(host_in("http://[::1]:80/"), "::1");
        let list = "localhost, .example.com,10.0.0.1";
        for host in ["localhost", "LOCALHOST", "example.com", "licenses.example.com", "10.0.0.1"] {
            assert!(is_excepted(host, list), "{host}");
        }
        for host in ["1example.com", "com", "", "10.0.0.10"] {
            assert!(!is_excepted(host, list), "{host}");
        }
        assert!(is_excepted("server", "*.example.org;<local>") && !is_excepted("example.com", "*.example.org;<local>"));
        assert!(is_excepted("www.example.org", "*.example.org;<local>"));
        assert!(is_excepted("anything", "*") && !is_excepted("anything", ""));
    }
}
