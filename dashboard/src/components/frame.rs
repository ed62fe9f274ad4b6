//! What is around every page: the rail with its rooms, and who is signed in.

use leptos::{prelude::*, server_fn::ServerFn};
use pennon_core::model::user::User;

use super::{
    icon::{Drawing, Icon},
    mark::Mark,
};
use crate::{
    api::session::SignOut,
    islands::theme_switch::ThemeSwitch,
    model::Theme,
    port::{signed_in_user, visit},
};

/// The rooms of the dashboard, as the rail lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Flags against environments.
    Flags,
    /// Environments and their keys.
    Environments,
    /// A flag for a subject that one makes up.
    Try,
    /// Who did what.
    Audit,
}

impl Room {
    const ALL: [Self; 4] = [Self::Flags, Self::Environments, Self::Try, Self::Audit];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flags => "Flags",
            Self::Environments => "Environments",
            Self::Try => "Try it",
            Self::Audit => "Audit",
        }
    }

    /// Its address.
    pub fn href(self) -> &'static str {
        match self {
            Self::Flags => "/dashboard/flags",
            Self::Environments => "/dashboard/environments",
            Self::Try => "/dashboard/try",
            Self::Audit => "/dashboard/audit",
        }
    }

    fn icon(self) -> Icon {
        match self {
            Self::Flags => Icon::Flag,
            Self::Environments => Icon::Layers,
            Self::Try => Icon::Play,
            Self::Audit => Icon::Clock,
        }
    }
}

/// A page within the rail.
#[component]
pub fn Frame(
    /// The room that the page belongs to.
    #[prop(optional)]
    room: Option<Room>,
    /// The page.
    children: Children,
) -> impl IntoView {
    view! {
        <a class="skip" href="#content">
            "Skip to the content"
        </a>
        <div class="frame">
            <Rail room/>
            <main class="content" id="content" tabindex="-1">
                {children()}
            </main>
        </div>
    }
    .into_any()
}

/// The way from room to room; on a narrow screen a bar with a menu.
///
/// Its type ends here, as that of the frame does: the types of whole pages are longer than rustc puts up with.
#[component]
fn Rail(room: Option<Room>) -> impl IntoView {
    let theme = visit().map_or(Theme::System, |visit| visit.theme());
    let user = signed_in_user().ok();
    view! {
        <header class="rail">
            <a class="brand" href=Room::Flags.href()>
                <Mark/>
                "Pennon"
            </a>
            <button class="button rail-open" type="button" popovertarget="rail-menu">
                <Drawing icon=Icon::Menu/>
                "Menu"
            </button>
            <div class="rail-menu" id="rail-menu" popover>
                <nav class="rail-nav" aria-label="Rooms">
                    {Room::ALL.map(|each| link(each, room)).collect_view()}
                </nav>
                <div class="rail-foot">
                    <ThemeSwitch theme/>
                    {user.map(|user| view! { <Who user/> })}
                </div>
            </div>
        </header>
    }
    .into_any()
}

fn link(room: Room, current: Option<Room>) -> impl IntoView {
    view! {
        <a href=room.href() aria-current=(current == Some(room)).then_some("page")>
            <Drawing icon=room.icon()/>
            {room.name()}
        </a>
    }
}

/// Who is signed in, and the way out.
#[component]
fn Who(user: User) -> impl IntoView {
    view! {
        <div class="who">
            <p class="who-text">
                <span class="who-email" title=user.email.clone()>
                    {user.email.clone()}
                </span>
                <span class="who-role">{role(&user)}</span>
            </p>
            <form method="post" action=SignOut::url()>
                <button class="icon-button" title="Sign out" aria-label="Sign out">
                    <Drawing icon=Icon::Leave/>
                </button>
            </form>
        </div>
    }
}

fn role(user: &User) -> &'static str {
    use pennon_core::model::user::Role;
    match user.role {
        Role::Viewer => "Viewer",
        Role::Editor => "Editor",
        Role::Admin => "Admin",
    }
}
