#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, rust_2018_idioms)]

#[cfg(test)]
mod checks;
mod facts;
pub mod license_key;
mod machine;
mod place;
mod problem;
mod signed;
mod state;
mod state_json;
mod text;

pub use machine::{identify_machine, DeviceIdentity};
pub use place::{NotAnId, Place};
pub use problem::{Problem, ProblemCode};
pub use state::{
    Entitlements, ExpiredOf, Grant, Holder, LicenseKind, Release, RevokedReason, Source, State, Status, Value,
};
