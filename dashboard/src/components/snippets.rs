//! Code that evaluates flags, in several languages.

use leptos::prelude::*;
use pennon_model::environment::{ClientRules, Visibility};

use super::{
    frame::Section,
    notice::{Notice, Severity},
    snippet::Snippet,
};
use crate::{
    DOCUMENTATION,
    html::html,
    port::{Npmrc, visit},
};

/// Placeholders for the key and the address in the snippets. The snippets are files that compile or run unchanged.
const KEY: &str = "pnk_your_key";
const BASE_URL: &str = "https://flags.example.com";

/// The flag that the snippets evaluate.
const FLAG: &str = "new_checkout";

/// Returns the placeholder for the key of an environment.
pub(crate) fn example_key(visibility: Visibility) -> &'static str {
    match visibility {
        Visibility::Server => KEY,
        Visibility::Public => "pnp_your_key",
    }
}

/// A language or framework.
struct Language {
    name: &'static str,
    /// True if everyone can read the key.
    public: bool,
    /// The title and the code of each piece.
    pieces: &'static [(&'static str, &'static str)],
}

impl Language {
    /// Returns true if it needs npm packages.
    fn is_from_npm(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|(_, piece)| piece.starts_with("npm install"))
    }
}

const LANGUAGES: &[Language] = &[
    Language {
        name: "curl",
        public: false,
        pieces: &[("Shell", include_str!("../../snippets/curl.sh"))],
    },
    Language {
        name: "Node.js",
        public: false,
        pieces: &[
            (
                "Shell",
                "npm install @pennon/core\nexport PENNON_SDK_KEY=pnk_your_key",
            ),
            ("flags.mjs", include_str!("../../snippets/node.mjs")),
        ],
    },
    Language {
        name: "Browser",
        public: true,
        pieces: &[
            ("Shell", "npm install @pennon/core"),
            ("flags.js", include_str!("../../snippets/browser.js")),
        ],
    },
    Language {
        name: "React",
        public: true,
        pieces: &[
            ("Shell", "npm install @pennon/core @pennon/react"),
            (".env", "VITE_PENNON_SDK_KEY=pnk_your_key"),
            ("app.tsx", include_str!("../../snippets/react.tsx")),
        ],
    },
    Language {
        name: "Next.js",
        public: false,
        pieces: &[
            (
                "Shell",
                "npm install @pennon/core @pennon/react @pennon/next",
            ),
            (
                ".env.local",
                "PENNON_SDK_KEY=pnk_your_key\nPENNON_URL=https://flags.example.com",
            ),
            ("app/page.tsx", include_str!("../../snippets/next/page.tsx")),
            (
                "app/checkout.tsx",
                include_str!("../../snippets/next/checkout.tsx"),
            ),
        ],
    },
    Language {
        name: "NestJS",
        public: false,
        pieces: &[
            (
                "Shell",
                "npm install @pennon/core @pennon/nest\nexport PENNON_SDK_KEY=pnk_your_key",
            ),
            (
                "app.module.ts",
                include_str!("../../snippets/nest/app.module.ts"),
            ),
            (
                "checkout.controller.ts",
                include_str!("../../snippets/nest/checkout.controller.ts"),
            ),
        ],
    },
    Language {
        name: "OpenFeature",
        public: false,
        pieces: &[
            (
                "Shell",
                "npm install @pennon/openfeature @pennon/core @openfeature/core @openfeature/server-sdk\nexport PENNON_SDK_KEY=pnk_your_key",
            ),
            ("flags.mjs", include_str!("../../snippets/openfeature.mjs")),
        ],
    },
];

/// The only language of public environments whose clients get results only.
const REMOTE: &[Language] = &[Language {
    name: "Browser",
    public: true,
    pieces: &[
        ("Shell", "npm install @pennon/core"),
        ("flags.js", include_str!("../../snippets/browser-remote.js")),
    ],
}];

