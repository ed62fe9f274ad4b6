//! The addresses of pages. A flag's page is at its key below the flag list, so no other page has an address there.

use std::fmt::Display;

/// The page to sign in.
pub const SIGN_IN: &str = "/dashboard/login";

/// The start, which leads to the list of flags.
pub const HOME: &str = "/dashboard";

/// The list of flags.
pub const FLAGS: &str = "/dashboard/flags";

/// The form for a new flag.
pub const NEW_FLAG: &str = "/dashboard/new-flag";

/// The change of several flags.
pub const CHANGE_FLAGS: &str = "/dashboard/change-flags";

/// The list of environments.
pub const ENVIRONMENTS: &str = "/dashboard/environments";

/// The list of revoked environments.
pub const REVOKED_ENVIRONMENTS: &str = "/dashboard/environments?status=revoked";

/// The form for a new environment.
pub const NEW_ENVIRONMENT: &str = "/dashboard/environments/new";

/// The playground.
pub const PLAYGROUND: &str = "/dashboard/try";

/// The audit log.
pub const AUDIT: &str = "/dashboard/audit";

/// The download of the audit log.
pub const AUDIT_EXPORT: &str = "/dashboard/audit/export";

/// The address to which forms post to undo the user's last change.
pub const UNDO: &str = "/dashboard/undo";

/// The stream of change events.
pub const EVENTS: &str = "/dashboard/events";

/// The stream of live evaluations.
pub const EVALUATION_EVENTS: &str = "/dashboard/events/evaluations";

/// The recent changes, to take them back during an incident.
pub const INCIDENT: &str = "/dashboard/incident";

/// The revert of several recent actions.
pub const REVERT_SEVERAL: &str = "/dashboard/incident/revert";

/// The list of accounts.
pub const PEOPLE: &str = "/dashboard/people";

/// The form for an invitation.
pub const NEW_PERSON: &str = "/dashboard/people/new";

/// The signed-in user's account.
pub const ACCOUNT: &str = "/dashboard/account";

/// The help.
pub const HELP: &str = "/dashboard/help";

/// Returns the address of the flag with this key.
pub fn flag(key: &str) -> String {
    format!("{FLAGS}/{key}")
}

/// Returns the address of the flag with this key in an environment.
pub fn flag_in(key: &str, environment: impl Display) -> String {
    format!("{FLAGS}/{key}?environment={environment}")
}

/// Returns the address of the usage of the flag with this key.
pub fn flag_usage(key: &str) -> String {
    format!("{FLAGS}/{key}/usage")
}

/// Returns the address of the comparison of the environments of the flag with this key.
pub fn flag_comparison(key: &str) -> String {
    format!("{FLAGS}/{key}/compare")
}

/// Returns the address of the history of the flag with this key.
pub fn flag_history(key: &str) -> String {
    format!("{FLAGS}/{key}/history")
}

/// Returns the address of an environment.
pub fn environment(id: impl Display) -> String {
    format!("{ENVIRONMENTS}/{id}")
}

/// Returns the address of the form that clones an environment.
pub fn clone_environment(id: impl Display) -> String {
    format!("{ENVIRONMENTS}/{id}/clone")
}

/// Returns the address of the live evaluations of an environment.
pub fn live_evaluations(environment: impl Display) -> String {
    format!("{ENVIRONMENTS}/{environment}/live")
}

/// Returns the address of the live evaluations of the flag with this key in an environment.
pub fn live_evaluations_of(key: &str, environment: impl Display) -> String {
    format!("{}?flag={key}", live_evaluations(environment))
}

/// Returns the address of an account.
pub fn person(id: impl Display) -> String {
    format!("{PEOPLE}/{id}")
}

/// Returns the address of the page that reverts the action of an audit entry.
pub fn audit_entry(id: impl Display) -> String {
    format!("{AUDIT}/{id}")
}

/// Returns the address that a request names for a redirect, if it is one of a page of the dashboard.
pub fn own_page(address: String) -> Option<String> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let leads_up = |segment: &str| segment.to_ascii_lowercase().replace("%2e", ".") == "..";
    let mut segments = path.split('/');
    let is_inside = path == HOME || path.starts_with("/dashboard/") && !segments.any(leads_up);
    // Browsers ignore tabs and line breaks in an address.
    (is_inside && !address.contains(['\\', '\r', '\n', '\t'])).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::own_page;

    #[test]
    fn redirects_lead_to_pages_of_the_dashboard_only() {
        for inside in [
            "/dashboard",
            "/dashboard?product=Shop",
            "/dashboard/environments?page=2",
            "/dashboard/flags/a..b?edit=rule&context=..",
        ] {
            assert_eq!(own_page(inside.to_owned()).as_deref(), Some(inside));
        }
        for elsewhere in [
            "https://evil.example/dashboard/",
            "//evil.example",
            "/",
            "",
            "/dashboards",
            "/dashboard/\r\nx",
            "/dashboard?\t",
            "/dashboard/../..//evil.example",
            "/dashboard/%2E%2e/.%2e//evil.example",
            "/dashboard/.\t./x",
            "/dashboard\\..\\x",
        ] {
            assert_eq!(own_page(elsewhere.to_owned()), None, "{elsewhere}");
        }
    }
}
