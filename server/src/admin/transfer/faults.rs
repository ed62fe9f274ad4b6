//! The reasons that a document cannot be imported.

use std::collections::HashSet;

use pennon_model::flag::{FlagProducts, exists_in};

use super::installation::Installation;
use super::{Document, PortableConfiguration, PortableFlag};
use crate::error::Fault;

/// Returns all reasons that a document cannot be imported into an installation.
pub(super) fn faults(document: &Document, here: &Installation) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut keys = HashSet::new();
    // A missing environment is reported once, although it can occur in every flag.
    let mut missing = HashSet::new();
    for (index, flag) in document.flags.iter().enumerate() {
        let place = format!("/flags/{index}");
        if !keys.insert(&flag.key) {
            let detail = format!("`{}` occurs twice", flag.key);
            faults.push(Fault::pointer(format!("{place}/key"), detail));
        }
        faults.extend(other_type(flag, here, &place));
        let mut names = HashSet::new();
        for (index, configuration) in flag.environments.iter().enumerate() {
            let name = (&configuration.product, &configuration.environment);
            let path = configuration.path();
            let place = format!("{place}/environments/{index}");
            if !names.insert(name) {
                faults.push(Fault::pointer(&place, format!("{path} occurs twice")));
            }
            if here.environment(configuration).is_none() && missing.insert(name) {
                let detail = format!("there is no active environment {path}");
                faults.push(Fault::pointer(&place, detail));
            }
            faults.extend(outside_of_scope(flag, configuration, here, &place));
            if flag.archived && configuration.content.switch.is_enabled {
                let detail = "an archived flag cannot be enabled";
                faults.push(Fault::pointer(format!("{place}/isEnabled"), detail));
            }
            faults.extend(equal_priorities(configuration, &place));
        }
    }
    faults
}

fn other_type(flag: &PortableFlag, here: &Installation, place: &str) -> Option<Fault> {
    let old = here.flags.get(&flag.key)?;
    (old.kind != flag.kind).then(|| {
        let detail = format!(
            "the flag has type `{}` here, and a type cannot be changed",
            old.kind
        );
        Fault::pointer(format!("{place}/type"), detail)
    })
}

/// Returns the fault of a configuration in an environment in which its flag does not exist.
fn outside_of_scope(
    flag: &PortableFlag,
    configuration: &PortableConfiguration,
    here: &Installation,
    place: &str,
) -> Option<Fault> {
    let products = flag.products.as_ref();
    let is_of_flag = |products: &FlagProducts| products.contains(&configuration.product);
    if !products.is_none_or(is_of_flag) {
        let detail = format!(
            "the flag's `products` do not include `{}`",
            configuration.product
        );
        return Some(Fault::pointer(format!("{place}/product"), detail));
    }
    let environment = here.environment(configuration)?;
    (!exists_in(products, flag.is_public, environment)).then(|| {
        let path = configuration.path();
        let detail = format!("{path} is public here, so the flag needs `\"public\": true`");
        Fault::pointer(place, detail)
    })
}

fn equal_priorities(configuration: &PortableConfiguration, place: &str) -> Vec<Fault> {
    let mut priorities = HashSet::new();
    let rules = configuration.content.rules.iter().enumerate();
    let repeated = rules.filter(|(_, rule)| !priorities.insert(rule.priority.get()));
    repeated
        .map(|(index, _)| {
            let pointer = format!("{place}/rules/{index}/priority");
            Fault::pointer(pointer, "another rule has this priority")
        })
        .collect()
}
