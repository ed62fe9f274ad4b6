//! Descriptions of rules, rollouts and whole flags in unambiguous sentences.
//!
//! Functions return fragments without a capital or a period, for pages to combine, unless their documentation states
//! otherwise. The fragments contain names and values as users entered them, so pages must render them as text, not as
//! markup.

use pennon_core::{
    rollout::{Rollout, Strategy},
    rule::{Condition, Logic, Operand, Operator, Rule},
    ttl::Ttl,
};
use pennon_model::{
    environment::Environment,
    flag::{Flag, FlagProducts},
    flag_table::FlagState,
    list,
    metadata::FlagKind,
};

/// Returns the label of a flag's state in an environment: `On for some`.
pub fn state_label(state: FlagState) -> &'static str {
    match state {
        FlagState::On => "On",
        FlagState::Partly => "On for some",
        FlagState::Off => "Off",
    }
}

/// The users for which a flag is on in an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnabledFor {
    /// Nobody.
    Nobody,
    /// Some: a rule or the rollout decides.
    Some,
    /// Everyone with the bucketing key of the rollout.
    EveryoneWith(Strategy),
    /// Everyone.
    Everyone,
}

impl EnabledFor {
    /// Returns the users for which a flag with this configuration is on. Assumes that each rule matches some contexts,
    /// but not all.
    pub fn of<'r>(
        enabled: bool,
        rules: impl IntoIterator<Item = &'r Rule>,
        rollout: Option<Rollout>,
    ) -> Self {
        if !enabled {
            return Self::Nobody;
        }
        let rest = match rollout.map(|rollout| (rollout.percentage.get(), rollout.strategy)) {
            None => Self::Everyone,
            Some((0, _)) => Self::Nobody,
            Some((100, strategy)) => Self::EveryoneWith(strategy),
            Some(_) => Self::Some,
        };
        let mut rules = rules.into_iter();
        let agrees = |rule: &Rule| match rest {
            Self::Nobody => !rule.value,
            Self::Some => false,
            Self::EveryoneWith(_) | Self::Everyone => rule.value,
        };
        if rules.all(agrees) { rest } else { Self::Some }
    }

    /// Returns a short description for use in a sentence: `on for some`.
    pub fn description(self) -> String {
        match self {
            Self::Nobody => "off for everyone".to_owned(),
            Self::Some => "on for some".to_owned(),
            Self::EveryoneWith(strategy) => {
                format!("on for everyone with a {}", strategy.attribute().as_str())
            }
            Self::Everyone => "on for everyone".to_owned(),
        }
    }
}

/// Returns `ON` or `OFF`.
pub fn on_off(on: bool) -> &'static str {
    if on { "ON" } else { "OFF" }
}

/// Describes a condition: `country is DE`.
///
/// `!=` reads "is given but not", because an attribute that is missing or has another type never matches.
pub fn condition(condition: &Condition) -> String {
    let attribute = quote_if_ambiguous(condition.attribute.as_str());
    let operand = operand(&condition.operand);
    let number = matches!(condition.operand, Operand::Number(_));
    match (condition.operator, number) {
        (Operator::Equal, _) => format!("{attribute} is {operand}"),
        (Operator::NotEqual, _) => format!("{attribute} is given but not {operand}"),
        (Operator::Greater, true) => format!("{attribute} is more than {operand}"),
        (Operator::Less, true) => format!("{attribute} is less than {operand}"),
        (Operator::GreaterOrEqual, true) => format!("{attribute} is at least {operand}"),
        (Operator::LessOrEqual, true) => format!("{attribute} is at most {operand}"),
        (Operator::Greater, false) => format!("{attribute} comes after {operand}"),
        (Operator::Less, false) => format!("{attribute} comes before {operand}"),
        (Operator::GreaterOrEqual, false) => format!("{attribute} is {operand} or comes after it"),
        (Operator::LessOrEqual, false) => format!("{attribute} is {operand} or comes before it"),
    }
}

/// Describes when a rule matches: `country is DE and plan is pro`.
pub fn conditions(logic: Logic, conditions: &[Condition]) -> String {
    let conjunction = match logic {
        Logic::And => "and",
        Logic::Or => "or",
    };
    let conditions: Vec<_> = conditions.iter().map(condition).collect();
    list::join(&conditions, conjunction)
}

