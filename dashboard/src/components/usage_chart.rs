//! The usage chart.

use std::fmt::Write as _;

use leptos::prelude::*;
use pennon_model::time::Timestamp;

use super::number::format_count;
use crate::html::html;
use crate::port::local;

/// The width of a bar with the gap beside it, and without.
const STEP: usize = 10;
const WIDTH: usize = 8;

/// The width within which a mark reacts to the pointer.
const MARK_WIDTH: u32 = 6;

/// The height of the chart.
const HEIGHT: f64 = 100.0;

/// The evaluations that have the same place in every bar.
#[derive(Clone, Copy, Debug)]
pub struct Series {
    name: &'static str,
    class: &'static str,
}

impl Series {
    /// Returns a series with this label and class.
    pub const fn new(name: &'static str, class: &'static str) -> Self {
        Self { name, class }
    }
}

/// A bar of the chart.
#[derive(Clone, Debug)]
pub struct Bar {
    /// The start of its period.
    pub from: Timestamp,
    /// The evaluations of each series.
    pub parts: Vec<Part>,
    /// The number of evaluations that clients reported.
    pub reported: i64,
}

/// The evaluations of a series in a bar.
#[derive(Clone, Copy, Debug, Default)]
pub struct Part {
    /// Their number.
    pub count: i64,
    /// The number of those that are drawn as reported by clients.
    pub reported: i64,
}

/// A mark on the chart at the time of a change.
#[derive(Clone, Debug)]
pub struct ChartMark {
    /// The time of the change.
    pub at: Timestamp,
    /// The change and who made it, as a sentence.
    pub label: String,
    /// The address of its description.
    pub href: String,
}

/// The label of the evaluations that clients reported.
const REPORTED: &str = "Reported by clients";

impl Bar {
    /// Returns the number of evaluations.
    pub fn sum(&self) -> i64 {
        let counts = self.parts.iter().map(|part| part.count);
        counts.fold(0, i64::saturating_add)
    }

    /// Returns the number of evaluations of a series.
    fn count(&self, index: usize) -> i64 {
        self.parts.get(index).map_or(0, |part| part.count)
    }
}

/// A bar chart of stacked series, and the same data as a table. The evaluations that clients reported have a lighter
/// tone. Hovering over a bar shows its numbers; a mark shows a change.
#[component]
pub fn UsageChart(
    /// The series, from the bottom of a bar to its top.
    series: Vec<Series>,
    /// The bars, in order.
    bars: Vec<Bar>,
    /// The changes in the same period.
    marks: Vec<ChartMark>,
    /// The end of the last bar.
    end: Timestamp,
    /// A summary of the chart for screen readers.
    summary: String,
    /// True if the bars are days, so that times of day are left out.
    days: bool,
) -> impl IntoView {
    let used: Vec<(usize, Series)> = series
        .iter()
        .copied()
        .enumerate()
        .filter(|(index, _)| bars.iter().any(|bar| bar.count(*index) > 0))
        .collect();
    let top = scale(bars.iter().map(Bar::sum).max().unwrap_or_default());
    let legend = used.iter().map(|(_, Series { name, class })| {
        view! {
            <li>
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                    <rect class=*class width="10" height="10" rx="2"></rect>
                </svg>
                {*name}
            </li>
        }
    });
    let has_reported = bars.iter().any(|bar| bar.reported > 0);
    let mut parts = bars.iter().flat_map(|bar| &bar.parts);
    let has_tone = parts.any(|part| part.reported > 0);
    let reported_legend = has_tone.then(|| {
        view! {
            <li>
                <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
                    <rect class="chart-reported" width="10" height="10" rx="2"></rect>
                </svg>
                {REPORTED}
            </li>
        }
    });
    let starts: Vec<_> = bars.iter().map(|bar| bar.from).collect();
    let changes = marks.into_iter().filter_map(|mark| {
        let x = position(mark.at, &starts, end)?;
        Some(change_mark(x, mark))
    });
    let changes = changes.collect_view();
    let times = [0, bars.len() / 2, bars.len().saturating_sub(1)]
        .into_iter()
        .filter_map(|index| bars.get(index))
        .map(|bar| view! { <span>{format_start(bar.from, days)}</span> })
        .collect_view();
    let view_box = format!("0 0 {} {HEIGHT}", bars.len().saturating_mul(STEP));
    let drawn = bars
        .iter()
        .enumerate()
        .map(|(index, bar)| stack(index, bar, &series, top, days))
        .collect_view();
    html! {
        <figure class="chart">
            <ul class="chart-legend">{legend.collect_view()} {reported_legend}</ul>
            <div class="chart-scale" aria-hidden="true">
                <span>{format_count(top)}</span>
                <span>{format_count(top / 2)}</span>
                <span>"0"</span>
            </div>
            <svg class="chart-bars" viewBox=view_box.clone() preserveAspectRatio="none" role="img" aria-label=summary>
                {drawn}
            </svg>
            <svg class="chart-marks" viewBox=view_box.clone() preserveAspectRatio="none">
                {changes}
            </svg>
            <div class="chart-times" aria-hidden="true">
                {times}
            </div>
        </figure>
        <Numbers bars used days has_reported/>
    }
}

