//! The actions of the page's forms.

use pennon_core::ttl::Ttl;
use pennon_model::{
    configuration::{ConfigurationPart, FlagEnvironmentId},
    id::{FlagId, RuleId},
    targeting::TargetingRule,
};

use super::address::Address;
use crate::{
    components::{check_field::is_checked, product_fields::ProductForm, public_field::PUBLIC},
    error::AdminError,
    form::{Form, actions},
    form_page::redirect,
    html::Html,
    port::{
        Expected,
        flag_page::{
            ConfigurationCopy, CopyRevisions, ExpectedTargeting, FlagDetails, FlagPageAdmin,
        },
        flags::{FlagAdmin, MetadataForm},
        signed_in,
    },
    recipe_form::RecipeForm,
    targeting_form::{self, ConditionForm, RolloutForm, RuleForm},
};

actions! {
    /// An action of the page's forms.
    pub(super) enum Action {
        /// Changes the name, the description, the scope and the metadata.
        Details = "details",
        /// Archives the flag.
        Archive = "archive",
        /// Restores the flag.
        Restore = "restore",
        /// Switches the flag in an environment.
        Switch = "switch",
        /// Changes the TTL.
        Ttl = "ttl",
        /// Adds or replaces a rule.
        Rule = "rule",
        /// Deletes a rule.
        DeleteRule = "delete-rule",
        /// Reorders the rules.
        Order = "order",
        /// Adds the rule and sets the rollout of a recipe.
        Recipe = "recipe",
        /// Sets the rollout.
        Rollout = "rollout",
        /// Removes the rollout.
        RemoveRollout = "remove-rollout",
        /// Copies the configuration to another environment.
        Copy = "copy",
    }
}

/// The name of the field with the percentage of the rollout that a form replaces.
pub(super) const PERCENTAGE_BEFORE: &str = "from";

/// Adds the action of a form for a flag to a question about it.
pub(super) fn about(error: AdminError, form: &Form, key: &str) -> AdminError {
    let preposition = match Action::of(form) {
        Some(Action::Copy) => "to",
        _ => "in",
    };
    error.about(preposition, || describe(form, key))
}

/// Describes the action of a form for a flag, in the imperative: `Turn on checkout`.
fn describe(form: &Form, key: &str) -> String {
    let Some(action) = Action::of(form) else {
        return format!("Change {key}");
    };
    match action {
        Action::Details => format!("Change the details of {key}"),
        Action::Archive => format!("Archive {key}"),
        Action::Restore => format!("Restore {key}"),
        Action::Switch if form.text("enabled") == "true" => format!("Turn on {key}"),
        Action::Switch => format!("Turn off {key}"),
        Action::Ttl => format!("Change the TTL of {key}"),
        Action::Rule if form.text("rule").is_empty() => format!("Add a rule to {key}"),
        Action::Rule => format!("Change a rule of {key}"),
        Action::DeleteRule => format!("Delete a rule of {key}"),
        Action::Order => format!("Reorder the rules of {key}"),
        Action::Recipe | Action::Rollout => {
            let input = RecipeForm::read(|name| form.texts(name));
            let percentage = input.rollout.percentage.trim();
            match form.text(PERCENTAGE_BEFORE).as_str() {
                _ if !input.chosen().has_share() => format!("Change who gets {key}"),
                "" => format!("Roll out {key} to {percentage}%"),
                before => format!("Roll out {key} from {before}% to {percentage}%"),
            }
        }
        Action::RemoveRollout => format!("Remove the rollout of {key}"),
        Action::Copy => format!("Copy the configuration of {key}"),
    }
}

/// Carries out the action of a form. The field `do` names the action, `flag` and `environment` its object, and
/// `revision` or `expected` the state of the object when the form was rendered. Redirects to the result; returns none
/// if the form only changed its own fields.
pub(super) async fn act(form: &Form, address: &Address) -> Result<Option<Html>, AdminError> {
    if edits_conditions(form) {
        return Ok(None);
    }
    let address = carry_out(form, address).await?;
    redirect(&address).map(Some)
}

