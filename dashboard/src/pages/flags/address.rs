//! What is asked for, as an address that can be shared.

use pennon_model::page::{PageNumber, PageRequest};

use crate::{
    components::frame::Room,
    form::Form,
    port::flags::{FlagOrder, FlagQuery, FlagState, Standing},
};

/// How many flags a page has.
const FLAGS_A_PAGE: i64 = 50;

impl FlagState {
    pub(super) const ALL: [Self; 3] = [Self::Active, Self::Archived, Self::All];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Active => "Active",
            Self::Archived => "Archived",
            Self::All => "All",
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::All => "all",
        }
    }
}

impl Standing {
    pub(super) const ALL: [Self; 3] = [Self::On, Self::Partly, Self::Off];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::On => "On",
            Self::Partly => "On for some",
            Self::Off => "Off",
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Partly => "partly",
            Self::Off => "off",
        }
    }
}

impl FlagOrder {
    pub(super) const ALL: [Self; 3] = [Self::Newest, Self::Name, Self::LastEvaluated];

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Newest => "Newest",
            Self::Name => "Name",
            Self::LastEvaluated => "Last evaluated",
        }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Name => "name",
            Self::LastEvaluated => "evaluated",
        }
    }
}

/// Reads the address; what it does not say, or says wrongly, is as usual.
impl From<&Form> for FlagQuery {
    fn from(form: &Form) -> Self {
        let (state, standing, order) = (form.text("state"), form.text("is"), form.text("sort"));
        let query = Self {
            search: form.text("q"),
            state: FlagState::ALL
                .into_iter()
                .find(|each| each.as_str() == state)
                .unwrap_or_default(),
            environment: form.text("environment").parse().ok(),
            standing: Standing::ALL
                .into_iter()
                .find(|each| each.as_str() == standing),
            stale: !form.text("stale").is_empty(),
            order: FlagOrder::ALL
                .into_iter()
                .find(|each| each.as_str() == order)
                .unwrap_or_default(),
            page: PageRequest::default(),
        };
        query.turned(page_number(form))
    }
}

impl FlagQuery {
    /// The same flags, at another page.
    pub(super) fn turned(&self, page: i64) -> Self {
        Self {
            page: PageRequest {
                page: page.try_into().unwrap_or_default(),
                limit: FLAGS_A_PAGE.try_into().unwrap_or_default(),
            },
            ..self.clone()
        }
    }

    /// Whether every active flag is asked for.
    pub(super) fn is_usual(&self) -> bool {
        let usual = Self {
            order: self.order,
            ..Self::default()
        };
        self.turned(1) == usual.turned(1) && self.page.page == PageNumber::default()
    }

    /// The address of what is asked for.
    pub(super) fn href(&self) -> String {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        if !self.search.is_empty() {
            pairs.append_pair("q", &self.search);
        }
        if let Some(environment) = self.environment {
            pairs.append_pair("environment", &environment.to_string());
        }
        if let Some(standing) = self.standing {
            pairs.append_pair("is", standing.as_str());
        }
        if self.stale {
            pairs.append_pair("stale", "yes");
        }
        if self.order != FlagOrder::default() {
            pairs.append_pair("sort", self.order.as_str());
        }
        if self.state != FlagState::default() {
            pairs.append_pair("state", self.state.as_str());
        }
        if self.page.page > PageNumber::default() {
            pairs.append_pair("page", &self.page.page.get().to_string());
        }
        let pairs = pairs.finish();
        let path = Room::Flags.href();
        if pairs.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{pairs}")
        }
    }
}

/// The page that the address names.
pub(in crate::pages) fn page_number(form: &Form) -> i64 {
    form.text("page").parse().unwrap_or(1)
}
