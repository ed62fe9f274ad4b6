//! The address of a flag's page, and the form that is open on it.

use pennon_model::{
    configuration::ConfigurationPart,
    environment::Environment,
    id::{EnvironmentId, RuleId},
};

use super::actions::Action;
use crate::{
    form::{Form, with_query},
    routes,
    scope::product,
};

/// The page of a flag in an environment.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) key: String,
    pub(super) environment: Option<EnvironmentId>,
    /// The evaluation context of the playground, as JSON; none if it is empty.
    pub(super) context: Option<String>,
}

/// The form that is open on the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Edit {
    /// None: the page only shows the configuration.
    #[default]
    None,
    /// Name, description and products.
    Details,
    /// The confirmation to switch the flag on or off.
    Switch(bool),
    /// The TTL.
    Ttl,
    /// A new rule.
    NewRule,
    /// An existing rule.
    Rule(RuleId),
    /// The confirmation to delete a rule.
    DeleteRule(RuleId),
    /// The recipe of a rollout: who gets the flag.
    Recipe,
    /// The percentage of an existing rollout.
    Rollout,
    /// The confirmation to remove the rollout.
    RemoveRollout,
    /// The copy of the configuration, or of a part, to another environment; none until one is selected.
    Copy(Option<EnvironmentId>, Option<ConfigurationPart>),
}

impl Edit {
    /// Reads the parameter `edit` of an address, or the field `do` of the form that was open, which has the same
    /// values.
    pub(super) fn read(form: &Form, field: &str) -> Self {
        let Some(action) = Action::parse(&form.text(field)) else {
            return Self::None;
        };
        let rule = form.parsed("rule");
        match action {
            Action::Details => Self::Details,
            Action::Switch => Self::Switch(form.text("enabled") == "true"),
            Action::Ttl => Self::Ttl,
            Action::Rule => rule.map_or(Self::NewRule, Self::Rule),
            Action::DeleteRule => rule.map_or(Self::None, Self::DeleteRule),
            Action::Recipe => Self::Recipe,
            Action::Rollout => Self::Rollout,
            Action::RemoveRollout => Self::RemoveRollout,
            Action::Copy => {
                let part = ConfigurationPart::parse(&form.text("part")).ok();
                Self::Copy(form.parsed("to"), part)
            }
            Action::Archive | Action::Restore | Action::Order => Self::None,
        }
    }

    /// Returns true for a form with fields, false for a confirmation.
    pub(super) fn has_input(self) -> bool {
        matches!(
            self,
            Self::Details
                | Self::Ttl
                | Self::NewRule
                | Self::Rule(_)
                | Self::Recipe
                | Self::Rollout
        )
    }

    /// Returns the parameter `edit`, and those that name its object.
    fn parameters(self) -> Vec<(&'static str, Option<String>)> {
        let mut part = None;
        let (edit, object) = match self {
            Self::None => return Vec::new(),
            Self::Details => (Action::Details, None),
            Self::Switch(on) => (Action::Switch, Some(("enabled", on.to_string()))),
            Self::Ttl => (Action::Ttl, None),
            Self::NewRule => (Action::Rule, None),
            Self::Rule(rule) => (Action::Rule, Some(("rule", rule.to_string()))),
            Self::DeleteRule(rule) => (Action::DeleteRule, Some(("rule", rule.to_string()))),
            Self::Recipe => (Action::Recipe, None),
            Self::Rollout => (Action::Rollout, None),
            Self::RemoveRollout => (Action::RemoveRollout, None),
            Self::Copy(to, of) => {
                part = of.map(|part| ("part", part.to_string()));
                (Action::Copy, to.map(|to| ("to", to.to_string())))
            }
        };
        let edit = ("edit", edit.as_str().to_owned());
        let parameters = std::iter::once(edit).chain(object).chain(part);
        parameters
            .map(|(name, value)| (name, Some(value)))
            .collect()
    }
}

impl Address {
    /// Returns the address of the page without an open form.
    pub(super) fn href(&self) -> String {
        self.editing(Edit::None)
    }

    /// Returns the address of an element of the page.
    pub(super) fn at(&self, anchor: &str) -> String {
        format!("{}#{anchor}", self.href())
    }

    /// Returns the address of the page with a form open.
    pub(super) fn editing(&self, edit: Edit) -> String {
        let environment = self.environment.map(|environment| environment.to_string());
        let parameters = std::iter::once(("environment", environment))
            .chain(edit.parameters())
            .chain([("context", self.context.clone())]);
        with_query(&routes::flag(&self.key), parameters)
    }

    /// Returns the address in this environment, which may belong to another product than the selected one. The product
    /// is then selected, too.
    pub(super) fn href_in(&self, environment: &Environment) -> String {
        let product = product().map(|_| environment.product.to_string());
        let environment = Some(environment.id.to_string());
        let parameters = [("environment", environment), ("product", product)];
        with_query(&routes::flag(&self.key), parameters)
    }

    /// Returns the address in another environment.
    pub(super) fn within(&self, environment: EnvironmentId) -> Self {
        Self {
            environment: Some(environment),
            ..self.clone()
        }
    }
}
