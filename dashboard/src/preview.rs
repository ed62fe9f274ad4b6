//! The effect of a change, before it is saved.

use pennon_core::{
    CompiledFlag, Context, FlagConfig, MissingBucketingKey, evaluate, rule::Priority,
};
use pennon_model::json::Json;
use serde::{Deserialize, Serialize};
use serde_json::Deserializer;

use crate::context_form;

/// The maximum number of affected contexts to list.
const MAX_AFFECTED: usize = 100;

/// The change to a flag in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProposedChange {
    /// Adds a rule after all others.
    NewRule,
    /// Replaces the rule with this priority.
    Rule(Priority),
    /// Sets the rollout.
    Rollout,
    /// Adds the rule and sets the rollout of a recipe.
    Recipe,
    /// A change without input, whose effect is known.
    Known,
}

/// The server's preview of a change that is being typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// The flag before and after, and lint findings, as HTML.
    pub html: String,
    /// The change; none while the fields are invalid.
    pub change: Option<ConfigChange<String>>,
}

/// A flag before and after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigChange<Config> {
    /// The flag before.
    pub before: Config,
    /// The flag after.
    pub after: Config,
    /// The flag that is ON for the users that get ON with all attributes; none if missing attributes turn it on for
    /// nobody.
    pub strict: Option<Config>,
}

impl<Config> ConfigChange<Config> {
    /// Converts the flags.
    pub fn map<To>(self, convert: impl Fn(Config) -> To) -> ConfigChange<To> {
        ConfigChange {
            before: convert(self.before),
            after: convert(self.after),
            strict: self.strict.map(convert),
        }
    }
}

/// The effect of a change on a sample of contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleEffect {
    /// The number of contexts.
    pub total: usize,
    /// The number of invalid items in the sample.
    pub invalid: usize,
    /// The number of contexts for which the flag is on after the change.
    pub enabled: usize,
    /// The number of those for which it is on only because an attribute is missing.
    pub joined: usize,
    /// The number of contexts for which the flag turns on.
    pub on: usize,
    /// The number of contexts for which the flag turns off.
    pub off: usize,
    /// The first affected contexts, with `true` for those that turn on.
    pub affected: Vec<(String, bool)>,
}

impl SampleEffect {
    /// Evaluates all versions of the flag for each context of a sample.
    pub fn of(change: &ConfigChange<FlagConfig>, sample: &str) -> Self {
        let ConfigChange {
            before,
            after,
            strict,
        } = change.clone().map(CompiledFlag::from);
        let is_on = |flag: &CompiledFlag, context: &Context<'_>| {
            evaluate(flag, context, MissingBucketingKey::Excluded).enabled
        };
        let mut effect = Self::default();
        for context in contexts(sample) {
            let Ok(context) = context else {
                effect.invalid = effect.invalid.saturating_add(1);
                continue;
            };
            effect.total = effect.total.saturating_add(1);
            let (was_on, enabled) = (is_on(&before, &context), is_on(&after, &context));
            let joined = enabled && strict.as_ref().is_some_and(|flag| !is_on(flag, &context));
            effect.enabled = effect.enabled.saturating_add(enabled.into());
            effect.joined = effect.joined.saturating_add(joined.into());
            match (was_on, enabled) {
                (false, true) => effect.record(&context, true),
                (true, false) => effect.record(&context, false),
                _ => {}
            }
        }
        effect
    }

    fn record(&mut self, context: &Context<'_>, on: bool) {
        let count = if on { &mut self.on } else { &mut self.off };
        *count = count.saturating_add(1);
        if self.affected.len() < MAX_AFFECTED {
            self.affected.push((context_form::compact(context), on));
        }
    }
}

/// Parses a sample: a JSON array, JSON objects, or one context per line; a line that is not JSON is a `userId`.
fn contexts(sample: &str) -> Vec<Result<Context<'static>, Vec<String>>> {
    if let Ok(Json::Array(values)) = serde_json::from_str(sample) {
        return values.into_iter().map(context_form::context).collect();
    }
    // An object may have several lines.
    let values = Deserializer::from_str(sample).into_iter();
    let values: Result<Vec<Json>, _> = values.collect();
    let is_object = |value: &Json| matches!(value, Json::Object(_));
    if let Some(objects) = values.ok().filter(|values| values.iter().all(is_object)) {
        return objects.into_iter().map(context_form::context).collect();
    }
    let lines = sample
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    lines
        .map(|line| match serde_json::from_str(line) {
            Ok(value @ Json::Object(_)) => context_form::context(value),
            Ok(Json::String(user)) => Ok(user_only(user.into_owned())),
            _ if line.starts_with('{') => Err(Vec::new()),
            _ => Ok(user_only(line.to_owned())),
        })
        .collect()
}

fn user_only(user: String) -> Context<'static> {
    Context {
        user_id: Some(user.into()),
        ..Context::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluated;

    fn flag(rollout: &str) -> FlagConfig {
        let entry =
            format!(r#"{{"key": "f", "enabled": true, "rules": [], "rollout": {rollout}}}"#);
        evaluated::read(&entry).expect("an entry")
    }

    fn rolled_out(percentage: u8) -> FlagConfig {
        flag(&format!(
            r#"{{"percentage": {percentage}, "strategy": "per_user"}}"#
        ))
    }

    #[test]
    fn affected_contexts_are_counted_and_listed() {
        // The bucket of "ada" is 63, that of "linus" 72.
        let sample = "ada\n{\"userId\": \"linus\"}\n\n{}\n{\"userId\": 5}\n{oops";
        let change = |before, after| ConfigChange {
            before,
            after,
            strict: None,
        };
        let effect = SampleEffect::of(&change(rolled_out(64), rolled_out(80)), sample);
        assert_eq!(
            (effect.total, effect.invalid, effect.on, effect.off),
            (3, 2, 1, 0)
        );
        assert_eq!((effect.enabled, effect.joined), (2, 0));
        assert_eq!(
            effect.affected,
            [("{\"userId\":\"linus\"}".to_owned(), true)]
        );
        let sample = r#"[{"userId": "ada"}, {}]"#;
        let effect = SampleEffect::of(&change(flag("null"), rolled_out(64)), sample);
        assert_eq!((effect.total, effect.on, effect.off), (2, 0, 1));
        let all_but_strictly_nobody = ConfigChange {
            strict: Some(rolled_out(0)),
            ..change(rolled_out(0), flag("null"))
        };
        let effect = SampleEffect::of(&all_but_strictly_nobody, sample);
        assert_eq!((effect.enabled, effect.joined), (2, 2));
    }

    #[test]
    fn a_sample_has_objects_or_a_user_in_each_line() {
        let users = |sample: &str| -> Vec<Option<String>> {
            let contexts = contexts(sample).into_iter().map(Result::ok);
            let users = contexts.map(|context| context?.user_id.map(|user| user.to_string()));
            users.collect()
        };
        let (ada, linus) = (Some("ada".to_owned()), Some("linus".to_owned()));
        for sample in [
            "ada\nlinus",
            "\"ada\"\n linus \n",
            "{\"userId\": \"ada\"}\nlinus",
            "{\n  \"userId\": \"ada\"\n}\n{\n  \"userId\": \"linus\"\n}",
            "[{\"userId\": \"ada\"}, {\"userId\": \"linus\"}]",
        ] {
            assert_eq!(users(sample), [ada.clone(), linus.clone()], "{sample}");
        }
        assert_eq!(users("{\"userId\": 1}\nada"), [None, ada]);
    }
}
