//! Who calls: a bearer token that the host resolves, or a principal that its middleware set.

use std::{error, fmt};

use async_trait::async_trait;
use http::{HeaderMap, header::AUTHORIZATION, request::Parts};
use kindgi_core::{Error, HostError, model::Principal};

use crate::refusal::{Code, Refusal};

/// Resolves bearer tokens (RFC 6750) to principals.
///
/// Not asked when the host's own middleware has put a [`Principal`] into the request's
/// extensions: that one wins over any header.
#[async_trait]
pub trait Authenticator: Send + Sync + 'static {
    /// Who holds this token: what stands after `Bearer`, never empty.
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError>;
}

#[async_trait]
impl<T: Authenticator + ?Sized> Authenticator for std::sync::Arc<T> {
    async fn authenticate(&self, token: &str) -> Result<Principal, AuthError> {
        (**self).authenticate(token).await
    }
}

/// Why a token gives no principal.
#[derive(Debug)]
pub struct AuthError(Why);

#[derive(Debug)]
enum Why {
    Unknown,
    Expired,
    Revoked,
    Failed(HostError),
}

impl AuthError {
    /// No such token (`auth-missing`).
    pub fn unknown() -> Self {
        Self(Why::Unknown)
    }

    /// The token was good once (`auth-expired`).
    pub fn expired() -> Self {
        Self(Why::Expired)
    }

    /// The token was taken back (`auth-revoked`).
    pub fn revoked() -> Self {
        Self(Why::Revoked)
    }
}

/// The host can't tell: a server error, never a 401.
impl From<HostError> for AuthError {
    fn from(e: HostError) -> Self {
        Self(Why::Failed(e))
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Why::Unknown => "no such token",
            Why::Expired => "the token has expired",
            Why::Revoked => "the token was revoked",
            Why::Failed(_) => "the host failed to resolve the token",
        })
    }
}

impl error::Error for AuthError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0 {
            Why::Failed(e) => Some(e),
            _ => None,
        }
    }
}

/// The caller, or a 401.
pub(crate) async fn principal(
    authenticator: Option<&dyn Authenticator>,
    parts: &Parts,
    is_read: bool,
) -> Result<Principal, Refusal> {
    if let Some(principal) = parts.extensions.get::<Principal>() {
        return Ok(principal.clone());
    }
    let (Some(authenticator), Some(token)) = (authenticator, bearer(&parts.headers)) else {
        return Err(Refusal::new(Code::AuthMissing, "a bearer token is needed"));
    };
    match authenticator.authenticate(token).await {
        Ok(principal) => Ok(principal),
        Err(AuthError(Why::Failed(e))) => Err(Refusal::from_engine(Error::from(e), is_read)),
        Err(e) => {
            let code = match e.0 {
                Why::Expired => Code::AuthExpired,
                Why::Revoked => Code::AuthRevoked,
                _ => Code::AuthMissing,
            };
            Err(Refusal::new(code, e.to_string()))
        }
    }
}

/// The token of the one `Authorization: Bearer …`, the scheme in any case (RFC 9110 §11.1).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?.to_str().ok()?, values.next()) else {
        return None;
    };
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim_matches(' ');
    let is_token = !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    (scheme.eq_ignore_ascii_case("bearer") && is_token).then_some(token)
}
