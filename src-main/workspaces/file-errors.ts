/** Whether a file operation failed because there is nothing at that path. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')
}

/** Whether a file operation failed because something is there already. */
export function isTaken(error: unknown): boolean {
  return hasCode(error, 'EEXIST')
}

/** `null` instead of the failure when there is nothing at that path. */
export async function orNull<T>(operation: Promise<T>): Promise<T | null> {
  try {
    return await operation
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Whether a file operation failed with this code of the system. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
