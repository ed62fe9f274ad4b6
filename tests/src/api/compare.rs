//! Comparison of two schemas. Requests may only accept more values, and responses may only gain members.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::shape::{Shape, Union};

/// The sender of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Answer,
}

/// Compares schemas of two descriptions.
pub(super) struct Comparison<'a> {
    old: &'a Value,
    new: &'a Value,
    open: &'a BTreeSet<String>,
    direction: Direction,
    /// The pairs of references whose comparison is in progress, because schemas can be recursive.
    active: Vec<(String, String)>,
    /// The pairs of references without a break, with whether their fields are open. A cache: most schemas are used
    /// often.
    clean: HashSet<(String, String, bool)>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        old: &'a Value,
        new: &'a Value,
        open: &'a BTreeSet<String>,
        direction: Direction,
    ) -> Self {
        Self {
            old,
            new,
            open,
            direction,
            active: Vec::new(),
            clean: HashSet::new(),
        }
    }

    /// Returns a sentence for each break.
    pub(super) fn compare(&mut self, old: &Value, new: &Value) -> Vec<String> {
        self.schema("", old, new, &BTreeSet::new())
    }

    /// Compares the schemas at a place. The set of values is open if one of `names` is listed.
    fn schema(
        &mut self,
        place: &str,
        old: &Value,
        new: &Value,
        names: &BTreeSet<String>,
    ) -> Vec<String> {
        let reference = |schema: &Value| schema["$ref"].as_str().map(str::to_owned);
        let pair = reference(old).zip(reference(new));
        let key = pair
            .clone()
            .map(|(old, new)| (old, new, self.is_open(names)));
        let is_known = key.as_ref().is_some_and(|key| self.clean.contains(key));
        if is_known || pair.as_ref().is_some_and(|pair| self.active.contains(pair)) {
            return Vec::new();
        }
        let (mut before, after) = (Union::of(self.old, old), Union::of(self.new, new));
        before.names.extend(names.iter().cloned());
        self.active.extend(pair.clone());
        let breaks = self.union(place, &before, &after);
        if pair.is_some() {
            self.active.pop();
        }
        self.clean.extend(key.filter(|_| breaks.is_empty()));
        breaks
    }

    fn union(&mut self, place: &str, old: &Union, new: &Union) -> Vec<String> {
        let is_open = self.is_open(&old.names);
        let mut breaks = Vec::new();
        if self.direction == Direction::Request || is_open {
            for shape in &old.alternatives {
                let pairs = new.alternatives.iter().map(|other| (shape, other));
                breaks.extend(self.closest(place, shape, pairs.collect(), &old.names));
            }
        } else {
            for shape in &new.alternatives {
                let pairs = old.alternatives.iter().map(|other| (other, shape));
                breaks.extend(self.closest(place, shape, pairs.collect(), &old.names));
            }
        }
        breaks
    }

    /// Returns the breaks relative to the shape with the fewest breaks among those with a compatible type. If no shape
    /// has a compatible type, the shape itself is the break.
    fn closest(
        &mut self,
        place: &str,
        shape: &Shape,
        pairs: Vec<(&Shape, &Shape)>,
        names: &BTreeSet<String>,
    ) -> Vec<String> {
        let fitting = pairs.into_iter().filter(|(old, new)| self.fits(old, new));
        let fitting: Vec<_> = fitting.collect();
        let breaks = fitting
            .into_iter()
            .map(|(old, new)| self.shape(place, old, new, names));
        breaks.min_by_key(Vec::len).unwrap_or_else(|| {
            let kind = shape.kind.as_deref().unwrap_or("of any type");
            let sentence = match self.direction {
                Direction::Request => format!("{} may not be {kind} any more", named(place)),
                Direction::Answer => format!("{} may be {kind} now", named(place)),
            };
            vec![sentence]
        })
    }

    /// Returns true if the receiver accepts values of the sender's type.
    fn fits(&self, old: &Shape, new: &Shape) -> bool {
        let (sent, expected) = match self.direction {
            Direction::Request => (&old.kind, &new.kind),
            Direction::Answer => (&new.kind, &old.kind),
        };
        let (sent, expected) = (sent.as_deref(), expected.as_deref());
        expected.is_none()
            || sent == expected
            || (sent, expected) == (Some("integer"), Some("number"))
    }

    fn shape(
        &mut self,
        place: &str,
        old: &Shape,
        new: &Shape,
        names: &BTreeSet<String>,
    ) -> Vec<String> {
        let unknown = old.unknown.union(&new.unknown);
        let uncompared = |keyword| {
            format!(
                "{}: the keyword `{keyword}` is not compared; teach the comparison",
                named(place)
            )
        };
        let mut breaks: Vec<String> = unknown.map(uncompared).collect();
        let names = names | &old.names;
        breaks.extend(
            match self.direction {
                Direction::Request => narrower(old, new),
                Direction::Answer => self.other_values(old, new, &names),
            }
            .into_iter()
            .map(|problem| format!("{} {problem}", named(place))),
        );
        breaks.extend(self.members(place, old, new, &names));
        if let Some((old, new)) = old.items.as_ref().zip(new.items.as_ref()) {
            breaks.extend(self.schema(&format!("{place}[]"), old, new, &BTreeSet::new()));
        }
        breaks
    }

    fn members(
        &mut self,
        place: &str,
        old: &Shape,
        new: &Shape,
        names: &BTreeSet<String>,
    ) -> Vec<String> {
        let mut breaks = Vec::new();
        for (member, schema) in &old.properties {
            let place = if place.is_empty() {
                member.clone()
            } else {
                format!("{place}.{member}")
            };
            match new.properties.get(member) {
                None => breaks.push(format!("{} is gone", named(&place))),
                Some(other) => {
                    let names = names
                        .iter()
                        .map(|name| format!("{name}.{member}"))
                        .collect();
                    breaks.extend(self.schema(&place, schema, other, &names));
                }
            }
        }
        let (demanded, problem) = match self.direction {
            Direction::Request => (new.required.difference(&old.required), "is required now"),
            Direction::Answer => (old.required.difference(&new.required), "may be missing now"),
        };
        breaks.extend(demanded.map(|member| format!("`{member}` of {} {problem}", named(place))));
        let is_closed = |shape: &Shape| shape.others == Some(Value::Bool(false));
        if self.direction == Direction::Request && is_closed(new) && !is_closed(old) {
            breaks.push(format!(
                "{} may not have other members any more",
                named(place)
            ));
        }
        let schemas =
            [old, new].map(|shape| shape.others.as_ref().filter(|others| others.is_object()));
        if let [Some(old), Some(new)] = schemas {
            breaks.extend(self.schema(&format!("{place}.*"), old, new, &BTreeSet::new()));
        }
        breaks
    }

    /// Returns a sentence for each value that a response can newly have, and for each that it never has any more.
    fn other_values(&self, old: &Shape, new: &Shape, names: &BTreeSet<String>) -> Vec<String> {
        let mut breaks = Vec::new();
        let is_open = self.is_open(names);
        if let (Some(old), Some(new)) = (&old.values, &new.values) {
            breaks.extend(
                old.difference(new)
                    .map(|value| format!("is never `{value}` any more")),
            );
            let added = new.difference(old).filter(|_| !is_open);
            breaks.extend(
                added.map(|value| format!("may be `{value}` now, and is not listed as open")),
            );
        } else if old.values.is_some() && !is_open {
            breaks.push("may have any value now, and is not listed as open".to_owned());
        }
        if let Some(format) = old.format.as_ref().filter(|_| old.format != new.format) {
            breaks.push(format!("is no {format} any more"));
        }
        breaks
    }

    fn is_open(&self, names: &BTreeSet<String>) -> bool {
        self.direction == Direction::Answer && !names.is_disjoint(self.open)
    }
}

