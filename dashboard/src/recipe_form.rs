//! The form that adds a rollout: who gets the flag, and the rule and the rollout that this requires.

use pennon_core::{
    FlagConfig,
    rollout::{Percentage, Rollout, Strategy},
    rule::{Attribute, Condition, Logic, Operator, Priority, Rule},
};

use crate::{
    choices::choices,
    describe,
    error::FieldError,
    targeting_form::{RolloutForm, RuleForm},
};

choices! {
    /// The users who get a flag.
    pub enum Recipe {
        /// A percentage of everyone that no rule matches.
        Share = "share",
        /// A percentage of the users that match conditions.
        ShareWhere = "share-where",
        /// Only users that match conditions.
        Only = "only",
        /// Everyone but users that match conditions.
        Except = "except",
    }
}

impl Recipe {
    /// Returns true if the recipe has a percentage.
    pub fn has_share(self) -> bool {
        matches!(self, Self::Share | Self::ShareWhere)
    }

    /// Returns true if the recipe has conditions.
    pub fn has_conditions(self) -> bool {
        self != Self::Share
    }
}

/// A recipe as the fields of its form. The fields that the recipe does not use may have any values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeForm {
    /// Field `recipe`: one of [`Recipe`].
    pub recipe: String,
    /// The percentage and the strategy.
    pub rollout: RolloutForm,
    /// The conditions. The value of the rule follows from the recipe.
    pub rule: RuleForm,
}

/// The change that a recipe makes to a flag's targeting.
#[derive(Clone, Debug)]
pub struct Audience {
    /// The recipe.
    pub recipe: Recipe,
    /// The rule with the conditions as typed; it is ON for the users that match them. None if the recipe has none.
    pub intended: Option<Rule>,
    /// The rule to add after all others.
    pub rule: Option<Rule>,
    /// The rollout to set; none to have no rollout.
    pub rollout: Option<Rollout>,
}

impl RecipeForm {
    /// Reads the fields of a form; `field` returns all values for a name.
    pub fn read(field: impl Fn(&str) -> Vec<String>) -> Self {
        Self {
            recipe: field("recipe").into_iter().next().unwrap_or_default(),
            rollout: RolloutForm::read(&field),
            rule: RuleForm {
                value: true.to_string(),
                ..RuleForm::read(field)
            },
        }
    }

    /// Returns the chosen recipe; the first if the field is invalid.
    pub fn chosen(&self) -> Recipe {
        Recipe::parse(&self.recipe).unwrap_or(Recipe::Share)
    }

    /// Converts the fields to the change of the targeting, or returns all errors. `priority` is that of the new rule.
    pub fn audience(&self, priority: Priority) -> Result<Audience, Vec<FieldError>> {
        let recipe = Recipe::parse(&self.recipe)
            .ok_or_else(|| vec![FieldError::new("recipe", "must be one of the choices")])?;
        let intended = recipe.has_conditions().then(|| self.rule.rule(priority));
        let share = recipe.has_share().then(|| self.rollout.rollout());
        let (intended, share) = match (intended.transpose(), share.transpose()) {
            (Ok(intended), Ok(share)) => (intended, share),
            (intended, share) => {
                let faults = [share.err(), intended.err()];
                return Err(faults.into_iter().flatten().flatten().collect());
            }
        };
        let rule = intended.clone().map(|rule| match recipe {
            Recipe::ShareWhere => exclusion(rule),
            Recipe::Except => Rule {
                value: false,
                ..rule
            },
            Recipe::Share | Recipe::Only => rule,
        });
        let rollout = match recipe {
            Recipe::Share | Recipe::ShareWhere => share,
            Recipe::Only => nobody(),
            Recipe::Except => None,
        };
        Ok(Audience {
            recipe,
            intended,
            rule,
            rollout,
        })
    }
}

/// A recipe without values.
impl Default for RecipeForm {
    fn default() -> Self {
        Self {
            recipe: Recipe::Share.as_str().to_owned(),
            rollout: RolloutForm::default(),
            rule: RuleForm::default(),
        }
    }
}

impl Audience {
    /// Applies the change to a flag.
    pub fn apply_to(&self, flag: &FlagConfig) -> FlagConfig {
        let mut changed = flag.clone();
        changed.rules.extend(self.rule.clone());
        changed.rollout = self.rollout;
        changed
    }

    /// Applies the change as if users without an attribute never joined, and as if the rollout had all others. A user
    /// who gets ON only after [`Self::apply_to`] joins because an attribute is missing. None if nobody can.
    pub fn apply_strictly_to(&self, flag: &FlagConfig) -> Option<FlagConfig> {
        if self.attributes_that_may_be_missing().is_empty() {
            return None;
        }
        let intended = self.intended.clone()?;
        let given = match self.recipe {
            Recipe::Except => exclusion(intended),
            Recipe::Share | Recipe::ShareWhere | Recipe::Only => intended,
        };
        let mut strict = flag.clone();
        strict.rules.push(Rule {
            value: true,
            ..given
        });
        strict.rollout = nobody();
        Some(strict)
    }

