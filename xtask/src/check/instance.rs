//! A server that is started for a test, and a minimal HTTP client for it.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::process::Run as _;

/// The password of the first administrator.
pub(crate) const PASSWORD: &str = "a password for this test only";

/// A running server. Dropping this value stops it.
pub(crate) struct Instance {
    process: Child,
    address: SocketAddr,
}

impl Instance {
    const TIMEOUT: Duration = Duration::from_secs(30);

    /// Starts a binary in a folder, where it keeps its data, and waits until it accepts connections. Its environment
    /// contains only the variables that it needs and these settings.
    pub(crate) fn start(binary: &Path, folder: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        let address = free_address()?;
        let mut command = Command::new(binary);
        command
            .current_dir(folder)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .env("PENNON_LISTEN", address.to_string())
            .env("PENNON_ADMIN_PASSWORD", PASSWORD)
            .envs(
                settings
                    .iter()
                    .map(|(name, value)| (OsStr::new(name), OsStr::new(value))),
            );
        Self::launch(command, address)
    }

    /// Runs a command that starts a server at this address, and waits until the server accepts connections.
    pub(crate) fn launch(mut command: Command, address: SocketAddr) -> Result<Self> {
        let process = command.stdout(Stdio::null()).spawn()?;
        let mut instance = Self { process, address };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = instance.process.try_wait()? {
                bail!("the server ended during its start ({status})");
            }
            if started.elapsed() > Self::TIMEOUT {
                bail!("the server does not respond at {address}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(instance)
    }

    /// Sends SIGTERM to a process, upon which the server must shut down gracefully.
    pub(crate) fn stop(mut self, process: &str) -> Result<()> {
        Command::new("kill")
            .args(["-TERM", process])
            .run_quietly()?;
        let started = Instant::now();
        loop {
            match self.process.try_wait()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the server ended with {status}"),
                None if started.elapsed() > Self::TIMEOUT => bail!("the server does not stop"),
                None => thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Returns the server's base URL.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gets a page and follows redirects. A final status other than 200 is an error.
    pub(crate) fn get(&self, path: &str) -> Result<String> {
        let mut path = path.to_owned();
        for _ in 0..4 {
            let answer = self.exchange("GET", &path, None, "")?;
            let (head, body) = answer
                .split_once("\r\n\r\n")
                .context("not an HTTP response")?;
            match (status(head), header(head, "location")) {
                ("200", _) => return Ok(body.to_owned()),
                ("302" | "303" | "307" | "308", Some(next)) => next.clone_into(&mut path),
                _ => bail!("GET {path}: {head}"),
            }
        }
        bail!("GET {path}: redirected too often");
    }

    /// Posts to the API and returns the response body. A status that does not indicate success is an error.
    pub(crate) fn post(&self, path: &str, credential: Option<&str>, body: &Value) -> Result<Value> {
        self.send("POST", path, credential, body)
    }

    /// Calls the API and returns the response body, or `null` if there is none. A status that does not indicate success
    /// is an error.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        credential: Option<&str>,
        body: &Value,
    ) -> Result<Value> {
        let answer = self.exchange(method, path, credential, &body.to_string())?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .context("not an HTTP response")?;
        match status(head) {
            "204" => Ok(Value::Null),
            "200" | "201" => serde_json::from_str(body).with_context(|| format!("{method} {path}")),
            _ => bail!("{method} {path}: {head}\n{body}"),
        }
    }

    /// Gets a resource and returns its `ETag`.
    pub(crate) fn etag(&self, path: &str, credential: &str) -> Result<String> {
        let answer = self.exchange("GET", path, Some(credential), "")?;
        let etag = header(&answer, "etag").with_context(|| format!("GET {path}: {answer}"))?;
        Ok(etag.to_owned())
    }

    /// Opens the stream of an environment.
    pub(crate) fn events(&self, sdk_key: &str) -> Result<Events> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Self::TIMEOUT))?;
        write!(
            stream,
            "GET /sdk/v1/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {sdk_key}\r\n\r\n",
            self.address
        )?;
        Ok(Events(BufReader::new(stream)))
    }

    /// Signs in and returns the access token.
    pub(crate) fn sign_in(&self, email: &str, password: &str) -> Result<String> {
        let credentials = serde_json::json!({ "email": email, "password": password });
        let tokens = self.post("/auth/login", None, &credentials)?;
        text(&tokens, "access_token")
    }

    /// Signs in as the first administrator and returns the access token.
    pub(crate) fn sign_in_as_administrator(&self) -> Result<String> {
        self.sign_in("admin@pennon.local", PASSWORD)
    }

    fn exchange(
        &self,
        method: &str,
        path: &str,
        credential: Option<&str>,
        body: &str,
    ) -> Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Self::TIMEOUT))?;
        let authorization = credential.map_or_else(String::new, |credential| {
            format!("Authorization: Bearer {credential}\r\n")
        });
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/html, */*\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n{authorization}\r\n{body}",
            self.address,
            body.len(),
        )?;
        let mut answer = Vec::new();
        stream
            .read_to_end(&mut answer)
            .with_context(|| format!("{method} {path}"))?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

/// Returns a free loopback address.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// The events of an open stream.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// Waits for the next event, and returns the `ETag` that it announces. A stream that ends, stays silent, or only
    /// sends comments is an error.
    pub(crate) fn next(&mut self) -> Result<String> {
        let (began, mut line) = (Instant::now(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                bail!("the stream has ended");
            }
            if let Some(data) = line.strip_prefix("data:") {
                return text(&serde_json::from_str(data)?, "etag");
            }
            if began.elapsed() > Instance::TIMEOUT {
                bail!("the stream sends no event");
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The process may have ended already.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// Returns a string member of a JSON response.
pub(crate) fn text(answer: &Value, member: &str) -> Result<String> {
    let text = answer.get(member).and_then(Value::as_str);
    Ok(text
        .with_context(|| format!("no `{member}` in {answer}"))?
        .to_owned())
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

/// Returns the value of a header. The text may also contain the body.
fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .find_map(|(known, value)| known.eq_ignore_ascii_case(name).then(|| value.trim()))
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn a_header_is_found_whatever_its_case() {
        assert_eq!(
            header(
                "HTTP/1.1 303 See Other\r\nLocation: /dashboard/login",
                "location"
            ),
            Some("/dashboard/login")
        );
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 11\r\n\r\nlocation: /";
        assert_eq!(header(answer, "location"), None);
    }
}
