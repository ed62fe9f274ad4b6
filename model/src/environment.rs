//! Environments: where flags take effect.

use serde::{Deserialize, Serialize};

use crate::id::EnvironmentId;
use crate::text::{line, text};
use crate::time::Timestamp;
use pennon_core::string_enum;

/// An environment of a product, with its one SDK key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Environment {
    /// Assigned by the service.
    pub id: EnvironmentId,
    /// The product that it belongs to.
    pub product: ProductName,
    /// Its name, unique with the product among active environments.
    pub name: EnvironmentName,
    /// The leading part of the SDK key, to tell keys apart.
    #[cfg_attr(feature = "schema", schema(example = "pnk_KcuZYI13"))]
    pub sdk_key_prefix: String,
    /// Whether its key works.
    pub status: EnvironmentStatus,
    /// When it was created.
    pub created_at: Timestamp,
    /// Raised by every change of the environment itself, not of what is in it.
    #[serde(skip)]
    pub revision: i64,
}

text! {
    /// A product's name: one line of 1 to 64 characters.
    #[cfg_attr(
        feature = "schema",
        schema(min_length = 1, max_length = 64, pattern = r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB][^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*$", example = "Web shop")
    )]
    pub struct ProductName = |text| line(text, 64, "must have at most 64 characters")
}

text! {
    /// An environment's name: one line of 1 to 64 characters.
    #[cfg_attr(
        feature = "schema",
        schema(min_length = 1, max_length = 64, pattern = r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*[^\s\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB][^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*$", example = "production")
    )]
    pub struct EnvironmentName = |text| line(text, 64, "must have at most 64 characters")
}

string_enum! {
    /// Where an environment is in its life.
    pub enum EnvironmentStatus {
        /// Its key works.
        Active = "active",
        /// Its key is refused, for good.
        Revoked = "revoked",
    }
    else "must be `active` or `revoked`"
}

/// The environments to list. Every filter compares exactly.
#[derive(Clone, Debug, Default)]
pub struct EnvironmentFilter {
    /// The product.
    pub product: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The status.
    pub status: Option<EnvironmentStatus>,
}
