//! The forms of rules and rollouts: their fields, and their conversion.
//!
//! The server uses this module for posted forms. An island uses it while the user fills in the same form.

use std::str::FromStr;

use pennon_core::{
    Invalid,
    rollout::{Percentage, Rollout, Strategy},
    rule::{
        Attribute, Condition, Integer, Logic, MAX_CONDITIONS, Operand, OperandText, Operator,
        Priority, Rule, ValueType,
    },
};
use serde::{Deserialize, Serialize};

use crate::error::{FieldError, FieldErrors};

/// A targeting rule as the fields of its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleForm {
    /// Field `value`: `true` for ON, `false` for OFF.
    pub value: String,
    /// Field `logic`: `and` or `or`.
    pub logic: String,
    /// The conditions.
    pub conditions: Vec<ConditionForm>,
}

/// A condition as the fields of its form. Each field occurs once for every condition, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionForm {
    /// Field `attribute`: the name of an attribute.
    pub attribute: String,
    /// Field `operator`: an operator such as `==`.
    pub operator: String,
    /// Field `valueType`: `string`, `number` or `boolean`.
    pub value_type: String,
    /// Field `operand`: the value to compare with.
    pub operand: String,
}

/// A rollout as the fields of its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RolloutForm {
    /// Field `percentage`.
    pub percentage: String,
    /// Field `strategy`: `per_user` or `per_tenant`.
    pub strategy: String,
}

impl RuleForm {
    /// Reads the fields of a form; `field` returns all values for a name. Of too many conditions, only enough remain to
    /// report that.
    pub fn read(field: impl Fn(&str) -> Vec<String>) -> Self {
        let first = |name: &str| field(name).into_iter().next().unwrap_or_default();
        let [mut operators, mut types, mut operands] =
            ["operator", "valueType", "operand"].map(|name| field(name).into_iter());
        let condition = |attribute| ConditionForm {
            attribute,
            operator: operators.next().unwrap_or_default(),
            value_type: types.next().unwrap_or_default(),
            operand: operands.next().unwrap_or_default(),
        };
        Self {
            value: first("value"),
            logic: first("logic"),
            conditions: field("attribute")
                .into_iter()
                .take(MAX_CONDITIONS.saturating_add(1))
                .map(condition)
                .collect(),
        }
    }

    /// Converts the fields to a rule, or returns all errors. An error in a condition has the field
    /// `conditions/0/operand`, with the index of the condition from 0.
    pub fn rule(&self, priority: Priority) -> Result<Rule, Vec<FieldError>> {
        let mut errors = FieldErrors::default();
        let value = errors.keep("value", boolean(&self.value));
        let logic = errors.keep("logic", Logic::parse(&self.logic));
        let conditions: Vec<_> = self
            .conditions
            .iter()
            .enumerate()
            .map(|(index, condition)| condition.read(index, &mut errors))
            .collect();
        if !(1..=MAX_CONDITIONS).contains(&conditions.len()) {
            errors.add("conditions", "must be 1 to 50");
        }
        let conditions: Option<Vec<_>> = conditions.into_iter().collect();
        match (value, logic, conditions) {
            (Some(value), Some(logic), Some(conditions)) if errors.is_empty() => Ok(Rule {
                priority,
                logic,
                value,
                conditions,
            }),
            _ => Err(errors.into()),
        }
    }
}

/// A rule that turns the flag on, with one empty condition.
impl Default for RuleForm {
    fn default() -> Self {
        Self {
            value: "true".to_owned(),
            logic: Logic::And.to_string(),
            conditions: vec![ConditionForm::default()],
        }
    }
}

impl From<&Rule> for RuleForm {
    fn from(rule: &Rule) -> Self {
        Self {
            value: rule.value.to_string(),
            logic: rule.logic.to_string(),
            conditions: rule.conditions.iter().map(ConditionForm::from).collect(),
        }
    }
}

impl ConditionForm {
    fn read(&self, index: usize, errors: &mut FieldErrors) -> Option<Condition> {
        let field = |name: &str| format!("conditions/{index}/{name}");
        let attribute = match &*self.attribute {
            "" => Err("must name an attribute"),
            name => Attribute::try_from(Box::<str>::from(name)).map_err(Invalid::detail),
        };
        let attribute = errors.keep(&field("attribute"), attribute);
        let operator = errors.keep(&field("operator"), Operator::parse(&self.operator));
        let value_type = ValueType::parse(&self.value_type);
        let operand = match errors.keep(&field("valueType"), value_type)? {
            ValueType::String => OperandText::try_from(Box::<str>::from(&*self.operand))
                .map(Operand::String)
                .map_err(Invalid::detail),
            ValueType::Number => number::<Integer>(&self.operand).map(Operand::Number),
            ValueType::Boolean => boolean(&self.operand).map(Operand::Boolean),
        };
        let operand = errors.keep(&field("operand"), operand);
        Some(Condition {
            attribute: attribute?,
            operator: operator?,
            operand: operand?,
        })
    }
}

