//! Minimizes a flag and a context about which two engines disagree.

use std::fmt::Debug;

use pennon_core::FlagConfig;
use pennon_core::context::Context;

use crate::cases::{Tree, keyed};
use crate::engines::Engine;

/// The number of simpler values to try.
const ATTEMPTS: usize = 500;

/// Returns the simplest flag and context for which the two engines still disagree.
pub(crate) async fn minimize(
    (mut flags, mut contexts): (Tree<FlagConfig>, Tree<Context<'static>>),
    one: &mut Engine,
    other: &mut Engine,
) -> (FlagConfig, Context<'static>) {
    let context = contexts.current();
    let flag = simplest(&mut flags, async |flag| {
        disagree(one, other, &keyed(flag.clone(), 0), &context).await
    });
    let flag = keyed(flag.await, 0);
    let context = simplest(&mut contexts, async |context| {
        disagree(one, other, &flag, context).await
    });
    let context = context.await;
    (flag, context)
}

async fn disagree(
    one: &mut Engine,
    other: &mut Engine,
    flag: &FlagConfig,
    context: &Context<'static>,
) -> bool {
    one.about(flag, context).await != other.about(flag, context).await
}

/// Simplifies a value as long as it still causes the disagreement.
async fn simplest<T: Debug>(tree: &mut Tree<T>, mut is_wrong: impl AsyncFnMut(&T) -> bool) -> T {
    let mut simplest = tree.current();
    let mut goes_on = tree.simplify();
    for _ in 0..ATTEMPTS {
        if !goes_on {
            break;
        }
        let simpler = tree.current();
        goes_on = if is_wrong(&simpler).await {
            simplest = simpler;
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    simplest
}
