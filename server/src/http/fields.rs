//! JSON objects, read member by member into domain types, with every fault gathered at once.

use std::ops::RangeInclusive;

use pennon_core::model::rule::ValueType;
use serde_json::{Map, Value};

use super::from_json::FromJson;
use crate::error::Fault;
use crate::service::patch::Patch;

/// A type that is read from the members of a JSON object.
pub(crate) trait FromFields: Sized {
    /// Asks for every member before it looks at any, so that all that is wrong is found at once; answers none after a
    /// fault has been reported.
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self>;
}

/// The members of a JSON object, handed out one by one as domain types. What nobody asked for is a fault too.
pub(crate) struct Fields<'f> {
    members: Map<String, Value>,
    pointer: String,
    faults: &'f mut Vec<Fault>,
    /// Whether members are only passed over, because the one that gives them their meaning is bad.
    blind: bool,
}

impl Fields<'_> {
    /// Reads an object by `reader`, which answers none after it has reported a fault.
    pub(crate) fn read<T>(
        members: Map<String, Value>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Vec<Fault>> {
        let mut faults = Vec::new();
        match Fields::of(members, String::new(), &mut faults, reader) {
            Some(input) if faults.is_empty() => Ok(input),
            _ => Err(faults),
        }
    }

    fn of<T>(
        members: Map<String, Value>,
        pointer: String,
        faults: &mut Vec<Fault>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut fields = Fields {
            members,
            pointer,
            faults,
            blind: false,
        };
        let input = reader(&mut fields);
        for name in std::mem::take(&mut fields.members).keys() {
            fields.fault::<()>(name, "is not known here");
        }
        input
    }

    /// A member that must be there.
    pub(crate) fn required<T: FromJson>(&mut self, name: &str) -> Option<T> {
        match self.members.remove(name) {
            Some(value) => self.parsed(name, value),
            None => self.fault(name, "is required"),
        }
    }

    /// A member that may be absent; the outer none is a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn optional<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        match self.members.remove(name) {
            Some(value) => self.parsed(name, value).map(Some),
            None => Some(None),
        }
    }

    /// A member that may be `null`, which counts as absent.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn nullable<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        self.patch(name).map(|patch| patch.applied_to(None))
    }

    /// A member that may be absent, `null` or a value, three different things.
    pub(crate) fn patch<T: FromJson>(&mut self, name: &str) -> Option<Patch<T>> {
        match self.members.remove(name) {
            Some(Value::Null) => Some(Patch::Clear),
            Some(value) => self.parsed(name, value).map(Patch::Set),
            None => Some(Patch::Keep),
        }
    }

    /// An object that may be `null`; the outer none is a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none is a fault that has been recorded"
    )]
    pub(crate) fn nullable_object<T: FromFields>(&mut self, name: &str) -> Option<Option<T>> {
        match self.members.remove(name) {
            None | Some(Value::Null) => Some(None),
            Some(Value::Object(members)) => {
                let pointer = format!("{}/{name}", self.pointer);
                Fields::of(members, pointer, self.faults, T::from_fields).map(Some)
            }
            Some(_) => self.fault(name, "must be an object or null"),
        }
    }

    /// A list of objects.
    pub(crate) fn list<T: FromFields>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Vec<T>> {
        let items = self.array(name, bounds)?;
        let items: Vec<Option<T>> = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| {
                let pointer = format!("{}/{name}/{index}", self.pointer);
                if let Value::Object(members) = item {
                    return Fields::of(members, pointer, self.faults, T::from_fields);
                }
                self.faults
                    .push(Fault::pointer(pointer, "must be an object"));
                None
            })
            .collect();
        items.into_iter().collect()
    }

    /// A list of values.
    pub(crate) fn values<T: FromJson>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Vec<T>> {
        let items = self.array(name, bounds)?;
        let values: Vec<Option<T>> = items
            .into_iter()
            .enumerate()
            .map(|(index, item)| match T::from_json(item) {
                Ok(value) => Some(value),
                Err(detail) => {
                    let pointer = format!("{}/{name}/{index}", self.pointer);
                    self.faults.push(Fault::pointer(pointer, detail));
                    None
                }
            })
            .collect();
        values.into_iter().collect()
    }

    fn array(&mut self, name: &str, bounds: RangeInclusive<usize>) -> Option<Vec<Value>> {
        match self.members.remove(name) {
            Some(Value::Array(items)) if bounds.contains(&items.len()) => Some(items),
            Some(Value::Array(_)) => {
                let detail = format!("must have {} to {} items", bounds.start(), bounds.end());
                self.fault(name, detail)
            }
            Some(_) => self.fault(name, "must be an array"),
            None => self.fault(name, "is required"),
        }
    }

    /// A member whose word says which members belong to it; `reader` asks for those. Where the word is bad, they cannot
    /// be judged and are passed over.
    pub(crate) fn by_word<W: Word, T>(
        &mut self,
        name: &str,
        reader: impl Fn(&mut Self, W) -> Option<T>,
    ) -> Option<T> {
        if let Some(word) = self.required(name) {
            return reader(self, word);
        }
        self.blind = true;
        for word in W::ALL {
            reader(self, *word);
        }
        self.blind = false;
        None
    }

    fn parsed<T: FromJson>(&mut self, name: &str, value: Value) -> Option<T> {
        match T::from_json(value) {
            Ok(value) => Some(value),
            Err(detail) => self.fault(name, detail),
        }
    }

    fn fault<T>(&mut self, name: &str, detail: impl Into<String>) -> Option<T> {
        if self.blind {
            return None;
        }
        // Escaped as RFC 6901 demands.
        let name = name.replace('~', "~0").replace('/', "~1");
        self.faults
            .push(Fault::pointer(format!("{}/{name}", self.pointer), detail));
        None
    }
}

/// A closed list of words of which one decides what else belongs to an object.
pub(crate) trait Word: FromJson + Copy + 'static {
    /// Every word of the list.
    const ALL: &'static [Self];
}

impl Word for ValueType {
    const ALL: &'static [Self] = Self::ALL;
}
