//! What the server says of a build that a license does not cover. It is not signed: it explains, and takes nothing away.

use serde_json::Value;

use crate::state::Release;
use crate::state_json;
use crate::text::json::{object, Members, Record};

/// Until when builds are covered, and the newest release of those.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NotCovered {
    pub(crate) updates_until: i64,
    pub(crate) newest_release: Option<Release>,
}

impl NotCovered {
    /// What an answer says of the build; none when it says something else.
    pub(crate) fn in_answer(answer: Option<&Value>) -> Option<Self> {
        let record = answer?.as_object().filter(|record| record.text("reason") == Some("build_not_covered"))?;
        Some(Self {
            updates_until: record.seconds("updates_until")?,
            newest_release: record.record("newest_covered_release").and_then(|release| release_in(release, "built_at")),
        })
    }

    /// Reads what was stored.
    pub(crate) fn from_stored(stored: &Record) -> Option<Self> {
        Some(Self {
            updates_until: stored.seconds("updatesUntil")?,
            newest_release: stored.record("newestRelease").and_then(|release| release_in(release, "builtAt")),
        })
    }

    /// What is stored of it.
    pub(crate) fn stored(&self) -> Record {
        object([
            ("updatesUntil", Some(self.updates_until.into())),
            ("newestRelease", self.newest_release.as_ref().map(state_json::release)),
        ])
    }
}

fn release_in(release: &Record, built_at: &str) -> Option<Release> {
    // An app may open it, so nothing but the address of a page is handed on.
    let url = release.text("url").filter(|url| url.starts_with("https://"));
    Some(Release {
        version: release.text("version")?.to_owned(),
        built_at: release.seconds(built_at)?,
        url: url.map(str::to_owned),
    })
}
