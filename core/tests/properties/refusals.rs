//! Texts that differ from a config document in one detail, so that both strict readers refuse them.

use pennon_core::config;

use crate::documents::Document;

const CONDITION: &str =
    r#"{"attribute":"plan","operator":"==","valueType":"string","valueString":"pro"}"#;

fn document(flags: &str) -> String {
    format!(r#"{{"flags":{flags}}}"#)
}

fn flag(members: &str) -> String {
    document(&format!("[{{{members}}}]"))
}

fn rule(members: &str) -> String {
    flag(&format!(
        r#""key":"a","enabled":true,"rules":[{{{members}}}]"#
    ))
}

fn condition(json: &str) -> String {
    rule(&format!(
        r#""priority":1,"logic":"and","value":true,"conditions":[{json}]"#
    ))
}

fn rollout(json: &str) -> String {
    flag(&format!(
        r#""key":"a","enabled":true,"rules":[],"rollout":{json}"#
    ))
}

fn accepts(text: &str) -> (bool, bool) {
    (
        config::parse(text.as_bytes()).is_ok(),
        serde_json::from_str::<Document>(text).is_ok(),
    )
}

/// Checks that both readers accept `form` of the right part, and refuse `form` of each wrong part.
fn assert_only(right: &str, wrong: &[&str], form: impl Fn(&str) -> String) {
    assert_eq!(accepts(&form(right)), (true, true), "{}", form(right));
    for part in wrong {
        assert_eq!(accepts(&form(part)), (false, false), "{}", form(part));
    }
}

#[test]
fn invalid_json_is_refused() {
    let wrong = [
        "",
        " ",
        "{",
        "}",
        "{\"flags\":[]",
        "\"flags\":[]",
        r#"{"flags":[],}"#,
        r#"{"flags":[,]}"#,
        r#"{,"flags":[]}"#,
        r#"{"flags" []}"#,
        r#"{"flags":[]} x"#,
        r#"{"flags":[]}{}"#,
        r#"{"flags":[]],"#,
        r"{'flags':[]}",
        r"{flags:[]}",
        r#"{"flags":[]/* none */}"#,
        "\u{feff}{\"flags\":[]}",
        "\u{a0}{\"flags\":[]}",
    ];
    assert_only(" {\t\"flags\" :\r\n[ ] } ", &wrong, str::to_owned);
}

#[test]
fn invalid_json_is_refused_even_in_unread_members() {
    let wrong = [
        "",
        "01",
        "-01",
        "+1",
        "-",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "1_000",
        "NaN",
        "Infinity",
        "nul",
        "nulls",
        "True",
        "undefined",
        "'a'",
        "\"open",
        "\"\\x41\"",
        "\"\\u00g0\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "\"\\n\t",
        "\"\\nopen",
        "[1 2]",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{1:2}",
    ];
    let form = |json: &str| format!("{{\"new\":{json},\"flags\":[]}}");
    assert_only("-0.5e+10", &wrong, form);
    assert_only(
        r#"{"a":[1,-2.5E-3,{},[],"\u00e9\/\b\f"],"b":null}"#,
        &wrong,
        form,
    );
}

#[test]
fn a_document_without_an_array_of_flags_is_refused() {
    assert_only(
        "[]",
        &[
            "null", "{}", "\"\"", "0", "false", "[null]", "[[]]", "[\"a\"]",
        ],
        document,
    );
    assert_only(
        "{\"flags\":[]}",
        &[
            "{}",
            "null",
            "[]",
            "{\"Flags\":[]}",
            "{\"flags\":[],\"flags\":[]}",
        ],
        str::to_owned,
    );
}

#[test]
fn a_flag_with_a_member_missing_or_wrong_is_refused() {
    let wrong = [
        r#""enabled":true,"rules":[]"#,
        r#""key":"a","rules":[]"#,
        r#""key":"a","enabled":true"#,
        r#""key":1,"enabled":true,"rules":[]"#,
        r#""key":null,"enabled":true,"rules":[]"#,
        r#""key":"\ud83d","enabled":true,"rules":[]"#,
        r#""key":"\ud83dx","enabled":true,"rules":[]"#,
        r#""key":"\ud83dxude00","enabled":true,"rules":[]"#,
        r#""key":"\ud83d\nde00","enabled":true,"rules":[]"#,
        r#""key":"\ude00\ud83d","enabled":true,"rules":[]"#,
        r#""key":"a","enabled":1,"rules":[]"#,
        r#""key":"a","enabled":"true","rules":[]"#,
        r#""key":"a","enabled":null,"rules":[]"#,
        r#""key":"a","enabled":true,"rules":null"#,
        r#""key":"a","enabled":true,"rules":{}"#,
        r#""key":"a","enabled":true,"rules":[],"archived":null"#,
        r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":0"#,
        r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":-1"#,
        r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":1.5"#,
        r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":31536001"#,
        r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":"60""#,
    ];
    assert_only(r#""key":"","enabled":true,"rules":[]"#, &wrong, flag);
    assert_only(
        r#""rollout":null,"rules":[],"enabled":false,"key":"\ud83d\ude00""#,
        &wrong,
        flag,
    );
    for ttl in [1, 31_536_000] {
        let members = r#""key":"a","enabled":true,"rules":[],"ttlOverrideSeconds":"#;
        assert_only(&format!("{members}{ttl}"), &wrong, flag);
    }
}

#[test]
fn a_rule_with_a_member_missing_or_wrong_is_refused() {
    let wrong = [
        r#""logic":"and","value":true"#,
        r#""priority":1,"value":true"#,
        r#""priority":1,"logic":"and""#,
        r#""priority":0,"logic":"and","value":true"#,
        r#""priority":-1,"logic":"and","value":true"#,
        r#""priority":2147483648,"logic":"and","value":true"#,
        r#""priority":99999999999999999999,"logic":"and","value":true"#,
        r#""priority":1.0,"logic":"and","value":true"#,
        r#""priority":1e0,"logic":"and","value":true"#,
        r#""priority":"1","logic":"and","value":true"#,
        r#""priority":1,"logic":"AND","value":true"#,
        r#""priority":1,"logic":"xor","value":true"#,
        r#""priority":1,"logic":"and","value":1"#,
        r#""priority":1,"logic":"and","value":null"#,
    ];
    let form = |members: &str| rule(&format!("{members},\"conditions\":[{CONDITION}]"));
    assert_only(
        r#""priority":2147483647,"logic":"or","value":false"#,
        &wrong,
        form,
    );
    let wrong = [
        "\"conditions\":null",
        "\"conditions\":{}",
        "\"conditions\":[[]]",
        "\"new\":0",
    ];
    let form = |member: &str| {
        rule(&format!(
            r#""priority":1,"logic":"or","value":true,{member}"#
        ))
    };
    assert_only(&format!("\"conditions\":[{CONDITION}]"), &wrong, form);
}

/// A rule without conditions would match everyone, by the definition of `and`.
#[test]
fn a_rule_without_conditions_is_refused() {
    assert!(config::parse(condition("").as_bytes()).is_err());
}

#[test]
fn a_condition_with_a_member_missing_or_wrong_is_refused() {
    assert_only(CONDITION, &["null", "{}", "[]", "\"plan\""], condition);
    let changed = |from: &'static str| move |to: &str| condition(&CONDITION.replace(from, to));
    let (longest, longer) = ("é".repeat(128), "n".repeat(129));
    assert_only(&longest, &["", &longer, "\\u0000", "a\\"], changed("plan"));
    assert_only("!=", &["=", "===", "<>", "contains", ""], changed("=="));
    assert_only(
        "\"string\"",
        &["\"String\"", "\"number\"", "\"boolean\"", "null"],
        changed("\"string\""),
    );
    let (longest, longer) = ("é".repeat(1024), "x".repeat(1025));
    assert_only(&longest, &[&longer, "\\u0000"], changed("pro"));
    assert_only(
        r#""valueString":"""#,
        &[
            r#""valueString":1"#,
            r#""valueString":null"#,
            r#""value":"pro""#,
            r#""valueInt":1"#,
        ],
        changed(r#""valueString":"pro""#),
    );
    let with_type = r#""valueType":"string","#;
    assert_only(with_type, &[""], changed(with_type));
}

#[test]
fn a_wrong_operand_is_refused_even_if_the_type_selects_another_one() {
    let wrong = [
        r#""valueInt":1.5"#,
        r#""valueInt":"1""#,
        r#""valueBool":0"#,
        r#""valueBool":"true""#,
    ];
    let form = |member: &str| condition(&CONDITION.replace('}', &format!(",{member}}}")));
    assert_only(r#""valueInt":1,"valueBool":true"#, &wrong, form);
    let wrong = [r#""valueString":1"#, r#""valueString":false"#];
    let form = |member: &str| {
        let operand = format!(r#""boolean","valueBool":true,{member}"#);
        condition(&CONDITION.replace(r#""string","valueString":"pro""#, &operand))
    };
    assert_only(r#""valueString":"pro""#, &wrong, form);
}

#[test]
fn an_operand_that_a_double_does_not_hold_exactly_is_refused() {
    let form = |number: &str| {
        let operand = format!(r#""number","valueInt":{number}"#);
        condition(&CONDITION.replace(r#""string","valueString":"pro""#, &operand))
    };
    let wrong = [
        "9007199254740992",
        "-9007199254740992",
        "9223372036854775808",
        "1.5",
        "1e3",
        "\"1\"",
        "null",
        "true",
    ];
    assert_only("9007199254740991", &wrong, form);
    assert_only("-9007199254740991", &wrong, form);
}

#[test]
fn a_rollout_with_a_member_missing_or_wrong_is_refused() {
    let wrong = [
        "{}",
        "50",
        "[]",
        "false",
        r#"{"percentage":50}"#,
        r#"{"strategy":"per_user"}"#,
        r#"{"percentage":101,"strategy":"per_user"}"#,
        r#"{"percentage":-1,"strategy":"per_user"}"#,
        r#"{"percentage":50.0,"strategy":"per_user"}"#,
        r#"{"percentage":"50","strategy":"per_user"}"#,
        r#"{"percentage":50,"strategy":"per_flag"}"#,
        r#"{"percentage":50,"strategy":null}"#,
    ];
    assert_only(r#"{"percentage":0,"strategy":"per_user"}"#, &wrong, rollout);
    assert_only(
        r#"{"percentage":100,"strategy":"per_tenant"}"#,
        &wrong,
        rollout,
    );
}

#[test]
fn an_unknown_value_is_refused_at_its_start() {
    let numbered = r#""valueType":"number","valueInt":9007199254740992"#;
    for (right, wrong, position) in [
        ("\"==\"", "\"matches\"", "\"matches"),
        ("\"plan\"", "\"\"", "\"\""),
        (r#""valueType":"string""#, numbered, "9007"),
    ] {
        let text = condition(&CONDITION.replace(right, wrong));
        let error = config::parse(text.as_bytes()).map(drop);
        assert_eq!(
            error.map_err(|error| Some(error.offset)),
            Err(text.find(position))
        );
    }
}

#[test]
fn the_first_of_several_faults_is_reported() {
    let without_switch = r#"{"key":"a","rules":[]}"#;
    let with_unknown_rule = r#"{"key":"b","enabled":true,"rules":[0]}"#;
    let faulty = [without_switch, with_unknown_rule];
    for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let offset = |flags: &str| {
            let error = config::parse(document(flags).as_bytes()).map(drop);
            error.map_err(|error| error.offset)
        };
        let both = offset(&format!("[{},{}]", faulty[first], faulty[second]));
        assert_eq!(both, offset(&format!("[{}]", faulty[first])));
    }
}

#[test]
fn invalid_utf_8_is_refused_at_its_position() {
    let error = config::parse(b"{\"flags\":[],\"new\":\"\xff\"}").map(drop);
    assert_eq!(error.map_err(|error| error.offset), Err(19));
}
