import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { ForgeTrouble } from '../../src-shared/contract/pull-requests.ts'
import { ForgeError } from '../ports/forges.ts'
import { TrackerError } from '../ports/issue-trackers.ts'

/** Returns what a forge's error tells clients; throws every other error. */
export function troubleOf(error: unknown, occurred_at: string): ForgeTrouble {
  if (!(error instanceof ForgeError)) throw error
  const { code, message, right, url } = error
  return { reason: code, message, right, url, occurred_at }
}

/** Returns the refusal for an error of a forge, or of the binding of its token; throws every other error. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof TrackerError && error.code === 'secret_bound') {
    return { code: 'secret_bound', message: error.message }
  }
  if (!(error instanceof ForgeError)) throw error
  const { code, message, right, url } = error
  if (code === 'not_mergeable' || code === 'not_supported') return { code, message }
  return {
    code: 'external_sync_failed',
    message,
    details: { reason: code, ...(right !== null && { right }), ...(url !== null && { url }) },
  }
}