/// The numbers of the chart as a table.
#[component]
fn Numbers(
    bars: Vec<Bar>,
    used: Vec<(usize, Series)>,
    days: bool,
    has_reported: bool,
) -> impl IntoView {
    let heads = used
        .iter()
        .map(|(_, series)| view! { <th scope="col">{series.name}</th> })
        .collect_view();
    let rows = bars
        .into_iter()
        .rev()
        .filter(|bar| bar.sum() > 0)
        .map(|bar| {
            let counts = used
                .iter()
                .map(|(index, _)| view! { <td>{format_count(bar.count(*index))}</td> })
                .collect_view();
            let reported = has_reported.then(|| view! { <td>{format_count(bar.reported)}</td> });
            view! {
                <tr>
                    <th scope="row">{format_start(bar.from, days)}</th>
                    {counts}
                    <td>{format_count(bar.sum())}</td>
                    {reported}
                </tr>
            }
        })
        .collect_view();
    html! {
        <details class="chart-numbers">
            <summary>"Numbers"</summary>
            <div class="table-panel" tabindex="0" role="region" aria-label="Numbers">
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">"From"</th>
                            {heads}
                            <th scope="col">"Total"</th>
                            {has_reported.then(|| view! { <th scope="col">{REPORTED}</th> })}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </details>
    }
}

/// Draws one bar, with its numbers on hover.
fn stack(
    index: usize,
    bar: &Bar,
    series: &[Series],
    top: i64,
    days: bool,
) -> impl IntoView + use<> {
    let x = index.saturating_mul(STEP).to_string();
    let mut floor = HEIGHT;
    let mut title = format!(
        "{}: {}",
        format_start(bar.from, days),
        format_count(bar.sum())
    );
    let mut parts = Vec::new();
    for (Series { name, class }, part) in series.iter().zip(&bar.parts) {
        let Part { count, reported } = *part;
        if count == 0 {
            continue;
        }
        // Writing to a string cannot fail.
        _ = write!(title, "\n{name}: {}", format_count(count));
        let counted = count.saturating_sub(reported);
        for (part, tone) in [(counted, ""), (reported, " chart-reported")] {
            if part <= 0 {
                continue;
            }
            // Any count above 0 is visible, even beside much larger ones.
            let height = (share(part, top) * HEIGHT).max(0.75);
            floor -= height;
            parts.push(view! {
                <rect
                    class=format!("{class}{tone}")
                    x=x.clone()
                    y=format!("{floor:.2}")
                    width=WIDTH.to_string()
                    height=format!("{height:.2}")
                ></rect>
            });
        }
    }
    if bar.reported > 0 {
        _ = write!(title, "\n{REPORTED}: {}", format_count(bar.reported));
    }
    html! {
        <g>
            <title>{title}</title>
            <rect class="chart-column" x=x.clone() y="0" width=STEP.to_string() height=HEIGHT.to_string()></rect>
            {parts}
        </g>
    }
}

/// Draws a mark: a line with a dot, which is a link.
fn change_mark(x: f64, ChartMark { label, href, .. }: ChartMark) -> impl IntoView {
    let half = f64::from(MARK_WIDTH) / 2.0;
    html! {
        <a class="chart-mark" href=href aria-label=label.clone()>
            <title>{label.clone()}</title>
            <rect
                x=format!("{:.2}", x - half)
                y="-8"
                width=MARK_WIDTH.to_string()
                height=(HEIGHT + 8.0).to_string()
            ></rect>
            <path d=format!("M{x:.2} {HEIGHT}V0")></path>
            <path class="chart-mark-dot" d=format!("M{x:.2} 0h0")></path>
        </a>
    }
}

/// Returns the horizontal position of a time among the starts of bars; none before the first.
fn position(at: Timestamp, starts: &[Timestamp], end: Timestamp) -> Option<f64> {
    let index = starts
        .partition_point(|start| *start <= at)
        .checked_sub(1)?;
    let start = starts.get(index)?.millis();
    let next = index.checked_add(1).and_then(|next| starts.get(next));
    let length = next.copied().unwrap_or(end).millis().saturating_sub(start);
    let passed = at.millis().saturating_sub(start).min(length);
    let index = i64::try_from(index).unwrap_or_default();
    let step = i64::try_from(STEP).unwrap_or_default();
    Some(share(index.saturating_mul(step), 1) + share(passed.saturating_mul(step), length))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the difference is invisible in a drawing"
)]
fn share(count: i64, top: i64) -> f64 {
    count as f64 / top.max(1) as f64
}

/// Returns the smallest even round number that is at least as great.
fn scale(highest: i64) -> i64 {
    let mut unit = 1_i64;
    loop {
        for round in [2, 4, 6, 8, 10, 12, 16] {
            let top = unit.saturating_mul(round);
            if top >= highest {
                return top;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

/// The start of a bar: `2026-03-01 09:00`, or `2026-03-01` if bars are days.
fn format_start(at: Timestamp, days: bool) -> String {
    let at = local(at);
    if days {
        at.date
    } else {
        format!("{} {}", at.date, at.hour_and_minute())
    }
}

#[cfg(test)]
mod tests {
    use pennon_model::time::Timestamp;

    use super::{position, scale};

    #[test]
    fn a_change_is_marked_at_its_time_within_its_bar() {
        let at = Timestamp::from_millis;
        let starts = [at(1_000), at(2_000), at(4_000)];
        let position = |millis| position(at(millis), &starts, at(5_000));
        assert_eq!(position(999), None);
        assert_eq!(position(1_000), Some(0.0));
        assert_eq!(position(1_500), Some(5.0));
        assert_eq!(position(3_000), Some(15.0));
        assert_eq!(position(4_900), Some(29.0));
        assert_eq!(position(9_000), Some(30.0));
    }

    #[test]
    fn a_chart_ends_at_a_round_number() {
        let tops = [0, 1, 2, 3, 9, 11, 601, 81_000, i64::MAX].map(scale);
        assert_eq!(tops, [2, 2, 2, 4, 10, 12, 800, 100_000, i64::MAX]);
    }
}
