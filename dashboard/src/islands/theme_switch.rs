//! The choice between the system's theme, light and dark.

use leptos::{form::ActionForm, prelude::*};

use crate::{
    api::session::SetTheme,
    components::icon::{Drawing, Icon},
    model::Theme,
};

/// Recolours the page at once and has the server remember it in a cookie.
#[island]
pub fn ThemeSwitch(
    /// The theme that the page was drawn in.
    theme: Theme,
) -> impl IntoView {
    let action = ServerAction::<SetTheme>::new();
    let chosen = Memo::new(move |before: Option<&Theme>| {
        let sent = action.input().get().map(|sent| sent.theme);
        sent.or(before.copied()).unwrap_or(theme)
    });
    Effect::new(move || {
        let root = document().document_element();
        // Nothing can be done about an attribute that cannot be set, and nothing depends on it.
        _ = root.map(|root| root.set_attribute("data-theme", chosen.get().as_str()));
    });
    view! {
        <ActionForm action>
            <div class="segments" role="group" aria-label="Theme">
                {Theme::ALL.map(|each| choice(each, chosen)).collect_view()}
            </div>
        </ActionForm>
    }
}

fn choice(theme: Theme, chosen: Memo<Theme>) -> impl IntoView {
    let (icon, title) = match theme {
        Theme::System => (Icon::Screen, "As the system"),
        Theme::Light => (Icon::Sun, "Light"),
        Theme::Dark => (Icon::Moon, "Dark"),
    };
    view! {
        <button
            name="theme"
            value=theme.as_str()
            title=title
            aria-label=title
            aria-pressed=move || (chosen.get() == theme).to_string()
        >
            <Drawing icon/>
        </button>
    }
}
