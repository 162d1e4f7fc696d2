/** Something that the code promises cannot happen, happened. Caught at the top only; its text stays in the log. */
export class BugError extends Error {
  override readonly name = 'BugError'
}