    /// Describes the audience as sentences with capital and period. `is_rest` is true if rules are tried before.
    pub fn description(&self, is_rest: bool) -> String {
        let (one, many) = self.rollout.map_or(("user", "users"), |rollout| {
            describe::bucketed_nouns(rollout.strategy)
        });
        let rule = self.intended.as_ref();
        let when = rule.map(|rule| describe::conditions(rule.logic, &rule.conditions));
        let when = when
            .map(|when| format!(" where {when}"))
            .unwrap_or_default();
        let sentence = match (self.recipe, self.rollout) {
            (Recipe::Share | Recipe::ShareWhere, Some(rollout)) => {
                let attribute = rollout.strategy.attribute();
                let attribute = attribute.as_str();
                let others = match self.recipe {
                    Recipe::ShareWhere => "; all others get OFF.",
                    _ => ".",
                };
                match rollout.percentage.get() {
                    0 => format!("no {one} gets ON."),
                    100 => format!("every {one} with a {attribute}{when} gets ON{others}"),
                    percentage => {
                        format!("{percentage}% of {many}{when} get ON, by {attribute}{others}")
                    }
                }
            }
            (Recipe::Except, _) => format!("users{when} get OFF; all others get ON."),
            (_, _) => format!("users{when} get ON; all others get OFF."),
        };
        let sentence = if is_rest {
            format!("if no earlier rule matches, {sentence}")
        } else {
            sentence
        };
        describe::capitalize(&sentence)
    }

    /// Explains the evaluation of users without an attribute, in sentences; none if it is the expected one.
    pub fn note_about_missing_attributes(&self) -> Option<String> {
        let attributes = self.attributes_that_may_be_missing();
        let names: Vec<&str> = attributes.iter().map(|each| each.as_str()).collect();
        let names = (!names.is_empty()).then(|| names.join(" or "))?;
        Some(match self.recipe {
            Recipe::Except => {
                format!("Users without {names} get ON, too: no rule matches a missing attribute.")
            }
            _ => format!(
                "Users without {names} join them: no rule matches a missing attribute. To keep them out, make sure that your app sends {names}."
            ),
        })
    }

    /// Returns the attributes without which a user joins the audience although the conditions do not hold; empty if
    /// there are none. A missing attribute matches no rule, not even one that excludes.
    pub fn attributes_that_may_be_missing(&self) -> Vec<&Attribute> {
        if self.recipe == Recipe::Only {
            return Vec::new();
        }
        let bucketed_by = self.rollout.map(|rollout| rollout.strategy.attribute());
        let conditions = self.intended.iter().flat_map(|rule| &rule.conditions);
        let mut attributes: Vec<&Attribute> = Vec::new();
        for Condition { attribute, .. } in conditions {
            // Without its bucketing key, a user is not in the rollout.
            if bucketed_by.as_ref() != Some(attribute) && !attributes.contains(&attribute) {
                attributes.push(attribute);
            }
        }
        attributes
    }
}

/// Returns the rollout to nobody, after which users that match no rule get OFF.
fn nobody() -> Option<Rollout> {
    let percentage = Percentage::try_from(0).ok()?;
    Some(Rollout {
        percentage,
        strategy: Strategy::PerUser,
    })
}

/// Returns the rule that is OFF for the users that have the attributes of a rule but do not match it.
fn exclusion(rule: Rule) -> Rule {
    let conditions = rule.conditions.into_iter();
    let conditions = conditions.map(|condition| Condition {
        operator: opposite(condition.operator),
        ..condition
    });
    Rule {
        logic: match rule.logic {
            Logic::And => Logic::Or,
            Logic::Or => Logic::And,
        },
        value: false,
        conditions: conditions.collect(),
        ..rule
    }
}

/// Returns the operator that holds for a given attribute exactly if the other does not.
fn opposite(operator: Operator) -> Operator {
    match operator {
        Operator::Equal => Operator::NotEqual,
        Operator::NotEqual => Operator::Equal,
        Operator::Greater => Operator::LessOrEqual,
        Operator::Less => Operator::GreaterOrEqual,
        Operator::GreaterOrEqual => Operator::Less,
        Operator::LessOrEqual => Operator::Greater,
    }
}

#[cfg(test)]
mod tests {
    use pennon_core::{CompiledFlag, Context, MissingBucketingKey, evaluate};

    use super::*;
    use crate::{context_form, evaluated};

    fn form(fields: &[(&str, &str)]) -> RecipeForm {
        RecipeForm::read(|wanted| {
            let of_field = fields.iter().filter(|(name, _)| *name == wanted);
            of_field.map(|(_, value)| (*value).to_owned()).collect()
        })
    }

    fn german(recipe: &str, logic: &str) -> Audience {
        let form = form(&[
            ("recipe", recipe),
            ("percentage", "100"),
            ("strategy", "per_user"),
            ("logic", logic),
            ("attribute", "country"),
            ("operator", "=="),
            ("valueType", "string"),
            ("operand", "DE"),
            ("attribute", "age"),
            ("operator", ">="),
            ("valueType", "number"),
            ("operand", "18"),
        ]);
        form.audience(Priority::FIRST).expect("an audience")
    }