/// Returns a sentence for each restriction of a request that is new or stricter.
fn narrower(old: &Shape, new: &Shape) -> Vec<String> {
    let mut breaks = Vec::new();
    match (&old.values, &new.values) {
        (Some(old), Some(new)) => {
            breaks.extend(
                old.difference(new)
                    .map(|value| format!("may not be `{value}` any more")),
            );
        }
        (None, Some(_)) => breaks.push("has a fixed set of values now".to_owned()),
        _ => {}
    }
    for (name, limit) in &new.lower {
        if old.lower.get(name).is_none_or(|old| old < limit) {
            breaks.push(format!("has a `{name}` of {limit} now"));
        }
    }
    for (name, limit) in &new.upper {
        if old.upper.get(name).is_none_or(|old| old > limit) {
            breaks.push(format!("has a `{name}` of {limit} now"));
        }
    }
    if new.pattern.is_some() && new.pattern != old.pattern {
        breaks.push(
            "has another pattern now; if it takes all that the old one took, write it into the old description too".to_owned(),
        );
    }
    if let Some(format) = new.format.as_ref().filter(|_| old.format != new.format) {
        breaks.push(format!("must be a {format} now"));
    }
    breaks
}

fn named(place: &str) -> String {
    if place.is_empty() {
        "the value".to_owned()
    } else {
        format!("`{place}`")
    }
}
