//! Help.

use leptos::prelude::*;

use crate::{
    DOCUMENTATION,
    components::{
        fact::Fact,
        frame::{Frame, Section},
        page_head::PageHead,
        shortcuts::Shortcuts,
        title::Title,
    },
};

/// The glossary, an explanation of evaluations, the shortcuts, and further reading.
#[component]
pub fn Help() -> impl IntoView {
    view! {
        <Title text="Help"/>
        <Frame section=Section::Help>
            <PageHead title="Help"/>
            <div class="sections help">
                <section aria-labelledby="answer-title">
                    <h2 id="answer-title">"How a flag is evaluated"</h2>
                    <p>"In each environment, these steps are checked in order. The first that applies decides:"</p>
                    <ol class="steps">
                        <li>"The switch: if it is off, or the flag is archived, the flag is off."</li>
                        <li>"The rules, in order: the first that matches turns the flag on or off."</li>
                        <li>
                            "The rollout: each user or tenant always falls into the same one of 100 buckets. The flag is on for buckets below the percentage, and off for all others and without a userId or tenantId."
                        </li>
                        <li>"Without a rollout, the flag is on for everyone else."</li>
                    </ol>
                </section>
                <section aria-labelledby="words-title">
                    <h2 id="words-title">"Glossary"</h2>
                    <dl class="words">
                        <Fact name="Flag">
                            "A feature that you turn on and off at run time. Code refers to it by its key."
                        </Fact>
                        <Fact name="Environment">
                            "A place where an application runs. Each has its own SDK key, and its own configuration of every flag."
                        </Fact>
                        <Fact name="Rule">
                            "Turns a flag on or off for users whose attributes match its conditions. A missing attribute matches none."
                        </Fact>
                        <Fact name="Rollout">
                            "Turns a flag on for a percentage of users or tenants. Raising it removes nobody."
                        </Fact>
                        <Fact name="SDK key">
                            "Gives an application the flags of its environment. Keep it secret, unless the environment is public: such a key may be in web pages and apps, because only public flags exist there."
                        </Fact>
                        <Fact name="Token">
                            "Lets a script call the API as you."
                        </Fact>
                    </dl>
                </section>
                <section aria-labelledby="keys-title">
                    <h2 id="keys-title">"Keyboard shortcuts"</h2>
                    <Shortcuts/>
                    <p class="quiet">"On a Mac, use Cmd instead of Ctrl."</p>
                </section>
                <section aria-labelledby="api-title">
                    <h2 id="api-title">"Documentation and API"</h2>
                    <p>
                        "The " <a href=DOCUMENTATION>"documentation"</a>
                        " describes the clients, targeting, deployment, and operation."
                    </p>
                    <p>
                        "You can also manage flags, environments, people and tokens through the API: see the " <a href="/docs">"reference"</a>
                        ", and create a token on your " <a href=Section::Account.href()>"account page"</a> "."
                    </p>
                </section>
            </div>
        </Frame>
    }
}
