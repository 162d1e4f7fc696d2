/**
 * A reasoning effort in the agent's own terms, which settings hold as one plain word. Without a schema, because the
 * board's first page uses it too and has no schema library.
 */
export const effortPattern = /^[\w-]{1,40}$/
