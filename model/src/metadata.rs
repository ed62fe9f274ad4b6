//! The metadata of a flag: its tags, owner, kind and expiry. They do not affect evaluation.

use std::collections::BTreeSet;
use std::fmt;

use pennon_core::{Invalid, string_enum};
use serde::{Deserialize, Serialize};

use crate::text::{NewName, check_line, text};
use crate::time::Timestamp;

/// The metadata of a flag. Members without a value are omitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FlagMetadata {
    /// Its tags, sorted; absent if there are none.
    #[serde(skip_serializing_if = "FlagTags::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub tags: FlagTags,
    /// The person or team that is responsible for it: the address of an account or any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub owner: Option<FlagOwner>,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub kind: Option<FlagKind>,
    /// The time after which it is stale. Nothing is switched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub expires_at: Option<Expiry>,
}

/// The tags of a flag: at most 20, sorted, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Option<BTreeSet<FlagTag>>")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "schema", schema(value_type = Vec<FlagTag>, max_items = 20))]
pub struct FlagTags(BTreeSet<FlagTag>);

impl FlagTags {
    /// The maximum number of tags.
    pub const MAX: usize = 20;

    /// Parses tags that are separated by commas. Empty parts are ignored.
    pub fn parse_list(list: &str) -> Result<Self, Invalid> {
        let parts = list.split(',').filter(|part| !part.trim().is_empty());
        let tags: Result<BTreeSet<_>, _> = parts.map(|tag| tag.to_owned().try_into()).collect();
        tags?.try_into()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of tags.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if no tag is in both.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// Returns these tags without some and with others. Fails if they are then too many.
    pub fn changed(&self, add: &Self, remove: &Self) -> Result<Self, Invalid> {
        let kept = self.0.difference(&remove.0);
        kept.chain(&add.0)
            .cloned()
            .collect::<BTreeSet<_>>()
            .try_into()
    }

    /// Returns the tags, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &FlagTag> {
        self.0.iter()
    }
}

impl TryFrom<BTreeSet<FlagTag>> for FlagTags {
    type Error = Invalid;

    fn try_from(tags: BTreeSet<FlagTag>) -> Result<Self, Invalid> {
        if tags.len() <= Self::MAX {
            Ok(Self(tags))
        } else {
            Err(Invalid::new("must have at most 20 tags"))
        }
    }
}

/// Reads recorded tags; none are recorded as an absent member.
impl TryFrom<Option<BTreeSet<FlagTag>>> for FlagTags {
    type Error = Invalid;

    fn try_from(tags: Option<BTreeSet<FlagTag>>) -> Result<Self, Invalid> {
        tags.unwrap_or_default().try_into()
    }
}

/// The tags as they are typed: separated by commas.
impl fmt::Display for FlagTags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, tag) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(", ")?;
            }
            tag.fmt(formatter)?;
        }
        Ok(())
    }
}

/// A tag: one line of 1 to 50 characters without a comma. Spaces at its ends are removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "schema",
    schema(value_type = String, min_length = 1, max_length = 50, pattern = r"^[^,\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*[^\s,\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB][^,\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]*$", example = "checkout")
)]
pub struct FlagTag(String);

impl FlagTag {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for FlagTag {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let tag = text.trim();
        check_line(tag, 50, "must have at most 50 characters")?;
        if tag.contains(',') {
            return Err(Invalid::new("must not contain a comma"));
        }
        let visible = NewName::new(tag)?;
        Ok(Self((*visible.as_inner()).to_owned()))
    }
}

impl fmt::Display for FlagTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

text! {
    /// The owner of a flag: the address of an account, or any line of 1 to 320 characters.
    #[cfg_attr(
        feature = "schema",
        schema(
            min_length = 1,
            max_length = 320,
            pattern = r"^[^\u0000-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u001F\u007F-\u009F]*$",
            example = "ana@example.com"
        )
    )]
    pub struct FlagOwner = |text| check_line(text, 320, "must have at most 320 characters")
}

string_enum! {
    /// The purpose of a flag.
    pub enum FlagKind {
        /// Releases a feature. It is removed when everyone has the feature.
        Release = "release",
        /// Compares variants of a feature. It is removed when one has been chosen.
        Experiment = "experiment",
        /// Controls how a system is operated.
        Operational = "operational",
        /// Gives some contexts access to a feature.
        Permission = "permission",
        /// Switches a feature off in an emergency.
        KillSwitch = "kill_switch",
    }
    else "must be `release`, `experiment`, `operational`, `permission` or `kill_switch`"
}

/// The time after which a flag is stale. It is read from an RFC 3339 date-time, or from a date, which begins in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "Timestamp", try_from = "String")]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = String, example = "2026-03-01T00:00:00.000Z")
)]
pub struct Expiry(Timestamp);

impl Expiry {
    /// Returns the expiry at a time.
    pub const fn at(time: Timestamp) -> Self {
        Self(time)
    }

    /// Returns the time.
    pub const fn time(self) -> Timestamp {
        self.0
    }
}

impl From<Expiry> for Timestamp {
    fn from(expiry: Expiry) -> Self {
        expiry.0
    }
}

impl TryFrom<String> for Expiry {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let is_date = text.len() == "2026-03-01".len();
        let parsed = if is_date {
            format!("{text}T00:00:00Z").parse()
        } else {
            text.parse()
        };
        parsed.map(Self).map_err(|_| {
            Invalid::new("must be a date such as 2026-03-01 or an RFC 3339 date-time such as 2026-03-01T09:30:00Z")
        })
    }
}

/// Conditions on the metadata of flags. All of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetadataFilter {
    /// Tags that a flag has, all of them.
    pub tags: FlagTags,
    /// The owner, in any case.
    pub owner: Option<String>,
    /// The purpose.
    pub kind: Option<FlagKind>,
}

#[cfg(test)]
mod tests {
    use super::FlagTag;

    #[test]
    fn a_tag_has_1_to_50_characters_after_trimming() {
        let tag = |text: &str| FlagTag::try_from(text.to_owned()).map(|tag| tag.to_string());
        let longest = "é".repeat(50);
        assert_eq!(tag(&format!(" {longest}\t")).as_deref(), Ok(&*longest));
        assert!(tag(&format!("{longest}x")).is_err() && tag(" ").is_err());
    }
}
