//! TLS to PostgreSQL: the parameters that libpq has, and the remedies for connections that fail because of them.

use std::env;
use std::fmt::Display;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ParsedCertificate;
use rustls::{AlertDescription, CertificateError, RootCertStore};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

use crate::database_error::{INVALID_AUTHORIZATION, code};

// sqlx adds the authorities of this crate to those of `sslrootcert`. The workspace replaces the crate with an empty
// one.
const _: () = assert!(webpki_roots::TLS_SERVER_ROOTS.is_empty());

/// The value of `sslrootcert` for the authorities that the operating system trusts.
const SYSTEM: &str = "system";

/// The problem of certificates that rustls rejects because of their format, and its remedy.
const VERSION_1: &str = "X.509 version 1: sign it with an extension, such as `subjectAltName`";

/// The TLS parameters, from the URL or from environment variables.
#[derive(Clone, Debug, Default)]
pub(super) struct TlsParameters {
    pub(super) mode: Option<String>,
    pub(super) root: Option<String>,
    pub(super) certificate: Option<String>,
    pub(super) key: Option<String>,
}

/// The use of TLS for all connections to a server.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    mode: PgSslMode,
    /// The mode to try if the first one fails, for `prefer` and `allow`.
    alternative: Option<PgSslMode>,
    roots: Roots,
    has_certificate: bool,
}

/// The authorities that may sign the server's certificate.
#[derive(Clone, Debug)]
enum Roots {
    /// The certificate is not verified.
    Unused,
    /// The authorities that the operating system trusts.
    System,
    /// The authorities in a file.
    File(PathBuf),
}

impl TlsParameters {
    /// Fills in missing parameters from environment variables, like libpq.
    fn or_environment(self) -> Self {
        let or = |value: Option<String>, name| {
            let value = value.or_else(|| env::var(name).ok());
            value.filter(|value| !value.is_empty())
        };
        Self {
            mode: or(self.mode, "PGSSLMODE"),
            root: or(self.root, "PGSSLROOTCERT"),
            certificate: or(self.certificate, "PGSSLCERT"),
            key: or(self.key, "PGSSLKEY"),
        }
    }

    /// Determines the use of TLS, and adds it to the options. An error contains the remedy.
    pub(super) fn apply(
        self,
        options: PgConnectOptions,
    ) -> Result<(PgConnectOptions, Tls), String> {
        let parameters = self.or_environment();
        // As in libpq, a local socket needs no encryption, regardless of the mode.
        let tls = if is_socket(&options) {
            Tls::disabled()
        } else {
            parameters.decide()?
        };
        let mut options = options.ssl_mode(tls.mode);
        match &tls.roots {
            Roots::Unused => {}
            Roots::System => options = options.ssl_root_cert_from_pem(system_roots()?),
            Roots::File(file) => {
                check_file("sslrootcert", file, has_certificates)?;
                options = options.ssl_root_cert(file);
            }
        }
        if let (Some(certificate), Some(key)) = (&parameters.certificate, &parameters.key) {
            check_file("sslcert", Path::new(certificate), has_client_certificate)?;
            check_file("sslkey", Path::new(key), has_private_key)?;
            options = options.ssl_client_cert(certificate).ssl_client_key(key);
        }
        Ok((options, tls))
    }

    fn decide(&self) -> Result<Tls, String> {
        let root = self.root.as_deref();
        // libpq has the same default if the system's authorities are requested.
        let default = if root == Some(SYSTEM) {
            "verify-full"
        } else {
            "prefer"
        };
        let name = self.mode.as_deref().unwrap_or(default);
        if self.certificate.is_some() != self.key.is_some() {
            return Err("`sslcert` and `sslkey` belong together; give both, or neither".to_owned());
        }
        let (mode, alternative) = parse_mode(name)?;
        // `allow` begins without encryption, too, but may use it.
        let is_disabled = matches!(mode, PgSslMode::Disable) && alternative.is_none();
        let (mode, roots) = if is_disabled {
            (mode, Roots::Unused)
        } else {
            mode_and_roots(name, mode, root)?
        };
        Ok(Tls {
            mode,
            alternative,
            roots,
            has_certificate: self.certificate.is_some(),
        })
    }
}

