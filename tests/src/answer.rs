//! Responses of the server, with the checks that tests need.

use reqwest::header::HeaderMap;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::Value;

use crate::described;

/// A complete response of the server.
pub struct Answer {
    /// The status code.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub bytes: Vec<u8>,
}

impl Answer {
    /// Sends a request and reads the response. Fails the test if the API's description does not contain it.
    pub async fn to(request: RequestBuilder) -> Self {
        let (http, request) = request.build_split();
        let request = request.expect("the request is valid");
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = http.execute(request).await.expect("the server answers");
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.expect("the answer is complete");
        let answer = Self {
            status,
            headers,
            bytes: bytes.to_vec(),
        };
        described::check(&method, &path, status, &answer.problem_code());
        answer
    }

    /// Fails the test unless the response has this status.
    #[track_caller]
    pub fn expect(self, status: StatusCode) -> Self {
        assert_eq!(self.status, status, "{}", self.body());
        self
    }

    /// Fails the test unless the response is a problem document with this status and code.
    #[track_caller]
    pub fn expect_problem(self, status: StatusCode, code: &str) -> Self {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), "application/problem+json");
        assert_eq!(answer.text("/code"), code);
        assert_eq!(answer.json()["status"], status.as_u16());
        answer
    }

    /// Fails the test unless the response is an `INVALID_INPUT` problem with these [faults](Self::faults).
    #[track_caller]
    pub fn expect_faults(self, faults: &[&str]) -> Self {
        let answer = self.expect_problem(StatusCode::BAD_REQUEST, "INVALID_INPUT");
        assert_eq!(answer.faults(), faults);
        answer
    }

    /// Returns the code of a problem document. Empty for other responses.
    pub fn problem_code(&self) -> String {
        let problem: Option<Value> = match self.header("content-type") {
            "application/problem+json" => serde_json::from_slice(&self.bytes).ok(),
            _ => None,
        };
        let code = problem
            .as_ref()
            .and_then(|problem| problem["code"].as_str());
        code.unwrap_or_default().to_owned()
    }

    /// Returns the body as text.
    pub fn body(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the bytes of the body without their content encoding.
    #[track_caller]
    pub fn decompressed(&self) -> Vec<u8> {
        let (mut encoded, mut plain) = (&*self.bytes, Vec::new());
        match self.header("content-encoding") {
            "gzip" => {
                let mut decoder = flate2::read::GzDecoder::new(encoded);
                std::io::copy(&mut decoder, &mut plain).expect("it is gzip");
            }
            "br" => brotli::BrotliDecompress(&mut encoded, &mut plain).expect("it is brotli"),
            _ => plain.extend_from_slice(encoded),
        }
        plain
    }

    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).expect("the body is JSON")
    }

    /// Returns the items of a page of a list. Fails the test if the response is not such a page.
    #[track_caller]
    pub fn items(self) -> Vec<Value> {
        let page = self.expect(StatusCode::OK).json();
        let items = page["items"].as_array();
        items.expect("a page has items").clone()
    }

    /// Returns the text at a JSON pointer in the body.
    #[track_caller]
    pub fn text(&self, pointer: &str) -> String {
        let json = self.json();
        let value = json.pointer(pointer).and_then(Value::as_str);
        value
            .unwrap_or_else(|| panic!("no text at {pointer} of {json}"))
            .to_owned()
    }

    /// Returns a header's value, or an empty text if the header is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// Returns the JSON pointers or parameter names of an `INVALID_INPUT` response.
    #[track_caller]
    pub fn faults(&self) -> Vec<String> {
        let json = self.json();
        let errors = json["errors"]
            .as_array()
            .expect("the problem names its errors");
        let place = |error: &Value| {
            error["pointer"]
                .as_str()
                .or(error["parameter"].as_str())
                .map(str::to_owned)
        };
        errors.iter().filter_map(place).collect()
    }
}
