//! The parts of the bars: results or reasons.

use std::collections::BTreeMap;

use pennon_core::Reason;
use pennon_model::{
    time::Timestamp,
    usage::{FlagEnvironmentUsage, FlagHour},
};

use crate::choices::choices;
use crate::components::usage_chart::{Bar, Part, Series};

/// The reasons from the bottom of a bar to its top, each with its label and class.
const REASONS: [(Reason, Series); 5] = [
    (
        Reason::FlagEnabled,
        Series::new("On for everyone", "reason-enabled"),
    ),
    (
        Reason::TargetingRule,
        Series::new("By a rule", "reason-rule"),
    ),
    (
        Reason::Rollout,
        Series::new("By the rollout", "reason-rollout"),
    ),
    (Reason::FlagDisabled, Series::new("Off", "reason-disabled")),
    (
        Reason::FlagArchived,
        Series::new("Archived", "reason-archived"),
    ),
];

/// The results from the bottom of a bar to its top.
const RESULTS: [Series; 3] = [
    Series::new("On", "result-on"),
    Series::new("Off", "result-off"),
    Series::new("Result unknown", "result-unknown"),
];

choices! {
    /// The meaning of the parts of the bars.
    #[derive(Default)]
    pub(super) enum Breakdown {
        #[default]
        Result = "result",
        Reason = "reason",
    }
}

impl Breakdown {
    /// Returns the text of its link.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Result => "By result",
            Self::Reason => "By reason",
        }
    }

    /// Returns the parts of a bar, from the bottom to the top.
    pub(super) fn series(self) -> Vec<Series> {
        match self {
            Self::Result => RESULTS.to_vec(),
            Self::Reason => REASONS.map(|(_, series)| series).to_vec(),
        }
    }

    /// Adds up the counts of environments as bars. `starts` are the starts of the bars, in milliseconds and in order.
    pub(super) fn bars(self, environments: &[FlagEnvironmentUsage], starts: &[i64]) -> Vec<Bar> {
        let parts = self.series().len();
        let bar = |from: &i64| Bar {
            from: Timestamp::from_millis(*from),
            parts: vec![Part::default(); parts],
            reported: 0,
        };
        let mut bars: Vec<_> = starts.iter().map(bar).collect();
        for hour in environments.iter().flat_map(|each| &each.hours) {
            // In time zones with a half-hour offset, an hour belongs to the bar in which it starts.
            let started = starts.partition_point(|from| *from <= hour.hour.millis());
            let Some(bar) = started.checked_sub(1).and_then(|index| bars.get_mut(index)) else {
                continue;
            };
            for (sum, part) in bar.parts.iter_mut().zip(self.parts(hour)) {
                sum.count = sum.count.saturating_add(part.count);
                sum.reported = sum.reported.saturating_add(part.reported);
            }
            let reported = hour.reported.values().copied();
            bar.reported = reported.fold(bar.reported, i64::saturating_add);
        }
        bars
    }

    /// Returns the evaluations of an hour. Reports are not counted by result.
    fn parts(self, hour: &FlagHour) -> Vec<Part> {
        match self {
            Self::Result => {
                let all = hour.evaluations.values().copied();
                let all = all.fold(0, i64::saturating_add);
                let known = hour.enabled.saturating_add(hour.disabled);
                let unknown = all.saturating_sub(known).max(0);
                let part = |count| Part { count, reported: 0 };
                [hour.enabled, hour.disabled, unknown].map(part).to_vec()
            }
            Self::Reason => {
                let part = |(reason, _): (Reason, Series)| {
                    let of = |counts: &BTreeMap<String, i64>| {
                        counts.get(reason.as_str()).copied().unwrap_or_default()
                    };
                    Part {
                        count: of(&hour.evaluations),
                        reported: of(&hour.reported),
                    }
                };
                REASONS.map(part).to_vec()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pennon_core::Reason;

    use super::REASONS;

    #[test]
    fn every_reason_is_drawn_once() {
        let mut drawn = REASONS.map(|(reason, _)| reason.as_str());
        let mut reasons: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        drawn.sort_unstable();
        reasons.sort_unstable();
        assert_eq!(drawn.as_slice(), reasons);
    }
}
