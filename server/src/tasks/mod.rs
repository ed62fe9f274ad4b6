//! Background tasks.

mod follow;

use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::admin::Admin;
use crate::state::Service;

/// The interval at which the service compares revisions.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// The delay before a task that has panicked is restarted.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// The time limit at shutdown for counts that are being written to the database.
const COUNTING_TIMEOUT: Duration = Duration::from_secs(2);

/// A task that the service requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Probes the database, independently of reads, which may wait for connections and locks. It ends at once on
    /// SQLite.
    Probe,
    /// Compares snapshots with the database at intervals, checks whether the database responds and whether a full disk
    /// has space again, and erases short-lived data.
    Watch,
    /// Follows the announcements of other instances. It ends at once on SQLite.
    Listen,
    /// Sends committed changes to subscribers.
    Feed,
    /// Writes counts of usage to the database. It ends when the service stops, and must not be canceled.
    Count,
}

impl Task {
    /// The tasks that can be canceled at any time.
    const ENDLESS: [Self; 4] = [Self::Probe, Self::Watch, Self::Listen, Self::Feed];

    /// Runs the task for as long as it is polled.
    pub async fn run(self, service: Service) {
        let admin = &service.admin;
        match self {
            Self::Probe => admin.db.probe(&admin.entropy, &*admin.clock).await,
            Self::Watch => watch(admin).await,
            Self::Listen => follow::listen(admin).await,
            Self::Feed => admin.feed.run().await,
            Self::Count => admin.run_usage_writer(service.runtime.stopping()).await,
        }
    }

    /// Runs the task, and restarts it if it panics.
    async fn keep_going(self, service: Service) {
        loop {
            let mut running = JoinSet::new();
            running.spawn(self.run(service.clone()));
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

/// All tasks of a service.
pub struct Tasks {
    endless: JoinSet<()>,
    counting: JoinHandle<()>,
    service: Service,
}

impl Tasks {
    /// Starts all tasks.
    pub fn start(service: &Service) -> Self {
        let mut endless = JoinSet::new();
        for task in Task::ENDLESS {
            endless.spawn(task.keep_going(service.clone()));
        }
        Self {
            endless,
            counting: tokio::spawn(Task::Count.keep_going(service.clone())),
            service: service.clone(),
        }
    }

    /// Stops all tasks. Call it after the server has answered its last request.
    pub async fn stop(mut self) {
        self.endless.shutdown().await;
        self.service.drain();
        // The service writes the last counts when it closes, whether or not this times out.
        let _ = timeout(COUNTING_TIMEOUT, self.counting).await;
    }
}

async fn watch(admin: &Admin) {
    let mut ticks = interval(WATCH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        admin.serving.compare().await;
        let storage = admin.db.storage();
        if storage.is_full() || storage.is_read_only() {
            // It fails until the storage accepts writes.
            let _ = admin.db.try_storage().await;
        }
        admin.erase_successors().await;
    }
}