/// Describes a rule: `ON when country is DE and plan is pro`.
pub fn rule(rule: &Rule) -> String {
    let when = conditions(rule.logic, &rule.conditions);
    format!("{} when {when}", on_off(rule.value))
}

/// Describes a rollout without rules before it: `25% of users are ON, by userId`.
pub fn rollout(rollout: Rollout) -> String {
    let (one, many) = bucketed_nouns(rollout.strategy);
    if rollout.percentage.get() == 0 {
        return format!("no {one} is ON");
    }
    describe_rollout(rollout, &format!("every {one}"), &format!("{many} are"))
}

/// Describes a rollout where it decides. After rules, that is for the rest: `25% of everyone left is ON, by userId`. A
/// rollout that includes nobody reads as the fallthrough.
pub fn rollout_after(has_rules: bool, rollout: Rollout) -> String {
    if rollout.percentage.get() == 0 {
        return fallthrough(has_rules, Some(rollout));
    }
    if !has_rules {
        return self::rollout(rollout);
    }
    let (everyone, all) = match rollout.strategy {
        Strategy::PerUser => ("everyone left", "everyone left is"),
        Strategy::PerTenant => ("every tenant left", "the tenants left are"),
    };
    describe_rollout(rollout, everyone, all)
}

fn describe_rollout(rollout: Rollout, everyone: &str, all: &str) -> String {
    let attribute = rollout.strategy.attribute();
    let attribute = attribute.as_str();
    match rollout.percentage.get() {
        100 => format!("{everyone} with a {attribute} is ON"),
        percentage => format!("{percentage}% of {all} ON, by {attribute}"),
    }
}

/// Explains a rollout in whole sentences, for readers who do not know the term.
pub fn rollout_meaning(rollout: Rollout) -> String {
    let (one, many) = bucketed_nouns(rollout.strategy);
    let attribute = rollout.strategy.attribute();
    let attribute = attribute.as_str();
    let buckets = format!("Each {attribute} always falls into the same one of 100 equal buckets.");
    let missing = format!("A {one} without a {attribute} is OFF.");
    match rollout.percentage.get() {
        0 => format!("{buckets} None of them is ON, so no {one} gets the flag."),
        1 => format!(
            "{buckets} The first is ON. A higher percentage adds {many} and removes none. {missing}"
        ),
        100 => format!("{buckets} All of them are ON. {missing}"),
        percentage => format!(
            "{buckets} The first {percentage} are ON. A higher percentage adds {many} and removes none. {missing}"
        ),
    }
}

/// Describes the fallthrough, for contexts that no rule matches and the rollout excludes: `everyone else is OFF`.
pub fn fallthrough(has_rules: bool, rollout: Option<Rollout>) -> String {
    let everyone = if has_rules || rollout.is_some_and(|rollout| rollout.percentage.get() > 0) {
        "everyone else"
    } else {
        "everyone"
    };
    format!("{everyone} is {}", on_off(rollout.is_none()))
}

/// Describes a flag in an environment as one sentence with capital and period: `ON when country is DE; otherwise 25% of
/// everyone left is ON, by userId; everyone else is OFF.`
pub fn flag<'r>(
    enabled: bool,
    rules: impl IntoIterator<Item = &'r Rule>,
    rollout: Option<Rollout>,
) -> String {
    if !enabled {
        return "OFF for everyone.".to_owned();
    }
    let mut parts: Vec<String> = rules.into_iter().map(rule).collect();
    let has_rules = !parts.is_empty();
    let share = rollout.filter(|rollout| rollout.percentage.get() > 0);
    parts.extend(share.map(|rollout| rollout_after(has_rules, rollout)));
    if parts.is_empty() {
        return format!("{} for everyone.", on_off(rollout.is_none()));
    }
    let rest = fallthrough(has_rules, rollout);
    sentence(&format!("{}; {rest}", parts.join("; otherwise ")))
}

/// Formats the TTL of a flag: `60 s (default)`, `5 min`.
pub fn time_to_live(ttl: Option<Ttl>) -> String {
    ttl.map_or_else(
        || format!("{} (default)", duration(Ttl::DEFAULT_SECONDS)),
        |ttl| duration(ttl.seconds()),
    )
}

/// The default interval between the polls of a client, in seconds. A client also polls when a TTL expires.
const POLL_INTERVAL: u32 = 30;

