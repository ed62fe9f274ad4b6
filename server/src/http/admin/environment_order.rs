//! The order of the environments of a product.

use axum::extract::State;
use pennon_model::environment::Environment;
use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::Admin;
use crate::admin::environment_order::{self, EnvironmentOrder};
use crate::auth::authority::AnyAdministrator;
use crate::error::Error;
use crate::http::body::Body;
use crate::http::fields::{Fields, FromFields};
use crate::http::openapi::{Routes, route};
use crate::http::query::NoQuery;
use crate::http::respond::Json;

/// The maximum number of environments in an order.
const MAX_ENVIRONMENTS: usize = 1000;

/// Adds the routes to those of environments.
pub(super) fn added_to(routes: Routes) -> Routes {
    routes.with(route!(order_environments))
}

/// The active environments of a product, in their order.
#[derive(Serialize, ToSchema)]
struct EnvironmentList(Vec<Environment>);

/// Puts the environments of a product into another order.
///
/// The dashboard lists them in this order, as does `GET /environments?sort=order`. A new environment comes last. A
/// request that changes nothing succeeds and is not recorded.
#[utoipa::path(put, path = "/environments/order")]
async fn order_environments(
    State(admin): State<Admin>,
    actor: AnyAdministrator,
    _: NoQuery,
    body: Body<EnvironmentOrder>,
) -> Result<Json<EnvironmentList>, Error> {
    let order = body.read().await?;
    environment_order::set(&admin, &actor, &order)
        .await
        .map(|environments| Json(EnvironmentList(environments)))
}

impl FromFields for EnvironmentOrder {
    const ABOUT: &'static str = "All active environments of a product, in their new order.";

    fn from_fields(fields: &mut Fields<'_>) -> Option<Self> {
        let product = fields.required("product");
        let environments = fields
            .about("Every active environment of the product exactly once.")
            .values("environmentIds", 1..=MAX_ENVIRONMENTS);
        Some(Self {
            product: product?,
            environments: environments?,
        })
    }
}
