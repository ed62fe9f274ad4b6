//! Certificates for tests, signed by test authorities.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
};

/// A certificate authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Creates an authority with this common name.
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Self(CertifiedIssuer::self_signed(params, key()).expect("a certificate"))
    }

    /// Returns the authority's certificate in PEM format.
    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Writes a certificate for a common name and host names, and its key, which only the owner may read. Returns both
    /// paths.
    pub(crate) fn issue(
        &self,
        folder: &Path,
        file: &str,
        common_name: &str,
        hosts: &[&str],
    ) -> (PathBuf, PathBuf) {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).expect("names of hosts");
        params
            .distinguished_name
            .push(DnType::CommonName, common_name);
        let key = key();
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        let certificate = write(folder, &format!("{file}.crt"), &certificate.pem());
        let key = write(folder, &format!("{file}.key"), &key.serialize_pem());
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("a file of this test");
        (certificate, key)
    }
}

/// Writes a file and returns its path.
pub(crate) fn write(folder: &Path, file: &str, content: &str) -> PathBuf {
    let path = folder.join(file);
    fs::write(&path, content).expect("the folder can be written");
    path
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key")
}
