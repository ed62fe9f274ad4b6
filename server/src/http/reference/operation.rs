//! One operation on the page: what it takes, what it answers, how it refuses, and an example.

use utoipa::openapi::path::{HttpMethod, Parameter, ParameterIn};
use utoipa::openapi::schema::{Components, Schema};
use utoipa::openapi::{RefOr, Required, Response};

use super::example::example;
use super::html::Html;
use super::page::{Place, method, word};
use super::shapes::{Member, Shapes};

/// Draws an operation.
pub(super) fn draw(html: &mut Html, place: &Place<'_>, components: &Components) {
    let operation = place.operation;
    let id = operation.operation_id.as_deref().unwrap_or_default();
    html.raw("<article class=\"operation\" id=\"")
        .text(id)
        .raw("\"><h3><a href=\"#");
    html.text(id).raw("\">");
    method(html, &place.method);
    html.raw("<code class=\"path\">")
        .text(place.path)
        .raw("</code></a></h3>");
    html.raw("<div class=\"told\"><div class=\"prose\">");
    html.prose(operation.summary.as_deref().unwrap_or_default());
    html.prose(operation.description.as_deref().unwrap_or_default())
        .raw("</div>");
    credential(html, place);
    let shapes = Shapes(components);
    parameters(html, place, shapes);
    if let Some(schema) = body(place) {
        html.raw("<h4>Body</h4>");
        if let Some(resolved) = shapes.resolve(schema) {
            shape(html, shapes, resolved);
        }
    }
    answers(html, place, components);
    html.raw("</div><div class=\"shown\">");
    shown(html, place, components);
    html.raw("</div></article>");
}

/// Lists the members of an object, in each of its forms, or says what a list holds.
pub(super) fn shape<'d>(html: &mut Html, shapes: Shapes<'d>, schema: &'d Schema) {
    let forms = shapes.forms(schema);
    for (index, form) in forms.iter().enumerate() {
        html.raw("<p class=\"form\">")
            .text(if index == 0 { "Either" } else { "Or" })
            .raw("</p>");
        members(html, shapes, &shapes.members(form));
    }
    let own = shapes.members(schema);
    if !own.is_empty() {
        members(html, shapes, &own);
    } else if let Schema::Array(array) = schema {
        html.raw("<p class=\"type\">");
        shapes.list(html, array);
        html.raw("</p>");
    }
}

fn members(html: &mut Html, shapes: Shapes<'_>, members: &[Member<'_>]) {
    html.raw("<dl>");
    for member in members {
        row(
            html,
            shapes,
            member.name,
            member.required,
            member.schema,
            None,
        );
    }
    html.raw("</dl>");
}

fn row(
    html: &mut Html,
    shapes: Shapes<'_>,
    name: &str,
    required: bool,
    schema: &RefOr<Schema>,
    about: Option<&str>,
) {
    html.raw("<dt>").code(name);
    if required {
        html.raw(" <span class=\"required\">required</span>");
    }
    html.raw("<span class=\"type\">");
    shapes.label(html, schema);
    html.raw("</span></dt><dd>");
    html.inline(about.unwrap_or_else(|| shapes.about(schema)))
        .raw("</dd>");
}

/// Says which credential the operation needs.
fn credential(html: &mut Html, place: &Place<'_>) {
    let requirements = place.operation.security.iter().flatten();
    let named: Vec<String> = requirements
        .filter_map(|requirement| serde_json::to_value(requirement).ok())
        .filter_map(|requirement| requirement.as_object()?.keys().next().cloned())
        .map(|scheme| match scheme.as_str() {
            "accessToken" => "an access token".to_owned(),
            "sdkKey" => "an SDK key".to_owned(),
            "apiKey" => "an SDK key in `X-API-Key`".to_owned(),
            other => other.to_owned(),
        })
        .collect();
    html.raw("<p class=\"credential\">");
    if named.is_empty() {
        html.text("Needs no credential.");
    } else {
        html.inline(&format!("Needs {}.", named.join(", or ")));
    }
    html.raw("</p>");
}

fn parameters(html: &mut Html, place: &Place<'_>, shapes: Shapes<'_>) {
    for (title, kind) in [
        ("In the path", ParameterIn::Path),
        ("In the query", ParameterIn::Query),
        ("In the header", ParameterIn::Header),
    ] {
        let given = place.operation.parameters.iter().flatten();
        let given = given.filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            RefOr::Ref(_) => None,
        });
        let given: Vec<&Parameter> = given.filter(|given| given.parameter_in == kind).collect();
        if given.is_empty() {
            continue;
        }
        html.raw("<h4>").text(title).raw("</h4><dl>");
        for parameter in given {
            let required = parameter.required == Required::True && kind != ParameterIn::Path;
            if let Some(schema) = &parameter.schema {
                let about = parameter.description.as_deref();
                row(html, shapes, &parameter.name, required, schema, about);
            }
        }
        html.raw("</dl>");
    }
}

