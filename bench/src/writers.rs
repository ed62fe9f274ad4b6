//! Concurrent writers, each of which switches its own flag as fast as the responses permit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::samples::{Samples, Table, Yardstick};
use crate::service::Service;

const WRITERS: [usize; 3] = [1, 8, 32];

/// The duration of the measurement with each number of writers.
const SPAN: Duration = Duration::from_secs(4);

pub(crate) async fn measure(service: &Arc<Service>, table: &mut Table) -> Result<()> {
    let (environment, _) = service.environment("writers").await?;
    let mut flags = Vec::new();
    for writer in 0..32 {
        flags.push(service.flag(&format!("writer_{writer}")).await?);
    }
    for writers in WRITERS {
        let began = Instant::now();
        let mut under_way = JoinSet::new();
        for flag in flags.iter().take(writers) {
            under_way.spawn(write(
                Arc::clone(service),
                flag.clone(),
                environment.clone(),
            ));
        }
        let mut samples = Samples::default();
        for written in under_way.join_all().await {
            samples.append(written?);
        }
        let rate = samples.rate(began.elapsed());
        let what = format!("a switch, {writers} at once");
        table.add(&what, &samples, Yardstick::Commit, Some(rate));
    }
    Ok(())
}

async fn write(service: Arc<Service>, flag: String, environment: String) -> Result<Samples> {
    let (began, mut samples, mut enabled) = (Instant::now(), Samples::default(), false);
    while began.elapsed() < SPAN || enabled {
        enabled = !enabled;
        let started = Instant::now();
        service.switch(&flag, &environment, enabled).await?;
        samples.push(started.elapsed());
    }
    Ok(samples)
}
