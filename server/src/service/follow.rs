//! Following what other processes commit to the database.
//!
//! On PostgreSQL instances announce their changes to each other, and everything is read anew whenever announcements may
//! have been missed. Beneath it lies a net that needs no announcement: at intervals each instance compares revisions. On
//! SQLite the net is all there is.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior};

use super::Service;
use crate::clock::Entropy;
use crate::error::Error;
use crate::store::notifications::Listener;

/// How often the service compares revisions.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

impl Service {
    /// Compares at intervals what is served with the database, and finds out whether it answers and whether a full disk
    /// has space again; erases what is kept for a moment only. Runs for as long as it is polled.
    pub async fn watch(self) {
        let mut ticks = tokio::time::interval(WATCH_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.serving.compare().await;
            if self.db.storage().is_full() {
                // As long as it fails, the disk is still full.
                let _ = self.db.try_storage().await;
            }
            self.erase_successors().await;
        }
    }

    /// Finds out whether the database is there, apart from what is read of it: reading waits for its turn, and for those
    /// who hold something. Runs for as long as it is polled, or ends at once on SQLite.
    pub async fn probe(self) {
        self.db.probe(&self.entropy, &*self.clock).await;
    }

    /// Follows what other instances announce; runs for as long as it is polled, or ends at once on SQLite, where nothing
    /// is announced.
    pub async fn listen(self) {
        let mut backoff = Backoff::default();
        loop {
            let began = Instant::now();
            let lost = match self.db.listen().await {
                Ok(None) => return,
                Ok(Some(listener)) => Box::pin(self.hear(listener, backoff.is_first())).await,
                Err(error) => error,
            };
            let is_away = !self.db.is_present();
            if backoff.is_first() || began.elapsed() > Backoff::LONGEST || is_away {
                tracing::warn!(error = %lost, "the announcements of other instances are cut off");
                backoff = Backoff::default();
            }
            self.db.until_present().await;
            tokio::time::sleep(backoff.next(&self.entropy)).await;
        }
    }

    /// Follows what is announced for as long as the connection holds, and answers why it did not.
    async fn hear(&self, mut listener: Listener, is_first: bool) -> Error {
        let read_all = async {
            if is_first {
                // The start has just read everything.
                self.serving.catch_up().await
            } else {
                self.serving.reload().await?;
                tracing::info!("the announcements of other instances are heard again");
                Ok(())
            }
        };
        let changed = Notify::new();
        match tokio::try_join!(
            read_all,
            self.hear_on(&mut listener, &changed),
            self.catch_up_whenever(&changed)
        ) {
            Err(error) => error,
            Ok(((), never, _)) => match never {},
        }
    }

    /// Hears on while changes are being read, so that a revoked key does not wait for what was announced before it.
    async fn hear_on(
        &self,
        listener: &mut Listener,
        changed: &Notify,
    ) -> Result<Infallible, Error> {
        loop {
            listener.heard(self.instance).await?;
            changed.notify_one();
            if let Err(error) = self.serving.drop_revoked().await {
                tracing::warn!(%error, "keys that another instance revoked may still be taken");
            }
        }
    }

    async fn catch_up_whenever(&self, changed: &Notify) -> Result<Infallible, Error> {
        loop {
            changed.notified().await;
            if let Err(error) = self.serving.catch_up().await {
                tracing::warn!(%error, "a change of another instance is not served yet");
            }
        }
    }
}

/// How long to wait before the next attempt: twice as long each time and never quite the same, so that instances that
/// lost their database together do not come back together.
#[derive(Default)]
struct Backoff {
    attempts: u32,
}

impl Backoff {
    const SHORTEST: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(10);

    fn is_first(&self) -> bool {
        self.attempts == 0
    }

    /// Between half of this attempt's pause and the whole.
    fn next(&mut self, entropy: &Entropy) -> Duration {
        let doubled = 1_u32.checked_shl(self.attempts).unwrap_or(u32::MAX);
        let pause = Self::SHORTEST.saturating_mul(doubled).min(Self::LONGEST);
        self.attempts = self.attempts.saturating_add(1);
        let [random] = entropy.bytes();
        pause / 2 + pause / 2 * u32::from(random) / 255
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;
    use crate::clock::Entropy;

    #[test]
    fn pauses_grow_to_a_bound_and_differ_between_instances() {
        let pauses = |seed| {
            let (entropy, mut backoff) = (Entropy::from_seed(seed), Backoff::default());
            (0..40)
                .map(|_| backoff.next(&entropy))
                .collect::<Vec<Duration>>()
        };
        let some = pauses(1);
        assert!(some[0] >= Backoff::SHORTEST / 2 && some[0] <= Backoff::SHORTEST);
        assert!(
            some[10..]
                .iter()
                .all(|pause| *pause >= Backoff::LONGEST / 2 && *pause <= Backoff::LONGEST)
        );
        assert_ne!(some, pauses(2));
    }
}