/// A comparison with a text.
impl Default for ConditionForm {
    fn default() -> Self {
        Self {
            attribute: String::new(),
            operator: Operator::Equal.to_string(),
            value_type: ValueType::String.to_string(),
            operand: String::new(),
        }
    }
}

impl From<&Condition> for ConditionForm {
    fn from(condition: &Condition) -> Self {
        Self {
            attribute: condition.attribute.as_str().to_owned(),
            operator: condition.operator.to_string(),
            value_type: condition.operand.value_type().to_string(),
            operand: match &condition.operand {
                Operand::String(text) => text.as_str().to_owned(),
                Operand::Number(number) => number.get().to_string(),
                Operand::Boolean(boolean) => boolean.to_string(),
            },
        }
    }
}

impl RolloutForm {
    /// Reads the fields of a form; `field` returns all values for a name.
    pub fn read(field: impl Fn(&str) -> Vec<String>) -> Self {
        let first = |name: &str| field(name).into_iter().next().unwrap_or_default();
        Self {
            percentage: first("percentage"),
            strategy: first("strategy"),
        }
    }

    /// Converts the fields to a rollout, or returns all errors.
    pub fn rollout(&self) -> Result<Rollout, Vec<FieldError>> {
        let mut errors = FieldErrors::default();
        let percentage = errors.keep("percentage", number::<Percentage>(&self.percentage));
        let strategy = errors.keep("strategy", Strategy::parse(&self.strategy));
        match (percentage, strategy) {
            (Some(percentage), Some(strategy)) => Ok(Rollout {
                percentage,
                strategy,
            }),
            _ => Err(errors.into()),
        }
    }
}

/// A rollout to users, without a percentage.
impl Default for RolloutForm {
    fn default() -> Self {
        Self {
            percentage: String::new(),
            strategy: Strategy::PerUser.to_string(),
        }
    }
}

impl From<Rollout> for RolloutForm {
    fn from(rollout: Rollout) -> Self {
        Self {
            percentage: rollout.percentage.get().to_string(),
            strategy: rollout.strategy.to_string(),
        }
    }
}

/// Parses a typed integer; surrounding spaces are allowed.
pub fn number<T: TryFrom<i64, Error = Invalid>>(text: &str) -> Result<T, &'static str> {
    let number = i64::from_str(text.trim()).map_err(|_| "must be a whole number")?;
    T::try_from(number).map_err(Invalid::detail)
}

fn boolean(text: &str) -> Result<bool, &'static str> {
    bool::from_str(text).map_err(|_| "must be `true` or `false`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(fields: &[(&str, &str)]) -> RuleForm {
        RuleForm::read(|wanted| {
            let of_field = fields.iter().filter(|(name, _)| *name == wanted);
            of_field.map(|(_, value)| (*value).to_owned()).collect()
        })
    }

    fn first() -> Priority {
        1.try_into().expect("a priority")
    }

    #[test]
    fn a_rule_survives_its_form_unchanged() {
        let form = input(&[
            ("value", "false"),
            ("logic", "or"),
            ("attribute", "country"),
            ("operator", "!="),
            ("valueType", "string"),
            ("operand", " DE "),
            ("attribute", "age"),
            ("operator", ">="),
            ("valueType", "number"),
            ("operand", "18"),
            ("attribute", "beta"),
            ("operator", "=="),
            ("valueType", "boolean"),
            ("operand", "true"),
        ]);
        let rule = form.rule(first()).expect("a rule");
        assert_eq!(RuleForm::from(&rule), form);
    }

    #[test]
    fn of_too_many_conditions_only_the_first_are_read() {
        let form = input(&[("attribute", "country"); 100]);
        assert_eq!(form.conditions.len(), MAX_CONDITIONS + 1);
        let errors = form.rule(first()).expect_err("too many conditions");
        assert!(errors.iter().any(|error| error.field == "conditions"));
    }

    #[test]
    fn all_errors_of_a_rule_are_reported_at_once() {
        let form = input(&[
            ("value", "true"),
            ("logic", "and"),
            ("attribute", ""),
            ("operator", "=="),
            ("valueType", "number"),
            ("operand", "1.5"),
            ("attribute", "beta"),
            ("operator", "~"),
            ("valueType", "boolean"),
            ("operand", "yes"),
        ]);
        let faults = form.rule(first()).expect_err("faults");
        let fields: Vec<_> = faults.iter().map(|fault| &*fault.field).collect();
        assert_eq!(
            fields,
            [
                "conditions/0/attribute",
                "conditions/0/operand",
                "conditions/1/operator",
                "conditions/1/operand"
            ]
        );
        let none = input(&[("value", "true"), ("logic", "and")]).rule(first());
        assert_eq!(none.expect_err("a fault").len(), 1);
    }

    #[test]
    fn a_rollout_is_a_whole_percentage() {
        let form = |percentage: &str| RolloutForm {
            percentage: percentage.to_owned(),
            ..RolloutForm::default()
        };
        let rollout = form(" 25 ").rollout().expect("a rollout");
        assert_eq!(rollout.percentage.get(), 25);
        for wrong in ["", "25.5", "101", "-1", "a quarter"] {
            assert!(form(wrong).rollout().is_err(), "{wrong}");
        }
    }
}