/// Returns the mode to use and the authorities for the mode of this name, which encrypts or may encrypt.
fn mode_and_roots(
    name: &str,
    mode: PgSslMode,
    root: Option<&str>,
) -> Result<(PgSslMode, Roots), String> {
    Ok(match (mode, root) {
        (PgSslMode::VerifyFull, None | Some(SYSTEM)) => (mode, Roots::System),
        (_, Some(SYSTEM)) => {
            return Err(format!(
                "`sslrootcert=system` with `sslmode={name}` would accept any certificate; write `sslmode=verify-full`"
            ));
        }
        (PgSslMode::VerifyCa, None) => {
            return Err(
                "`sslmode=verify-ca` needs the certificates of the authorities to trust: set `sslrootcert` to their \
                 file, or write `sslmode=verify-full`, which trusts those of this system"
                    .to_owned(),
            );
        }
        (PgSslMode::VerifyCa | PgSslMode::VerifyFull, Some(file)) => {
            (mode, Roots::File(file.into()))
        }
        // As in libpq, `require` with `sslrootcert` means `verify-ca`, because a user who names authorities wants them
        // to be checked.
        (PgSslMode::Require, Some(file)) => (PgSslMode::VerifyCa, Roots::File(file.into())),
        (_, Some(_)) => {
            return Err(format!(
                "`sslrootcert` has no effect with `sslmode={name}`; write `sslmode=verify-full`, or remove `sslrootcert`"
            ));
        }
        (_, None) => (mode, Roots::Unused),
    })
}

/// Returns the mode with this name, and the mode to try if it fails.
fn parse_mode(name: &str) -> Result<(PgSslMode, Option<PgSslMode>), String> {
    Ok(match name {
        "disable" => (PgSslMode::Disable, None),
        "allow" => (PgSslMode::Disable, Some(PgSslMode::Require)),
        "prefer" => (PgSslMode::Prefer, Some(PgSslMode::Disable)),
        "require" => (PgSslMode::Require, None),
        "verify-ca" => (PgSslMode::VerifyCa, None),
        "verify-full" => (PgSslMode::VerifyFull, None),
        _ => {
            return Err(format!(
                "`sslmode={name}` is not known; write disable, allow, prefer, require, verify-ca or verify-full"
            ));
        }
    })
}

fn is_socket(options: &PgConnectOptions) -> bool {
    options.get_socket().is_some() || options.get_host().starts_with('/')
}

impl Tls {
    fn disabled() -> Self {
        Self {
            mode: PgSslMode::Disable,
            alternative: None,
            roots: Roots::Unused,
            has_certificate: false,
        }
    }

    /// Switches to the mode to try after this error, if one exists, and returns it. As in libpq, `prefer` connects
    /// without encryption if the handshake fails, for whatever reason.
    pub(super) fn alternative_to(&mut self, error: &sqlx::Error) -> Option<PgSslMode> {
        // After this code, pg_hba.conf may accept the connection in the other mode.
        if !is_failure(error) && code(error).as_deref() != Some(INVALID_AUTHORIZATION) {
            return None;
        }
        let alternative = self.alternative.take()?;
        self.mode = alternative;
        Some(alternative)
    }

