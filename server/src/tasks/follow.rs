//! The task that follows the commits of other processes.
//!
//! On PostgreSQL, instances announce their changes to each other, and read everything again when they may have missed
//! announcements. As a fallback that needs no announcement, each instance compares revisions at intervals
//! ([`watch`](super::watch)). On SQLite, this is the only mechanism.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::admin::Admin;
use crate::clock::Entropy;
use crate::error::Error;
use crate::store::notifications::Listener;

/// Follows the announcements of other instances, for as long as it is polled. It ends at once on SQLite, where nothing
/// is announced.
pub(super) async fn listen(admin: &Admin) {
    let mut backoff = Backoff::default();
    loop {
        let began = Instant::now();
        let lost = match admin.db.listen().await {
            Ok(None) => return,
            Ok(Some(listener)) => Box::pin(follow(admin, listener, backoff.is_first())).await,
            Err(error) => error,
        };
        let is_away = !admin.db.is_present();
        if backoff.is_first() || began.elapsed() > Backoff::LONGEST || is_away {
            tracing::warn!(error = %lost, "lost the announcements of other instances");
            backoff = Backoff::default();
        }
        admin.db.until_present().await;
        tokio::time::sleep(backoff.next(&admin.entropy)).await;
    }
}

/// Follows announcements for as long as the connection lasts, and returns the error that ended it.
async fn follow(admin: &Admin, mut listener: Listener, is_first: bool) -> Error {
    let read_all = async {
        if is_first {
            // The start has just read everything.
            admin.serving.catch_up().await
        } else {
            admin.serving.snapshots.reload(&admin.db).await?;
            tracing::info!("receiving the announcements of other instances again");
            Ok(())
        }
    };
    let changed = Notify::new();
    match tokio::try_join!(
        read_all,
        receive(admin, &mut listener, &changed),
        catch_up_whenever(admin, &changed)
    ) {
        Err(error) => error,
        Ok(((), never, _)) => match never {},
    }
}

/// Receives announcements while changes are being read, so that a revoked key is refused before the changes that were
/// announced earlier are read.
async fn receive(
    admin: &Admin,
    listener: &mut Listener,
    changed: &Notify,
) -> Result<Infallible, Error> {
    loop {
        listener.foreign_change(admin.instance).await?;
        changed.notify_one();
        if let Err(error) = admin.serving.snapshots.drop_revoked(&admin.db).await {
            tracing::warn!(%error, "keys revoked by another instance may still be accepted");
        }
    }
}

async fn catch_up_whenever(admin: &Admin, changed: &Notify) -> Result<Infallible, Error> {
    loop {
        changed.notified().await;
        if let Err(error) = admin.serving.catch_up().await {
            tracing::warn!(%error, "a change of another instance is not served yet");
        }
    }
}

/// The delay before the next attempt. It doubles each time, and is randomized, so that instances that lost their
/// database together do not reconnect together.
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

    /// Returns a random delay between half of this attempt's pause and the whole.
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
