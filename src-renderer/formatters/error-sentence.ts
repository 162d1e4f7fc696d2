import { ApiError } from '../../src-shared/contract/errors.ts'

/** Returns an error as a sentence. Refusals contain theirs; any other error means that the service is unreachable. */
export function errorSentence(error: unknown): string {
  if (!(error instanceof ApiError)) return 'Can’t reach Copse. Check that it’s running, then try again.'
  if (error.code === 'validation_failed') {
    const issues = error.details?.['issues']
    const first: unknown = Array.isArray(issues) ? issues[0] : undefined
    if (typeof first === 'object' && first !== null && 'message' in first && typeof first.message === 'string')
      return first.message
  }
  return error.message
}

/** Returns the code, message and details of a refusal; for other errors their name and message. */
export function errorDetails(error: unknown): string {
  if (error instanceof ApiError)
    return [error.code, error.message, error.details ? JSON.stringify(error.details, null, 2) : ''].join('\n').trim()
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
