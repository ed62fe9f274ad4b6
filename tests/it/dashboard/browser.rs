//! A browser without scripts.

use pennon_tests::{Answer, Caller, EMAIL, TestApp};
use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderName, REFERER};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

pub(super) const FORM: &str = "application/x-www-form-urlencoded";
pub(super) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A browser without scripts, with at most one cookie.
pub(crate) struct Browser<'a> {
    pub(super) caller: Caller<'a>,
    pub(super) cookie: String,
}

impl<'a> Browser<'a> {
    /// Returns a browser in which nobody is signed in.
    pub(crate) fn new(app: &'a TestApp) -> Self {
        Self {
            caller: app.anonymous(),
            cookie: String::new(),
        }
    }

    /// Returns a browser in which the first administrator is signed in.
    pub(crate) async fn signed_in(app: &'a TestApp) -> Self {
        Self::signed_in_as(app, EMAIL).await
    }

    /// Returns a browser in which a user with the tests' password is signed in.
    pub(crate) async fn signed_in_as(app: &'a TestApp, email: &str) -> Self {
        let email = email.replace('@', "%40");
        let form = format!("sign-in-email={email}&sign-in-password=correct+horse+battery+staple");
        let answer = Self::new(app).post("/dashboard/login", &form).await;
        let answer = answer.expect(StatusCode::SEE_OTHER);
        let cookie = answer.header("set-cookie").split(';').next();
        Self {
            cookie: cookie.unwrap_or_default().to_owned(),
            ..Self::new(app)
        }
    }

    /// Opens a stream.
    pub(crate) async fn listen(&self, path: &str) -> Response {
        let request = self.caller.request(Method::GET, path);
        let request = request.header(COOKIE, &self.cookie);
        request.send().await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.caller.request(Method::GET, path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(ACCEPT, "text/html");
        self.caller.send(request).await
    }

    pub(crate) async fn post(&self, path: &str, form: &str) -> Answer {
        self.post_from("same-origin", "text/html", path, form).await
    }

    /// Calls a server function as a script of the page does.
    pub(crate) async fn call(&self, function: &str, arguments: &Value) -> Answer {
        let path = format!("/dashboard/api/{function}");
        let request = self.caller.request(Method::POST, &path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(FETCH_SITE, "same-origin")
            .json(arguments);
        self.caller.send(request).await
    }

    pub(super) async fn post_from(
        &self,
        site: &str,
        accept: &str,
        path: &str,
        form: &str,
    ) -> Answer {
        let request = self.caller.request(Method::POST, path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, FORM)
            .header(REFERER, "http://pennon.test/dashboard/flags")
            .header(FETCH_SITE, site)
            .body(form.to_owned());
        self.caller.send(request).await
    }
}

pub(crate) fn html(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}