/// Returns the languages for an environment. Everyone can read the key of a public one, so none of them is for servers.
fn languages(
    visibility: Visibility,
    client_rules: ClientRules,
) -> impl Iterator<Item = &'static Language> {
    let languages = match client_rules {
        ClientRules::Full => LANGUAGES,
        ClientRules::Answers => REMOTE,
    };
    let is_listed = move |each: &&Language| each.public || visibility == Visibility::Server;
    languages.iter().filter(is_listed)
}

/// Code to copy for each language. The tabs are radio buttons, so that they work without scripts.
#[component]
pub fn Snippets(
    /// The key, if it may be shown.
    #[prop(optional)]
    sdk_key: Option<String>,
    /// The key of a flag that exists in the environment; none if there is none yet.
    flag_key: Option<String>,
    /// The visibility of the environment.
    visibility: Visibility,
    /// Its client rules.
    client_rules: ClientRules,
) -> impl IntoView {
    let visit = visit().ok();
    let npmrc = visit.as_ref().and_then(|visit| visit.npmrc());
    let base_url = visit.map_or_else(|| BASE_URL.to_owned(), |visit| visit.base_url());
    let key = sdk_key.unwrap_or_else(|| example_key(visibility).to_owned());
    let fill = |code: &str| {
        let code = code.trim_end().replace(BASE_URL, &base_url);
        let code = code.replace(KEY, &key);
        match &flag_key {
            Some(flag) => code.replace(&format!("\"{FLAG}\""), &format!("\"{flag}\"")),
            None => code,
        }
    };
    let public = match visibility {
        Visibility::Server => "",
        Visibility::Public => " and is marked Public",
    };
    let hint = flag_key.is_none().then(|| {
        view! {
            <p class="hint">
                "The code asks for the flag " <code>{FLAG}</code>
                {format!(". Until a flag with this key exists{public}, Pennon answers that it is unknown.")}
            </p>
        }
    });
    let tabs = languages(visibility, client_rules).enumerate().map(|(index, language)| {
        let id = format!("language-{index}");
        let npmrc = npmrc.clone().filter(|_| language.is_from_npm());
        let npmrc = npmrc.map(|npmrc| view! { <Registry npmrc/> });
        let pieces = language
            .pieces
            .iter()
            .map(|(title, code)| view! { <Snippet title=*title code=fill(code)/> });
        html! {
            <input
                class="visually-hidden"
                type="radio"
                name="language"
                id=id.clone()
                autocomplete="off"
                checked=index == 0
            />
            <label for=id>{language.name}</label>
            <section class="tab" aria-label=language.name>
                {(language.public && visibility == Visibility::Server).then(|| view! { <Public/> })}
                {npmrc}
                {pieces.collect_view()}
            </section>
        }
    });
    html! {
        {hint}
        <fieldset class="snippet-tabs" data-unit>
            <legend class="visually-hidden">"Language"</legend>
            {tabs.collect_view()}
        </fieldset>
        <p class="hint">
            "The " <a href=DOCUMENTATION>"documentation"</a>
            " has a guide for each language."
        </p>
    }
}

/// The warning that a key in a page is public.
#[component]
fn Public() -> impl IntoView {
    view! {
        <Notice severity=Severity::Warning>
            <strong>"Anyone can read a key in a page"</strong>
            ", and with it every flag and rule of this environment. Use the key of a public environment: only public flags exist there."
        </Notice>
    }
}

/// The npm settings that are required to install packages.
#[component]
fn Registry(npmrc: Npmrc) -> impl IntoView {
    let Npmrc { application, home } = npmrc;
    let home = home.map(|code| {
        view! {
            <Snippet title="~/.npmrc" code/>
            <p class="quiet">
                <code>"pnt_your_token"</code>
                " stands for a personal access token of any role. Create one in "
                <a href=Section::Account.href()>"your account"</a> "."
            </p>
        }
    });
    view! { <Snippet title=".npmrc" code=application/> {home} }
}
