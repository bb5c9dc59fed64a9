//! The client of keyledger for apps: it activates a license, validates it, and has one state to show, also without a network until a
//! signed lease or license file ends. [`Client`] is the beginning, and the README has the rest.

#![forbid(unsafe_code)]
#![warn(missing_docs, rust_2018_idioms)]

mod background;
mod calls;
#[cfg(test)]
mod checks;
mod client;
mod facts;
pub mod license_key;
mod locks;
mod machine;
mod notices;
mod options;
mod place;
mod ports;
mod problem;
#[cfg_attr(not(feature = "key-store"), allow(dead_code))]
mod programs;
mod signed;
mod state;
mod state_json;
mod text;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use background::{Background, Stop};
pub use calls::listeners::Subscription;
pub use calls::{ActivationPage, CarriedText, StorageFailed};
pub use client::Client;
pub use machine::{identify_machine, DeviceIdentity};
pub use notices::Notice;
pub use options::{BuildError, ClientBuilder};
pub use place::{NotAnId, Place};
#[cfg(feature = "key-store")]
pub use ports::KeyStore;
#[cfg(feature = "ureq")]
pub use ports::UreqTransport;
pub use ports::{Answer, Clock, FileStorage, MemoryStorage, Request, Storage, Transport};
pub use problem::{Problem, ProblemCode};
pub use state::{
    Entitlements, ExpiredOf, Grant, Holder, LicenseKind, Release, RevokedReason, Source, State, Status, Value,
};
