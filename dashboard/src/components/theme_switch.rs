//! The choice between the system's theme, light and dark.

use leptos::{prelude::*, server_fn::ServerFn};

use super::icon::{Drawing, Icon};
use crate::{api::session::SetTheme, model::Theme, port::visit};

/// A form with a button for each theme. The script applies it at once; without scripts, the page reloads.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    let theme = visit().map_or(Theme::System, |visit| visit.theme());
    let choices = Theme::ALL.map(|each| {
        let (icon, title) = match each {
            Theme::System => (Icon::SCREEN, "As the system"),
            Theme::Light => (Icon::SUN, "Light"),
            Theme::Dark => (Icon::MOON, "Dark"),
        };
        view! {
            <button
                name="theme"
                value=each.as_str()
                title=title
                aria-label=title
                aria-pressed=(each == theme).to_string()
            >
                <Drawing icon/>
            </button>
        }
    });
    view! {
        <form class="theme-form" method="post" action=SetTheme::url()>
            <div class="segments" role="group" aria-label="Theme">
                {choices.collect_view()}
            </div>
        </form>
    }
}
