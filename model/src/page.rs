//! Pagination of lists.

use serde::Serialize;

use pennon_core::Invalid;

/// One page of a list, and its position in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The items of the page; empty past the end.
    pub items: Vec<T>,
    /// The position of the page.
    pub pagination: Pagination,
}

/// The position of a page in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Pagination {
    /// The page's number, from 1.
    pub page: PageNumber,
    /// The maximum number of items on a page.
    pub limit: Limit,
    /// The number of items in the whole list.
    pub total: i64,
}

/// The number and the length of the requested page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// The page's number.
    pub page: PageNumber,
    /// The maximum number of items.
    pub limit: Limit,
}

impl PageRequest {
    /// The first page, with the maximum length.
    pub const LONGEST: Self = Self {
        page: PageNumber(1),
        limit: Limit::MAX,
    };

    /// Returns the number of items before the page.
    pub const fn offset(self) -> i64 {
        (self.page.0 - 1).saturating_mul(self.limit.0)
    }

    /// Returns the page with these items out of `total`.
    pub const fn page_of<T>(self, items: Vec<T>, total: i64) -> Page<T> {
        Page {
            items,
            pagination: Pagination {
                page: self.page,
                limit: self.limit,
                total,
            },
        }
    }
}

impl<T> Page<T> {
    /// Converts each item of the page.
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(each).collect(),
            pagination: self.pagination,
        }
    }
}

/// The number of a page, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 1, example = 1)
)]
pub struct PageNumber(i64);

/// The maximum number of items on a page: 1 to 100, by default 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(utoipa::ToSchema),
    schema(value_type = i64, format = Int64, minimum = 1, maximum = 100, example = 20)
)]
pub struct Limit(i64);

impl PageNumber {
    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Limit {
    /// The maximum length of a page.
    pub const MAX: Self = Self(100);

    /// Returns the number.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl Default for PageNumber {
    fn default() -> Self {
        Self(1)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(20)
    }
}

impl TryFrom<i64> for PageNumber {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        if number < 1 {
            Err(Invalid::new("must be an integer of at least 1"))
        } else {
            Ok(Self(number))
        }
    }
}

impl TryFrom<i64> for Limit {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        match number {
            1..=100 => Ok(Self(number)),
            _ => Err(Invalid::new("must be an integer from 1 to 100")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Limit, PageNumber};

    #[test]
    fn pages_count_from_1_and_have_1_to_100_items() {
        let is_page = |number: i64| PageNumber::try_from(number).is_ok();
        assert_eq!(
            [-1, 0, 1, i64::MAX].map(is_page),
            [false, false, true, true]
        );
        let is_limit = |number: i64| Limit::try_from(number).is_ok();
        assert_eq!([0, 1, 100, 101].map(is_limit), [false, true, true, false]);
    }
}
