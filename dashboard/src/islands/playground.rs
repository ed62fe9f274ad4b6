//! The playground, evaluated while the user types.

use std::time::Duration;

use leptos::{html, prelude::*, task::spawn_local};
use pennon_model::id::{EnvironmentId, FlagId};

use crate::{
    api::playground::evaluate_flag,
    evaluated::{Served, VERSION},
    islands::dom,
};

/// The id of the element with the result.
pub const RESULT_ID: &str = "playground-answer";

/// The debounce before the server is queried.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Updates the result when the fields around it or the flag change. While the fields are in use, they cannot be
/// replaced; the script that keeps pages up to date then dispatches an `input` event. The engine in the browser
/// evaluates the same context, and the island reports if the two results differ.
///
/// Without scripts, it consists of the fields and the result as the server rendered them, and a button that submits the
/// form.
#[island]
pub fn PlaygroundIsland(
    /// The flag.
    flag: FlagId,
    /// The environment.
    environment: EnvironmentId,
    /// The server's result when it rendered the page.
    served: Option<Served>,
    /// The address of the page for this flag and environment, to which a context can be added.
    address: String,
    /// The fields, and the result.
    children: Children,
) -> impl IntoView {
    let agreement = RwSignal::new(Agreement::None);
    // Effects run only in the browser, which has the second engine.
    Effect::new(move || agreement.set(Agreement::of(served.as_ref())));
    let latest_input = StoredValue::new(0_u32);
    let live = NodeRef::<html::Div>::new();
    // Input that the address does not contain yet would be lost if the page were fetched.
    let set_unsaved = move |is_unsaved: bool| {
        if let Some(live) = live.get_untracked() {
            dom::toggle_attribute(&live, "data-unsaved", is_unsaved);
        }
    };
    let mut evaluate = debounce(DEBOUNCE, move |(input, fields): (u32, String)| {
        let address = address.clone();
        spawn_local(async move {
            let evaluated = evaluate_flag(flag, environment, fields).await;
            // The user has typed in the meantime, so another request follows.
            if latest_input.get_value() != input {
                return;
            }
            match evaluated {
                Ok(evaluated) => {
                    dom::set_html(RESULT_ID, &evaluated.html);
                    agreement.set(Agreement::of(evaluated.served.as_ref()));
                    if let Some(served) = &evaluated.served {
                        dom::show_address(&address, "context", &served.context);
                        set_unsaved(false);
                    }
                }
                Err(error) => agreement.set(Agreement::Failed(error.to_string())),
            }
        });
    });
    let on_input = move |_| {
        let live = live.get_untracked();
        let form = live.and_then(|live| dom::closest_form(&live));
        if let Some(fields) = form.and_then(|form| dom::fields(&form)) {
            let input = latest_input.get_value().wrapping_add(1);
            latest_input.set_value(input);
            agreement.set(Agreement::Pending);
            set_unsaved(true);
            evaluate((input, fields));
        }
    };
    // Input before hydration reached no listener.
    Effect::new(move || {
        let live = live.get_untracked();
        if let Some(live) = live.filter(|live| {
            let form = dom::closest_form(live);
            form.is_some_and(|form| dom::is_modified(&form))
        }) {
            dom::dispatch_input(&live);
        }
    });
    view! {
        <div class="playground-live" data-addressed node_ref=live on:input=on_input>
            {children()}
        </div>
        <AgreementStatus agreement/>
    }
}

/// The agreement of server and browser.
#[derive(Clone, PartialEq, Eq)]
enum Agreement {
    /// Nothing to compare.
    None,
    /// The server's response is pending.
    Pending,
    /// The same result; the server's engine has this version.
    Agree(String),
    /// Different results; this is the server's.
    Differ(String),
    /// The request failed for this reason.
    Failed(String),
}

impl Agreement {
    /// Compares the server's result with that of the local engine for the same flag and context.
    fn of(served: Option<&Served>) -> Self {
        match served {
            None => Self::None,
            Some(served) if served.local_verdict().as_ref() == Some(&served.verdict) => {
                Self::Agree(served.version.clone())
            }
            Some(served) => Self::Differ(served.verdict.clone()),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "asking",
            Self::Agree(_) => "agree",
            Self::Differ(_) => "differ",
            Self::Failed(_) => "failed",
        }
    }

    fn message(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Pending => "Evaluating …".to_owned(),
            Self::Agree(server_version) => {
                ["Server and this browser agree. Engine ", &server_version, " on the server, ", VERSION, " here."]
                    .concat()
            }
            Self::Differ(verdict) => [
                "Server and this browser disagree. This is a bug: please report it with this page's address. The server's result: “",
                &verdict,
                "”.",
            ]
            .concat(),
            Self::Failed(reason) => reason,
        }
    }
}

/// Shows whether the results agree, and alerts the user if they differ or the request failed.
#[component]
fn AgreementStatus(agreement: RwSignal<Agreement>) -> impl IntoView {
    let role = move || match agreement.get() {
        Agreement::Differ(_) | Agreement::Failed(_) => "alert",
        _ => "status",
    };
    view! {
        <p class="agreement" role=role data-agreement=move || agreement.get().name()>
            {move || agreement.get().message()}
        </p>
    }
}
