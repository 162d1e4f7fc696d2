/**
 * How hard an agent thinks, in its own words. It stands in settings, so it is one plain word. Without a schema: the
 * board checks it too, and its first page has no schema library.
 */
export const effortPattern = /^[\w-]{1,40}$/
