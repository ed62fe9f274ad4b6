//! Reads JSON objects and queries into domain types, member by member, and collects all faults.
//!
//! The same readers also describe the objects for OpenAPI. Then they read nothing, and the requested members are
//! recorded.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::mem::take;
use std::ops::RangeInclusive;

use pennon_core::{Context, Invalid};
use pennon_model::audit::ChangeReason;
use pennon_model::json::Json;
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};

use super::body::REASON;
use super::context;
use super::duplicates::duplicates;
use super::from_json::{FromJson, Variant};
use super::openapi::Schemas;
use super::openapi::shape::{Shape, nullable};
use crate::admin::patch::Patch;
use crate::error::Fault;

/// A type that is read from the members of a JSON object or from the parameters of a query.
pub(crate) trait FromFields: Sized {
    /// The description for OpenAPI.
    const ABOUT: &'static str = "";

    /// Returns the name in the OpenAPI description.
    fn name() -> &'static str {
        let path = std::any::type_name::<Self>();
        path.rsplit("::").next().unwrap_or(path)
    }

    /// True if the object is not only a body, but also part of one.
    const IS_PART: bool = false;

    /// Requests every member before it checks any, so that all faults are found at once. Returns none after reporting a
    /// fault.
    fn from_fields(fields: &mut Fields<'_>) -> Option<Self>;

    /// Returns the members of such an object.
    fn shape(schemas: &mut Schemas) -> Shape {
        let mut shape = Shape::default();
        let mut fields = Fields {
            purpose: Purpose::Describe(schemas, &mut shape),
            about: None,
        };
        Self::from_fields(&mut fields);
        shape
    }

    /// Returns a reference to the schema of such an object.
    fn refer(schemas: &mut Schemas) -> RefOr<Schema> {
        schemas.define(Self::name(), |schemas| {
            Self::shape(schemas).into_schema(Self::ABOUT.trim())
        })
    }

    /// Returns a reference to the schema of the body of a change with such an object.
    fn refer_with_reason(schemas: &mut Schemas) -> RefOr<Schema> {
        let suffix = if Self::IS_PART { "Body" } else { "" };
        schemas.define(&format!("{}{suffix}", Self::name()), |schemas| {
            let mut shape = Self::shape(schemas);
            let about = "The reason for the change, for the audit log.";
            shape.member(REASON, false, Some(about), ChangeReason::schema(schemas));
            shape.into_schema(Self::ABOUT.trim())
        })
    }
}

/// Implements [`FromFields`] for a struct. Each field is declared with a reader of [`Fields`] and a member's name. The
/// doc comments describe the object and its members in OpenAPI.
macro_rules! from_fields {
    (
        $(#[doc = $about:literal])*
        $type:ty $(as $name:literal $($part:ident)?)? {
            $(
                $(#[doc = $member:literal])*
                $field:ident: $reader:ident($($argument:expr),*) $(.map($map:expr))?,
            )+
        }
    ) => {
        impl $crate::http::fields::FromFields for $type {
            const ABOUT: &'static str = concat!($($about),*);

            $(
                $(const $part: bool = true;)?

                fn name() -> &'static str {
                    $name
                }
            )?

            fn from_fields(fields: &mut $crate::http::fields::Fields<'_>) -> Option<Self> {
                $(
                    let $field = fields.about(concat!($($member),*)).$reader($($argument),*);
                    $(let $field = $field.map($map);)?
                )+
                Some(Self { $($field: $field?),+ })
            }
        }
    };
}

pub(crate) use from_fields;

/// The members of an object, taken one by one as domain types. Members that are never requested are faults.
pub(crate) struct Fields<'f> {
    purpose: Purpose<'f>,
    /// The description of the next member.
    about: Option<&'static str>,
}

enum Purpose<'f> {
    Read(Object<'f>),
    Describe(&'f mut Schemas, &'f mut Shape),
}

/// The members that have not been requested yet.
type Members<'f> = Vec<(Cow<'f, str>, Json<'f>)>;

/// An object being read.
struct Object<'f> {
    members: Members<'f>,
    /// The pointer to the object in the body; none for a query.
    pointer: Option<String>,
    faults: &'f mut Vec<Fault>,
    /// True while members are skipped because the member that determines their meaning is invalid.
    skips: bool,
}

/// The value of a member of an object.
enum Member<'f> {
    Given(Json<'f>),
    Absent,
    /// A value that must not be read.
    Skipped,
}

impl<'f> Fields<'f> {
    /// Reads an object with `reader`, which returns none after reporting a fault. Duplicate members are faults. A value
    /// that is not an object has no members.
    pub(crate) fn read<T>(
        json: Json<'f>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Vec<Fault>> {
        let faults = duplicates(&json);
        let members = match json {
            Json::Object(members) => members,
            _ => Vec::new(),
        };
        Self::read_all(members, Some(String::new()), faults, reader)
    }