/// Carries out the action of a form. Returns the address that shows the result.
async fn carry_out(form: &Form, address: &Address) -> Result<String, AdminError> {
    let admin = signed_in::<dyn FlagPageAdmin>()?;
    let flag: FlagId = field(form, "flag")?;
    let id = || {
        let environment = field(form, "environment");
        environment.map(|environment| FlagEnvironmentId { flag, environment })
    };
    let revision = || field(form, "revision");
    let to = |anchor: &str| address.at(anchor);
    let here = || address.href();
    match Action::of(form).ok_or_else(|| unreadable("do"))? {
        Action::Details => {
            let expected = Expected {
                id: flag,
                revision: revision()?,
            };
            admin.describe(expected, FlagDetails::from(form)).await?;
            Ok(here())
        }
        Action::Archive => {
            admin.archive(flag, revision()?).await?;
            Ok(here())
        }
        Action::Restore => {
            admin.restore(flag, revision()?).await?;
            Ok(here())
        }
        Action::Switch => {
            let FlagEnvironmentId { flag, environment } = id()?;
            let (on, expected) = (field(form, "enabled")?, Some(revision()?));
            signed_in::<dyn FlagAdmin>()?
                .set_enabled(flag, environment, on, expected)
                .await?;
            Ok(here())
        }
        Action::Ttl => {
            let (expected, ttl) = (ttl(&form.text("expected"))?, ttl(&form.text("ttl"))?);
            admin.set_ttl(id()?, expected, ttl).await?;
            Ok(here())
        }
        Action::Rule => save_rule(form, address, id()?).await,
        Action::DeleteRule => {
            admin.delete_rule(field(form, "rule")?, revision()?).await?;
            Ok(to("rules"))
        }
        Action::Order => {
            let order = requested_order(form);
            let moved = form.parsed("up").or_else(|| form.parsed("down"));
            let expected = read_expected_rules(form);
            admin.reorder_rules(id()?, &expected, &order).await?;
            Ok(to(&moved.map_or_else(|| "rules".to_owned(), rule_anchor)))
        }
        Action::Recipe => apply_recipe(form, address, id()?).await,
        Action::Rollout => {
            let input = RolloutForm::read(|name| form.texts(name));
            let expected = form.parsed("revision");
            admin.set_rollout(id()?, expected, &input).await?;
            Ok(to("rollout"))
        }
        Action::RemoveRollout => {
            admin.remove_rollout(id()?, revision()?).await?;
            Ok(to("rollout"))
        }
        Action::Copy => {
            let copy = ConfigurationCopy {
                flag,
                from: id()?.environment,
                to: field(form, "to")?,
                part: part(form)?,
            };
            let expected = CopyRevisions {
                from: revision()?,
                to: field(form, "to-revision")?,
            };
            admin.copy(copy, expected).await?;
            Ok(address.within(copy.to).href())
        }
    }
}

/// Adds or replaces a rule.
async fn save_rule(
    form: &Form,
    address: &Address,
    id: FlagEnvironmentId,
) -> Result<String, AdminError> {
    let input = RuleForm::read(|name| form.texts(name));
    let admin = signed_in::<dyn FlagPageAdmin>()?;
    let rule = match form.parsed::<RuleId>("rule") {
        None => {
            admin
                .add_rule(id, &read_expected_rules(form), &input)
                .await?
        }
        Some(rule) => {
            let revision = field(form, "revision")?;
            admin.replace_rule(id, rule, revision, &input).await?;
            rule
        }
    };
    Ok(address.at(&rule_anchor(rule)))
}

/// Applies a recipe.
async fn apply_recipe(
    form: &Form,
    address: &Address,
    id: FlagEnvironmentId,
) -> Result<String, AdminError> {
    let input = RecipeForm::read(|name| form.texts(name));
    let expected = ExpectedTargeting {
        rules: read_expected_rules(form),
        rollout: form.parsed("revision"),
    };
    signed_in::<dyn FlagPageAdmin>()?
        .apply_recipe(id, &expected, &input)
        .await?;
    Ok(address.at("rollout"))
}

impl From<&Form> for FlagDetails {
    fn from(form: &Form) -> Self {
        Self {
            name: form.text("name"),
            description: form.text("description"),
            products: ProductForm::read(form).and_then(ProductForm::into_products),
            is_public: is_checked(form, PUBLIC),
            metadata: MetadataForm::from(form),
            disable: form.text("disable") == "yes",
        }
    }
}

/// Returns the anchor of a rule on the page.
pub(super) fn rule_anchor(rule: RuleId) -> String {
    format!("rule-{rule}")
}

/// Parses a hidden field. An invalid one is not the user's mistake.
fn field<T: std::str::FromStr>(form: &Form, name: &str) -> Result<T, AdminError> {
    form.parsed(name).ok_or_else(|| unreadable(name))
}

fn unreadable(field: &str) -> AdminError {
    AdminError::Transport(format!("the field {field} cannot be read"))
}

/// Returns true if a button of the form adds or removes a condition, instead of saving.
fn edits_conditions(form: &Form) -> bool {
    adds_condition(form) || removed_condition(form).is_some()
}

fn adds_condition(form: &Form) -> bool {
    form.text("add") == "condition"
}

fn removed_condition(form: &Form) -> Option<usize> {
    form.parsed("remove")
}

/// Returns the rule of a form, with one condition more or less if a button of the form requests that.
pub(super) fn edited_rule(form: &Form) -> RuleForm {
    let mut rule = RuleForm::read(|name| form.texts(name));
    match removed_condition(form) {
        _ if adds_condition(form) => rule.conditions.push(ConditionForm::default()),
        Some(index) if index < rule.conditions.len() => drop(rule.conditions.remove(index)),
        _ => {}
    }
    rule
}

