//! The document around every page, and the routes of the pages.

use leptos::{config::LeptosOptions, nonce::use_nonce, prelude::*};
use leptos_meta::{Meta, MetaTags, provide_meta_context};
use leptos_router::{
    SsrMode,
    components::{FlatRoutes, Route, Router},
    path,
};

use crate::{
    components::{empty::Empty, mark::icon_url},
    html::html,
    model::Theme,
    pages::{
        account::Account,
        audit::Audit,
        change_flags::ChangeFlags,
        clone_environment::CloneEnvironmentPage,
        environment::EnvironmentPage,
        environments::Environments,
        flag::{FlagPage, compare::Compare},
        flag_usage::FlagUsagePage,
        flags::Flags,
        help::Help,
        history::History,
        home::Home,
        incident::Incident,
        live_evaluations::LiveEvaluations,
        new_environment::NewEnvironmentPage,
        new_flag::NewFlagPage,
        new_person::NewPersonPage,
        not_found::NotFound,
        people::People,
        person::PersonPage,
        playground::PlaygroundPage,
        revert::Revert,
        revert_several::RevertSeveral,
        sign_in::SignIn,
        undo::Undo,
    },
    port::visit,
};

/// Keeps the keys that the user presses outside of fields before the script is loaded, which handles them then.
const EARLY_KEYS: &str = "earlyKeys=[];addEventListener('keydown',earlyKeys.listener=e=>{if(!document.activeElement?.matches('input,textarea,select')){earlyKeys.push(e);(e.ctrlKey||e.metaKey)&&e.key=='k'&&e.preventDefault()}})";

/// The document. Its first bytes include the theme, which prevents a flicker. `stylesheet` and `script` are the
/// addresses of the style and of the script. On pages with islands, the script loads their code, which `options` names.
pub fn shell(
    options: &LeptosOptions,
    stylesheet: String,
    script: Option<String>,
) -> impl IntoView + use<> {
    if let Some(context) = Owner::current_shared_context() {
        // Only the contents of islands are marked for hydration.
        context.set_is_hydrating(false);
    }
    let islands = format!("/{}/{}", options.site_pkg_dir, options.output_name);
    let script = script.map(|script| {
        view! {
            <script
                type="module"
                src=script
                data-islands=format!("{islands}.js")
                data-wasm=format!("{islands}_bg.wasm")
            ></script>
        }
    });
    let theme = visit().map_or(Theme::System, |visit| visit.theme());
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme.as_str()>
            <head>
                {appearance(stylesheet)}
                {script}
                <script nonce=use_nonce() inner_html=EARLY_KEYS></script>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// Renders the document for a failure outside of the pages, such as of a request that took too long. Scripts that
/// requested a page find the text in it.
pub fn failure_document(stylesheet: String, title: &str, text: &str, is_form: bool) -> String {
    let page_title = format!("{title} · Pennon");
    let (title, text) = (title.to_owned(), text.to_owned());
    let next = if is_form {
        html! { <p>"To send what you typed again, reload this page."</p> }
    } else {
        html! { <a class="button" href="">"Try again"</a> }
    };
    let document = view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                {appearance(stylesheet)}
                <title>{page_title}</title>
            </head>
            <body>
                <main class="sign-in" data-rendered-at="">
                    <Empty>
                        <h1>{title}</h1>
                        <p role="alert">{text}</p>
                        {next}
                    </Empty>
                </main>
            </body>
        </html>
    };
    document.to_html()
}

/// The elements of the head that determine the look of every document.
fn appearance(stylesheet: String) -> impl IntoView {
    view! {
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width, initial-scale=1"/>
        <meta name="color-scheme" content="light dark"/>
        <link rel="icon" type="image/svg+xml" href=icon_url()/>
        <link rel="apple-touch-icon" href="/dashboard/assets/touch-icon.png"/>
        <link rel="stylesheet" href=stylesheet/>
    }
}