    /// Returns the remedy if the message shows that the server refuses a connection because of its encryption or
    /// certificate.
    pub(super) fn remedy_of_refusal(&self, message: &str) -> Option<&'static str> {
        if message.contains("client certificate") || message.contains("certificate authentication")
        {
            return Some(if self.has_certificate {
                "name a certificate for this user by `sslcert` and `sslkey` in DATABASE_URL"
            } else {
                "name a client certificate and its key by `sslcert` and `sslkey` in DATABASE_URL"
            });
        }
        let is_unencrypted = message.contains("no encryption") || message.contains("SSL off");
        is_unencrypted.then_some(
            "write `sslmode=require` or `sslmode=verify-full` in DATABASE_URL, or allow unencrypted connections in \
             pg_hba.conf",
        )
    }

    /// Returns the problem and the remedy if a connection failed because of TLS.
    pub(super) fn explain(&self, error: &sqlx::Error, host: &str) -> Option<(String, String)> {
        if let Some(error) = tls_error(error) {
            return Some((error.to_string(), self.remedy(error, host)));
        }
        match error {
            sqlx::Error::Tls(error) if error.to_string().contains("does not support TLS") => {
                Some((
                    "the server does not offer TLS".to_owned(),
                    format!(
                        "turn TLS on there (`ssl = on`), or write another `sslmode` than `{}` in DATABASE_URL if nobody can \
                     listen on the network between",
                        mode_name(self.mode)
                    ),
                ))
            }
            sqlx::Error::Tls(error) => Some((
                error.to_string(),
                "check `sslrootcert`, `sslcert`, `sslkey` and the host in DATABASE_URL".to_owned(),
            )),
            _ => None,
        }
    }

    fn remedy(&self, error: &rustls::Error, host: &str) -> String {
        use CertificateError as Bad;
        match error {
            rustls::Error::InvalidCertificate(Bad::UnknownIssuer | Bad::BadSignature) => self.remedy_of_issuer(),
            rustls::Error::InvalidCertificate(Bad::NotValidForName | Bad::NotValidForNameContext { .. }) => format!(
                "`sslmode=verify-full` demands a certificate for `{host}`: write a host that the certificate is for in \
                 DATABASE_URL, or `sslmode=verify-ca` with `sslrootcert`"
            ),
            rustls::Error::InvalidCertificate(
                Bad::Expired | Bad::ExpiredContext { .. } | Bad::NotValidYet | Bad::NotValidYetContext { .. },
            ) => "renew the certificate of the server, and check the clock of this machine".to_owned(),
            rustls::Error::InvalidCertificate(Bad::Other(other)) if other.to_string().contains("CaUsedAsEndEntity") => {
                "the server shows the certificate of an authority as its own: give it one that the authority has signed, \
                 and keep the authority's in `sslrootcert`"
                    .to_owned()
            }
            rustls::Error::InvalidCertificate(Bad::Other(other)) if is_version_1(&other.to_string()) => {
                format!("the certificate of the server has {VERSION_1}")
            }
            rustls::Error::InvalidCertificate(_) if matches!(self.roots, Roots::Unused) => {
                "give the server another certificate".to_owned()
            }
            rustls::Error::InvalidCertificate(_) => {
                "give the server another certificate, or write `sslmode=require` without `sslrootcert`".to_owned()
            }
            rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
                "name a client certificate and its key by `sslcert` and `sslkey` in DATABASE_URL".to_owned()
            }
            rustls::Error::AlertReceived(_) if self.has_certificate => {
                "the server may refuse the client certificate: check `sslcert` and `sslkey` in DATABASE_URL, and the \
                 server's `ssl_ca_file`"
                    .to_owned()
            }
            _ => "let the server take TLS 1.2 or 1.3; its log may say more".to_owned(),
        }
    }

    fn remedy_of_issuer(&self) -> String {
        match &self.roots {
            Roots::File(file) => format!(
                "no authority in `sslrootcert` ({}) has signed the server's certificate: let `sslrootcert` name the file \
                 of the one that has",
                file.display()
            ),
            Roots::System | Roots::Unused => {
                "no authority that this system trusts has signed the server's certificate: name the file of the one that \
                 has by `sslrootcert` in DATABASE_URL"
                    .to_owned()
            }
        }
    }
}

/// Returns true if a connection failed because of TLS, so that a retry would not help.
pub(super) fn is_failure(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Tls(_)) || tls_error(error).is_some()
}

/// Returns the error of rustls, which sqlx wraps in an I/O error.
fn tls_error(error: &sqlx::Error) -> Option<&rustls::Error> {
    let sqlx::Error::Io(error) = error else {
        return None;
    };
    error.get_ref()?.downcast_ref()
}

fn mode_name(mode: PgSslMode) -> &'static str {
    match mode {
        PgSslMode::Disable => "disable",
        PgSslMode::Allow => "allow",
        PgSslMode::Prefer => "prefer",
        PgSslMode::Require => "require",
        PgSslMode::VerifyCa => "verify-ca",
        PgSslMode::VerifyFull => "verify-full",
    }
}

/// Checks the file of a parameter. An error describes the fault.
fn check_file(
    parameter: &str,
    file: &Path,
    check: impl Fn(&Path) -> Result<(), String>,
) -> Result<(), String> {
    check(file).map_err(|problem| format!("`{parameter}` names {}, {problem}", file.display()))
}

/// Checks that a file has certificates. sqlx reads the file again for each connection, so a renewed certificate needs
/// no restart.
fn has_certificates(file: &Path) -> Result<(), String> {
    certificates(file).map(drop)
}

