//! What a client reaches the world by. Each of them can be replaced.

mod clock;
#[cfg(feature = "key-store")]
mod key_store;
mod storage;
#[cfg(feature = "ureq")]
pub(crate) mod system_proxy;
mod transport;
#[cfg(feature = "ureq")]
mod ureq_transport;

pub use clock::Clock;
pub(crate) use clock::SystemClock;
#[cfg(feature = "key-store")]
pub use key_store::KeyStore;
pub use storage::{FileStorage, MemoryStorage, Storage};
pub use transport::{Answer, Request, Transport};
#[cfg(feature = "ureq")]
pub use ureq_transport::UreqTransport;
