//! Everything that is attached to an environment, and its fate when a key is rotated and an environment cloned.
//!
//! A rotation creates an environment with another ID, so whatever is attached must move along. A new column or table
//! that refers to an environment fails this test until its fate is listed here.

use pennon_tests::{Caller, TestApp, equals, rule};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

/// The value of a column in the new environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compared {
    /// That of the old environment.
    Same,
    /// Another one.
    Other,
}

use Compared::{Other, Same};

/// The columns of `environments`, and their values after a rotation and in a clone.
const COLUMNS: &[(&str, Compared, Compared)] = &[
    ("client_rules", Same, Same),
    ("config_revision", Other, Other),
    ("created_at", Other, Other),
    ("id", Other, Other),
    ("is_protected", Same, Same),
    ("lineage_id", Same, Other),
    // A clone needs a name of its own.
    ("name", Same, Other),
    // A clone comes last.
    ("position", Same, Other),
    // A rotation replaces them, and a clone has no previous key.
    ("previous_key_ends_at", Other, Other),
    ("previous_key_hash", Other, Other),
    ("previous_key_prefix", Other, Other),
    ("product", Same, Same),
    ("reason_required", Same, Same),
    ("revision", Other, Other),
    ("sdk_key_hash", Other, Other),
    ("sdk_key_prefix", Other, Other),
    ("status", Same, Same),
    ("visibility", Same, Same),
];

/// The rows of a table that refer to an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rows {
    /// They move with a rotation, and a clone copies them.
    MovedAndCopied,
    /// They move with a rotation, and a clone has none.
    Moved,
    /// They belong to all environments of a lineage, so a rotation keeps them. A clone has none.
    OfLineage,
    /// They describe the past of the old environment.
    Past,
}

use Rows::{Moved, MovedAndCopied, OfLineage, Past};

/// The columns of other tables that refer to an environment.
const REFERENCES: &[(&str, &str, Rows)] = &[
    // The name at that time.
    ("audit_entries", "environment", Past),
    ("audit_entries", "environment_id", Past),
    ("client_hours", "lineage_id", OfLineage),
    ("environment_hours", "lineage_id", OfLineage),
    ("environments_last_seen", "lineage_id", OfLineage),
    ("flag_environments", "environment_id", MovedAndCopied),
    ("flags_last_seen", "lineage_id", OfLineage),
    ("grants", "environment_id", Moved),
    ("poll_hours", "lineage_id", OfLineage),
    ("previous_key_clients", "environment_id", Past),
    ("rollouts", "environment_id", MovedAndCopied),
    ("rules", "environment_id", MovedAndCopied),
    ("usage_hours", "lineage_id", OfLineage),
    ("usage_reports", "lineage_id", OfLineage),
];

/// Runs a query for texts.
async fn texts(app: &TestApp, sql: &str) -> Vec<String> {
    let sql = AssertSqlSafe(sql.to_owned());
    let texts = if app.database().is_postgres() {
        let mut server = app.database().postgres().await;
        sqlx::query_scalar(sql).fetch_all(&mut server).await
    } else {
        let file = SqliteConnection::connect(app.database().url()).await;
        let mut file = file.expect("the file opens");
        sqlx::query_scalar(sql).fetch_all(&mut file).await
    };
    texts.expect("texts")
}

/// Returns the columns of all tables that may refer to an environment, as `table.column`.
async fn found(app: &TestApp) -> Vec<String> {
    let sql = if app.database().is_postgres() {
        "select columns.table_name || '.' || column_name from information_schema.columns
         join information_schema.tables using (table_schema, table_name)
         where table_schema = current_schema() and table_type = 'BASE TABLE'
           and (table_name = 'environments' or column_name like '%environment%' or column_name like '%lineage%')"
    } else {
        "select tables.name || '.' || columns.name
         from sqlite_schema tables, pragma_table_info(tables.name) columns
         where tables.type = 'table'
           and (tables.name = 'environments' or columns.name like '%environment%' or columns.name like '%lineage%')
         union
         select tables.name || '.' || keys.\"from\"
         from sqlite_schema tables, pragma_foreign_key_list(tables.name) keys
         where tables.type = 'table' and keys.\"table\" = 'environments'"
    };
    let mut found = texts(app, sql).await;
    found.sort_unstable();
    found
}

/// Returns an ID as a literal.
fn literal(app: &TestApp, id: &str) -> String {
    if app.database().is_postgres() {
        format!("'{id}'")
    } else {
        format!("x'{}'", id.replace('-', ""))
    }
}

/// Counts the rows of a column that refer to an environment.
async fn rows(app: &TestApp, table: &str, column: &str, id: &str) -> usize {
    let id = literal(app, id);
    let value = match column {
        "environment" => format!("(select name from environments where id = {id})"),
        "lineage_id" => format!("(select lineage_id from environments where id = {id})"),
        _ => id,
    };
    let sql = format!("select '' from {table} where {column} = {value}");
    texts(app, &sql).await.len()
}

