//! Conflicting concurrent requests: exactly one succeeds, none fails unexpectedly, and each change is recorded once.
//!
//! Half of the requests go to one instance, half to another on the same database.

use pennon_tests::{Answer, FlagEnvironment, PASSWORD, TestApp, equals, rollout, rule};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// The number of concurrent callers.
const CALLERS: usize = 8;

/// Two instances on one database, and an administrator.
struct TwoInstances {
    apps: [TestApp; 2],
    authorization: String,
}

impl TwoInstances {
    async fn start() -> Self {
        let one = TestApp::start().await;
        let other = one.beside().await;
        other.watch();
        let authorization = one.authorization().await;
        Self {
            apps: [one, other],
            authorization,
        }
    }

    /// Sends requests at the same time, alternately to the two instances, and returns the responses in order.
    async fn race(&self, requests: Vec<(&str, String, Value)>) -> Vec<Answer> {
        let mut under_way = JoinSet::new();
        for (index, (method, path, body)) in requests.into_iter().enumerate() {
            let app = &self.apps[index % 2];
            let method = method.parse().expect("a method");
            let request = app
                .with_authorization(self.authorization.clone())
                .request(method, &path)
                .json(&body);
            under_way.spawn(async move { (index, Answer::to(request).await) });
        }
        let mut answers = under_way.join_all().await;
        answers.sort_by_key(|(index, _)| *index);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Sends the same request many times at once, and returns the number of responses with each of two codes.
    async fn same(
        &self,
        method: &'static str,
        path: &str,
        body: Value,
        won: u16,
        lost: u16,
    ) -> (usize, usize) {
        let answers = self
            .race(vec![(method, path.to_owned(), body); CALLERS])
            .await;
        let count = |status: u16| {
            answers
                .iter()
                .filter(|answer| answer.status == status)
                .count()
        };
        (count(won), count(lost))
    }

    async fn audited(&self, action: &str) -> usize {
        let actions = self.apps[0]
            .with_authorization(self.authorization.clone())
            .audited()
            .await;
        actions
            .iter()
            .filter(|recorded| *recorded == action)
            .count()
    }
}

#[tokio::test]
async fn one_of_many_concurrent_creates_succeeds() {
    let two = TwoInstances::start().await;
    let one_wins = (1, CALLERS - 1);
    let flag = json!({ "key": "checkout", "name": "x", "type": "boolean" });
    assert_eq!(two.same("POST", "/flags", flag, 201, 409).await, one_wins);
    let environment = json!({ "product": "shop", "name": "prod" });
    assert_eq!(
        two.same("POST", "/environments", environment, 201, 409)
            .await,
        one_wins
    );
    let admin = two.apps[0].with_authorization(two.authorization.clone());
    let flag = admin.get("/flags").await.text("/items/0/id");
    let environment = admin.get("/environments").await.text("/items/0/id");
    let path = format!("/flags/{flag}/environments/{environment}");
    let rule = rule(1, equals("vip", true));
    assert_eq!(
        two.same("POST", &format!("{path}/rules"), rule, 201, 409)
            .await,
        one_wins
    );
    assert_eq!(
        two.same("PUT", &format!("{path}/rollout"), rollout(5), 201, 200)
            .await,
        one_wins
    );
    let rotate = format!("/environments/{environment}/rotate-key");
    assert_eq!(
        two.same("POST", &rotate, json!({}), 201, 409).await,
        one_wins
    );
    for action in [
        "FLAG_CREATED",
        "ENVIRONMENT_CREATED",
        "RULE_CREATED",
        "ROLLOUT_CONFIGURED",
        "SDK_KEY_ROTATED",
    ] {
        assert_eq!(two.audited(action).await, 1, "{action}");
    }
}

#[tokio::test]
async fn archiving_and_enabling_exclude_each_other() {
    let two = TwoInstances::start().await;
    let admin = two.apps[0].with_authorization(two.authorization.clone());
    let (environment, _) = admin.environment("shop", "prod").await;
    for round in 0..CALLERS {
        let flag = admin.flag(&format!("flag_{round}")).await;
        let enable = (
            "PUT",
            format!("/flags/{flag}/environments/{environment}"),
            json!({ "isEnabled": true }),
        );
        let archive = ("DELETE", format!("/flags/{flag}"), json!({}));
        let requests = if round % 2 == 0 {
            vec![enable, archive]
        } else {
            vec![archive, enable]
        };
        let mut statuses: Vec<StatusCode> = two
            .race(requests)
            .await
            .iter()
            .map(|answer| answer.status)
            .collect();
        statuses.sort();
        assert_eq!(
            statuses,
            [StatusCode::NO_CONTENT, StatusCode::CONFLICT],
            "round {round}"
        );
    }
}

#[tokio::test]
async fn a_rule_created_during_a_rotation_moves_along_or_is_refused() {
    let two = TwoInstances::start().await;
    let admin = two.apps[0].with_authorization(two.authorization.clone());
    let FlagEnvironment {
        flag,
        mut environment,
        ..
    } = admin.flag_environment().await;
    for priority in 1..=CALLERS {
        let rule = rule(priority, equals("vip", true));
        let requests = vec![
            (
                "POST",
                format!("/flags/{flag}/environments/{environment}/rules"),
                rule,
            ),
            (
                "POST",
                format!("/environments/{environment}/rotate-key"),
                json!({}),
            ),
        ];
        let [rule, rotated] = two
            .race(requests)
            .await
            .try_into()
            .ok()
            .expect("two answers");
        environment = rotated.expect(StatusCode::CREATED).text("/id");
        let rules = admin
            .get(&format!("/flags/{flag}/environments/{environment}/rules"))
            .await
            .json();
        let moved = rules
            .as_array()
            .expect("a list")
            .iter()
            .any(|moved| moved["priority"] == priority);
        let expected = if moved {
            StatusCode::CREATED
        } else {
            StatusCode::NOT_FOUND
        };
        assert_eq!(rule.status, expected, "{rules}");
    }
}

#[tokio::test]
async fn every_flag_is_configured_in_environments_created_at_the_same_time() {
    let two = TwoInstances::start().await;
    let mut requests = Vec::new();
    for index in 0..CALLERS {
        let flag = json!({ "key": format!("flag_{index}"), "name": "x", "type": "boolean" });
        requests.push(("POST", "/flags".to_owned(), flag));
        requests.push((
            "POST",
            "/environments".to_owned(),
            json!({ "product": "shop", "name": format!("{index}") }),
        ));
    }
    let answers = two.race(requests).await;
    let id = |answer: &Answer| {
        assert_eq!(answer.status, StatusCode::CREATED);
        answer.text("/id")
    };
    let admin = two.apps[1].with_authorization(two.authorization.clone());
    for flag in answers.iter().step_by(2).map(id) {
        for environment in answers.iter().skip(1).step_by(2).map(id) {
            admin
                .get(&format!("/flags/{flag}/environments/{environment}"))
                .await
                .expect(StatusCode::OK);
        }
    }
}

#[tokio::test]
async fn one_of_many_concurrent_creates_or_deletes_of_an_account_or_token_succeeds() {
    let two = TwoInstances::start().await;
    let admin = two.apps[0].with_authorization(two.authorization.clone());
    let user = json!({ "email": "eve@example.com", "password": PASSWORD, "role": "viewer" });
    let token = json!({ "name": "ci", "role": "viewer" });
    let one_wins = (1, CALLERS - 1);
    assert_eq!(two.same("POST", "/users", user, 201, 409).await, one_wins);
    assert_eq!(
        two.same("POST", "/users/me/tokens", token, 201, 409).await,
        one_wins
    );
    let user = admin.get("/users?role=viewer").await.text("/items/0/id");
    let token = admin.get("/users/me/tokens").await.text("/0/id");
    for path in [
        format!("/users/me/tokens/{token}"),
        format!("/users/{user}"),
    ] {
        let ended = two.same("DELETE", &path, json!({}), 204, 404).await;
        assert_eq!(ended, one_wins);
    }
    // Entries that two instances record in one millisecond are unordered, and the test clock does not advance.
    let mut audited = admin.audited_with_accounts().await;
    audited.sort();
    assert_eq!(
        audited,
        [
            "TOKEN_CREATED",
            "TOKEN_REVOKED",
            "USER_CREATED",
            "USER_DELETED"
        ]
    );
}

#[tokio::test]
async fn a_request_during_the_deletion_of_its_account_succeeds_before_it_or_is_refused() {
    let two = TwoInstances::start().await;
    let [one, other] = &two.apps;
    let (admin, anonymous) = (
        one.with_authorization(two.authorization.clone()),
        other.anonymous(),
    );
    for round in 0..CALLERS {
        let email = format!("eve{round}@example.com");
        let id = admin.user(&email, "viewer").await;
        let signed_in = other.sign_in(&email, PASSWORD).await;
        let signed_in = signed_in.expect(StatusCode::OK);
        let eve = other.with_token(&signed_in.text("/access_token"));
        let path = format!("/users/{id}");
        let token = json!({ "name": "ci", "role": "viewer" });
        let refresh = json!({ "refresh_token": signed_in.text("/refresh_token") });
        let (deleted, created, again, refreshed) = tokio::join!(
            admin.delete(&path),
            eve.post("/users/me/tokens", token),
            one.sign_in(&email, PASSWORD),
            anonymous.post("/auth/refresh", refresh)
        );
        deleted.expect(StatusCode::NO_CONTENT);
        let mut secrets = Vec::new();
        for (answer, won, pointer) in [
            (created, StatusCode::CREATED, "/token"),
            (again, StatusCode::OK, "/access_token"),
            (refreshed, StatusCode::OK, "/access_token"),
        ] {
            if answer.status == won {
                secrets.push(answer.text(pointer));
            } else {
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "round {round}");
            }
        }
        for secret in secrets {
            one.with_token(&secret)
                .get("/flags")
                .await
                .expect_problem(StatusCode::UNAUTHORIZED, "UNAUTHENTICATED");
        }
    }
}
