//! The frame of every page: the sidebar with its sections, and the signed-in user.

use leptos::{prelude::*, server_fn::ServerFn};
use pennon_model::user::User;

use super::{
    help_dialog::HelpDialog,
    icon::{Drawing, Icon},
    mark::Mark,
    palette::Palette,
    product_switcher::ProductSwitcher,
    role,
    theme_switch::ThemeSwitch,
    undo_toast::UndoToast,
};
use crate::{
    api::session::SignOut,
    html::{Html, html},
    port::{signed_in_user, visit},
    routes,
    scope::{product, scoped},
};

/// The sections of the dashboard, in the order of the sidebar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Flags and their switches.
    Flags,
    /// Environments and their keys.
    Environments,
    /// The playground.
    Playground,
    /// The audit log.
    Audit,
    /// People and their roles; for administrators.
    People,
    /// Glossary and shortcuts.
    Help,
    /// The user's own account, at the foot of the sidebar.
    Account,
}

impl Section {
    const LISTED: [Self; 6] = [
        Self::Flags,
        Self::Environments,
        Self::Playground,
        Self::Audit,
        Self::People,
        Self::Help,
    ];

    /// Returns its name, address and icon.
    fn parts(self) -> (&'static str, &'static str, Icon) {
        match self {
            Self::Flags => ("Flags", routes::FLAGS, Icon::FLAG),
            Self::Environments => ("Environments", routes::ENVIRONMENTS, Icon::LAYERS),
            Self::Playground => ("Try it", routes::PLAYGROUND, Icon::PLAY),
            Self::Audit => ("Audit", routes::AUDIT, Icon::CLOCK),
            Self::People => ("People", routes::PEOPLE, Icon::PEOPLE),
            Self::Help => ("Help", routes::HELP, Icon::HELP),
            Self::Account => ("Account", routes::ACCOUNT, Icon::PERSON),
        }
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.parts().0
    }

    /// Returns its path.
    pub(crate) fn path(self) -> &'static str {
        self.parts().1
    }

    /// Returns its address, with the product of the current request.
    pub fn href(self) -> String {
        scoped(self.path())
    }

    /// Returns the section that shows another product when one is chosen on a page: its own, or else the flags.
    pub(crate) fn that_shows_products(section: Option<Self>) -> Self {
        match section {
            Some(section @ (Self::Environments | Self::Playground | Self::Audit)) => section,
            _ => Self::Flags,
        }
    }

    /// Returns the section with this path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::LISTED
            .into_iter()
            .find(|section| section.path() == path)
    }

    /// Returns the sections that are useful to a user, in the order of the sidebar.
    fn listed(user: Option<&User>) -> impl Iterator<Item = Self> + use<> {
        let admin = user.is_some_and(User::is_administrator);
        let sections = Self::LISTED.into_iter();
        sections.filter(move |section| admin || *section != Self::People)
    }

    /// Returns all sections for a user.
    pub(crate) fn all_for(user: &User) -> impl Iterator<Item = Self> + use<> {
        Self::listed(Some(user)).chain([Self::Account])
    }
}

/// A page with its frame.
#[component]
pub fn Frame(
    /// The section to which the page belongs.
    #[prop(optional)]
    section: Option<Section>,
    /// The page.
    children: Children,
) -> impl IntoView {
    // For the script that keeps pages up to date. The response to a form cannot be fetched again.
    let rendered_at = visit().ok().map(|visit| match visit.form() {
        None => visit.now().millis().to_string(),
        Some(_) => String::new(),
    });
    view! {
        <a class="skip" href="#content">
            "Skip to content"
        </a>
        <div class="frame">
            <Sidebar section/>
            <main class="content" id="content" tabindex="-1" data-rendered-at=rendered_at>
                {children()}
                <Zone/>
            </main>
        </div>
        <UndoToast/>
        <HelpDialog/>
    }
    .into_any()
}

/// Names the time zone of the page; visible only on pages with times.
#[component]
fn Zone() -> impl IntoView {
    let zone = visit().map_or("UTC".to_owned(), |visit| visit.zone().to_owned());
    view! { <p class="zone" data-zone=zone.clone()>{format!("Times are in {zone}.")}</p> }
}

/// The navigation between sections; on a narrow screen, a bar with a menu.
///
/// Its type is erased here, as that of the frame is: the types of whole pages exceed the length that rustc supports.
#[component]
fn Sidebar(section: Option<Section>) -> impl IntoView {
    let user = signed_in_user().ok();
    let sections = Section::listed(user.as_ref())
        .map(|each| link(each, section))
        .collect_view();
    let jump = user.is_some().then(|| view! { <Palette/> });
    let switcher = user.is_some().then(|| view! { <ProductSwitcher section/> });
    let bar = html! {
        <a class="brand" href=Section::Flags.href()>
            <Mark/>
            "Pennon"
        </a>
        {jump}
        <button class="button sidebar-open" type="button" popovertarget="sidebar-menu">
            <Drawing icon=Icon::MENU/>
            {menu_label()}
        </button>
    };
    let menu = html! {
        <nav class="sidebar-nav" aria-label="Sections">
            {sections}
        </nav>
        <div class="sidebar-foot">
            <ThemeSwitch/>
            {user.map(|user| view! { <SignedInUser user current=section == Some(Section::Account)/> })}
        </div>
    };
    view! {
        <header class="sidebar">
            {bar}
            <div class="sidebar-menu" id="sidebar-menu" popover>
                {switcher}
                {menu}
            </div>
        </header>
    }
    .into_any()
}

/// Renders the label of the button that opens the menu: the selected product, if there is one.
fn menu_label() -> Html {
    match product() {
        None => html! { "Menu" },
        Some(product) => html! {
            <span class="visually-hidden">"Menu: "</span>
            <span class="sidebar-product">{product}</span>
        },
    }
}

fn link(section: Section, current: Option<Section>) -> impl IntoView {
    let (name, path, icon) = section.parts();
    view! {
        <a href=scoped(path) aria-current=(current == Some(section)).then_some("page")>
            <Drawing icon/>
            {name}
        </a>
    }
}

/// The signed-in user, and the button to sign out.
#[component]
fn SignedInUser(
    user: User,
    /// True if this is the page of the account.
    current: bool,
) -> impl IntoView {
    view! {
        <div class="who">
            <a
                class="who-text"
                href=Section::Account.href()
                title=format!("{}: password and tokens", user.email)
                aria-current=current.then_some("page")
            >
                <span class="who-email">{user.email.clone()}</span>
                <span class="who-role">{role::name(user.role)}</span>
            </a>
            <form method="post" action=SignOut::url()>
                <button class="icon-button" title="Sign out" aria-label="Sign out">
                    <Drawing icon=Icon::LEAVE/>
                </button>
            </form>
        </div>
    }
}
