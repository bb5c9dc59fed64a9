//! The proxy in the settings of macOS and Windows. What a script decides there (PAC) is not read.

use crate::programs::{in_system32, printed_by};

const REGISTRY: &str = r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings";

/// Addresses of proxies, and the hosts that are reached without one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxies {
    pub(crate) http: Option<String>,
    pub(crate) https: Option<String>,
    pub(crate) excepted: String,
}

/// What the settings of this system say; nothing on systems that have none.
pub(super) fn read() -> Proxies {
    let printed = match std::env::consts::OS {
        "macos" => printed_by("/usr/sbin/scutil", &["--proxy"]).map(|printed| of_macos(&printed)),
        "windows" => printed_by(&in_system32("reg.exe"), &["query", REGISTRY]).map(|printed| of_windows(&printed)),
        _ => None,
    };
    printed.unwrap_or_default()
}

/// From what `scutil --proxy` prints.
pub(crate) fn of_macos(printed: &str) -> Proxies {
    let pairs: Vec<(&str, &str)> = printed.lines().filter_map(|line| line.trim().split_once(" : ")).collect();
    let value = |name: String| pairs.iter().find(|(one, _)| *one == name).map(|(_, value)| *value);
    let proxy = |kind: &str| {
        let host = value(format!("{kind}Proxy")).filter(|_| value(format!("{kind}Enable")) == Some("1"))?;
        Some(format!("{host}:{}", value(format!("{kind}Port"))?))
    };
    // The exceptions are numbered.
    let is_number = |name: &str| name.bytes().all(|one| one.is_ascii_digit());
    let excepted: Vec<&str> = pairs.iter().filter(|(name, _)| is_number(name)).map(|(_, value)| *value).collect();
    Proxies { http: proxy("HTTP"), https: proxy("HTTPS"), excepted: excepted.join(",") }
}

/// From what `reg query` prints of the settings.
pub(crate) fn of_windows(printed: &str) -> Proxies {
    let value = |name: &str| {
        printed.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name)).then(|| words.skip(1).collect::<Vec<_>>().join(" "))
        })
    };
    if value("ProxyEnable").as_deref() != Some("0x1") {
        return Proxies::default();
    }
    let server = value("ProxyServer").unwrap_or_default();
    // One for all, or one for each kind of address: http=one:8080;https=other:8080.
    let of = |kind: &str| {
        let mut servers = server.split(';');
        match servers.find_map(|one| one.strip_prefix(kind)?.strip_prefix('=')) {
            Some(address) => Some(address.to_owned()),
            None => Some(server.clone()).filter(|server| !server.is_empty() && !server.contains('=')),
        }
    };
    Proxies { http: of("http"), https: of("https"), excepted: value("ProxyOverride").unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(http: Option<&str>, https: Option<&str>, excepted: &str) -> Proxies {
        Proxies { http: http.map(str::to_owned), https: https.map(str::to_owned), excepted: excepted.into() }
    }

    #[test]
    fn the_settings_of_macos() {
        let printed = "<dictionary> {\n  ExceptionsList : <array> {\n    0 : *.local\n    1 : 169.254/16\n  }\n  FTPPassive : 1\n  HTTPEnable : 0\n  \
            HTTPPort : 3128\n  HTTPProxy : one.example.com\n  HTTPSEnable : 1\n  HTTPSPort : 3129\n  HTTPSProxy : two.example.com\n}\n";
        assert_eq!(of_macos(printed), proxies(None, Some("two.example.com:3129"), "*.local,169.254/16"));
        assert_eq!(of_macos("<dictionary> {\n}\n"), Proxies::default());
    }

    #[test]
    fn the_settings_of_windows() {
        let printed = |enable: &str, server: &str| {
            let override_ = "ProxyOverride    REG_SZ    *.example.org;<local>";
            format!("\r\n{REGISTRY}\r\n    ProxyEnable    REG_DWORD    {enable}\r\n    ProxyServer    REG_SZ    {server}\r\n    {override_}\r\n")
        };
        let excepted = "*.example.org;<local>";
        let one = Some("proxy.example.com:3128");
        assert_eq!(of_windows(&printed("0x1", "proxy.example.com:3128")), proxies(one, one, excepted));
        let two = printed("0x1", "ftp=a:1;http=b:2;https=c:3");
        assert_eq!(of_windows(&two), proxies(Some("b:2"), Some("c:3"), excepted));
        assert_eq!(of_windows(&printed("0x0", "proxy.example.com:3128")), Proxies::default());
        assert_eq!(of_windows(""), Proxies::default());
    }
}
