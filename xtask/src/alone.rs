//! The release binary alone: the promise that it is the whole product.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::serve::Profile;
use crate::site;
use crate::step::Outcome;
use crate::workspace::Workspace;

/// Copies the release binary into an empty folder and asks it, there and alone, for its health, for the page to sign in,
/// and for every asset of the site, under the name that the page uses.
pub(crate) fn try_it(workspace: &Workspace) -> Result<Outcome> {
    let folder = workspace.target.join("alone");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let binary = folder.join("pennon");
    fs::copy(Profile::Release.binary(workspace), &binary)?;

    let server = Server::start(&binary)?;
    server.get("/health")?;
    let page = server.get("/dashboard")?;
    for asset in site::assets(workspace)? {
        let path = path_to(&asset, &page);
        server.get(
            path.with_context(|| format!("the dashboard's first page does not name {asset}"))?,
        )?;
    }
    Ok(Outcome::Done)
}

/// The path under which a page names a file: what stands there in quotation marks and ends with the name.
fn path_to<'a>(file: &str, page: &'a str) -> Option<&'a str> {
    page.split('"').find(|quoted| quoted.ends_with(file))
}

/// A running server; it ends with this value.
struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Starts the binary in its own folder, with no environment but what it needs, and waits until it answers.
    fn start(binary: &Path) -> Result<Self> {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let folder = binary.parent().context("a binary stands in a folder")?;
        let process = Command::new(binary)
            .current_dir(folder)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .env("PENNON_LISTEN", address.to_string())
            .env("PENNON_ADMIN_PASSWORD", "a password for this try only")
            .stdout(Stdio::null())
            .spawn()?;
        let mut server = Self { process, address };
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            if let Some(status) = server.process.try_wait()? {
                bail!("the server ended at once ({status})");
            }
            if started.elapsed() > Self::PATIENCE {
                bail!("the server does not answer at {address}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(server)
    }

    /// Gets a page, following redirections; anything but 200 in the end is an error.
    fn get(&self, path: &str) -> Result<String> {
        let mut path = path.to_owned();
        for _ in 0..4 {
            let answer = self.exchange(&path)?;
            let (head, body) = answer.split_once("\r\n\r\n").context("no HTTP answer")?;
            let status = head.split(' ').nth(1).unwrap_or_default();
            match (status, location(head)) {
                ("200", _) => return Ok(body.to_owned()),
                ("302" | "303" | "307" | "308", Some(next)) => next.clone_into(&mut path),
                _ => bail!("GET {path}: {head}"),
            }
        }
        bail!("GET {path}: redirected too often");
    }

    fn exchange(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Self::PATIENCE))?;
        let host = self.address;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html, */*\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = Vec::new();
        stream
            .read_to_end(&mut answer)
            .with_context(|| format!("GET {path}"))?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, which is just as well.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn location(head: &str) -> Option<&str> {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(name, value)| name.eq_ignore_ascii_case("location").then(|| value.trim()))
}

#[cfg(test)]
mod tests {
    use super::{location, path_to};

    #[test]
    fn an_asset_is_found_where_a_page_quotes_it() {
        let page = r#"<link href="/assets/pennon.1.css"><link href="/assets/pennon.2.js">"#;
        assert_eq!(path_to("pennon.2.js", page), Some("/assets/pennon.2.js"));
        assert_eq!(path_to("pennon.3.js", page), None);
    }

    #[test]
    fn a_redirection_is_read_whatever_the_case_of_its_header() {
        assert_eq!(
            location("HTTP/1.1 303 See Other\r\nLocation: /dashboard/login"),
            Some("/dashboard/login")
        );
        assert_eq!(location("HTTP/1.1 200 OK\r\ncontent-length: 2"), None);
    }
}
