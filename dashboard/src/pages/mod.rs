//! The pages. They run on the server only.

pub mod environments;
pub mod flags;
pub mod home;
pub mod new_environment;
pub mod new_flag;
pub mod not_found;
pub mod sign_in;
pub mod try_it;
