//! Export and import of all flags and their configurations, to move them to another installation or to keep them next
//! to the code that uses them. An export contains no secrets. An import requires that its environments exist, and does
//! not change their keys.

mod faults;
mod import;
mod installation;
mod plan;
mod planned_flag;
mod warnings;

use pennon_model::environment::{EnvironmentName, EnvironmentPath, ProductName};
use pennon_model::flag::{FlagKey, FlagName, FlagProducts, FlagType};
use pennon_model::metadata::FlagMetadata;
use pennon_model::text::Description;
use serde::Serialize;

pub(crate) use self::import::{import, import_within};
pub(crate) use self::plan::ImportedChange;
pub(crate) use self::warnings::warnings;

use self::installation::Installation;
use super::Admin;
use super::targeting::ConfigurationContent;
use crate::auth::authority::Administrator;
use crate::error::Error;

/// The version of the document format.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// All flags, by key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Document {
    pub(crate) format_version: u32,
    pub(crate) flags: Vec<PortableFlag>,
}

/// A flag and its configuration in each active environment, by product and name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableFlag {
    pub(crate) key: FlagKey,
    pub(crate) name: FlagName,
    pub(crate) description: Option<Description>,
    #[serde(rename = "type")]
    pub(crate) flag_type: FlagType,
    /// The products in whose environments the flag is configured. Every product if none, which is omitted: earlier
    /// releases do not know the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) products: Option<FlagProducts>,
    /// True if the flag exists in public environments. False is omitted for the same reason.
    #[serde(rename = "public", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_public: bool,
    /// The tags, owner, kind and expiry, those that the flag has.
    #[serde(flatten)]
    pub(crate) metadata: FlagMetadata,
    pub(crate) archived: bool,
    pub(crate) environments: Vec<PortableConfiguration>,
}

/// The configuration of a flag in one environment.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PortableConfiguration {
    pub(crate) product: ProductName,
    pub(crate) environment: EnvironmentName,
    #[serde(flatten)]
    pub(crate) content: ConfigurationContent,
}

impl PortableConfiguration {
    /// Returns the product and the name of the environment.
    pub(crate) fn path(&self) -> EnvironmentPath {
        EnvironmentPath {
            product: self.product.to_string(),
            name: self.environment.to_string(),
        }
    }
}

/// Exports all flags.
pub(crate) async fn export(admin: &Admin, _actor: &Administrator) -> Result<Document, Error> {
    let here = Installation::read(&mut admin.db.read().await?).await?;
    Ok(Document {
        format_version: FORMAT_VERSION,
        flags: here
            .flags
            .values()
            .map(|flag| here.portable(flag))
            .collect(),
    })
}
