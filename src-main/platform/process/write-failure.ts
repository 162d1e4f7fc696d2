/**
 * Returns whether the database or its disk refused a write that may succeed later; any other error is a bug or a
 * refusal.
 */
export function isWriteFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return codes.test(code) || (error.cause !== undefined && isWriteFailure(error.cause))
}

const codes = /^(SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|NOMEM|PROTOCOL)|ENOSPC$|EDQUOT$)/
