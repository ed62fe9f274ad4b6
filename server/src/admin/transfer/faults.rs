//! The reasons that a document cannot be imported.

use std::collections::HashSet;

use pennon_model::environment::{Environment, ProductName};
use pennon_model::flag::{FlagProducts, exists_in};
use pennon_model::targeting::repeated_priorities;

use super::super::Admin;
use super::super::environments::refused_product;
use super::installation::Installation;
use super::{Document, PortableConfiguration, PortableFlag};
use crate::error::{Fault, join_paths};

/// Returns all reasons that a document cannot be imported into an installation.
pub(super) fn faults(admin: &Admin, document: &Document, here: &Installation) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut keys = HashSet::new();
    // A missing environment is reported once, although it can occur in every flag.
    let mut missing = HashSet::new();
    for (index, flag) in document.flags.iter().enumerate() {
        let pointer = format!("/flags/{index}");
        if !keys.insert(&flag.key) {
            let detail = format!("`{}` occurs twice", flag.key);
            faults.push(Fault::pointer(format!("{pointer}/key"), detail));
        }
        faults.extend(other_type(flag, here, &pointer));
        faults.extend(refused_products(admin, flag, here, &pointer));
        faults.extend(still_enabled(flag, here, &pointer));
        let mut names = HashSet::new();
        for (index, configuration) in flag.environments.iter().enumerate() {
            let name = (&configuration.product, &configuration.environment);
            let path = configuration.path();
            let pointer = format!("{pointer}/environments/{index}");
            if !names.insert(name) {
                faults.push(Fault::pointer(&pointer, format!("{path} occurs twice")));
            }
            if here.environment(configuration).is_none() && missing.insert(name) {
                let detail = format!("there is no active environment {path}");
                faults.push(Fault::pointer(&pointer, detail));
            }
            faults.extend(outside_of_scope(flag, configuration, here, &pointer));
            if flag.archived && configuration.content.switch.is_enabled {
                let detail = "an archived flag cannot be enabled";
                faults.push(Fault::pointer(format!("{pointer}/isEnabled"), detail));
            }
            faults.extend(equal_priorities(configuration, &pointer));
        }
    }
    faults
}

fn other_type(flag: &PortableFlag, here: &Installation, pointer: &str) -> Option<Fault> {
    let old = here.flags.get(&flag.key)?;
    (old.flag_type != flag.flag_type).then(|| {
        let detail = format!(
            "the flag has type `{}` here, and a type cannot be changed",
            old.flag_type
        );
        Fault::pointer(format!("{pointer}/type"), detail)
    })
}

/// Returns the faults of products that the flag does not have yet, and that the settings do not allow.
fn refused_products(
    admin: &Admin,
    flag: &PortableFlag,
    here: &Installation,
    pointer: &str,
) -> Vec<Fault> {
    let old = here.flags.get(&flag.key);
    let old = old.and_then(|old| old.products.as_ref());
    let products = flag.products.iter().flat_map(FlagProducts::iter);
    let added = products.filter(|product| !old.is_some_and(|old| old.contains(product)));
    let fault = |product: &ProductName| {
        let detail = format!("`{product}` {}", refused_product(admin, product)?);
        Some(Fault::pointer(format!("{pointer}/products"), detail))
    };
    added.filter_map(fault).collect()
}

/// Returns the faults of a flag that would leave environments, or be archived, while it is enabled in them.
fn still_enabled(flag: &PortableFlag, here: &Installation, pointer: &str) -> Vec<Fault> {
    let old = here.flags.get(&flag.key);
    let Some(old) = old.filter(|old| old.archived_at.is_none()) else {
        return Vec::new();
    };
    let is_enabled = |environment: &&Environment| {
        let configuration = here.configurations.get(&(old.id, environment.id));
        configuration.is_some_and(|configuration| configuration.is_enabled)
    };
    let mut faults = Vec::new();
    let mut add = |member: &str, enabled: &[&Environment], change: &str| {
        if !enabled.is_empty() {
            let paths: Vec<_> = enabled.iter().map(|each| each.path()).collect();
            let paths = join_paths(&paths);
            let detail = format!(
                "`{}` is still enabled in {paths}{change}; disable it there first",
                flag.key
            );
            faults.push(Fault::pointer(format!("{pointer}/{member}"), detail));
        }
    };
    let enabled = here.environments.values().filter(is_enabled);
    let products = flag.products.as_ref();
    let (inside, outside): (Vec<_>, Vec<_>) =
        enabled.partition(|environment| exists_in(products, true, environment));
    add("products", &outside, ", which it would leave");
    let (kept, public): (Vec<_>, Vec<_>) = inside
        .into_iter()
        .partition(|environment| exists_in(products, flag.is_public, environment));
    add("public", &public, ", which it would leave");
    if flag.archived {
        // The document disables it where it configures it.
        let is_listed = |environment: &Environment| {
            let path = environment.path();
            flag.environments.iter().any(|each| each.path() == path)
        };
        let unlisted: Vec<_> = kept.into_iter().filter(|each| !is_listed(each)).collect();
        add("archived", &unlisted, "");
    }
    faults
}

/// Returns the fault of a configuration in an environment in which its flag does not exist.
fn outside_of_scope(
    flag: &PortableFlag,
    configuration: &PortableConfiguration,
    here: &Installation,
    pointer: &str,
) -> Option<Fault> {
    let products = flag.products.as_ref();
    let is_of_flag = |products: &FlagProducts| products.contains(&configuration.product);
    if !products.is_none_or(is_of_flag) {
        let detail = format!(
            "the flag's `products` do not include `{}`",
            configuration.product
        );
        return Some(Fault::pointer(format!("{pointer}/product"), detail));
    }
    let environment = here.environment(configuration)?;
    (!exists_in(products, flag.is_public, environment)).then(|| {
        let path = configuration.path();
        let detail = format!("{path} is public here, so the flag needs `\"public\": true`");
        Fault::pointer(pointer, detail)
    })
}

fn equal_priorities(configuration: &PortableConfiguration, pointer: &str) -> Vec<Fault> {
    let fault = |index| {
        let pointer = format!("{pointer}/rules/{index}/priority");
        Fault::pointer(pointer, "another rule has this priority")
    };
    let repeated = repeated_priorities(&configuration.content.rules);
    repeated.map(fault).collect()
}