    /// Reads the parameters of a query, which are strings, with `reader`.
    pub(crate) fn read_query<T>(
        query: &str,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Vec<Fault>> {
        let parameters = form_urlencoded::parse(query.as_bytes());
        let parameters = parameters.map(|(name, value)| (name, Json::String(value)));
        Self::read_all(parameters.collect(), None, Vec::new(), reader)
    }

    fn read_all<T>(
        members: Members<'_>,
        pointer: Option<String>,
        mut faults: Vec<Fault>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Result<T, Vec<Fault>> {
        match Self::of(members, pointer, &mut faults, reader) {
            Some(input) if faults.is_empty() => Ok(input),
            _ => Err(faults),
        }
    }

    fn of<T>(
        members: Members<'_>,
        pointer: Option<String>,
        faults: &mut Vec<Fault>,
        reader: impl FnOnce(&mut Fields<'_>) -> Option<T>,
    ) -> Option<T> {
        let object = Object {
            members,
            pointer,
            faults,
            skips: false,
        };
        let mut fields = Fields {
            purpose: Purpose::Read(object),
            about: None,
        };
        let input = reader(&mut fields);
        if let Purpose::Read(mut object) = fields.purpose {
            let unknown = take(&mut object.members).into_iter();
            let mut names: Vec<_> = unknown.map(|(name, _)| name).collect();
            if object.pointer.is_some() {
                names.sort_unstable();
                names.dedup();
            }
            for name in names {
                object.fault(&name, "is unknown");
            }
        }
        input
    }

    /// Adds a description of the next member, if its name and type are not sufficient.
    pub(crate) fn about(&mut self, about: &'static str) -> &mut Self {
        self.about = Some(about.trim()).filter(|about| !about.is_empty());
        self
    }

    /// Skips a member that was already read.
    pub(crate) fn skip(&mut self, name: &str) {
        if let Purpose::Read(object) = &mut self.purpose {
            object.take(name);
        }
    }

    /// Reads an evaluation context, which may be absent or `null`. Unlike in other objects, unknown members are
    /// ignored.
    pub(crate) fn context(&mut self, name: &str) -> Option<Context<'static>> {
        let json = match self.take(name, false, |schemas| nullable(context::schema(schemas))) {
            Member::Given(json) => json,
            Member::Absent => Json::Null,
            Member::Skipped => return None,
        };
        let Purpose::Read(object) = &mut self.purpose else {
            return None;
        };
        let pointer = object.pointer_to(name);
        Some(context::context(json, &pointer, object.faults).into_owned())
    }

    /// Reads a required member.
    pub(crate) fn required<T: FromJson>(&mut self, name: &str) -> Option<T> {
        match self.take(name, true, T::schema) {
            Member::Given(value) => self.parsed(name, value),
            Member::Absent => self.fault(name, "is required"),
            Member::Skipped => None,
        }
    }

    /// Reads an optional member. An outer none means a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    pub(crate) fn optional<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        match self.take(name, false, T::schema) {
            Member::Given(value) => self.parsed(name, value).map(Some),
            Member::Absent => Some(None),
            Member::Skipped => None,
        }
    }

    /// Reads an optional member of a type with a default.
    pub(crate) fn or_default<T: FromJson + Default>(&mut self, name: &str) -> Option<T> {
        self.optional(name).map(Option::unwrap_or_default)
    }

    /// Reads members that are a type of their own, but members of the same object.
    pub(crate) fn flattened<T: FromFields>(&mut self) -> Option<T> {
        self.about = None;
        T::from_fields(self)
    }

