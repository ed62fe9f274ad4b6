//! The list of users.

use leptos::prelude::*;
use pennon_model::{
    page::{Limit, Page},
    user::{Role, User},
};

use super::paging::page_request;
use crate::{
    components::{
        frame::Section,
        icon::Icon,
        link_button::LinkButton,
        notice::{Notice, Severity},
        page::page,
        page_head::PageHead,
        pager::Pager,
        refusal::RefusalNotice,
        role,
        select::options,
        table::{Cell, Table, TimeCell, heads},
        time::Time,
    },
    error::AdminError,
    form::{Form, with_query},
    form_page::{FormState, handle_form, redirect},
    html::{Html, hidden, html},
    port::{
        Expected,
        people::{PeopleAdmin, UserRow},
        query, signed_in, signed_in_user,
    },
    routes,
    scope::scoped,
};

/// The users with their roles. A form that posts to this page changes a role.
#[component]
pub fn People() -> impl IntoView {
    let request = page_request(&query(), Limit::MAX);
    let render = async move |state| {
        let me = signed_in_user()?;
        let people = signed_in::<dyn PeopleAdmin>()?.people(request).await?;
        Ok(view! { <List people me state/> })
    };
    page(Section::People, "People", handle_form(change_role, render))
}

/// Returns the id of a user's row, for links to it.
pub(super) fn row_id(user: &User) -> String {
    format!("person-{}", user.id)
}

async fn change_role(form: Form) -> Result<Html, AdminError> {
    let me = signed_in_user()?;
    let (Some(id), Some(revision), Ok(role)) = (
        form.parsed("person"),
        form.parsed("revision"),
        Role::parse(&form.text("role")),
    ) else {
        return Err(AdminError::NotFound);
    };
    let people = signed_in::<dyn PeopleAdmin>()?;
    let user = people.set_role(Expected { id, revision }, role).await?;
    // Administrators who lower their own role lose access to this page.
    let own = user.id == me.id && !user.is_administrator();
    let list = if own {
        routes::FLAGS.to_owned()
    } else {
        let page = query().parsed::<i64>("page");
        with_query(
            routes::PEOPLE,
            [("page", page.map(|page| page.to_string()))],
        )
    };
    redirect(&format!("{list}#{}", row_id(&user)))
}

#[component]
fn List(people: Page<UserRow>, me: User, state: FormState) -> impl IntoView {
    let pagination = people.pagination;
    let rows = people
        .items
        .into_iter()
        .map(|listed| row(listed, &me, state.form.as_ref()))
        .collect_view();
    let alone = (pagination.total == 1).then(|| {
        view! {
            <Notice severity=Severity::Warning>
                "Yours is the only account. If you lose your password, only the command line can reset it: invite a second admin."
            </Notice>
        }
    });
    view! {
        <PageHead title="People" count=pagination.total>
            <LinkButton href=routes::NEW_PERSON icon=Icon::PLUS primary=true label="Invite"/>
        </PageHead>
        <div class="above">
            <RefusalNotice error=state.error/>
            {alone}
        </div>
        <Table
            caption="People and their roles"
            id="people"
            head=heads(["E-mail", "Role", "Last sign-in", "Joined"])
        >
            <tbody>{rows}</tbody>
        </Table>
        <Pager pagination href=|page| format!("{}?page={page}", routes::PEOPLE)/>
    }
}

fn row(listed: UserRow, me: &User, refused: Option<&Form>) -> impl IntoView + use<> {
    let UserRow { user, signed_in_at } = listed;
    let refused = refused.filter(|form| form.text("person") == user.id.to_string());
    let refused_role = refused.and_then(|form| Role::parse(&form.text("role")).ok());
    let you = (user.id == me.id).then(|| view! { <span class="tag you">"You"</span> });
    let email = user.email.clone();
    let page = scoped(routes::person(user.id));
    let grants = role::describe_grants(&user).map(|grants| {
        view! {
            <p class="person-role">
                <a href=page.clone()>{grants}</a>
            </p>
        }
    });
    view! {
        <tr id=row_id(&user)>
            <th class="name person" scope="row" title=email.clone()>
                <a href=page>{email.clone()}</a>
                " "
                {you}
            </th>
            <td class="person-roles">
                <RoleForm user=user.clone() refused_role/>
                {grants}
            </td>
            <Cell label="Last sign-in" quiet=true>
                {match signed_in_at {
                    Some(at) => html! { <Time at/> },
                    None => html! { <span title="Not in the last 30 days">"Not recently"</span> },
                }}
            </Cell>
            <TimeCell label="Joined" at=user.created_at/>
        </tr>
    }
}

/// The role as a select. Its button appears once another role is selected.
#[component]
fn RoleForm(
    user: User,
    /// The role that was refused, and stays selected.
    refused_role: Option<Role>,
) -> impl IntoView {
    let shown = refused_role.unwrap_or(user.role);
    let roles = role::choices(Role::Admin).iter().copied();
    html! {
        <form method="post" class="role-form" class:tried=refused_role.is_some()>
            {hidden("person", user.id.to_string())}
            {hidden("revision", user.revision.to_string())}
            <select class="input" name="role" aria-label=format!("Role of {}", user.email) autocomplete="off">
                {options(roles, shown.as_str())}
            </select>
            <button class="button primary">"Change role"</button>
        </form>
    }
}
