//! The description as a page: chapters, operations, and the objects that they speak of.

use utoipa::openapi::path::{HttpMethod, Operation, PathItem};
use utoipa::openapi::schema::Components;
use utoipa::openapi::{OpenApi, Tag};

use super::html::Html;
use super::operation;
use super::shapes::Shapes;

/// An operation at its place.
pub(super) struct Place<'d> {
    pub(super) method: HttpMethod,
    pub(super) path: &'d str,
    pub(super) operation: &'d Operation,
}

/// Draws the page.
pub(super) fn page(document: &OpenApi, style: &str) -> String {
    let nothing = Components::new();
    let components = document.components.as_ref().unwrap_or(&nothing);
    let chapters = chapters(document);
    let mut html = Html::default();
    html.raw("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The API of Pennon</title>")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        .raw("<meta name=\"color-scheme\" content=\"light dark\"><link rel=\"icon\" href=\"data:,\">")
        .raw("<style>")
        .raw(style)
        .raw("</style></head><body><a class=\"skip\" href=\"#content\">Skip to content</a>");
    html.raw(
        "<header><a class=\"brand\" href=\"/dashboard\">Pennon</a><span class=\"version\">API ",
    )
    .text(&document.info.version)
    .raw("</span><a href=\"/openapi.json\">openapi.json</a></header><div class=\"frame\">");
    contents(&mut html, &chapters);
    html.raw("<main id=\"content\"><h1>The API of Pennon</h1><div class=\"prose\">")
        .prose(document.info.description.as_deref().unwrap_or_default())
        .raw("</div>");
    for (tag, places) in &chapters {
        chapter(&mut html, tag, places, components);
    }
    objects(&mut html, components);
    html.raw("</main></div></body></html>");
    html.into_string()
}

/// The operations by chapter, in the order of the document.
fn chapters(document: &OpenApi) -> Vec<(&Tag, Vec<Place<'_>>)> {
    let tags = document.tags.iter().flatten();
    let places = |tag: &Tag| {
        let paths = document.paths.paths.iter();
        let all = paths.flat_map(|(path, item)| operations(path, item));
        all.filter(|place| {
            place
                .operation
                .tags
                .iter()
                .flatten()
                .any(|own| *own == tag.name)
        })
        .collect()
    };
    tags.map(|tag| (tag, places(tag))).collect()
}

fn operations<'d>(path: &'d str, item: &'d PathItem) -> Vec<Place<'d>> {
    let methods = [
        (HttpMethod::Get, &item.get),
        (HttpMethod::Post, &item.post),
        (HttpMethod::Put, &item.put),
        (HttpMethod::Patch, &item.patch),
        (HttpMethod::Delete, &item.delete),
    ];
    let place = |(method, operation): (HttpMethod, &'d Option<Operation>)| {
        operation.as_ref().map(|operation| Place {
            method,
            path,
            operation,
        })
    };
    methods.into_iter().filter_map(place).collect()
}

fn contents(html: &mut Html, chapters: &[(&Tag, Vec<Place<'_>>)]) {
    html.raw("<nav aria-label=\"Contents\"><ul>");
    for (tag, places) in chapters {
        html.raw("<li><a class=\"chapter\" href=\"#");
        html.text(&anchor(&tag.name))
            .raw("\">")
            .text(&tag.name)
            .raw("</a><ul>");
        for place in places {
            let id = place.operation.operation_id.as_deref().unwrap_or_default();
            html.raw("<li><a href=\"#").text(id).raw("\">");
            method(html, &place.method);
            html.raw("<span>");
            for part in place.path.split_inclusive('/') {
                html.text(part).raw("<wbr>");
            }
            html.raw("</span></a></li>");
        }
        html.raw("</ul></li>");
    }
    html.raw("<li><a class=\"chapter\" href=\"#objects\">Objects</a></li></ul></nav>");
}

fn chapter(html: &mut Html, tag: &Tag, places: &[Place<'_>], components: &Components) {
    html.raw("<section><h2 id=\"")
        .text(&anchor(&tag.name))
        .raw("\">");
    html.text(&tag.name).raw("</h2><div class=\"prose\">");
    html.prose(tag.description.as_deref().unwrap_or_default())
        .raw("</div>");
    for place in places {
        operation::draw(html, place, components);
    }
    html.raw("</section>");
}

/// The objects that operations refer to.
fn objects(html: &mut Html, components: &Components) {
    let shapes = Shapes(components);
    html.raw("<section><h2 id=\"objects\">Objects</h2>");
    for (name, schema) in &components.schemas {
        let Some(compound) = shapes
            .resolve(schema)
            .filter(|schema| shapes.is_compound(schema))
        else {
            continue;
        };
        html.raw("<article class=\"object\" id=\"schema-")
            .text(name)
            .raw("\"><h3>");
        html.text(name).raw("</h3><div class=\"prose\">");
        html.prose(shapes.about(schema)).raw("</div>");
        operation::shape(html, shapes, compound);
        html.raw("</article>");
    }
    html.raw("</section>");
}

/// The method, in the colour of what it does.
pub(super) fn method(html: &mut Html, method: &HttpMethod) {
    let word = word(method);
    html.raw("<span class=\"method ")
        .text(&word.to_ascii_lowercase())
        .raw("\">")
        .text(word)
        .raw("</span>");
}

pub(super) fn word(method: &HttpMethod) -> &'static str {
    match method {
        HttpMethod::Get => "GET",
        HttpMethod::Post => "POST",
        HttpMethod::Put => "PUT",
        HttpMethod::Patch => "PATCH",
        HttpMethod::Delete => "DELETE",
        HttpMethod::Head => "HEAD",
        HttpMethod::Options => "OPTIONS",
        HttpMethod::Trace => "TRACE",
    }
}

fn anchor(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "-")
}