    /// Returns a value that no member determines.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "like the readers of members, which may find a fault"
    )]
    pub(crate) fn fixed<T>(&mut self, value: T) -> Option<T> {
        self.about = None;
        Some(value)
    }

    /// Reads a member that may be `null`, which is the same as absent.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    pub(crate) fn nullable<T: FromJson>(&mut self, name: &str) -> Option<Option<T>> {
        self.patch(name).map(|patch| patch.applied_to(None))
    }

    /// Reads a member for which absent, `null` and a value have different meanings.
    pub(crate) fn patch<T: FromJson>(&mut self, name: &str) -> Option<Patch<T>> {
        match self.take(name, false, |schemas| nullable(T::schema(schemas))) {
            Member::Given(Json::Null) => Some(Patch::Clear),
            Member::Given(value) => self.parsed(name, value).map(Patch::Set),
            Member::Absent => Some(Patch::Keep),
            Member::Skipped => None,
        }
    }

    /// Reads an object that may be `null`. An outer none means a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    pub(crate) fn nullable_object<T: FromFields>(&mut self, name: &str) -> Option<Option<T>> {
        self.patch_object(name).map(|patch| patch.applied_to(None))
    }

    /// Reads an object for which absent, `null` and a value have different meanings.
    pub(crate) fn patch_object<T: FromFields>(&mut self, name: &str) -> Option<Patch<T>> {
        match self.take(name, false, |schemas| nullable(T::refer(schemas))) {
            Member::Given(Json::Null) => Some(Patch::Clear),
            Member::Absent => Some(Patch::Keep),
            Member::Given(item) => {
                let Purpose::Read(outer) = &mut self.purpose else {
                    return None;
                };
                let pointer = outer.pointer_to(name);
                object(pointer, item, outer.faults).map(Patch::Set)
            }
            Member::Skipped => None,
        }
    }

    /// Reads a list of objects that may be absent. An outer none means a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    pub(crate) fn optional_list<T: FromFields>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Option<Vec<T>>> {
        match self.optional_array(name, bounds, T::refer)? {
            Some(items) => self.each(name, items, object).map(Some),
            None => Some(None),
        }
    }

    /// Reads a list of evaluation contexts; empty if absent.
    pub(crate) fn contexts(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Vec<Context<'static>>> {
        let item = |schemas: &mut Schemas| nullable(context::schema(schemas));
        let items = self.optional_array(name, bounds, item)?;
        let read = |pointer: String, item: Json<'_>, faults: &mut Vec<Fault>| {
            Some(context::context(item, &pointer, faults).into_owned())
        };
        self.each(name, items.unwrap_or_default(), read)
    }

    /// Reads a list of objects.
    pub(crate) fn list<T: FromFields>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Vec<T>> {
        let items = self.array(name, bounds, T::refer)?;
        self.each(name, items, object)
    }

    /// Reads a list of values.
    pub(crate) fn values<T: FromJson>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Vec<T>> {
        let items = self.array(name, bounds, T::schema)?;
        self.each(name, items, value)
    }

    /// Reads a set of values, in any order, for which absent, `null` and a list have different meanings.
    pub(crate) fn patch_set<S, T>(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Option<Patch<S>>
    where
        S: TryFrom<BTreeSet<T>, Error = Invalid>,
        T: FromJson + Ord,
    {
        let schema = |schemas: &mut Schemas| nullable(list_schema(&bounds, T::schema(schemas)));
        let items = match self.take(name, false, schema) {
            Member::Given(Json::Null) => return Some(Patch::Clear),
            Member::Absent => return Some(Patch::Keep),
            given => self.items(name, &bounds, given)?,
        };
        let set: BTreeSet<T> = self.each(name, items, value)?.into_iter().collect();
        match S::try_from(set) {
            Ok(set) => Some(Patch::Set(set)),
            Err(invalid) => self.fault(name, invalid.detail()),
        }
    }

    /// Reads a member whose value determines other members. `reader` requests those. If the value is invalid, they
    /// cannot be checked and are skipped.
    pub(crate) fn by_variant<V: Variant, T>(
        &mut self,
        name: &str,
        reader: impl Fn(&mut Self, V) -> Option<T>,
    ) -> Option<T> {
        if let Purpose::Describe(..) = self.purpose {
            for variant in V::ALL {
                self.note(|shape| shape.begin_variant(name, variant.name()));
                reader(self, *variant);
                self.note(Shape::end_variant);
            }
            return None;
        }
        if let Some(variant) = self.required(name) {
            return reader(self, variant);
        }
        self.set_skips(true);
        for variant in V::ALL {
            reader(self, *variant);
        }
        self.set_skips(false);
        None
    }

    fn note(&mut self, note: impl FnOnce(&mut Shape)) {
        if let Purpose::Describe(_, shape) = &mut self.purpose {
            note(shape);
        }
    }

    fn set_skips(&mut self, skips: bool) {
        if let Purpose::Read(object) = &mut self.purpose {
            object.skips = skips;
        }
    }

    fn take(
        &mut self,
        name: &str,
        required: bool,
        schema: impl FnOnce(&mut Schemas) -> RefOr<Schema>,
    ) -> Member<'f> {
        let about = self.about.take();
        match &mut self.purpose {
            Purpose::Describe(schemas, shape) => {
                shape.member(name, required, about, schema(schemas));
                Member::Skipped
            }
            Purpose::Read(object) => match object.take(name) {
                _ if object.skips => Member::Skipped,
                taken => taken,
            },
        }
    }

    /// Returns the items of a required list.
    fn array(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
        item: impl FnOnce(&mut Schemas) -> RefOr<Schema>,
    ) -> Option<Vec<Json<'f>>> {
        let schema = |schemas: &mut Schemas| list_schema(&bounds, item(schemas));
        let given = self.take(name, true, schema);
        self.items(name, &bounds, given)
    }

    /// Returns the items of an optional list. An outer none means a fault.
    #[expect(
        clippy::option_option,
        reason = "the outer none means a recorded fault"
    )]
    fn optional_array(
        &mut self,
        name: &str,
        bounds: RangeInclusive<usize>,
        item: impl FnOnce(&mut Schemas) -> RefOr<Schema>,
    ) -> Option<Option<Vec<Json<'f>>>> {
        let schema = |schemas: &mut Schemas| list_schema(&bounds, item(schemas));
        match self.take(name, false, schema) {
            Member::Absent => Some(None),
            given => self.items(name, &bounds, given).map(Some),
        }
    }

    /// Returns the items of a member that must be a list.
    fn items(
        &mut self,
        name: &str,
        bounds: &RangeInclusive<usize>,
        given: Member<'f>,
    ) -> Option<Vec<Json<'f>>> {
        let (least, most) = (bounds.start(), bounds.end());
        match given {
            Member::Given(Json::Array(items)) if bounds.contains(&items.len()) => Some(items),
            Member::Given(Json::Array(_)) => {
                self.fault(name, format!("must have {least} to {most} items"))
            }
            Member::Given(_) => self.fault(name, "must be an array"),
            Member::Absent => self.fault(name, "is required"),
            Member::Skipped => None,
        }
    }

    /// Reads every item of a list, to find the faults in all of them.
    fn each<T>(
        &mut self,
        name: &str,
        items: Vec<Json<'_>>,
        read: impl Fn(String, Json<'_>, &mut Vec<Fault>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Purpose::Read(object) = &mut self.purpose else {
            return None;
        };
        let list = object.pointer_to(name);
        let read = |(index, item)| read(format!("{list}/{index}"), item, object.faults);
        let items: Vec<Option<T>> = items.into_iter().enumerate().map(read).collect();
        items.into_iter().collect()
    }

    fn parsed<T: FromJson>(&mut self, name: &str, value: Json<'_>) -> Option<T> {
        let Purpose::Read(object) = &self.purpose else {
            return None;
        };
        let parsed = match (&object.pointer, value) {
            (None, Json::String(text)) => T::from_text(text.into_owned()),
            (_, value) => T::from_json(value),
        };
        match parsed {
            Ok(value) => Some(value),
            Err(detail) => self.fault(name, detail),
        }
    }

    /// Records a fault of a member.
    pub(super) fn fault<T>(&mut self, name: &str, detail: impl Into<String>) -> Option<T> {
        if let Purpose::Read(object) = &mut self.purpose {
            object.fault(name, detail);
        }
        None
    }
}

