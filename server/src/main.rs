//! The `pennon` binary.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pennon_server::{
    AppState, BootstrapFile, Command, CommandLine, Entropy, FirstAdministrator, Listeners,
    LogFormat, Secrets, Settings, SystemClock, Tasks, run, serve,
};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::sleep;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Registry, fmt};

// The linker needs this crate's symbols, but no Rust code names them.
use pennon_native as _;

/// The number of log lines that can wait for a reader that is slow or suspended. Further lines are dropped.
const WAITING_LINES: usize = 8_192;

/// The interval between checks for dropped log lines.
const DROPPED_INTERVAL: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    let CommandLine { command, settings } = CommandLine::of_process();
    let serving = match &command {
        None => Some(&settings),
        Some(Command::Serve(settings)) => Some(settings),
        Some(_) => None,
    };
    let is_command = serving.is_none();
    // Dropping the guard writes the lines that wait, for at most about a second.
    let _guard = serving.map(|settings| log_in_background(settings.log_format));
    if is_command {
        log(
            LevelFilter::WARN,
            LogFormat::Text,
            BoxMakeWriter::new(io::stderr),
        );
    }
    let done = match command {
        Some(command) => run(command).await,
        None => Ok(Some(settings)),
    };
    let done = match done {
        Ok(Some(settings)) => start(settings).await,
        other => other.map(drop),
    };
    match done {
        Ok(()) => return ExitCode::SUCCESS,
        // The reader of the output closed the pipe, as `head` does.
        Err(error) if is_broken_pipe(&*error) => return ExitCode::SUCCESS,
        Err(error) if is_command => eprintln!("pennon: {}", with_causes(&*error)),
        Err(error) => tracing::error!("{error}"),
    }
    ExitCode::FAILURE
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Formats an error with its causes. Causes that repeat text are left out.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// Logs on a thread of its own, so that a reader who reads nothing cannot stop the server.
fn log_in_background(format: LogFormat) -> WorkerGuard {
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("log")
        .finish(io::stderr());
    tokio::spawn(report_dropped(writer.error_counter()));
    log(LevelFilter::INFO, format, BoxMakeWriter::new(writer));
    guard
}

/// Logs how many lines were dropped, at intervals. Never returns.
async fn report_dropped(counter: ErrorCounter) {
    let mut reported = 0;
    loop {
        sleep(DROPPED_INTERVAL).await;
        let dropped = counter.dropped_lines();
        if dropped > reported {
            let lines = dropped.saturating_sub(reported);
            tracing::warn!(
                lines,
                "log lines were dropped, because nothing read the standard error stream"
            );
            reported = dropped;
        }
    }
}

/// Logs to the standard error stream. `RUST_LOG` selects events, such as `warn,pennon_server::http=debug`. Without it,
/// events of this level and above are logged. Errors are always logged, unless `RUST_LOG` contains `off`, because one
/// of them may be the reason that the server does not start.
fn log(level: LevelFilter, format: LogFormat, writer: BoxMakeWriter) {
    let default = Targets::new().with_default(level);
    // The library takes an empty directive for the level `error`.
    let directives = std::env::var("RUST_LOG").unwrap_or_default();
    let directives: Vec<_> = directives
        .split(',')
        .filter(|each| !each.trim().is_empty())
        .collect();
    let directives = directives.join(",");
    let (selected, problem) = match directives.parse::<Targets>() {
        _ if directives.is_empty() => (default, None),
        Ok(_) if is_unknown_level(directives.trim()) => (
            default,
            Some(format!("`{}` is not a level", directives.trim())),
        ),
        Ok(selected) if selected.default_level().is_none() => {
            (selected.with_default(LevelFilter::ERROR), None)
        }
        Ok(selected) => (selected, None),
        Err(problem) => (default, Some(problem.to_string())),
    };
    let lines = fmt::layer()
        // A failed write to the log must not stop the server: the reader may have exited.
        .log_internal_errors(false)
        .with_writer(writer);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(is_colored()).boxed(),
        LogFormat::Json => {
            // Log panics as JSON, too.
            std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
            lines
                .json()
                .flatten_event(true)
                .with_span_list(false)
                .boxed()
        }
    };
    Registry::default().with(lines.with_filter(selected)).init();
    if let Some(problem) = problem {
        tracing::warn!(
            "RUST_LOG is ignored: {problem}; write a level, such as debug, or levels of modules, such as \
             warn,pennon_server::http=debug"
        );
    }
}

/// Returns true if the log may have colors: on a terminal, unless `NO_COLOR` is set (<https://no-color.org>).
fn is_colored() -> bool {
    let no_color = std::env::var_os("NO_COLOR").unwrap_or_default();
    no_color.is_empty() && io::stderr().is_terminal()
}

/// Returns true for a single word that names neither a level nor a crate of Pennon. It would select all events of a
/// module with this name, and hide all others.
fn is_unknown_level(directives: &str) -> bool {
    let is_word = directives.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_word && directives.parse::<LevelFilter>().is_err() && !directives.starts_with("pennon")
}

async fn start(mut settings: Settings) -> Result<(), Box<dyn Error>> {
    for name in Settings::unknown_variables() {
        tracing::warn!(
            "the environment variable {name} is ignored, because it is not a setting; `pennon --help` lists them"
        );
    }
    let secrets = Secrets::read(&settings)?;
    let bootstrap = settings.bootstrap_file.clone().map(BootstrapFile::read);
    let mut signals = Signals::new()?;
    let listeners = Listeners::bind(&settings).await?;
    listeners.update_port(&mut settings)?;
    let base_url = settings.base_url();
    let (clock, entropy) = (Arc::new(SystemClock), Entropy::from_system()?);
    let starting = AppState::start(settings, secrets, bootstrap, clock, entropy);
    let (state, first) = tokio::select! {
        started = starting => started?,
        () = signals.next() => return Ok(()),
    };
    if let Err(error) = welcome(&mut io::stdout(), &base_url, first) {
        tracing::warn!(
            "cannot print the address of the dashboard, or the password of a new administrator, which \
             `pennon user reset-password` replaces: {error}"
        );
    }
    let tasks = Tasks::start(&state);
    let (stop, stopped) = oneshot::channel();
    let stopped = async { stopped.await.unwrap_or_default() };
    let serving = tokio::spawn(serve(listeners, state.clone(), stopped));
    signals.next().await;
    tracing::info!("stopping");
    let _ = stop.send(());
    tokio::select! {
        ended = serving => ended?,
        () = signals.next() => tracing::warn!("second signal received: forcing shutdown"),
    }
    tasks.stop().await;
    state.close().await;
    Ok(())
}

/// Prints the address of the dashboard, and the credentials of a new administrator.
fn welcome(
    output: &mut impl Write,
    base_url: &str,
    first: Option<FirstAdministrator>,
) -> io::Result<()> {
    writeln!(output, "Pennon is ready: {base_url}/dashboard")?;
    if let Some(FirstAdministrator {
        email,
        generated_password,
    }) = first
    {
        writeln!(output, "  e-mail    {email}")?;
        match generated_password {
            Some(password) => writeln!(output, "  password  {password}   (shown this once)")?,
            None => writeln!(output, "  password  as set in PENNON_ADMIN_PASSWORD")?,
        }
    }
    Ok(())
}

/// The signals that stop the process: SIGTERM, and SIGINT from the keyboard.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGXFSZ, sent at the limit of a file's size. It ends the process by default. With a listener, the write fails
    /// instead, as on a full disk.
    _file_limit: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            _file_limit: signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Resolves at the next signal.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
