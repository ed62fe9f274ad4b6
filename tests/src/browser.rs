//! A browser without scripts, which uses the pages of the dashboard.

use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderName, REFERER};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

use crate::{Answer, Caller, EMAIL, TestApp};

/// The content type of forms.
pub const FORM: &str = "application/x-www-form-urlencoded";
/// The header in which a browser says which site caused a request.
pub const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// A browser without scripts, with at most one cookie.
pub struct Browser<'a> {
    /// The caller without a credential that sends the browser's requests.
    pub caller: Caller<'a>,
    /// The name and value of the session's cookie. Empty if nobody is signed in.
    pub cookie: String,
}

impl<'a> Browser<'a> {
    /// Returns a browser in which nobody is signed in.
    pub fn new(app: &'a TestApp) -> Self {
        Self {
            caller: app.anonymous(),
            cookie: String::new(),
        }
    }

    /// Returns a browser in which the first administrator is signed in.
    pub async fn signed_in(app: &'a TestApp) -> Self {
        Self::signed_in_as(app, EMAIL).await
    }

    /// Returns a browser in which a user with the tests' password is signed in.
    pub async fn signed_in_as(app: &'a TestApp, email: &str) -> Self {
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

    /// Opens a page that exists, and returns its HTML.
    pub async fn page(&self, path: &str) -> String {
        self.get(path).await.expect(StatusCode::OK).body()
    }

    /// Opens a page.
    pub async fn get(&self, path: &str) -> Answer {
        let request = self.caller.request(Method::GET, path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(ACCEPT, "text/html");
        self.caller.send(request).await
    }

    /// Sends a form of a page, without following the redirect to the next page.
    pub async fn post(&self, path: &str, form: &str) -> Answer {
        self.post_from("same-origin", "text/html", path, form).await
    }

    /// Sends a form from a page of this or another site, and accepts this content type.
    pub async fn post_from(&self, site: &str, accept: &str, path: &str, form: &str) -> Answer {
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

    /// Calls a server function as a script of the page does.
    pub async fn call(&self, function: &str, arguments: &Value) -> Answer {
        let path = format!("/dashboard/api/{function}");
        let request = self.caller.request(Method::POST, &path);
        let request = request
            .header(COOKIE, &self.cookie)
            .header(FETCH_SITE, "same-origin")
            .json(arguments);
        self.caller.send(request).await
    }

    /// Opens a stream, whose body the test reads as it arrives.
    pub async fn listen(&self, path: &str) -> Response {
        let request = self.caller.request(Method::GET, path);
        let request = request.header(COOKIE, &self.cookie);
        request.send().await.expect("an answer")
    }

    /// Reverts the newest action that a caller sees. Returns the response to the form.
    pub async fn revert_newest(&self, caller: &Caller<'_>) -> Answer {
        self.revert(&caller.newest_entry().await).await
    }

    /// Reverts the action of an audit entry as its page previews it. Returns the response to the form.
    pub async fn revert(&self, entry: &str) -> Answer {
        let path = format!("/dashboard/audit/{entry}");
        let preview = self.page(&path).await;
        let fingerprint = fingerprint(&preview).unwrap_or_default();
        self.post(&path, &format!("fingerprint={fingerprint}"))
            .await
    }
}

/// Returns the fingerprint of the previewed state, which the form of a preview sends back, or `None` if the page has no
/// such form.
pub fn fingerprint(preview: &str) -> Option<&str> {
    let (_, rest) = preview.split_once("name=\"fingerprint\" value=\"")?;
    rest.split('"').next()
}
