//! The `pennon` binary.

use std::error::Error;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use pennon_server::{
    Command, CommandLine, Entropy, FirstAdministrator, Service, Settings, SystemClock, router, run,
};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// How long requests under way may take to end once the service is told to stop.
const DRAIN_TIME: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> ExitCode {
    let CommandLine { command, settings } = CommandLine::parse();
    let is_command = !matches!(command, None | Some(Command::Serve(_)));
    log(if is_command { "warn" } else { "info" });
    let done = match command {
        Some(command) => run(command).await,
        None => Ok(Some(settings)),
    };
    let done = match done {
        Ok(Some(settings)) => serve(settings).await,
        other => other.map(drop),
    };
    match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(error) if is_command => eprintln!("pennon: {error}"),
        Err(error) => tracing::error!("{error}"),
    }
    ExitCode::FAILURE
}

/// Logs to the standard error stream, from this level on if `RUST_LOG` does not say otherwise.
fn log(level: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}

async fn serve(settings: Settings) -> Result<(), Box<dyn Error>> {
    let base_url = settings.base_url();
    let listener = TcpListener::bind(settings.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", settings.listen))?;
    let (service, first) =
        Service::start(settings, Arc::new(SystemClock), Entropy::from_system()?).await?;
    welcome(&base_url, first);
    let watching = tokio::spawn(service.clone().watch());
    let listening = tokio::spawn(service.clone().listen());
    let counting = tokio::spawn(service.clone().count());
    let serving = axum::serve(
        listener,
        router(service.clone()).into_make_service_with_connect_info::<SocketAddr>(),
    )
    .with_graceful_shutdown(told_to_stop()?);
    let serving = tokio::spawn(serving.into_future());
    told_to_stop()?.await;
    service.drain();
    tracing::info!("stopping");
    if let Ok(ended) = tokio::time::timeout(DRAIN_TIME, serving).await {
        ended??;
    } else {
        tracing::warn!("some connections did not end in time");
    }
    watching.abort();
    listening.abort();
    counting.abort();
    service.close().await;
    Ok(())
}

/// Tells where the dashboard is, and the credentials of an account that has just been created.
fn welcome(base_url: &str, first: Option<FirstAdministrator>) {
    println!("Pennon is ready: {base_url}/dashboard");
    if let Some(FirstAdministrator {
        email,
        generated_password,
    }) = first
    {
        println!("  e-mail    {email}");
        match generated_password {
            Some(password) => println!("  password  {password}   (shown this once)"),
            None => println!("  password  as set in PENNON_ADMIN_PASSWORD"),
        }
    }
}

/// Resolves at the first SIGTERM or SIGINT.
fn told_to_stop() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
