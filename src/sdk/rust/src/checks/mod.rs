//! The test vectors of `docs/reference/vectors`, and arbitrary bytes made of them.

mod fuzz;
mod notices;
mod plain;
mod signed;
mod stories;
mod vectors;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::text::json::{self, Record};

/// A file of the repository, which the package does not have.
fn repository(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../..", path].iter().collect()
}

fn read(path: &Path) -> Record {
    let text = fs::read_to_string(path).expect("the vectors are in the repository of keyledger");
    record(&json::read(&text).unwrap()).clone()
}

/// The vectors by the names of their files.
fn files() -> Vec<(String, Record)> {
    let entries =
        fs::read_dir(repository("docs/reference/vectors")).expect("the vectors are in the repository of keyledger");
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths = paths.filter(|path| path.extension().map_or(false, |extension| extension == "json"));
    let mut files: Vec<_> =
        paths.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), read(&path))).collect();
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}

fn record(value: &Value) -> &Record {
    value.as_object().expect("an object")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