fn answers(html: &mut Html, place: &Place<'_>, components: &Components) {
    html.raw("<h4>Answers</h4><table><tbody>");
    for (status, response) in &place.operation.responses.responses {
        let Some(response) = response_of(response, components) else {
            continue;
        };
        let codes = codes(response);
        let class = if codes.is_empty() { "good" } else { "bad" };
        html.raw("<tr class=\"")
            .raw(class)
            .raw("\"><th scope=\"row\">")
            .text(status);
        html.raw("</th><td>");
        for code in &codes {
            html.code(code).raw(" ");
        }
        if codes.is_empty() {
            html.inline(&response.description).raw(" ");
            if let Some(schema) = schema_of(response) {
                Shapes(components).label(html, schema);
            }
        }
        let headers = response
            .headers
            .keys()
            .filter(|name| *name != "X-Request-Id");
        for name in headers {
            html.raw(" <span class=\"header\">")
                .text(name)
                .raw("</span>");
        }
        html.raw("</td></tr>");
    }
    html.raw("</tbody></table>");
}

/// A call and what it answers.
fn shown(html: &mut Html, place: &Place<'_>, components: &Components) {
    let shapes = Shapes(components);
    let mut call = format!("curl \"$PENNON{}\"", place.path);
    // What curl does unless it is told otherwise.
    let own = match (&place.method, body(place)) {
        (HttpMethod::Get, None) => true,
        (method, body) => *method == HttpMethod::Post && body.is_some(),
    };
    if !own {
        call.push_str(" -X ");
        call.push_str(word(&place.method));
    }
    let schemes = serde_json::to_string(&place.operation.security).unwrap_or_default();
    for (scheme, variable) in [("accessToken", "TOKEN"), ("sdkKey", "SDK_KEY")] {
        if schemes.contains(scheme) {
            call += " \\\n  -H \"Authorization: Bearer $";
            call += variable;
            call += "\"";
        }
    }
    if let Some(schema) = body(place) {
        call += " \\\n  --json '";
        call += &example(shapes, schema);
        call += "'";
    }
    html.raw("<pre aria-label=\"A call\">")
        .text(&call)
        .raw("</pre>");
    let responses = place.operation.responses.responses.iter();
    let mut good = responses.filter(|(status, _)| status.starts_with('2'));
    let Some((status, response)) = good.next() else {
        return;
    };
    html.raw("<pre aria-label=\"An answer\"><span class=\"status\">")
        .text(status)
        .raw("</span>");
    if let Some(response) = response_of(response, components)
        && let Some(schema) = schema_of(response)
    {
        let example = example(shapes, schema);
        // What is no JSON is shown as it comes.
        let is_json = response.content.keys().all(|kind| kind.ends_with("json"));
        let text = (!is_json).then(|| serde_json::from_str::<String>(&example).ok());
        html.raw("\n").text(&text.flatten().unwrap_or(example));
    }
    html.raw("</pre>");
}

fn body<'d>(place: &Place<'d>) -> Option<&'d RefOr<Schema>> {
    match place.operation.request_body.as_ref()? {
        RefOr::T(body) => match body.content.values().next()? {
            RefOr::T(content) => content.schema.as_ref(),
            RefOr::Ref(_) => None,
        },
        RefOr::Ref(_) => None,
    }
}

fn response_of<'d>(
    response: &'d RefOr<Response>,
    components: &'d Components,
) -> Option<&'d Response> {
    match response {
        RefOr::T(response) => Some(response),
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next()?;
            response_of(components.responses.get(name)?, components)
        }
    }
}

fn schema_of(response: &Response) -> Option<&RefOr<Schema>> {
    match response.content.values().next()? {
        RefOr::T(content) => content.schema.as_ref(),
        RefOr::Ref(_) => None,
    }
}

/// The codes of a refusal.
fn codes(response: &Response) -> Vec<String> {
    let narrowed = match schema_of(response) {
        Some(RefOr::T(Schema::AllOf(parts))) => parts.items.get(1),
        _ => None,
    };
    let Some(RefOr::T(Schema::Object(narrowed))) = narrowed else {
        return Vec::new();
    };
    let Some(RefOr::T(Schema::Object(code))) = narrowed.properties.get("code") else {
        return Vec::new();
    };
    let codes = code.enum_values.iter().flatten();
    codes
        .filter_map(|code| Some(code.as_str()?.to_owned()))
        .collect()
}
