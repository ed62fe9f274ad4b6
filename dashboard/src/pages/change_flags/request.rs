//! The request to change several flags, as an address: the flags, the action and its options.

use std::collections::BTreeSet;

use leptos::prelude::*;
use pennon_model::{
    bulk::{BulkAction, BulkActionName, BulkChange},
    id::{EnvironmentId, FlagId},
    metadata::FlagTags,
};

use crate::{
    components::metadata_fields::tag_error,
    error::{FieldError, FieldErrors},
    form::{Form, with_query},
    html::{Html, IntoHtml as _, hidden},
    pages::flags::address_of_list,
    routes,
    scope::scope_field,
};

/// The name of the field with the action.
pub(in crate::pages) const ACTION: &str = "do";

/// The name of the field with the ID of a flag, which occurs once for each.
const FLAG: &str = "flag";

/// The name of the field with the query of the list to return to.
pub(in crate::pages) const LIST: &str = "list";

/// The names of the fields with the options of an action.
pub(super) const ADD: &str = "addTags";
pub(super) const REMOVE: &str = "removeTags";
pub(super) const ENVIRONMENT: &str = "environment";

/// A request that may lack the options of its action.
#[derive(Clone)]
pub(super) struct Request {
    /// The flags, each once.
    pub(super) flags: Vec<FlagId>,
    pub(super) action: BulkActionName,
    /// The tags to add and to remove, as typed.
    pub(super) add: String,
    pub(super) remove: String,
    pub(super) environment: Option<EnvironmentId>,
    list: String,
}

impl Request {
    /// Reads the request from an address; none if it has no action.
    pub(super) fn of(query: &Form) -> Option<Self> {
        let mut known = BTreeSet::new();
        let flags = query.texts(FLAG).into_iter();
        let flags = flags.filter_map(|id| id.parse().ok());
        let flags = flags.filter(|id: &FlagId| known.insert(*id));
        Some(Self {
            flags: flags.take(BulkChange::MAX_FLAGS).collect(),
            action: BulkActionName::parse(&query.text(ACTION)).ok()?,
            add: query.text(ADD),
            remove: query.text(REMOVE),
            environment: query.parsed(ENVIRONMENT),
            list: query.text(LIST),
        })
    }

    /// Returns the change; none if the action lacks its options. Fails if they are invalid.
    pub(super) fn change(&self) -> Result<Option<BulkChange>, Vec<FieldError>> {
        let switch = |is_enabled| {
            self.environment.map(|environment| BulkAction::Switch {
                environment,
                is_enabled,
            })
        };
        let action = match self.action {
            BulkActionName::Tag => self.tag()?,
            BulkActionName::Archive => Some(BulkAction::Archive),
            BulkActionName::Enable => switch(true),
            BulkActionName::Disable => switch(false),
        };
        Ok(action.map(|action| BulkChange {
            flags: self.flags.clone(),
            action,
        }))
    }

    fn tag(&self) -> Result<Option<BulkAction>, Vec<FieldError>> {
        let mut errors = FieldErrors::default();
        let mut parsed = |field, text: &str| {
            let tags = FlagTags::parse_list(text)
                .map_err(|error| tag_error(text).unwrap_or_else(|| error.to_string()));
            errors.keep(field, tags).unwrap_or_default()
        };
        let add = parsed(ADD, &self.add);
        let remove = parsed(REMOVE, &self.remove);
        if !add.is_disjoint(&remove) {
            errors.add(REMOVE, "must not contain a tag to add");
        }
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let is_complete = !(add.is_empty() && remove.is_empty());
        Ok(is_complete.then_some(BulkAction::Tag { add, remove }))
    }

    /// Returns the address of the list of flags from which the request came.
    pub(super) fn list(&self) -> String {
        address_of_list(&self.list)
    }

    /// Returns the address of the same request without the flags at these positions.
    pub(super) fn without(&self, excluded: &[usize]) -> String {
        let flags = self.flags.iter().enumerate();
        let flags = flags.filter(|(index, _)| !excluded.contains(index));
        let flags = flags.map(|(_, id)| (FLAG, Some(id.to_string())));
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let options = [
            (ACTION, Some(self.action.to_string())),
            (ADD, given(&self.add)),
            (REMOVE, given(&self.remove)),
            (ENVIRONMENT, self.environment.map(|id| id.to_string())),
            (LIST, given(&self.list)),
        ];
        with_query(routes::CHANGE_FLAGS, options.into_iter().chain(flags))
    }

    /// Renders the hidden fields of the form that completes the request.
    pub(super) fn hidden_fields(&self) -> Html {
        let flags = self.flags.iter().map(|id| hidden(FLAG, id.to_string()));
        let rest = [
            Some(hidden(ACTION, self.action.as_str())),
            (!self.list.is_empty()).then(|| hidden(LIST, self.list.clone())),
            scope_field(),
        ];
        let fields = flags.chain(rest.into_iter().flatten());
        fields.collect_view().into_html()
    }
}
