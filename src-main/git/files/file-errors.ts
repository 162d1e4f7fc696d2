/** Returns whether a file operation failed because the path does not exist. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')
}

/** Returns whether a file operation failed because the path exists already. */
export function isTaken(error: unknown): boolean {
  return hasCode(error, 'EEXIST')
}

/** Resolves to `null` if the path does not exist. */
export async function orNull<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Returns whether a file operation failed with this system error code. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** Explains a system error of a file operation and what to do about it; null for any other error. */
export function explainFileError(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return null
  const advice =
    error.code === 'ENOSPC' || error.code === 'EDQUOT'
      ? 'The disk is full. Make room, then try again.'
      : 'Check that file or folder, then try again.'
  return `${error.message}. ${advice}`
}
