//! Looks for a purchase until it is known.

use std::time::Duration;

use crate::notices::active;
use crate::options::Options;
use crate::state::{Entitlements, State};

const PAUSE: Duration = Duration::from_secs(3);
const PAUSES: u32 = 10;

/// What a purchase changes: whether the license is active or only its fallback is, what it grants, and until when.
fn granted(state: State) -> Option<(bool, Entitlements, Option<i64>)> {
    let is_active = active(&state.status).is_some();
    state.grant().map(|grant| (is_active, grant.entitlements.clone(), grant.license_expires_at))
}

/// Validates until what is granted has changed: the provider tells the vendor of a purchase a few seconds after it. Whether it has
/// changed within half a minute.
pub(crate) fn refresh_after_purchase(options: &Options, state: impl Fn() -> State, validate: impl Fn()) -> bool {
    let before = granted(state());
    let is_changed = || granted(state()) != before;
    validate();
    for _ in 0..PAUSES {
        if is_changed() {
            return true;
        }
        options.clock.pause(PAUSE);
        validate();
    }
    is_changed()
}
