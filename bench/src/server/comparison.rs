//! Alternate measurements of Pennon and the yardstick.

use anyhow::Result;

use super::load::{Load, Target};
use crate::samples::Samples;

/// The number of rounds in which both servers are loaded.
const ROUNDS: usize = 5;

/// The cost of a request to Pennon, compared with an equal request to a bare server.
pub(crate) struct Comparison {
    pub(crate) bare: Side,
    pub(crate) pennon: Side,
    /// Pennon's processor time divided by that of the bare server: the median of the rounds.
    pub(crate) ratio: f64,
}

/// The results for one of the two servers.
pub(crate) struct Side {
    /// The processor time per response in microseconds: the median of the rounds.
    pub(crate) processor: f64,
    /// The responses per second: the median of the rounds.
    pub(crate) rate: f64,
    /// The latencies of all rounds.
    pub(crate) latencies: Samples,
}

impl Comparison {
    /// Loads both servers alternately, on this many connections.
    pub(crate) async fn of(bare: &Target, pennon: &Target, connections: usize) -> Result<Self> {
        let (mut bares, mut pennons) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            bares.push(bare.load(connections).await?);
            pennons.push(pennon.load(connections).await?);
        }
        let ratios = bares
            .iter()
            .zip(&pennons)
            .map(|(bare, pennon)| microseconds(pennon) / microseconds(bare));
        Ok(Self {
            ratio: median(ratios.collect()),
            bare: Side::of(bares),
            pennon: Side::of(pennons),
        })
    }
}

impl Side {
    fn of(loads: Vec<Load>) -> Self {
        let processor = median(loads.iter().map(microseconds).collect());
        let rate = median(loads.iter().map(rate).collect());
        let mut latencies = Samples::default();
        for load in loads {
            latencies.append(load.latencies);
        }
        Self {
            processor,
            rate,
            latencies,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few responses")]
fn microseconds(load: &Load) -> f64 {
    load.processor.as_secs_f64() * 1e6 / load.responses as f64
}

#[expect(clippy::cast_precision_loss, reason = "there are few responses")]
fn rate(load: &Load) -> f64 {
    load.responses as f64 / load.span.as_secs_f64()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
