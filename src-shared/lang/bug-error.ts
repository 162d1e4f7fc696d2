/** A condition that the code rules out. Caught only at the top; its text goes only to the log. */
export class BugError extends Error {
  override readonly name = 'BugError'
}
