//! Lists of files that must not be used any more.

use super::paseto::Token;
use super::Keys;
use crate::place::Place;
use crate::text::json::Members;
use crate::text::times;

/// A list with its token, which is verified again after it was stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Withdrawn {
    pub(crate) token: String,
    pub(crate) files: Vec<String>,
    pub(crate) serial: f64,
    pub(crate) issued_at: i64,
}

impl Withdrawn {
    /// Reads a list; none for what is no list, or was not signed for this product.
    pub(crate) fn read(token: &str, place: &Place, keys: &Keys) -> Option<Self> {
        let claims = Token::parse(token)?.read_statement(&place.assertion("withdrawn1"), keys).ok()?;
        let files = claims.get("files")?.as_array()?.iter();
        Some(Self {
            token: token.to_owned(),
            files: files.filter_map(|id| id.as_str().map(str::to_owned)).collect(),
            serial: claims.get("serial")?.as_f64()?,
            issued_at: times::seconds_of(claims.text("iat")?)?,
        })
    }
}
