//! Access tokens of the Admin API: JSON Web Tokens (RFC 7519), signed with HS256.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use pennon_model::id::{SessionId, UserId};
use pennon_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::hs256;
use crate::error::Error;

/// The lifetime of an access token, in seconds.
pub(crate) const LIFETIME_SECONDS: i64 = 15 * 60;

/// The period for which an expired token is still accepted, in milliseconds: the clock of the instance that issued it
/// may be behind.
const LEEWAY_MILLIS: i64 = 5_000;

const ISSUER: &str = "pennon";
const AUDIENCE: &str = "pennon-admin";

/// Signs and verifies access tokens.
pub(crate) struct AccessTokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

/// The claims of a token. Roles are not included: each request reads them from the database.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    aud: String,
    sub: UserId,
    sid: SessionId,
    iat: i64,
    exp: i64,
}

impl AccessTokens {
    pub(crate) fn new(secret: &[u8]) -> Self {
        // It fails only if a provider is already installed.
        let _ = hs256::PROVIDER.install_default();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["iss", "aud", "sub", "exp"]);
        // The library would use the system clock. `session` checks the expiry with Pennon's own clock.
        validation.validate_exp = false;
        Self {
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            validation,
        }
    }

    /// Issues a token for a session, valid from `now`.
    pub(crate) fn issue(
        &self,
        user: UserId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<String, Error> {
        let iat = now.millis() / 1000;
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: user,
            sid: session,
            iat,
            exp: iat.saturating_add(LIFETIME_SECONDS),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.encoding)
            .map_err(|error| Error::Internal(format!("signing a token failed: {error}")))
    }

    /// Returns the session of a token, if Pennon issued the token and it has not expired.
    pub(crate) fn session(&self, token: &str, now: Timestamp) -> Option<SessionId> {
        let token = jsonwebtoken::decode::<Claims>(token, &self.decoding, &self.validation).ok()?;
        let end = token.claims.exp.saturating_mul(1000);
        (now.millis() < end.saturating_add(LEEWAY_MILLIS)).then_some(token.claims.sid)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_token_of_another_issuer_or_for_another_audience_is_refused() {
        let tokens = AccessTokens::new(&[7; 32]);
        let session = SessionId::new(Uuid::nil());
        for (iss, aud, expected) in [
            (ISSUER, AUDIENCE, Some(session)),
            ("another", AUDIENCE, None),
            (ISSUER, "another", None),
        ] {
            let claims = Claims {
                iss: iss.to_owned(),
                aud: aud.to_owned(),
                sub: UserId::new(Uuid::nil()),
                sid: session,
                iat: 0,
                exp: LIFETIME_SECONDS,
            };
            let header = Header::new(Algorithm::HS256);
            let token = jsonwebtoken::encode(&header, &claims, &tokens.encoding).unwrap();
            let now = Timestamp::from_millis(0);
            assert_eq!(tokens.session(&token, now), expected, "{iss} {aud}");
        }
    }
}
