//! The usage of a day as a line.

use std::fmt::Write as _;

use leptos::prelude::*;

use super::number::counted;
use crate::html::html;

/// The height of the highest hour, and the width of each.
const HEIGHT: i64 = 20;
const WIDTH: i64 = 4;

/// The counts of the last 24 hours as a shape, with their sum in words.
#[component]
pub fn Sparkline(
    /// The hourly counts, in order; none if all are 0.
    hours: Vec<i64>,
) -> impl IntoView {
    let sum = hours
        .iter()
        .fold(0_i64, |sum, hour| sum.saturating_add(*hour));
    if sum == 0 {
        let summary = "Not evaluated in the last 24 hours";
        return html! {
            <span class="quiet" title=summary>
                <span aria-hidden="true">"–"</span>
                <span class="visually-hidden">{summary}</span>
            </span>
        };
    }
    let evaluations = counted(sum, "evaluation", "evaluations");
    let summary = format!("{evaluations} in the last 24 hours");
    html! {
        <svg class="sparkline" viewBox="0 0 96 21" role="img" aria-label=summary.clone()>
            <title>{summary.clone()}</title>
            <path d=outline(&hours)></path>
        </svg>
    }
}

/// Draws the hours as the steps of a path.
fn outline(hours: &[i64]) -> String {
    let highest = hours.iter().copied().max().unwrap_or_default().max(1);
    let mut path = format!("M0 {}", HEIGHT + 1);
    let mut level = 0;
    for hour in hours {
        // Any count above 0 is visible, even beside much larger ones.
        let height = match *hour {
            0 => 0,
            hour => (hour.saturating_mul(HEIGHT) / highest).max(1),
        };
        // Writing to a string cannot fail.
        _ = write!(path, "v{}h{WIDTH}", level - height);
        level = height;
    }
    _ = write!(path, "v{level}z");
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_hour_reaches_the_top_and_a_rare_one_is_seen() {
        assert_eq!(outline(&[0, 1000, 1, 0]), "M0 21v0h4v-20h4v19h4v1h4v0z");
    }

    #[test]
    fn one_evaluation_is_singular() {
        let once = view! { <Sparkline hours=vec![0, 1]/> }.to_html();
        assert!(
            once.contains("\"1 evaluation in the last 24 hours\""),
            "{once}"
        );
    }
}
