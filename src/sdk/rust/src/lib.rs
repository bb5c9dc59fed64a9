#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, rust_2018_idioms)]
// A problem is made once for a request, which takes longer than moving it.
#![allow(clippy::result_large_err)]

mod calls;
#[cfg(test)]
mod checks;
mod client;
mod facts;
pub mod license_key;
mod locks;
mod machine;
mod options;
mod place;
mod ports;
mod problem;
mod signed;
mod state;
mod state_json;
mod text;

pub use calls::keeper::Subscription;
pub use calls::{CarriedText, StorageFailed};
pub use client::{Background, Client, Stop};
pub use machine::{identify_machine, DeviceIdentity};
pub use options::{BuildError, ClientBuilder};
pub use place::{NotAnId, Place};
#[cfg(feature = "ureq")]
pub use ports::UreqTransport;
pub use ports::{Answer, Clock, FileStorage, MemoryStorage, Request, Storage, Transport};
pub use problem::{Problem, ProblemCode};
pub use state::{
    Entitlements, ExpiredOf, Grant, Holder, LicenseKind, Release, RevokedReason, Source, State, Status, Value,
};