/// Returns the part of the configuration to copy; none for the whole.
fn part(form: &Form) -> Result<Option<ConfigurationPart>, AdminError> {
    match form.text("part").as_str() {
        "" => Ok(None),
        part => ConfigurationPart::parse(part)
            .map(Some)
            .map_err(|_| unreadable("part")),
    }
}

/// Returns the requested order: the current one, with one rule moved by one position.
fn requested_order(form: &Form) -> Vec<RuleId> {
    let order = form.text("order");
    let mut order: Vec<RuleId> = order
        .split_whitespace()
        .filter_map(|id| id.parse().ok())
        .collect();
    let position = |moved: RuleId| order.iter().position(|id| *id == moved);
    let up = form.parsed("up").and_then(position);
    let down = form.parsed("down").and_then(position);
    let upper = up.and_then(|index| index.checked_sub(1)).or(down);
    if let Some(neighbors) = upper.and_then(|upper| order.get_mut(upper..)?.get_mut(..2)) {
        neighbors.reverse();
    }
    order
}

/// Returns the rules as the page showed them, in the format of [`write_expected_rules`].
fn read_expected_rules(form: &Form) -> Vec<Expected<RuleId>> {
    let text = form.text("expected");
    let rules = text.split_whitespace();
    rules
        .filter_map(|rule| {
            let (id, revision) = rule.split_once('.')?;
            Some(Expected {
                id: id.parse().ok()?,
                revision: revision.parse().ok()?,
            })
        })
        .collect()
}

/// Returns the field `expected` of a form; none if the form had no such field.
pub(super) fn read_expected(form: &Form) -> Option<String> {
    form.texts("expected").pop()
}

/// Returns the rules that a page shows, for a field `expected`.
pub(super) fn write_expected_rules(rules: &[TargetingRule]) -> String {
    let rules = rules.iter();
    let rules = rules.map(|rule| format!("{}.{}", rule.id, rule.revision));
    rules.collect::<Vec<_>>().join(" ")
}

/// Parses a TTL in seconds; empty for the default.
fn ttl(seconds: &str) -> Result<Option<Ttl>, AdminError> {
    if seconds.trim().is_empty() {
        return Ok(None);
    }
    targeting_form::number(seconds)
        .map(Some)
        .map_err(|detail| AdminError::invalid("ttl", detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the last digits of the ids in the order that a form requests.
    fn ordered(fields: &str) -> String {
        let id = |number: char| format!("01a1fa8d-1ad7-7000-be8e-25c8e4232ff{number}");
        let body: String = fields
            .chars()
            .map(|character| match character {
                '0'..='9' => id(character),
                other => other.to_string(),
            })
            .collect();
        let order = requested_order(&Form::parse(body.as_bytes()));
        order.iter().filter_map(|id| id.to_string().pop()).collect()
    }

    #[test]
    fn a_rule_moves_by_one_place_and_not_beyond_the_ends() {
        assert_eq!(ordered("order=1+2+3&up=3"), "132");
        assert_eq!(ordered("order=1+2+3&up=1"), "123");
        assert_eq!(ordered("order=1+2+3&down=1"), "213");
        assert_eq!(ordered("order=1+2+3&down=3"), "123");
        assert_eq!(ordered("order=3+1+2"), "312");
        assert_eq!(ordered("order=1+2+3&up=4"), "123");
    }

    #[test]
    fn a_question_about_a_rollout_names_both_percentages() {
        let described = |body: &str| describe(&Form::parse(body.as_bytes()), "checkout");
        for (body, action) in [
            (
                "do=rollout&from=25&percentage=50",
                "Roll out checkout from 25% to 50%",
            ),
            (
                "do=recipe&recipe=share&from=&percentage=50",
                "Roll out checkout to 50%",
            ),
            (
                "do=recipe&recipe=only&from=25&percentage=25",
                "Change who gets checkout",
            ),
        ] {
            assert_eq!(described(body), action);
        }
    }

    #[test]
    fn a_condition_is_added_or_removed_where_the_form_requests_it() {
        let body = b"attribute=a&attribute=b&operator=%3D%3D&operator=%3D%3D";
        let names = |more: &str| {
            let body = [body.as_slice(), more.as_bytes()].concat();
            let form = Form::parse(&body);
            let conditions = edited_rule(&form).conditions.into_iter();
            let names: Vec<_> = conditions.map(|each| each.attribute).collect();
            (edits_conditions(&form), names.join(","))
        };
        assert_eq!(names(""), (false, "a,b".to_owned()));
        assert_eq!(names("&add=condition"), (true, "a,b,".to_owned()));
        assert_eq!(names("&remove=0"), (true, "b".to_owned()));
        assert_eq!(names("&remove=7"), (true, "a,b".to_owned()));
    }
}
