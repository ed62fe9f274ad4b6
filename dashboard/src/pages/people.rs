//! The list of people.

use leptos::prelude::*;
use pennon_model::{
    page::{Limit, Page, PageRequest},
    user::{Role, User},
};

use super::flags::page_number;
use crate::{
    components::{
        answer::answer,
        frame::{Frame, Section},
        icon::{Drawing, Icon},
        notice::{Notice, Weight},
        pager::Pager,
        refusal::RefusalNotice,
        role,
        time::Time,
        title::Title,
    },
    error::AdminError,
    form::Form,
    html::IntoHtml as _,
    port::{
        Expected,
        people::{Colleague, PeopleAdmin},
        query, signed_in, signed_in_user, visit,
    },
    routes,
};

/// Who has an account, and what each may do. A role is changed here, by a form that posts to this page.
#[component]
pub fn People() -> impl IntoView {
    let request = PageRequest {
        page: page_number(&query()).try_into().unwrap_or_default(),
        limit: Limit::MAX,
    };
    let page = answer(async move {
        let me = signed_in_user()?;
        let visit = visit()?;
        let attempt = match visit.form() {
            Some(form) => match change_role(&form).await {
                Ok(user) => {
                    // Who has just given up being an admin has nothing to do here any more.
                    let own = user.id == me.id && user.role < Role::Admin;
                    let section = if own { Section::Flags } else { Section::People };
                    visit.redirect(&format!("{}#{}", section.href(), row_id(&user)));
                    return Ok(().into_html());
                }
                Err(error) => {
                    visit.set_status(error.status());
                    Some(Attempt::new(&form, error))
                }
            },
            None => None,
        };
        let people = signed_in::<dyn PeopleAdmin>()?.people(request).await?;
        Ok(view! { <List people me attempt/> }.into_html())
    });
    view! {
        <Title text="People"/>
        <Frame section=Section::People>{page}</Frame>
    }
}

/// A role that was chosen and could not be given.
struct Attempt {
    person: String,
    role: String,
    error: AdminError,
}

impl Attempt {
    fn new(form: &Form, error: AdminError) -> Self {
        Self {
            person: form.text("person"),
            role: form.text("role"),
            error,
        }
    }
}

/// The id of a person's row, for links to it.
pub(super) fn row_id(user: &User) -> String {
    format!("person-{}", user.id)
}

async fn change_role(form: &Form) -> Result<User, AdminError> {
    let (Some(id), Some(revision), Ok(role)) = (
        form.parsed("person"),
        form.parsed("revision"),
        Role::parse(&form.text("role")),
    ) else {
        return Err(AdminError::NotFound);
    };
    signed_in::<dyn PeopleAdmin>()?
        .set_role(Expected { id, revision }, role)
        .await
}

#[component]
fn List(people: Page<Colleague>, me: User, attempt: Option<Attempt>) -> impl IntoView {
    let pagination = people.pagination;
    let error = attempt.as_ref().map(|attempt| attempt.error.clone());
    let rows = people
        .items
        .into_iter()
        .map(|colleague| row(colleague, &me, attempt.as_ref()))
        .collect_view();
    let alone = (pagination.total == 1).then(|| {
        view! {
            <Notice weight=Weight::Warning>
                "You are the only one with an account. If you lose your password, only the command line lets you in again: invite a second admin."
            </Notice>
        }
    });
    view! {
        <header class="page-head">
            <h1>"People" <span class="count">{pagination.total}</span></h1>
            <a class="button primary" href=routes::NEW_PERSON>
                <Drawing icon=Icon::Plus/>
                "Invite"
            </a>
        </header>
        <div class="above">
            <RefusalNotice error/>
            {alone}
        </div>
        <div class="table-panel cards">
            <table class="table" id="people">
                <caption class="visually-hidden">"People and what they may do"</caption>
                <thead>
                    <tr>
                        <th scope="col">"E-mail"</th>
                        <th scope="col">"Role"</th>
                        <th scope="col">"Signed in"</th>
                        <th scope="col">"Joined"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        <Pager pagination href=|page| format!("{}?page={page}", Section::People.href())/>
    }
}

fn row(colleague: Colleague, me: &User, attempt: Option<&Attempt>) -> impl IntoView + use<> {
    let Colleague { user, signed_in_at } = colleague;
    let attempt = attempt.filter(|attempt| attempt.person == user.id.to_string());
    let tried = attempt.and_then(|attempt| Role::parse(&attempt.role).ok());
    let you = (user.id == me.id).then(|| view! { <span class="tag you">"You"</span> });
    let email = user.email.clone();
    view! {
        <tr id=row_id(&user)>
            <th class="name" scope="row" title=email.clone()>
                <a href=routes::person(user.id)>{email.clone()}</a>
                " "
                {you}
            </th>
            <td>
                <RoleForm user=user.clone() tried/>
            </td>
            <td class="quiet">
                <span class="cell-label">"Signed in"</span>
                {match signed_in_at {
                    Some(at) => view! { <Time at/> }.into_html(),
                    None => view! { <span title="Not in the last 30 days">"Not lately"</span> }.into_html(),
                }}
            </td>
            <td class="quiet">
                <span class="cell-label">"Joined"</span>
                <Time at=user.created_at/>
            </td>
        </tr>
    }
}

/// The role as a select. Its button shows itself once another role is chosen.
#[component]
fn RoleForm(
    user: User,
    /// The role that could not be given, still chosen.
    tried: Option<Role>,
) -> impl IntoView {
    let shown = tried.unwrap_or(user.role);
    let options = role::choices(Role::Admin).iter().map(|(word, sentence)| {
        view! {
            <option value=*word selected=*word == shown.as_str()>
                {*sentence}
            </option>
        }
    });
    view! {
        <form method="post" class="role-form" class:tried=tried.is_some()>
            <input type="hidden" name="person" value=user.id.to_string()/>
            <input type="hidden" name="revision" value=user.revision/>
            <select class="input" name="role" aria-label=format!("Role of {}", user.email) autocomplete="off">
                {options.collect_view()}
            </select>
            <button class="button primary">"Change role"</button>
        </form>
    }
    .into_html()
}
