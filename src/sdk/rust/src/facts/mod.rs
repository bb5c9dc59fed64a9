//! What an app has to remember, what each answer does to it, and which state follows. All of it is pure.

pub(crate) mod known;
pub(crate) mod known_text;
pub(crate) mod not_covered;
pub(crate) mod state_of;
pub(crate) mod take;