    fn empty_flag() -> FlagConfig {
        let entry = r#"{"key": "f", "enabled": true, "rules": [], "rollout": null}"#;
        evaluated::read(entry).expect("an entry")
    }

    /// Returns `+` for every context that gets ON.
    fn verdicts(flag: FlagConfig) -> String {
        let flag = CompiledFlag::from(flag);
        let contexts = [
            r#"{"userId": "a", "country": "DE", "customAttributes": {"age": 20}}"#,
            r#"{"userId": "a", "country": "DE", "customAttributes": {"age": 10}}"#,
            r#"{"userId": "a", "country": "AT", "customAttributes": {"age": 20}}"#,
            r#"{"userId": "a", "country": "AT", "customAttributes": {"age": 10}}"#,
            r#"{"userId": "a", "customAttributes": {"age": 20}}"#,
            r#"{"userId": "a", "customAttributes": {"age": 10}}"#,
        ];
        let is_on = |context: &str| {
            let value = serde_json::from_str(context).expect("JSON");
            let context: Context<'_> = context_form::context(value).expect("a context");
            evaluate(&flag, &context, MissingBucketingKey::Excluded).enabled
        };
        let signs = contexts.map(|context| if is_on(context) { '+' } else { '-' });
        signs.iter().collect()
    }

    #[test]
    fn each_recipe_decides_for_its_audience_and_for_users_without_the_attribute() {
        for (recipe, logic, expected) in [
            ("share", "and", "++++++"),
            ("share-where", "and", "+---+-"),
            ("share-where", "or", "+++-++"),
            ("only", "and", "+-----"),
            ("only", "or", "+++-+-"),
            ("except", "and", "-+++++"),
            ("except", "or", "---+-+"),
        ] {
            let audience = german(recipe, logic);
            let verdicts = verdicts(audience.apply_to(&empty_flag()));
            assert_eq!(verdicts, expected, "{recipe} {logic}");
        }
    }

    #[test]
    fn without_users_who_lack_an_attribute_only_the_intended_ones_are_left() {
        for (recipe, logic, expected) in [
            ("share-where", "and", "+-----"),
            ("share-where", "or", "+++-+-"),
            ("except", "and", "-+++-+"),
            ("except", "or", "---+--"),
        ] {
            let strict = german(recipe, logic).apply_strictly_to(&empty_flag());
            let verdicts = verdicts(strict.expect("a flag"));
            assert_eq!(verdicts, expected, "{recipe} {logic}");
        }
        let none = german("only", "and").apply_strictly_to(&empty_flag());
        assert!(none.is_none(), "nobody joins");
    }

    #[test]
    fn an_audience_is_described_with_those_who_join_it() {
        let audience = german("share-where", "and");
        assert_eq!(
            audience.description(true),
            "If no earlier rule matches, every user with a userId where country is DE and age is at least 18 gets ON; all others get OFF."
        );
        assert_eq!(
            audience.note_about_missing_attributes().as_deref(),
            Some(
                "Users without country or age join them: no rule matches a missing attribute. To keep them out, make sure that your app sends country or age."
            )
        );
        assert_eq!(
            german("except", "or").description(false),
            "Users where country is DE or age is at least 18 get OFF; all others get ON."
        );
    }

    #[test]
    fn an_exclusion_reads_as_the_opposite() {
        let rule = german("share-where", "and").rule.expect("a rule");
        assert_eq!(
            describe::rule(&rule),
            "OFF when country is given but not DE or age is less than 18"
        );
    }

    #[test]
    fn users_who_join_are_named_by_the_attributes_that_they_lack() {
        let names = |audience: &Audience| {
            let names = audience.attributes_that_may_be_missing().into_iter();
            names.map(Attribute::as_str).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&german("share-where", "and")), "country age");
        assert_eq!(names(&german("except", "and")), "country age");
        assert_eq!(names(&german("only", "and")), "");
        let by_user = form(&[
            ("recipe", "share-where"),
            ("percentage", "5"),
            ("strategy", "per_user"),
            ("logic", "and"),
            ("attribute", "userId"),
            ("operator", ">"),
            ("valueType", "string"),
            ("operand", "m"),
        ]);
        let by_user = by_user.audience(Priority::FIRST).expect("an audience");
        assert_eq!(names(&by_user), "");
    }

    #[test]
    fn only_the_fields_of_the_recipe_must_be_valid() {
        let fields = |recipe: &str| {
            let faults = form(&[("recipe", recipe)]).audience(Priority::FIRST);
            let faults = faults.expect_err("faults").into_iter();
            faults.map(|fault| fault.field).collect::<Vec<_>>()
        };
        assert_eq!(fields("share"), ["percentage", "strategy"]);
        assert_eq!(
            fields("share-where"),
            ["percentage", "strategy", "logic", "conditions"]
        );
        assert_eq!(fields("only"), ["logic", "conditions"]);
        assert_eq!(fields("none"), ["recipe"]);
    }
}
