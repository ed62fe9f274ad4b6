//! Where the page of a flag stands, and what is open on it.

use crate::routes;
use pennon_model::id::{EnvironmentId, RuleId};

use crate::form::{Form, with_query};

/// The page of a flag in an environment.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) key: String,
    pub(super) environment: Option<EnvironmentId>,
    /// For whom the flag is tried there, as JSON; none for nobody yet.
    pub(super) context: Option<String>,
}

/// What is open for editing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Edit {
    /// Nothing: the page shows how things stand.
    #[default]
    Nothing,
    /// Name and description.
    Details,
    /// The question whether to switch it on, or off.
    Switch(bool),
    /// How long clients may keep the flag.
    Ttl,
    /// A rule to add.
    NewRule,
    /// A rule.
    Rule(RuleId),
    /// The question whether to delete a rule.
    DeleteRule(RuleId),
    /// The rollout.
    Rollout,
    /// The question whether to remove the rollout.
    RemoveRollout,
    /// Copying to another environment, once it is chosen.
    Copy(Option<EnvironmentId>),
}

impl Edit {
    /// Reads the address, whose parameter `edit` says what is open, or the form that was in use there, whose field `do` has
    /// the same words.
    pub(super) fn read(form: &Form, field: &str) -> Self {
        match (form.text(field).as_str(), form.parsed("rule")) {
            ("details", _) => Self::Details,
            ("switch", _) => Self::Switch(form.text("enabled") == "true"),
            ("ttl", _) => Self::Ttl,
            ("rule", None) => Self::NewRule,
            ("rule", Some(rule)) => Self::Rule(rule),
            ("delete-rule", Some(rule)) => Self::DeleteRule(rule),
            ("rollout", _) => Self::Rollout,
            ("remove-rollout", _) => Self::RemoveRollout,
            ("copy", _) => Self::Copy(form.parsed("to")),
            _ => Self::Nothing,
        }
    }

    /// The parameter `edit`, and one that says of what.
    fn parameters(self) -> Vec<(&'static str, Option<String>)> {
        let (edit, of_what) = match self {
            Self::Nothing => return Vec::new(),
            Self::Details => ("details", None),
            Self::Switch(on) => ("switch", Some(("enabled", on.to_string()))),
            Self::Ttl => ("ttl", None),
            Self::NewRule => ("rule", None),
            Self::Rule(rule) => ("rule", Some(("rule", rule.to_string()))),
            Self::DeleteRule(rule) => ("delete-rule", Some(("rule", rule.to_string()))),
            Self::Rollout => ("rollout", None),
            Self::RemoveRollout => ("remove-rollout", None),
            Self::Copy(to) => ("copy", to.map(|to| ("to", to.to_string()))),
        };
        let edit = ("edit", edit.to_owned());
        let parameters = std::iter::once(edit).chain(of_what);
        parameters
            .map(|(name, value)| (name, Some(value)))
            .collect()
    }
}

impl Address {
    /// The page as it shows how things stand.
    pub(super) fn href(&self) -> String {
        self.editing(Edit::Nothing)
    }

    /// The page with something open.
    pub(super) fn editing(&self, edit: Edit) -> String {
        let environment = self.environment.map(|environment| environment.to_string());
        let parameters = std::iter::once(("environment", environment))
            .chain(edit.parameters())
            .chain([("context", self.context.clone())]);
        with_query(&routes::flag(&self.key), parameters)
    }

    /// The page in another environment.
    pub(super) fn within(&self, environment: EnvironmentId) -> Self {
        Self {
            environment: Some(environment),
            ..self.clone()
        }
    }
}