/// Describes the time in which a change of a flag with this TTL reaches clients that poll at the default interval:
/// `within about 30 s`.
pub fn within(ttl: Option<Ttl>) -> String {
    let seconds = ttl.map_or(POLL_INTERVAL, |ttl| ttl.seconds().min(POLL_INTERVAL));
    format!("within about {}", duration(seconds))
}

/// Formats a number of seconds in the largest unit without a fraction: `90 s`, `5 min`, `2 h`, `7 d`.
pub fn duration(seconds: u32) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let fitting = units
        .into_iter()
        .find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    match fitting {
        // One minute is `60 s`, like the default.
        Some((unit, name)) if seconds > 60 => format!("{} {name}", seconds / unit),
        _ => format!("{seconds} s"),
    }
}

/// Describes why a flag is in no public environment.
pub const NOT_PUBLIC: &str = "The flag is not public, so it does not exist in public environments.";

/// Describes the products of a flag: `every product`, `Blog, Web shop`.
pub fn products(products: Option<&FlagProducts>) -> String {
    let names = products.map(|products| {
        let names: Vec<_> = products.iter().map(ToString::to_string).collect();
        names.join(", ")
    });
    names.unwrap_or_else(|| "every product".to_owned())
}

/// Describes the limit of a flag to these products as a sentence, with capital and period.
pub fn limited_to(products: &FlagProducts) -> String {
    format!("The flag is limited to {}.", self::products(Some(products)))
}

/// Describes why a flag does not exist in an environment as a sentence; none if it exists there while both are active.
pub fn absence(flag: &Flag, environment: &Environment) -> Option<String> {
    let products = flag.products.as_ref();
    match products.filter(|products| !products.contains(&environment.product)) {
        Some(products) => Some(limited_to(products)),
        None => (!flag.exists_in(environment)).then(|| NOT_PUBLIC.to_owned()),
    }
}

/// Returns the label of a kind of flags.
pub const fn kind(kind: FlagKind) -> &'static str {
    match kind {
        FlagKind::Release => "Release",
        FlagKind::Experiment => "Experiment",
        FlagKind::Operational => "Operational",
        FlagKind::Permission => "Permission",
        FlagKind::KillSwitch => "Kill switch",
    }
}

/// Capitalizes the first letter of a fragment.
pub fn capitalize(sentence: &str) -> String {
    let mut sentence = sentence.to_owned();
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    sentence
}

/// Formats a clause, such as the detail of an error, as a sentence.
pub fn sentence(clause: &str) -> String {
    format!("{}.", capitalize(clause))
}

/// Describes an unsaved rule, or returns a hint while it is incomplete.
pub fn rule_or_hint(rule: Option<&Rule>) -> String {
    rule.map_or_else(
        || "Fill in the conditions to see the rule here.".to_owned(),
        self::rule,
    )
}

/// Describes and explains an unsaved rollout, or returns a hint while it is incomplete.
pub fn rollout_or_hint(rollout: Option<Rollout>) -> (String, String) {
    let hint = || {
        (
            "Enter a whole percentage from 0 to 100.".to_owned(),
            String::new(),
        )
    };
    rollout.map_or_else(hint, |rollout| {
        (
            capitalize(&self::rollout(rollout)),
            rollout_meaning(rollout),
        )
    })
}

/// Returns the singular and the plural of those that a rollout divides: `user`, `users`.
pub fn bucketed_nouns(strategy: Strategy) -> (&'static str, &'static str) {
    match strategy {
        Strategy::PerUser => ("user", "users"),
        Strategy::PerTenant => ("tenant", "tenants"),
    }
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::String(text) => quote_if_ambiguous(text.as_str()),
        Operand::Number(number) => number.get().to_string(),
        Operand::Boolean(boolean) => boolean.to_string(),
    }
}

/// Returns a text for use in a sentence, quoted if it is ambiguous. A text with letters outside ASCII is always quoted,
/// because the Unicode tables to recognize them would be a tenth of the browser's download.
fn quote_if_ambiguous(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.@/+:".contains(&byte);
    let is_word = text.bytes().all(plain) && text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_keyword = ["true", "false", "is", "and", "or", "not", "given"].contains(&text);
    if is_word && !is_keyword {
        text.to_owned()
    } else {
        format!("“{text}”")
    }
}