/// Compares the columns of two environments, and returns those that are not as listed. `before` is a table with the old
/// environment.
async fn unexpected(
    app: &TestApp,
    id: &str,
    expected: impl Fn(&(&str, Compared, Compared)) -> Compared,
) -> Vec<String> {
    let mut unexpected = Vec::new();
    for column in COLUMNS {
        let name = column.0;
        let sql = format!(
            "select '' from environments after, before
             where after.id = {} and after.{name} is not distinct from before.{name}",
            literal(app, id)
        );
        let is_same = !texts(app, &sql).await.is_empty();
        if is_same != (expected(column) == Same) {
            unexpected.push(name.to_owned());
        }
    }
    unexpected
}

async fn created(admin: &Caller<'_>, path: &str, body: Value) -> Value {
    let answer = admin.post(path, body).await;
    answer.expect(StatusCode::CREATED).json()
}

fn text(object: &Value, member: &str) -> String {
    object[member].as_str().expect("a text").to_owned()
}

/// Creates an environment to which a row of every table is attached, and whose every column differs from its default.
async fn furnished(app: &TestApp, admin: &Caller<'_>) -> String {
    let web = json!({ "product": "shop", "name": "web", "visibility": "public" });
    let web = created(admin, "/environments", web).await;
    let flag = json!({ "key": "banner", "name": "Banner", "type": "boolean", "public": true });
    let flag = text(&created(admin, "/flags", flag).await, "id");
    let path = format!(
        "/environments/{}/rotate-key?overlapSeconds=60",
        text(&web, "id")
    );
    let rotated = admin.send(admin.request(Method::POST, &path)).await;
    let id = rotated.expect(StatusCode::CREATED).text("/id");
    let path = format!("/flags/{flag}/environments/{id}");
    admin.switch(&flag, &id, true).await;
    admin.rule(&path, rule(1, equals("a", "b"))).await;
    admin.rollout(&path, 37).await;
    let sdk = app.sdk(&text(&web, "sdkKey"));
    sdk.get("/sdk/v1/config").await.expect(StatusCode::OK);
    let report = json!({
        "id": "6f1c2a52-0f0b-4f0e-9d5e-3b1c7a9e2d41",
        "counts": [{ "flagKey": "banner", "reason": "rollout", "count": 3 }],
    });
    let report = sdk.post("/sdk/v1/usage", report).await;
    report.expect(StatusCode::NO_CONTENT);
    app.flush_usage().await;
    let user = json!({
        "email": "vic@example.com", "password": "a long password", "role": "viewer",
        "grants": [{ "environmentId": id, "role": "editor" }],
    });
    created(admin, "/users", user).await;
    let rules = json!({ "clientRules": "answers", "protected": true, "reasonRequired": true });
    let patched = admin.patch(&format!("/environments/{id}"), rules).await;
    patched.expect(StatusCode::OK);
    id
}

#[tokio::test]
async fn a_rotation_moves_and_a_clone_copies_everything_that_is_attached_to_an_environment() {
    let app = TestApp::start().await;
    let columns = COLUMNS
        .iter()
        .map(|(name, ..)| format!("environments.{name}"));
    let references = REFERENCES
        .iter()
        .map(|(table, column, _)| format!("{table}.{column}"));
    let mut listed: Vec<String> = columns.chain(references).collect();
    listed.sort_unstable();
    assert_eq!(found(&app).await, listed, "list new columns in this file");

    let admin = app.admin().await;
    let old = furnished(&app, &admin).await;
    let mut before = Vec::new();
    for (table, column, _) in REFERENCES {
        let rows = rows(&app, table, column, &old).await;
        assert!(rows > 0, "the environment has no row in {table}.{column}");
        before.push(rows);
    }
    let old_id = literal(&app, &old);
    let copy = format!("create table before as select * from environments where id = {old_id}");
    app.database().execute(copy).await;

    app.advance(1);
    let clone = json!({ "name": "web 2" });
    let clone = created(&admin, &format!("/environments/{old}/clone"), clone).await;
    let clone = text(&clone, "id");
    let differ = unexpected(&app, &clone, |(_, _, clone)| *clone).await;
    assert_eq!(differ, [] as [String; 0], "in the clone");
    for ((table, column, fate), before) in REFERENCES.iter().zip(&before) {
        let copied = rows(&app, table, column, &clone).await;
        let is_copied = *fate == MovedAndCopied;
        assert_eq!(copied == *before, is_copied, "{table}.{column} of a clone");
        assert!(is_copied || copied < *before, "{table}.{column} of a clone");
    }

    let path = format!("/environments/{old}/rotate-key?overlapSeconds=60");
    let rotated = admin
        .request(Method::POST, &path)
        .header("x-change-reason", "leaked");
    let rotated = admin.send(rotated).await;
    let new = rotated.expect(StatusCode::CREATED).text("/id");
    let differ = unexpected(&app, &new, |(_, rotation, _)| *rotation).await;
    assert_eq!(differ, [] as [String; 0], "after the rotation");
    for ((table, column, fate), before) in REFERENCES.iter().zip(&before) {
        let left = rows(&app, table, column, &old).await;
        let moved = rows(&app, table, column, &new).await;
        let is_right = match fate {
            MovedAndCopied | Moved => left == 0 && moved == *before,
            OfLineage => moved == *before,
            Past => left >= *before,
        };
        assert!(
            is_right,
            "{table}.{column} after a rotation: {left}, {moved}"
        );
    }
}