/// Checks that a file has certificates, and that rustls can use the first one, which is Pennon's own.
fn has_client_certificate(file: &Path) -> Result<(), String> {
    let certificates = certificates(file)?;
    let parsed = certificates.first().map(ParsedCertificate::try_from);
    match parsed.transpose() {
        Ok(_) => Ok(()),
        Err(error) if is_version_1(&error.to_string()) => Err(format!("which has {VERSION_1}")),
        Err(error) => Err(unreadable(error)),
    }
}

fn is_version_1(message: &str) -> bool {
    message.contains("UnsupportedCertVersion")
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let content = std::fs::read(file).map_err(unreadable)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&content).collect();
    let certificates = read.map_err(|error| format!("which cannot be read: {error:?}"))?;
    if certificates.is_empty() {
        return Err("which holds no certificate in PEM form".to_owned());
    }
    Ok(certificates)
}

/// Checks that a file contains a key, and that no other user can read it, by the rules of libpq.
fn has_private_key(file: &Path) -> Result<(), String> {
    let content = std::fs::read(file).map_err(unreadable)?;
    if PrivateKeyDer::from_pem_slice(&content).is_err() {
        return Err("which holds no private key in PEM form without a password".to_owned());
    }
    let metadata = std::fs::metadata(file).map_err(unreadable)?;
    let (forbidden, allowed) = if metadata.uid() == 0 {
        (0o037, "0640")
    } else {
        (0o077, "0600")
    };
    if metadata.mode() & forbidden != 0 {
        return Err(format!(
            "which others may read or change; set its permissions to {allowed} or less"
        ));
    }
    Ok(())
}

fn unreadable(error: impl Display) -> String {
    format!("which cannot be read: {error}")
}

/// Returns the authorities that the operating system trusts, in PEM form.
fn system_roots() -> Result<Vec<u8>, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut pem = String::new();
    for certificate in found.certs {
        // sqlx would refuse all authorities if it cannot read one of them.
        if RootCertStore::empty().add(certificate.clone()).is_ok() {
            pem.push_str("-----BEGIN CERTIFICATE-----\n");
            BASE64_STANDARD.encode_string(&certificate, &mut pem);
            pem.push_str("\n-----END CERTIFICATE-----\n");
        }
    }
    if pem.is_empty() {
        return Err(
            "`sslmode=verify-full` finds no certificate authorities on this system; install them (on Debian \
             `ca-certificates`), or name a file with them by `sslrootcert`"
                .to_owned(),
        );
    }
    Ok(pem.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A certificate with X.509 version 1, from `openssl x509 -req` of OpenSSL 3.0.
    const VERSION_1_CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBGzCBwgIUEyiEtrkDEfW9qaRYd/d9AEA73ZowCgYIKoZIzj0EAwIwDTELMAkG
A1UEAwwCY2EwHhcNMjYxMTI5MTQzNjE2WhcNMzYxMTI2MTQzNjE2WjAUMRIwEAYD
VQQDDAljZXJ0aWZpZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATnkeW7vLj3
LpWC05RCkxIZRsx8sFxDdriVQQ6FW9+rr5+47Qpgoe0KuaF/Pm1Bu30PptZ+0Q0j
K2iwSIzb416hMAoGCCqGSM49BAMCA0gAMEUCID0wPrwYB+JOgtrWdPJCICpEh+nx
W846lICZXESsHEAOAiEAl01I3OJEzT92+wT79jjawgc7Dvruxcysp1ruAJXfPec=
-----END CERTIFICATE-----
";

    #[test]
    fn certificates_of_version_1_are_named_with_the_remedy() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&file, VERSION_1_CERTIFICATE).unwrap();
        assert_eq!(has_certificates(file.path()), Ok(()));
        let complaint = has_client_certificate(file.path()).unwrap_err();
        assert!(complaint.contains("X.509 version 1"), "{complaint}");

        let certificate = CertificateDer::from_pem_slice(VERSION_1_CERTIFICATE.as_bytes());
        let certificate = certificate.unwrap();
        let refusal = ParsedCertificate::try_from(&certificate).err().unwrap();
        let refusal = io::Error::new(io::ErrorKind::InvalidData, refusal);
        let explained = Tls::disabled().explain(&sqlx::Error::Io(refusal), "db");
        let (_, remedy) = explained.unwrap();
        assert!(
            remedy.contains("the certificate of the server has X.509"),
            "{remedy}"
        );
    }
}
