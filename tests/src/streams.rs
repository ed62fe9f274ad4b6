//! Open streams of server-sent events: that of a client, and those of the dashboard's pages.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{Browser, Caller};

/// The time limit for an expected event.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Reads the next part of a stream. Returns `None` at the end.
async fn chunk(response: &mut Response) -> Option<String> {
    let chunk = timeout(TIMEOUT, response.chunk()).await;
    let chunk = chunk.expect("data arrives in time");
    let bytes = chunk.expect("the stream is well formed")?;
    let text = std::str::from_utf8(&bytes).expect("the stream is text");
    Some(text.to_owned())
}

/// The open stream of a client, which says when its configuration has changed.
pub struct ConfigStream {
    response: Response,
    read: String,
}

impl ConfigStream {
    /// Opens the stream for the caller's SDK key.
    pub async fn open(sdk: &Caller<'_>) -> Self {
        Self::open_after(sdk, None).await
    }

    /// Opens the stream with the ID of the last event that the client received.
    pub async fn open_after(sdk: &Caller<'_>, last: Option<&str>) -> Self {
        let mut request = sdk.request(Method::GET, "/sdk/v1/stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        let read = String::new();
        Self { response, read }
    }

    /// Returns the headers of the response.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Reads up to the next blank line. Returns `None` at the end.
    pub async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                return Some(block);
            }
            let Some(text) = chunk(&mut self.response).await else {
                assert_eq!(self.read, "", "the stream ends between two events");
                return None;
            };
            self.read.push_str(&text);
        }
    }

    /// Returns the tag of the next event, or `None` at the end.
    pub async fn tag(&mut self) -> Option<String> {
        loop {
            let block = self.block().await?;
            if block != ":" {
                return Some(tag_of_event(&block));
            }
        }
    }
}

/// Returns the tag of an event, which contains its identifier.
fn tag_of_event(event: &str) -> String {
    let fields: Vec<(&str, &str)> = event
        .lines()
        .filter_map(|line| line.split_once(": "))
        .collect();
    let [("event", "config"), ("id", id), ("data", data)] = fields[..] else {
        panic!("an event of another form: {event}");
    };
    let data: Value = serde_json::from_str(data).expect("the data is JSON");
    let tag = format!("W/\"{id}\"");
    assert_eq!(data, json!({ "etag": tag }));
    tag
}

/// The open event stream of a page of the dashboard.
pub struct PageStream {
    response: Response,
    /// Everything that has been read.
    pub received: String,
}

impl PageStream {
    /// Opens the stream of changes, and reads the position at which it begins.
    pub async fn open(browser: &Browser<'_>) -> Self {
        let mut stream = Self::open_at(browser, "/dashboard/events").await;
        stream.until("event: position").await;
        stream
    }

    /// Opens the stream at a path.
    pub async fn open_at(browser: &Browser<'_>, path: &str) -> Self {
        let response = browser.listen(path).await;
        assert_eq!(response.status(), StatusCode::OK);
        Self {
            response,
            received: String::new(),
        }
    }

    /// Reads until the stream has contained a text.
    pub async fn until(&mut self, text: &str) {
        let received = timeout(TIMEOUT, async {
            while !self.received.contains(text) {
                assert!(
                    self.read_chunk().await,
                    "the stream ends after {}",
                    self.received
                );
            }
        });
        assert!(received.await.is_ok(), "{text} never arrives");
    }

    /// Reads until the stream ends.
    pub async fn until_the_end(&mut self) {
        let ended = timeout(TIMEOUT, async { while self.read_chunk().await {} });
        assert!(ended.await.is_ok(), "the stream does not end");
    }

    /// Reads the next part. Returns false at the end.
    async fn read_chunk(&mut self) -> bool {
        match chunk(&mut self.response).await {
            Some(text) => {
                self.received.push_str(&text);
                true
            }
            None => false,
        }
    }
}