#[cfg(test)]
mod tests {
    use pennon_core::rule::Attribute;

    use super::*;

    fn text(text: &str) -> Operand {
        Operand::String(Box::<str>::from(text).try_into().expect("a short text"))
    }

    fn number(number: i64) -> Operand {
        Operand::Number(number.try_into().expect("a small number"))
    }

    fn test_condition(attribute: &str, operator: Operator, operand: Operand) -> Condition {
        Condition {
            attribute: Attribute::try_from(Box::<str>::from(attribute)).expect("a name"),
            operator,
            operand,
        }
    }

    fn test_rule(logic: Logic, value: bool, conditions: Vec<Condition>) -> Rule {
        Rule {
            priority: 1.try_into().expect("a priority"),
            logic,
            value,
            conditions,
        }
    }

    fn rule_for_germany(value: bool) -> Rule {
        let country = test_condition("country", Operator::Equal, text("DE"));
        test_rule(Logic::And, value, vec![country])
    }

    fn share(percentage: i64, strategy: Strategy) -> Rollout {
        Rollout {
            percentage: percentage.try_into().expect("a percentage"),
            strategy,
        }
    }

    #[test]
    fn the_description_of_a_condition_matches_its_evaluation() {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        let described = |operator, operand| condition(&test_condition("age", operator, operand));
        assert_eq!(described(Equal, number(18)), "age is 18");
        assert_eq!(described(NotEqual, number(18)), "age is given but not 18");
        assert_eq!(described(Greater, number(-1)), "age is more than -1");
        assert_eq!(described(Less, number(18)), "age is less than 18");
        assert_eq!(described(GreaterOrEqual, number(18)), "age is at least 18");
        assert_eq!(described(LessOrEqual, number(18)), "age is at most 18");
        assert_eq!(described(Equal, text("old")), "age is old");
        assert_eq!(described(Greater, text("old")), "age comes after old");
        assert_eq!(
            described(LessOrEqual, text("old")),
            "age is old or comes before it"
        );
        assert_eq!(described(Equal, Operand::Boolean(true)), "age is true");
        assert_eq!(
            described(Less, Operand::Boolean(true)),
            "age comes before true"
        );
    }

    #[test]
    fn a_text_that_could_be_something_else_is_quoted() {
        let described = |operand| condition(&test_condition("plan", Operator::Equal, operand));
        assert_eq!(described(text("pro")), "plan is pro");
        assert_eq!(
            described(text("ana@example.com")),
            "plan is ana@example.com"
        );
        assert_eq!(described(text("18")), "plan is “18”");
        assert_eq!(described(text("1.8")), "plan is “1.8”");
        assert_eq!(described(text("Köln")), "plan is “Köln”");
        assert_eq!(described(text("true")), "plan is “true”");
        assert_eq!(described(text("")), "plan is “”");
        assert_eq!(described(text("pro and more")), "plan is “pro and more”");
        let spaced = condition(&test_condition("sign up", Operator::Equal, text("x")));
        assert_eq!(spaced, "“sign up” is x");
    }

    #[test]
    fn a_rule_links_its_conditions_by_its_logic() {
        let country = test_condition("country", Operator::Equal, text("DE"));
        let plan = test_condition("plan", Operator::Equal, text("pro"));
        let age = test_condition("age", Operator::GreaterOrEqual, number(18));
        let all = vec![country.clone(), plan, age];
        assert_eq!(
            rule(&test_rule(Logic::And, true, all.clone())),
            "ON when country is DE, plan is pro and age is at least 18"
        );
        assert_eq!(
            rule(&test_rule(Logic::Or, false, all)),
            "OFF when country is DE, plan is pro or age is at least 18"
        );
        assert_eq!(
            rule(&test_rule(Logic::Or, false, vec![country])),
            "OFF when country is DE"
        );
    }

    #[test]
    fn a_rollout_is_described_by_its_percentage_and_bucketing_key() {
        assert_eq!(
            rollout(share(25, Strategy::PerUser)),
            "25% of users are ON, by userId"
        );
        assert_eq!(rollout(share(0, Strategy::PerTenant)), "no tenant is ON");
        assert_eq!(
            rollout(share(100, Strategy::PerTenant)),
            "every tenant with a tenantId is ON"
        );
        for (percentage, meaning) in [
            (0, "None of them is ON, so no tenant gets the flag."),
            (1, "The first is ON."),
            (25, "The first 25 are ON."),
            (100, "All of them are ON."),
        ] {
            assert!(rollout_meaning(share(percentage, Strategy::PerTenant)).contains(meaning));
        }
    }