/// Returns the schema of a list with so many items.
fn list_schema(bounds: &RangeInclusive<usize>, item: RefOr<Schema>) -> RefOr<Schema> {
    let (least, most) = (*bounds.start(), *bounds.end());
    let least = (least > 0).then_some(least);
    let list = ArrayBuilder::new().items(item).min_items(least);
    list.max_items(Some(most)).into()
}

/// Reads a value.
fn value<T: FromJson>(pointer: String, value: Json<'_>, faults: &mut Vec<Fault>) -> Option<T> {
    T::from_json(value)
        .map_err(|detail| faults.push(Fault::pointer(pointer, detail)))
        .ok()
}

/// Reads a value that must be an object.
fn object<T: FromFields>(pointer: String, value: Json<'_>, faults: &mut Vec<Fault>) -> Option<T> {
    if let Json::Object(members) = value {
        return Fields::of(members, Some(pointer), faults, T::from_fields);
    }
    faults.push(Fault::pointer(pointer, "must be an object"));
    None
}

impl<'f> Object<'f> {
    /// Takes a member. If a body contains duplicates, which have been reported, the last one is used. If a query
    /// contains duplicates, none is used.
    fn take(&mut self, name: &str) -> Member<'f> {
        let named = self.members.extract_if(.., |(given, _)| given == name);
        let mut values: Vec<_> = named.map(|(_, value)| value).collect();
        if self.pointer.is_none() && values.len() > 1 {
            self.fault(name, "must be given once");
            return Member::Skipped;
        }
        values.pop().map_or(Member::Absent, Member::Given)
    }

    fn pointer_to(&self, name: &str) -> String {
        format!("{}/{name}", self.pointer.as_deref().unwrap_or_default())
    }

    fn fault(&mut self, name: &str, detail: impl Into<String>) {
        self.faults.push(match &self.pointer {
            Some(pointer) => Fault::member(pointer, name, detail),
            None => Fault::parameter(name, detail),
        });
    }
}