/// The pages. Each is rendered completely before it is sent, so it works without scripts.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let ssr = SsrMode::Async;
    // Chats and other readers of previews need an absolute address.
    let base_url = visit().map_or_else(|_| String::new(), |visit| visit.base_url());
    let social_card = format!("{base_url}/dashboard/assets/social-card.png");
    view! {
        <Meta property="og:title" content="Pennon"/>
        <Meta property="og:description" content="Feature flags on your own servers"/>
        <Meta property="og:image" content=social_card/>
        <Router>
            <FlatRoutes fallback=NotFound>
                <Route path=path!("/dashboard") view=Home ssr=ssr.clone()/>
                <Route path=path!("/dashboard/login") view=SignIn ssr=ssr.clone()/>
                <Route path=path!("/dashboard/flags") view=Flags ssr=ssr.clone()/>
                <Route path=path!("/dashboard/new-flag") view=NewFlagPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/change-flags") view=ChangeFlags ssr=ssr.clone()/>
                <Route path=path!("/dashboard/try") view=PlaygroundPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/flags/:key/compare") view=Compare ssr=ssr.clone()/>
                <Route path=path!("/dashboard/flags/:key/usage") view=FlagUsagePage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/flags/:key") view=FlagPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/environments") view=Environments ssr=ssr.clone()/>
                <Route path=path!("/dashboard/environments/new") view=NewEnvironmentPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/environments/:id") view=EnvironmentPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/environments/:id/clone") view=CloneEnvironmentPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/environments/:id/live") view=LiveEvaluations ssr=ssr.clone()/>
                <Route path=path!("/dashboard/flags/:key/history") view=History ssr=ssr.clone()/>
                <Route path=path!("/dashboard/audit") view=Audit ssr=ssr.clone()/>
                <Route path=path!("/dashboard/audit/:id") view=Revert ssr=ssr.clone()/>
                <Route path=path!("/dashboard/incident") view=Incident ssr=ssr.clone()/>
                <Route path=path!("/dashboard/incident/revert") view=RevertSeveral ssr=ssr.clone()/>
                <Route path=path!("/dashboard/undo") view=Undo ssr=ssr.clone()/>
                <Route path=path!("/dashboard/people") view=People ssr=ssr.clone()/>
                <Route path=path!("/dashboard/people/new") view=NewPersonPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/people/:person") view=PersonPage ssr=ssr.clone()/>
                <Route path=path!("/dashboard/account") view=Account ssr=ssr.clone()/>
                <Route path=path!("/dashboard/help") view=Help ssr/>
            </FlatRoutes>
        </Router>
    }
}

#[cfg(test)]
mod tests {
    use leptos_meta::ServerMetaContext;
    use leptos_router::{RouteList, location::RequestUrl};

    use super::App;
    use crate::routes;

    /// Returns the addresses of the router, with a colon before each parameter. They repeat those in `routes`, because
    /// the router accepts only literals.
    fn routed() -> Vec<String> {
        let owner = leptos::prelude::Owner::new_root(None);
        let routes = owner.with(|| {
            leptos::prelude::provide_context(RequestUrl::new(""));
            leptos::prelude::provide_context(ServerMetaContext::new().0);
            RouteList::generate(App)
        });
        let routes = routes.expect("routes").into_inner();
        // A router may begin with an empty segment, depending on the features that other crates enable.
        let address = |segments: &[leptos_router::PathSegment]| {
            let raw = |segment: &leptos_router::PathSegment| match segment {
                leptos_router::PathSegment::Param(name) => format!("/:{name}"),
                other => match other.as_raw_str().trim_start_matches('/') {
                    "" => String::new(),
                    name => format!("/{name}"),
                },
            };
            segments.iter().map(raw).collect()
        };
        routes.iter().map(|route| address(route.path())).collect()
    }

    #[test]
    fn the_router_has_the_addresses_to_which_pages_link() {
        let linked = [
            "/dashboard".to_owned(),
            routes::SIGN_IN.to_owned(),
            routes::FLAGS.to_owned(),
            routes::NEW_FLAG.to_owned(),
            routes::CHANGE_FLAGS.to_owned(),
            routes::flag(":key"),
            routes::flag_comparison(":key"),
            routes::flag_usage(":key"),
            routes::flag_history(":key"),
            routes::PLAYGROUND.to_owned(),
            routes::ENVIRONMENTS.to_owned(),
            routes::NEW_ENVIRONMENT.to_owned(),
            routes::environment(":id"),
            routes::clone_environment(":id"),
            routes::live_evaluations(":id"),
            routes::AUDIT.to_owned(),
            routes::audit_entry(":id"),
            routes::INCIDENT.to_owned(),
            routes::REVERT_SEVERAL.to_owned(),
            routes::UNDO.to_owned(),
            routes::PEOPLE.to_owned(),
            routes::NEW_PERSON.to_owned(),
            routes::person(":person"),
            routes::ACCOUNT.to_owned(),
            routes::HELP.to_owned(),
        ];
        let sorted = |mut addresses: Vec<String>| {
            addresses.sort();
            addresses
        };
        assert_eq!(sorted(routed()), sorted(linked.into()));
    }
}
