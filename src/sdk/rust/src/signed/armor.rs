//! Tokens as texts to paste or to keep as files.

use crate::text::is_space;

const EDGE: &str = "-----";

/// The text of a token, in lines of 64 characters between two that name it.
pub(crate) fn around(kind: &str, token: &str) -> String {
    let mut text = format!("-----BEGIN KEYLEDGER {kind}-----\n");
    for (at, character) in token.chars().enumerate() {
        if at > 0 && at % 64 == 0 {
            text.push('\n');
        }
        text.push(character);
    }
    text.push_str(&format!("\n-----END KEYLEDGER {kind}-----\n"));
    text
}

/// The token in a text that was pasted or read from a file, also without its first and last line.
pub(crate) fn token_in(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = after_edge(rest) {
            rest = after;
            continue;
        }
        if !is_space(first) {
            token.push(first);
        }
        rest = &rest[first.len_utf8()..];
    }
    token
}

/// What follows a line such as `-----BEGIN KEYLEDGER LICENSE-----` at the beginning of a text.
fn after_edge(text: &str) -> Option<&str> {
    let named = text.strip_prefix(EDGE)?;
    let rest = named.trim_start_matches(|one: char| one.is_ascii_uppercase() || one == ' ');
    rest.strip_prefix(EDGE).filter(|_| rest.len() < named.len())
}
