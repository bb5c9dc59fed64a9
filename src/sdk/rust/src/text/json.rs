//! JSON as JavaScript reads it.

use serde_json::Value;

use super::bytes::utf8;

/// The members of an object.
pub(crate) type Record = serde_json::Map<String, Value>;

/// The greatest whole number that a double holds exactly.
const MOST: f64 = 9_007_199_254_740_991.0;

/// The value of a text; none for what is no JSON. What is nested more than 127 deep is none either.
pub(crate) fn read(text: &str) -> Option<Value> {
    let read = |text: &str| serde_json::from_str(text).ok();
    read(text).or_else(|| read(&without_lone_surrogates(text)?))
}

/// The value of bytes in UTF-8, which may begin with a byte order mark; none for what is no JSON.
pub(crate) fn read_bytes(bytes: &[u8]) -> Option<Value> {
    read(utf8(bytes)?)
}

/// An object of the members that there are.
pub(crate) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Record {
    let named = members.into_iter();
    named.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The text of an object.
pub(crate) fn write(record: Record) -> String {
    Value::Object(record).to_string()
}

/// Text that is not empty.
pub(crate) fn filled(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| !text.is_empty())
}

/// Text that is not empty and does not hold the separator of signed strings.
pub(crate) fn field(value: &Value) -> Option<&str> {
    filled(value).filter(|text| !text.contains('|'))
}

/// A whole number that a double holds exactly, as `Number.isSafeInteger` of JavaScript says.
pub(crate) fn safe_integer(value: &Value) -> Option<i64> {
    let number = value.as_f64()?;
    (number.abs() <= MOST && number.floor() == number).then_some(number as i64)
}

/// A safe integer that is not negative: Unix seconds, mostly.
pub(crate) fn seconds(value: &Value) -> Option<i64> {
    safe_integer(value).filter(|seconds| *seconds >= 0)
}

/// Whether `===` of JavaScript says so of two values that were read apart; none stands for undefined.
pub(crate) fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (None, None) | (Some(Value::Null), Some(Value::Null)) => true,
        (Some(Value::String(a)), Some(Value::String(b))) => a == b,
        (Some(Value::Bool(a)), Some(Value::Bool(b))) => a == b,
        (Some(Value::Number(a)), Some(Value::Number(b))) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// The members in the order of JavaScript, which puts whole numbers first.
pub(crate) fn entries(record: &Record) -> Vec<(&String, &Value)> {
    let mut all: Vec<_> = record.iter().collect();
    all.sort_by_key(|(name, _)| index_of(name).unwrap_or(u32::MAX));
    all
}

/// What a member of an object is read as. A member that is missing or of another kind is none.
pub(crate) trait Members {
    /// The member itself, but none for null.
    fn given(&self, name: &str) -> Option<&Value>;
    fn text(&self, name: &str) -> Option<&str>;
    fn field(&self, name: &str) -> Option<&str>;
    fn filled(&self, name: &str) -> Option<&str>;
    fn seconds(&self, name: &str) -> Option<i64>;
    fn safe_integer(&self, name: &str) -> Option<i64>;
    fn flag(&self, name: &str) -> Option<bool>;
    fn record(&self, name: &str) -> Option<&Record>;
}

impl Members for Record {
    fn given(&self, name: &str) -> Option<&Value> {
        self.get(name).filter(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    fn field(&self, name: &str) -> Option<&str> {
        field(self.get(name)?)
    }

    fn filled(&self, name: &str) -> Option<&str> {
        filled(self.get(name)?)
    }

    fn seconds(&self, name: &str) -> Option<i64> {
        seconds(self.get(name)?)
    }

    fn safe_integer(&self, name: &str) -> Option<i64> {
        safe_integer(self.get(name)?)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    fn record(&self, name: &str) -> Option<&Record> {
        self.get(name)?.as_object()
    }
}

fn index_of(name: &str) -> Option<u32> {
    let is_plain = name == "0" || !name.starts_with('0') && !name.starts_with('+');
    name.parse().ok().filter(|index| is_plain && *index < u32::MAX)
}

/// The text with U+FFFD for each escaped half of a surrogate pair: texts of Rust cannot hold one, and what is signed is
/// encoded with the same replacement. None when there is no such half.
fn without_lone_surrogates(text: &str) -> Option<String> {
    let mut written = text.as_bytes().to_vec();
    let mut at = 0;
    while at + 1 < written.len() {
        if written[at] != b'\\' {
            at += 1;
            continue;
        }
        match (half_at(&written, at), half_at(&written, at + 6)) {
            (Some(Half::High), Some(Half::Low)) => at += 12,
            (Some(_), _) => {
                written[at + 2..at + 6].copy_from_slice(b"fffd");
                at += 6;
            }
            (None, _) => at += 2,
        }
    }
    String::from_utf8(written).ok().filter(|replaced| replaced != text)
}

enum Half {
    High,
    Low,
}

fn half_at(text: &[u8], at: usize) -> Option<Half> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    match u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_halves_of_pairs_as_what_they_are_signed_as() {
        let read = |text: &str| read(text).and_then(|value| value.as_str().map(str::to_owned));
        assert_eq!(read(r#""\ud800""#).as_deref(), Some("\u{fffd}"));
        assert_eq!(read(r#""\udc00\ud83d\ude00\ud83d!\\ud800""#).as_deref(), Some("\u{fffd}\u{1f600}\u{fffd}!\\ud800"));
        assert_eq!(read(r#""\ud80""#), None);
    }

    #[test]
    fn names_that_are_whole_numbers_come_first() {
        let value = read(r#"{"b":1,"10":2,"a":3,"9":4,"01":5,"4294967295":6,"b":7}"#);
        let names: Vec<_> =
            entries(value.as_ref().and_then(Value::as_object).unwrap()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["9", "10", "b", "a", "01", "4294967295"]);
    }
}