    #[test]
    fn contexts_without_a_match_are_on_unless_a_rollout_excludes_them() {
        assert_eq!(fallthrough(false, None), "everyone is ON");
        assert_eq!(fallthrough(true, None), "everyone else is ON");
        let some = share(25, Strategy::PerUser);
        assert_eq!(fallthrough(false, Some(some)), "everyone else is OFF");
        let none = share(0, Strategy::PerUser);
        assert_eq!(fallthrough(false, Some(none)), "everyone is OFF");
    }

    #[test]
    fn a_flag_is_one_sentence() {
        let rules = [rule_for_germany(true)];
        let some = Some(share(25, Strategy::PerUser));
        assert_eq!(flag(false, &rules, some), "OFF for everyone.");
        assert_eq!(flag(true, &[], None), "ON for everyone.");
        assert_eq!(
            flag(true, &rules, None),
            "ON when country is DE; everyone else is ON."
        );
        assert_eq!(
            flag(true, &rules, some),
            "ON when country is DE; otherwise 25% of everyone left is ON, by userId; everyone else is OFF."
        );
        assert_eq!(
            flag(true, &[], Some(share(0, Strategy::PerUser))),
            "OFF for everyone."
        );
        let nobody_left = Some(share(0, Strategy::PerUser));
        assert_eq!(
            flag(true, &rules, nobody_left),
            "ON when country is DE; everyone else is OFF."
        );
    }

    #[test]
    fn a_rollout_to_nobody_is_the_rest() {
        let nobody = share(0, Strategy::PerTenant);
        assert_eq!(rollout_after(true, nobody), "everyone else is OFF");
        assert_eq!(rollout_after(false, nobody), "everyone is OFF");
        let some = share(25, Strategy::PerTenant);
        assert_eq!(
            rollout_after(true, some),
            "25% of the tenants left are ON, by tenantId"
        );
    }

    #[test]
    fn the_users_depend_on_rules_and_rollout() {
        let per_user = |percentage| Some(share(percentage, Strategy::PerUser));
        let (on, off) = ([rule_for_germany(true)], [rule_for_germany(false)]);
        assert_eq!(EnabledFor::of(false, &on, per_user(50)), EnabledFor::Nobody);
        assert_eq!(EnabledFor::of(true, &[], None), EnabledFor::Everyone);
        assert_eq!(EnabledFor::of(true, &on, None), EnabledFor::Everyone);
        assert_eq!(EnabledFor::of(true, &off, None), EnabledFor::Some);
        assert_eq!(EnabledFor::of(true, &[], per_user(0)), EnabledFor::Nobody);
        assert_eq!(EnabledFor::of(true, &on, per_user(0)), EnabledFor::Some);
        assert_eq!(EnabledFor::of(true, &off, per_user(0)), EnabledFor::Nobody);
        assert_eq!(
            EnabledFor::of(true, &on, per_user(100)),
            EnabledFor::EveryoneWith(Strategy::PerUser)
        );
        assert_eq!(EnabledFor::of(true, &off, per_user(100)), EnabledFor::Some);
        assert_eq!(EnabledFor::of(true, &[], per_user(1)), EnabledFor::Some);
        assert_eq!(EnabledFor::Some.description(), "on for some");
    }

    #[test]
    fn a_ttl_has_a_unit() {
        let ttl = |seconds: i64| time_to_live(seconds.try_into().ok());
        assert_eq!(time_to_live(None), "60 s (default)");
        assert_eq!(ttl(60), "60 s");
        assert_eq!(ttl(90), "90 s");
        assert_eq!(ttl(300), "5 min");
        assert_eq!(ttl(86_400), "1 d");
    }

    #[test]
    fn a_change_arrives_with_the_next_poll() {
        let ttl = |seconds: i64| within(seconds.try_into().ok());
        assert_eq!(within(None), "within about 30 s");
        assert_eq!(ttl(3_600), "within about 30 s");
        assert_eq!(ttl(5), "within about 5 s");
    }
}
