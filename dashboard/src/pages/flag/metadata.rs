//! The tags, the owner, the kind and the expiry of a flag, in the head of its page.

use leptos::prelude::*;
use pennon_model::metadata::FlagMetadata;

use crate::{
    components::{fact::Fact, time::UtcDate},
    describe,
    form::with_query,
    html::{Html, IntoHtml as _, html},
    port::visit,
    routes,
};

/// Renders those of the metadata that the flag has.
pub(super) fn metadata(metadata: &FlagMetadata) -> Html {
    html! {
        {tags(metadata)}
        {facts(metadata)}
    }
}

fn tags(metadata: &FlagMetadata) -> Option<Html> {
    let tags = metadata.tags.iter().map(|tag| {
        let href = with_query(routes::FLAGS, [("tag", Some(tag.to_string()))]);
        view! {
            <li class="tag">
                <a href=href title=format!("Show flags with the tag {tag}")>
                    {tag.to_string()}
                </a>
            </li>
        }
    });
    let tags = tags.collect_view();
    (!metadata.tags.is_empty())
        .then(|| html! { <ul class="flag-products" aria-label="Tags">{tags}</ul> })
}

fn facts(metadata: &FlagMetadata) -> Option<Html> {
    let kind = metadata.kind.map(|kind| {
        html! { <Fact name="Kind">{describe::kind(kind)}</Fact> }
    });
    let owner = metadata.owner.as_ref().map(|owner| {
        let owner = owner.to_string();
        html! { <Fact name="Owner">{owner}</Fact> }
    });
    let expiry = metadata.expires_at.map(|expiry| {
        let at = expiry.time();
        let has_passed = visit().is_ok_and(|visit| visit.now() >= at);
        let name = if has_passed { "Expired" } else { "Expires" };
        html! { <Fact name><UtcDate at/></Fact> }
    });
    let facts: Vec<Html> = [kind, owner, expiry].into_iter().flatten().collect();
    (!facts.is_empty()).then(|| view! { <dl class="flag-facts">{facts}</dl> }.into_html())
}
