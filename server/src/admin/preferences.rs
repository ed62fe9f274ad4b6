//! The choices in the dashboard that it remembers for each user.

use pennon_model::environment::ProductName;

use super::Admin;
use crate::auth::actor::Person;
use crate::error::Error;
use crate::store;

/// Returns the product to which the user has limited the dashboard; none for all products.
pub(crate) async fn product(admin: &Admin, person: &Person) -> Result<Option<String>, Error> {
    let mut tx = admin.db.read().await?;
    store::users::dashboard_product(&mut tx, person.user().id).await
}

/// Remembers the product to which the user limits the dashboard; none for all products.
pub(crate) async fn remember_product(
    admin: &Admin,
    person: &Person,
    product: Option<&ProductName>,
) -> Result<(), Error> {
    let mut tx = admin.db.write().await?;
    store::users::set_dashboard_product(&mut tx, person.user().id, product).await?;
    tx.commit().await
}
