//! What the calls of a client do: what they send, and what they do with the answers.

pub(crate) mod browser_activation;
pub(crate) mod keeper;
mod leaving;
pub(crate) mod listeners;
mod offline;
pub(crate) mod operations;
pub(crate) mod purchase;
pub(crate) mod schedule;
pub(crate) mod server;

pub use browser_activation::ActivationPage;
pub use offline::{CarriedText, StorageFailed};
