//! What a client reaches the world by. Each of them can be replaced.

mod clock;
mod storage;
mod transport;
#[cfg(feature = "ureq")]
mod ureq_transport;

pub use clock::Clock;
pub(crate) use clock::SystemClock;
pub use storage::{FileStorage, MemoryStorage, Storage};
pub use transport::{Answer, Request, Transport};
#[cfg(feature = "ureq")]
pub use ureq_transport::UreqTransport;
