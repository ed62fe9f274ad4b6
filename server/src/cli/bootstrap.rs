//! The file that `PENNON_BOOTSTRAP_FILE` names.

use std::path::PathBuf;

use super::document::{self, Problem};
use super::import::MAX_ITEMS;
use super::read;
use crate::admin::environments::NewEnvironment;
use crate::admin::provisioning::{
    BootstrapFile, ProvisionedEnvironment, ProvisionedToken, Provisioning,
};
use crate::admin::transfer::{Document, FORMAT_VERSION};
use crate::error::on_one_line;
use crate::http::fields::{Fields, FromFields, from_fields};

/// The maximum number of environments in a file.
const MAX_ENVIRONMENTS: usize = 1_000;

impl BootstrapFile {
    /// Reads the file. A file that cannot be used causes an error only if the server needs its content.
    pub fn read(path: PathBuf) -> Self {
        let content = read(&path).and_then(|text| {
            document::parse(&text).map_err(|problem| match problem {
                Problem::Unreadable(problem) => format!("{}: {problem}", path.display()),
                Problem::Faults(faults) => format!("{}: {}", path.display(), on_one_line(&faults)),
            })
        });
        Self { path, content }
    }
}

impl FromFields for Provisioning {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let environments = fields.list("environments", 1..=MAX_ENVIRONMENTS);
        let token = fields.nullable_object("personalAccessToken");
        let flags = fields.list("flags", 0..=MAX_ITEMS);
        Some(Self {
            environments: environments?,
            token: token?,
            document: Document {
                format_version: FORMAT_VERSION,
                flags: flags?,
            },
        })
    }
}

impl FromFields for ProvisionedEnvironment {
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let product = fields.required("product");
        let name = fields.required("name");
        let visibility = fields.or_default("visibility");
        let client_rules = fields.or_default("clientRules");
        let is_protected = fields.or_default("protected");
        let is_reason_required = fields.or_default("reasonRequired");
        let sdk_key = fields.required("sdkKey");
        Some(Self {
            new: NewEnvironment {
                product: product?,
                name: name?,
                visibility: visibility?,
                client_rules: client_rules?,
                is_protected: is_protected?,
                is_reason_required: is_reason_required?,
            },
            sdk_key: sdk_key?,
        })
    }
}

from_fields! {
    ProvisionedToken {
        name: required("name"),
        role: required("role"),
        token: required("token"),
        expires_in: or_default("expiresInDays"),
    }
}
