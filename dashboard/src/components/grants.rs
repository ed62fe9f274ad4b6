//! Grants: their list, and the fields of a form that adds one.

use std::collections::BTreeSet;

use leptos::prelude::*;
use pennon_model::{
    environment::{Environment, ProductName},
    grant::{Grant, GrantScope, Grants},
};

use super::{
    confirm::Confirm,
    field::{described_by, field_errors},
    refusal::Refusal,
    role,
    select::options,
};
use crate::{
    error::AdminError,
    form::Form,
    html::{Html, IntoHtml as _, html},
    model::Naming,
    port::{environments::EnvironmentAdmin, signed_in},
    routes,
    scope::scoped,
};

/// The name of the field for the product or environment, and of its errors.
pub const SCOPE: &str = "scope";

/// The prefixes of the field's values.
const PRODUCT: &str = "product:";
const ENVIRONMENT: &str = "environment:";

/// The products and active environments that can be granted, and their names.
#[derive(Clone, Debug, Default)]
pub struct GrantScopes {
    environments: Vec<Environment>,
}

impl GrantScopes {
    /// Returns the active environments and their products. They are read on behalf of the signed-in user.
    pub(crate) async fn read() -> Result<Self, AdminError> {
        let environments = signed_in::<dyn EnvironmentAdmin>()?
            .active_environments()
            .await?;
        Ok(Self { environments })
    }

    /// Returns true if there is nothing to grant.
    pub(crate) fn is_empty(&self) -> bool {
        self.environments.is_empty()
    }

    /// Returns the name of a product or environment, such as `Shop, all environments`.
    fn name(&self, scope: &GrantScope) -> String {
        match scope {
            GrantScope::Product(product) => format!("{product}, all environments"),
            GrantScope::Environment(id) => {
                match self.environments.iter().find(|each| each.id == *id) {
                    Some(environment) => name(environment),
                    None => "a revoked environment".to_owned(),
                }
            }
        }
    }

    /// Returns the value and the name of each choice: each product, followed by its environments.
    fn choices(&self) -> Vec<(String, String)> {
        let products: BTreeSet<&ProductName> =
            self.environments.iter().map(|each| &each.product).collect();
        let of_product = |product: &ProductName| {
            let all = GrantScope::Product(product.clone());
            let environments = self.environments.iter();
            let environments = environments.filter(|each| each.product == *product);
            let environments = environments.map(|each| GrantScope::Environment(each.id));
            let scopes: Vec<_> = [all].into_iter().chain(environments).collect();
            scopes
        };
        let scopes = products.into_iter().flat_map(of_product);
        scopes
            .map(|scope| (value(&scope), self.name(&scope)))
            .collect()
    }
}

fn name(environment: &Environment) -> String {
    let naming = Naming {
        with_products: true,
    };
    naming.name_of(environment)
}

/// Returns the value of the field for a product or environment.
fn value(scope: &GrantScope) -> String {
    match scope {
        GrantScope::Product(product) => format!("{PRODUCT}{product}"),
        GrantScope::Environment(id) => format!("{ENVIRONMENT}{id}"),
    }
}

/// Returns the product or environment of a form; none if the field is empty or missing.
pub fn read_scope(form: &Form) -> Result<Option<GrantScope>, AdminError> {
    let text = form.text(SCOPE);
    if text.is_empty() {
        return Ok(None);
    }
    let product = || text.strip_prefix(PRODUCT)?.to_owned().try_into().ok();
    let environment = || text.strip_prefix(ENVIRONMENT)?.parse().ok();
    let scope = product().map(GrantScope::Product);
    let scope = scope.or_else(|| environment().map(GrantScope::Environment));
    scope.map(Some).ok_or_else(scope_refused)
}

/// Returns the error of a form without a product or environment.
pub fn scope_refused() -> AdminError {
    AdminError::invalid(SCOPE, "must be a product or an environment")
}

/// The select for a product or environment; nothing if there is none.
#[component]
pub fn ScopeField(
    /// The products and environments.
    scopes: GrantScopes,
    /// The label.
    label: &'static str,
    /// The hint.
    hint: &'static str,
    /// The label of the choice without a product or environment.
    none: &'static str,
    /// The input and the errors of the form.
    refusal: Refusal,
) -> impl IntoView {
    (!scopes.is_empty()).then(|| scope_field(&scopes, (label, hint, none), refusal))
}

fn scope_field(
    scopes: &GrantScopes,
    (label, hint, none): (&'static str, &'static str, &'static str),
    refusal: Refusal,
) -> Html {
    let errors = field_errors(SCOPE, SCOPE, &refusal);
    let has_error = errors.is_some();
    let chosen = refusal.form.map(|form| form.text(SCOPE));
    let choices = [(String::new(), none.to_owned())].into_iter();
    let choices = options(choices.chain(scopes.choices()), &chosen.unwrap_or_default());
    html! {
        <div class="field">
            <label for=SCOPE>{label}</label>
            <p class="hint" id="scope-hint">
                {hint}
            </p>
            <select
                class="input"
                id=SCOPE
                name=SCOPE
                autofocus=has_error
                aria-invalid=has_error.then_some("true")
                aria-describedby=described_by(SCOPE, true, has_error)
            >
                {choices}
            </select>
            {errors}
        </div>
    }
}

/// The grants of a user, each with a button that removes it by posting the action and the product or environment.
#[component]
pub fn GrantList(
    /// The grants.
    grants: Grants,
    /// The names of their products and environments.
    scopes: GrantScopes,
    /// The name of the action that removes one.
    remove: &'static str,
    /// The revision of the user.
    revision: i64,
) -> impl IntoView {
    let rows = grants.iter().enumerate().map(|(index, grant)| {
        let name = scopes.name(&grant.scope);
        let fields = vec![
            ("do", remove.to_owned()),
            ("revision", revision.to_string()),
            (SCOPE, value(&grant.scope)),
        ];
        view! {
            <li>
                <span>
                    <strong>{role::name(grant.role)}</strong>
                    " in "
                    {linked(grant, &name)}
                </span>
                <Confirm
                    id=format!("remove-grant-{index}")
                    label="Remove"
                    action=format!("Remove {} in {name}", role::name(grant.role).to_lowercase())
                    fields
                >
                    <p>"Their next request is refused unless another role allows it."</p>
                </Confirm>
            </li>
        }
    });
    let rows = rows.collect_view();
    html! { <ul class="grants">{rows}</ul> }
}

fn linked(grant: &Grant, name: &str) -> Html {
    match grant.scope {
        GrantScope::Product(_) => name.to_owned().into_html(),
        GrantScope::Environment(id) => {
            html! { <a href=scoped(routes::environment(id))>{name.to_owned()}</a> }
        }
    }
}

/// Renders the grants of a token or of the reader as phrases, such as `Editor in Shop / staging`.
pub fn phrases(grants: &Grants, scopes: &GrantScopes) -> Vec<String> {
    let phrase = |grant: &Grant| {
        format!(
            "{} in {}",
            role::name(grant.role),
            scopes.name(&grant.scope)
        )
    };
    grants.iter().map(phrase).collect()
}

/// The roles that a grant can give, with their labels.
pub const ROLES: &[(&str, &str)] = &[
    ("editor", "Editor: switches and edits flags there"),
    ("admin", "Admin: also manages environments and keys there"),
];
