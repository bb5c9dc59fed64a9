use std::fmt;

/// The tenant and the product whose signature is expected.
///
/// ```
/// use keyledger_client::Place;
///
/// let place = Place::new("acme", "editor")?;
/// assert_eq!(place.product_id(), "editor");
/// assert!(Place::new("acme", "..").is_err());
/// # Ok::<(), keyledger_client::NotAnId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    tenant_id: String,
    product_id: String,
}

impl Place {
    /// Names a product of a vendor.
    ///
    /// # Errors
    ///
    /// [`NotAnId`] for an id that no path can contain: URL parsers take dots for a step in the path even when they are encoded.
    pub fn new(tenant_id: impl Into<String>, product_id: impl Into<String>) -> Result<Self, NotAnId> {
        Ok(Self { tenant_id: checked(tenant_id.into())?, product_id: checked(product_id.into())? })
    }

    /// The id of the vendor.
    #[must_use]
    pub fn tenant_id(&self) -> &str {
        &self.tenant_id
    }

    /// The id of the product.
    #[must_use]
    pub fn product_id(&self) -> &str {
        &self.product_id
    }

    /// What is signed, but not sent, with a token of this kind.
    pub(crate) fn assertion(&self, kind: &str) -> String {
        format!("keyledger:{kind}:{}:{}", self.tenant_id, self.product_id)
    }
}

fn checked(id: String) -> Result<String, NotAnId> {
    match id.as_str() {
        "" | "." | ".." => Err(NotAnId(id)),
        _ => Ok(id),
    }
}

/// A tenant or product was named by what cannot be an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnId(String);

impl fmt::Display for NotAnId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} is not an id", self.0)
    }
}

impl std::error::Error for NotAnId {}
