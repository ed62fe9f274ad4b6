//! Routes that always have a description.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::Value;
use utoipa::openapi::path::{HttpMethod, Operation};

use super::operation::BodyOptions;
use super::{Described, OperationBuilder};
use crate::http::code::Code;
use crate::http::coding::compression;
use crate::state::AppState;

/// Creates the route of a handler. Its `#[utoipa::path]` contains the path, method and purpose. The rest follows from
/// its signature.
macro_rules! route {
    ($handler:ident) => {
        ::pastey::paste! {
            $crate::http::openapi::Route::of::<[<__path_ $handler>], _, _, _>($handler)
        }
    };
    ($module:ident::$handler:ident) => {
        ::pastey::paste! {
            $crate::http::openapi::Route::of::<$module::[<__path_ $handler>], _, _, _>(
                $module::$handler,
            )
        }
    };
}

pub(crate) use route;

/// A handler with its method, path and description.
pub(crate) struct Route {
    pub(super) path: String,
    pub(super) method: HttpMethod,
    pub(super) operation: Operation,
    pub(super) describe: fn(&mut OperationBuilder<'_>),
    pub(super) refusals: Vec<Code>,
    pub(super) body_options: BodyOptions,
    is_open_ended: bool,
    handler: MethodRouter<AppState>,
}

impl Route {
    /// Creates the route of a handler. [`route!`] finds `P`, the handler's documentation.
    pub(crate) fn of<P, H, T, D>(handler: H) -> Self
    where
        P: utoipa::Path,
        H: Handler<T, AppState> + Described<D>,
        T: 'static,
    {
        let method = P::methods().into_iter().next().unwrap_or(HttpMethod::Get);
        Self {
            path: P::path(),
            operation: P::operation(),
            describe: H::describe,
            refusals: Vec::new(),
            body_options: BodyOptions::default(),
            is_open_ended: false,
            handler: on(filter(&method), handler),
            method,
        }
    }

    /// Compresses the responses for clients that accept it.
    pub(crate) fn compressed(mut self) -> Self {
        self.handler = self.handler.layer(compression());
        self
    }

    /// Lets the last parameter be the whole rest of the path, which may be empty or contain slashes.
    pub(crate) fn open_ended(mut self) -> Self {
        self.is_open_ended = true;
        self
    }

    /// Adds refusals with these codes. The use case causes them, in addition to those of the signature.
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend(codes);
        self
    }

    /// Adds an example of the body. Without one, the reference page combines the examples of all members, even of those
    /// that exclude each other.
    pub(crate) fn example(mut self, body: Value) -> Self {
        self.body_options.example = Some(body);
        self
    }

    /// Accepts the JSON body also as text.
    pub(crate) fn accepts_text(mut self) -> Self {
        self.body_options.accepts_text = true;
        self
    }
}

fn filter(method: &HttpMethod) -> MethodFilter {
    match method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Patch => MethodFilter::PATCH,
        HttpMethod::Delete => MethodFilter::DELETE,
        HttpMethod::Options => MethodFilter::OPTIONS,
        HttpMethod::Head => MethodFilter::HEAD,
        HttpMethod::Trace => MethodFilter::TRACE,
    }
}

/// Routes in groups, which are sections of the description.
pub(crate) struct Routes {
    pub(super) groups: Vec<Group>,
}

/// The routes of one kind of resource.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) routes: Vec<Route>,
}

impl Routes {
    /// Creates a group without routes.
    pub(crate) fn group(name: &'static str, about: &'static str) -> Self {
        let group = Group {
            name,
            about,
            routes: Vec::new(),
        };
        Self {
            groups: vec![group],
        }
    }

    /// Adds a route to the last group.
    pub(crate) fn with(mut self, route: Route) -> Self {
        if let Some(group) = self.groups.last_mut() {
            group.routes.push(route);
        }
        self
    }

    /// Appends other routes.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.groups.extend(others.groups);
        self
    }

    /// Adds a prefix to the paths of all routes.
    pub(crate) fn below(mut self, prefix: &str) -> Self {
        for route in self.groups.iter_mut().flat_map(|group| &mut group.routes) {
            route.path.insert_str(0, prefix);
        }
        self
    }

    /// Returns the router that serves the routes.
    pub(crate) fn into_router(self) -> Router<AppState> {
        let routes = self.groups.into_iter().flat_map(|group| group.routes);
        routes.fold(Router::new(), |router, route| {
            match route.path.rsplit_once('{') {
                Some((start, name)) if route.is_open_ended => router
                    .route(start, route.handler.clone())
                    .route(&format!("{start}{{*{name}"), route.handler),
                _ => router.route(&route.path, route.handler),
            }
        })
    }
}
