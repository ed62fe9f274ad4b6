//! Help.

use leptos::prelude::*;

use crate::components::{
    fact::Fact,
    frame::{Frame, Section},
    page_head::PageHead,
    shortcuts::Shortcuts,
    title::Title,
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
                    <h2 id="answer-title">"How an answer comes about"</h2>
                    <p>"For each environment a flag is read from top to bottom, and the first line that applies decides:"</p>
                    <ol class="steps">
                        <li>"An archived flag is off, and so is one whose switch is off."</li>
                        <li>"Rules, in their order: the first one that matches says on or off."</li>
                        <li>
                            "The rollout, if there is one: each user or tenant falls into one of 100 buckets, always the same, and is on below the percentage. All others are off, also who has no userId or tenantId."
                        </li>
                        <li>"Without a rollout the flag is on for everyone else."</li>
                    </ol>
                </section>
                <section aria-labelledby="words-title">
                    <h2 id="words-title">"Words"</h2>
                    <dl class="words">
                        <Fact name="Flag">
                            "A question that code asks by its key, answered on or off."
                        </Fact>
                        <Fact name="Environment">
                            "A place where an application runs. Each has an SDK key, and each flag is set there by itself."
                        </Fact>
                        <Fact name="Rule">
                            "On or off for those whose attributes meet its conditions. A missing attribute meets none."
                        </Fact>
                        <Fact name="Rollout">
                            "On for a percentage of users or tenants. Raising it takes nobody out."
                        </Fact>
                        <Fact name="SDK key">
                            "What an application sends to get the flags of its environment. In a browser anybody can read it: use it there for flags that may be known."
                        </Fact>
                        <Fact name="Token">
                            "What a script sends to the API in your name."
                        </Fact>
                    </dl>
                </section>
                <section aria-labelledby="keys-title">
                    <h2 id="keys-title">"Keyboard"</h2>
                    <Shortcuts/>
                    <p class="quiet">"On a Mac, Cmd does what Ctrl does elsewhere."</p>
                </section>
                <section aria-labelledby="api-title">
                    <h2 id="api-title">"For scripts"</h2>
                    <p>
                        "Flags, environments, people and tokens can be managed by the API too: see its " <a href="/docs">"reference"</a>
                        ", and create a token for it on your " <a href=Section::Account.href()>"account page"</a> "."
                    </p>
                </section>
            </div>
        </Frame>
    }
}
