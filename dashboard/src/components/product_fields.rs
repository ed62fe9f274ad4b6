//! The fields for the products of a flag.

use std::collections::BTreeSet;

use leptos::prelude::*;
use pennon_model::{
    environment::ProductName,
    flag::FlagProducts,
    grant::{GrantScope, Resource},
    user::User,
};

use super::{
    field::{Field, Input, described_by, field_errors},
    refusal::Refusal,
};
use crate::{
    form::Form,
    html::{Html, hidden, html},
};

/// The name of the fields, and of their errors.
pub const FIELD: &str = "products";

/// The products of a flag, as a form has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductForm {
    /// True if the flag is limited to the products.
    is_limited: bool,
    /// The products.
    chosen: Vec<String>,
    /// One more product, as typed.
    other: String,
}

impl ProductForm {
    /// Reads the fields of a form; none if it had no such fields, because there was nothing to choose. Of too many
    /// products, only enough remain to report that.
    pub fn read(form: &Form) -> Option<Self> {
        let scope = form.text("scope");
        let mut chosen = form.texts(FIELD);
        chosen.truncate(FlagProducts::MAX.saturating_add(1));
        (!scope.is_empty()).then(|| Self {
            is_limited: scope == "some",
            chosen,
            other: form.text("other-product").trim().to_owned(),
        })
    }

    /// Returns the products for which a user can create flags, if that is not every product.
    pub fn of_editor(user: &User) -> Self {
        let granted = user.grants.iter().filter_map(|grant| match &grant.scope {
            GrantScope::Product(product) => Some(product.to_string()),
            GrantScope::Environment(_) => None,
        });
        let chosen: Vec<_> = granted.collect();
        if user.may_edit(&Resource::Everything) || chosen.is_empty() {
            return Self::default();
        }
        Self {
            is_limited: true,
            chosen,
            other: String::new(),
        }
    }

    /// Returns the products; none for every product.
    pub fn into_products(self) -> Option<Vec<String>> {
        let other = Some(self.other).filter(|other| !other.is_empty());
        self.is_limited
            .then(|| self.chosen.into_iter().chain(other).collect())
    }
}

impl From<Option<&FlagProducts>> for ProductForm {
    fn from(products: Option<&FlagProducts>) -> Self {
        let names = products.map(|products| products.iter().map(ToString::to_string).collect());
        Self {
            is_limited: names.is_some(),
            chosen: names.unwrap_or_default(),
            other: String::new(),
        }
    }
}

/// The choice between every product and some of them; nothing if only one product is known. Offers only the products
/// that the user may choose.
///
/// The products are hidden while every product is chosen, so that nobody chooses some in vain.
#[component]
pub fn ProductFields(
    /// The products of the environments.
    products: Vec<String>,
    /// The products of the flag.
    current: ProductForm,
    /// The user.
    user: User,
    /// The input and the errors of the form.
    refusal: Refusal,
) -> impl IntoView {
    let is_named = current.is_limited;
    let may_choose_every = user.may_edit(&Resource::Everything);
    let may_choose = |product: &String| {
        let name = ProductName::try_from(product.clone());
        name.is_ok_and(|name| user.may_edit(&Resource::Product(name)))
    };
    let input = refusal.form.as_ref().and_then(ProductForm::read);
    // A product without an environment is known from a grant.
    let known = products
        .into_iter()
        .chain(ProductForm::of_editor(&user).chosen);
    let offered = known.filter(may_choose);
    let offered = offered.chain(current.chosen.clone());
    let input = input.unwrap_or(current);
    let offered: BTreeSet<String> = offered.chain(input.chosen.clone()).collect();
    (is_named || offered.len() > 1).then(|| fields(offered, &input, may_choose_every, refusal))
}

fn fields(
    offered: BTreeSet<String>,
    input: &ProductForm,
    may_choose_every: bool,
    refusal: Refusal,
) -> Html {
    let errors = field_errors(FIELD, FIELD, &refusal);
    let has_error = errors.is_some();
    let described_by = described_by(FIELD, true, has_error);
    let choices = offered.into_iter().enumerate().map(|(index, product)| {
        let checked = input.chosen.contains(&product);
        let focus = has_error && !may_choose_every && index == 0;
        view! {
            <label class="check">
                <input
                    type="checkbox"
                    name=FIELD
                    value=product.clone()
                    checked=checked
                    autofocus=focus
                />
                <span>{product.clone()}</span>
            </label>
        }
    });
    let choices = choices.collect_view();
    let scope = if may_choose_every {
        scope_choice(input.is_limited, has_error)
    } else {
        hidden("scope", "some")
    };
    let other = may_choose_every.then(|| {
        view! {
            <Field
                name="other-product"
                label="Another product"
                input=Input::Line
                hint="One that has no environment yet."
                optional=true
                max_length=64
                refusal
            />
        }
    });
    html! {
        <fieldset class="field product-fields" aria-describedby=described_by>
            <legend>"Products"</legend>
            <p class="hint" id="products-hint">
                "Limits the flag to the environments of these products. Elsewhere it does not exist."
            </p>
            {scope}
            <div class="product-choices">
                {choices}
                {other}
            </div>
            {errors}
        </fieldset>
    }
}

/// Renders the choice between every product and some.
fn scope_choice(is_limited: bool, has_error: bool) -> Html {
    html! {
        <label class="check">
            <input type="radio" name="scope" value="all" checked=!is_limited/>
            "Every product"
        </label>
        <label class="check">
            <input
                type="radio"
                name="scope"
                value="some"
                checked=is_limited
                autofocus=has_error
            />
            "Only these products"
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(body: &str) -> Option<Vec<String>> {
        ProductForm::read(&Form::parse(body.as_bytes()))?.into_products()
    }

    #[test]
    fn products_count_only_if_the_flag_is_limited_to_them() {
        let some = |names: &[&str]| Some(names.iter().map(ToString::to_string).collect());
        assert_eq!(
            products("scope=some&products=Blog&products=Web+shop"),
            some(&["Blog", "Web shop"])
        );
        assert_eq!(
            products("scope=some&products=Blog&other-product=+App+"),
            some(&["Blog", "App"])
        );
        assert_eq!(products("scope=some&other-product=+"), some(&[]));
        assert_eq!(products("scope=all&products=Blog"), None);
    }

    #[test]
    fn a_form_without_the_fields_says_nothing_about_products() {
        assert_eq!(ProductForm::read(&Form::parse(b"name=x")), None);
    }
}
