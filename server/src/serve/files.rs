//! The limit on open files. Each connection uses one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The number of files reserved for everything except connections, such as the database and the log.
const RESERVE: u64 = 256;

/// Raises the limit on open files for this many connections, and returns the number of connections that it permits.
/// Connections must not use up the files that the database needs. The soft limit is often 1024 for the sake of old
/// programs, and programs that support more are expected to raise it.
pub(super) fn raise_limit(connections: u32) -> usize {
    let wanted = u64::from(connections).saturating_add(RESERVE);
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    let possible = limit.maximum.unwrap_or(u64::MAX).min(wanted);
    let raised = Rlimit {
        current: Some(possible),
        maximum: limit.maximum,
    };
    let allowed = if current >= wanted {
        wanted
    } else if possible > current && setrlimit(Resource::Nofile, raised).is_ok() {
        possible
    } else {
        current
    };
    if allowed >= wanted {
        return usize::try_from(connections).unwrap_or(usize::MAX);
    }
    // Allow some connections even under a very low limit.
    let room = allowed.saturating_sub(RESERVE).max(allowed / 4);
    tracing::warn!(
        connections = room,
        files = allowed,
        "limit on open files too low for PENNON_MAX_CONNECTIONS"
    );
    usize::try_from(room).unwrap_or(usize::MAX)
}
