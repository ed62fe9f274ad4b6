//! Where the page of a flag stands, and what is open on it.

use crate::routes;
use pennon_model::id::{EnvironmentId, RuleId};

use crate::form::Form;

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
    /// Reads the address, or the fields of a form, which have the same names.
    pub(super) fn read(form: &Form) -> Self {
        match (form.text("edit").as_str(), form.parsed("rule")) {
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

    fn pairs(self) -> Vec<(&'static str, String)> {
        let edit = |word: &str| ("edit", word.to_owned());
        match self {
            Self::Nothing => Vec::new(),
            Self::Details => vec![edit("details")],
            Self::Switch(on) => vec![edit("switch"), ("enabled", on.to_string())],
            Self::Ttl => vec![edit("ttl")],
            Self::NewRule => vec![edit("rule")],
            Self::Rule(rule) => vec![edit("rule"), ("rule", rule.to_string())],
            Self::DeleteRule(rule) => vec![edit("delete-rule"), ("rule", rule.to_string())],
            Self::Rollout => vec![edit("rollout")],
            Self::RemoveRollout => vec![edit("remove-rollout")],
            Self::Copy(to) => {
                let to = to.map(|to| ("to", to.to_string()));
                std::iter::once(edit("copy")).chain(to).collect()
            }
        }
    }
}

impl Address {
    /// The page as it shows how things stand.
    pub(super) fn href(&self) -> String {
        self.editing(Edit::Nothing)
    }

    /// The page with something open.
    pub(super) fn editing(&self, edit: Edit) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        if let Some(environment) = self.environment {
            pairs.append_pair("environment", &environment.to_string());
        }
        for (name, value) in edit.pairs() {
            pairs.append_pair(name, &value);
        }
        if let Some(context) = &self.context {
            pairs.append_pair("context", context);
        }
        let (path, pairs) = (routes::flag(&self.key), pairs.finish());
        if pairs.is_empty() {
            path
        } else {
            format!("{path}?{pairs}")
        }
    }

    /// The page in another environment.
    pub(super) fn within(&self, environment: EnvironmentId) -> Self {
        Self {
            environment: Some(environment),
            ..self.clone()
        }
    }
}
