//! Background tasks.

mod follow;

use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

use crate::admin::Admin;
use crate::state::AppState;

/// The interval at which the server compares revisions, and at which the other periodic tasks look for work.
const INTERVAL: Duration = Duration::from_millis(500);

/// The delay before a task that has panicked is restarted.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// The time limit at shutdown for counts that are being written to the database.
const COUNTING_TIMEOUT: Duration = Duration::from_secs(2);

/// A task that the server requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Probes the database, independently of reads, which may wait for connections and locks. It ends at once on
    /// SQLite.
    Probe,
    /// Compares snapshots with the database at intervals, which also checks whether the database responds. It never
    /// waits for the write lock.
    Watch,
    /// Checks whether a full disk has space again, and whether a read-only file accepts writes.
    CheckStorage,
    /// Erases short-lived data.
    Erase,
    /// Follows the announcements of other instances. It ends at once on SQLite.
    Listen,
    /// Sends committed changes to subscribers.
    Feed,
    /// Writes counts of usage to the database. It ends when the server stops, and must not be canceled.
    Count,
}

impl Task {
    /// The tasks that can be canceled at any time.
    const ENDLESS: [Self; 6] = [
        Self::Probe,
        Self::Watch,
        Self::CheckStorage,
        Self::Erase,
        Self::Listen,
        Self::Feed,
    ];

    /// Runs the task for as long as it is polled.
    pub async fn run(self, state: AppState) {
        let admin = &state.admin;
        match self {
            Self::Probe => admin.db.probe(&admin.entropy, &*admin.clock).await,
            Self::Watch => watch(admin).await,
            Self::CheckStorage => check_storage(admin).await,
            Self::Erase => erase(admin).await,
            Self::Listen => follow::listen(admin).await,
            Self::Feed => admin.feed.run().await,
            Self::Count => admin.run_usage_writer(state.runtime.stopping()).await,
        }
    }

    /// Runs the task, and restarts it if it panics.
    async fn keep_going(self, state: AppState) {
        loop {
            let mut running = JoinSet::new();
            running.spawn(self.run(state.clone()));
            match running.join_next().await {
                Some(Err(error)) if error.is_panic() => {
                    tracing::error!(%error, task = ?self, "a background task panicked; restarting it");
                    sleep(RESTART_DELAY).await;
                }
                _ => return,
            }
        }
    }
}

/// All tasks of a server.
pub struct Tasks {
    endless: JoinSet<()>,
    counting: JoinHandle<()>,
    state: AppState,
}

impl Tasks {
    /// Starts all tasks.
    pub fn start(state: &AppState) -> Self {
        let mut endless = JoinSet::new();
        for task in Task::ENDLESS {
            endless.spawn(task.keep_going(state.clone()));
        }
        Self {
            endless,
            counting: tokio::spawn(Task::Count.keep_going(state.clone())),
            state: state.clone(),
        }
    }

    /// Stops all tasks. Call it after the server has answered its last request.
    pub async fn stop(mut self) {
        self.endless.shutdown().await;
        self.state.drain();
        // The server writes the last counts when it closes, whether or not this times out.
        let _ = timeout(COUNTING_TIMEOUT, self.counting).await;
    }
}

async fn watch(admin: &Admin) {
    let mut ticks = ticks();
    loop {
        ticks.tick().await;
        admin.serving.compare().await;
    }
}

async fn check_storage(admin: &Admin) {
    let mut ticks = ticks();
    let storage = admin.db.storage();
    loop {
        ticks.tick().await;
        if storage.is_full() || storage.is_read_only() {
            // It fails until the storage accepts writes.
            let _ = admin.db.try_storage(&admin.entropy).await;
        }
    }
}

async fn erase(admin: &Admin) {
    let mut ticks = ticks();
    loop {
        ticks.tick().await;
        admin.erase_successors().await;
    }
}

fn ticks() -> Interval {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
