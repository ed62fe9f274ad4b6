/** The page to which the server redirects without a session. */
export const signInAddress = "/dashboard/login";

/** The stream of changes. */
export const eventsAddress = "/dashboard/events";

/** The search for pages to navigate to. */
export const destinationsAddress = "/dashboard/api/destinations";

/** The check of the key of a new flag. */
export const keyCheckAddress = "/dashboard/api/check-key";

/** The switch of a flag in an environment. */
export const switchAddress = "/dashboard/api/set-enabled";

/** The form that undoes the last change of the user. */
export const undoAddress = "/dashboard/undo";
